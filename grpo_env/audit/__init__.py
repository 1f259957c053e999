"""Attacks on a task's reward: lazy strategies that should not be paid, and what they are paid."""

from .attack import Limits, audit
from .table import HACKS, Hack, Target, hack, load_hacks

__all__ = ["HACKS", "Hack", "Limits", "Target", "audit", "hack", "load_hacks"]
