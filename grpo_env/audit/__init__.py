"""Attacks on a task's reward: hacks, texts that should not be rewarded, and the rewards that they get."""

from grpo_env.check.gold_completion import Layout

from .attack import audit
from .episode_attack import audit_episodes
from .foreign import Foreign, audit_foreign, functions
from .hack import Hack, Target
from .hacks import HACKS, hack, load_hacks
from .peers import server, taskset

__all__ = [
    "HACKS",
    "Foreign",
    "Hack",
    "Layout",
    "Target",
    "audit",
    "audit_episodes",
    "audit_foreign",
    "functions",
    "hack",
    "load_hacks",
    "server",
    "taskset",
]
