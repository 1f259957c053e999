"""Checks a task without a model: its cases, data, gold answers, splits and prompt lengths."""

from .checks import CheckResult, check, failed_cases
from .gain import gain_warning

__all__ = ["CheckResult", "check", "failed_cases", "gain_warning"]
