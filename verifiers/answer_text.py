"""What verifiers of answers share: the whole text as an answer, how a score shows answers, the check of ``sources``."""

from __future__ import annotations

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


def check_sources(name: str, sources: Sequence[Source]) -> None:
    """Raise ``UsageError`` if there are no sources, or one comes twice."""
    if not sources or len(set(sources)) < len(sources):
        raise UsageError(f"{name}: sources: one or more of {', '.join(ALL_SOURCES)}, each once, not {sources!r}")
