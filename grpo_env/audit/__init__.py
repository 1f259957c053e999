"""Attacks on a task's reward: hacks, texts that should not be rewarded, and the rewards that they get."""

from .attack import audit
from .episode_attack import audit_episodes
from .foreign import audit_foreign
from .hack import Target
from .hacks import HACKS, hack, load_hacks
from .request import AuditRequest

__all__ = [
    "HACKS",
    "AuditRequest",
    "Target",
    "audit",
    "audit_episodes",
    "audit_foreign",
    "hack",
    "load_hacks",
]
