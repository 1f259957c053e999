"""Attacks on a task's reward: hacks, texts that should not be rewarded, and the rewards that they get."""

from .attack import audit
from .episodes import audit_episodes
from .exploits import Limits
from .functions import audit_function
from .hack import Hack, Layout, Target
from .hacks import HACKS, hack, load_hacks

__all__ = [
    "HACKS",
    "Hack",
    "Layout",
    "Limits",
    "Target",
    "audit",
    "audit_episodes",
    "audit_function",
    "hack",
    "load_hacks",
]
