"""Whether a task is right: its cases, data, gold answers, splits and lengths, without a model."""

from .checks import check, failed_cases

__all__ = ["check", "failed_cases"]
