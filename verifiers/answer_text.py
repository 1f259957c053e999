"""What verifiers of answers share: the whole text as an answer, how a score shows answers, checks of options."""

from __future__ import annotations

import math
from collections.abc import Sequence

from grpo_env.core import Completion, Format
from grpo_env.errors import UsageError

from .answers.extract import after_reasoning, final_answer, visible
from .answers.extract.result import ALL_SOURCES, ExtractedAnswer, Source, extracted

MAX_SHOWN = 300  # characters of an answer in a score


def read_text(format: Format, completion: Completion) -> ExtractedAnswer:
    """The content of the answer block; without one, all after the reasoning."""
    block = final_answer(format, completion, ("answer_tag",))
    if block.source != "none":
        return block
    text = visible(after_reasoning(format, completion) or "")
    return extracted([text], "text", empty="there is no text after the reasoning")


def shown(answers: Sequence[str]) -> str | None:
    """The answers as a score shows them."""
    return " | ".join(answers)[:MAX_SHOWN] if answers else None


def check_rel_tol(name: str, rel_tol: float | None) -> None:
    """Raise ``UsageError`` for a relative tolerance that accepts every number, or none."""
    if rel_tol is not None and not 0 <= rel_tol < 1:
        raise UsageError(f"{name}: rel_tol: {rel_tol:g} is not 0 or more and below 1")


def check_timeout(name: str, timeout: float) -> None:
    """Raise ``UsageError`` for a number of seconds that never or always pass."""
    if not 0 < timeout < math.inf:
        raise UsageError(f"{name}: timeout: {timeout:g} is not a number of seconds above 0")


def check_sources(name: str, sources: Sequence[Source]) -> None:
    """Raise ``UsageError`` if there are no sources, or one comes twice."""
    if not sources or len(set(sources)) < len(sources):
        raise UsageError(f"{name}: sources: one or more of {', '.join(ALL_SOURCES)}, each once, not {sources!r}")
