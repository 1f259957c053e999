"""Checks a task without a model: its cases, data, gold answers, splits and prompt lengths."""

from .checks import CheckResult, check, failed_cases
from .gain import check_gain

__all__ = ["CheckResult", "check", "check_gain", "failed_cases"]
