"""The text that a verifier compares: the final answer, or all that follows the reasoning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from grpo_env.core import Completion, Format
from grpo_env.errors import UsageError

from .answers.extract import ALL_SOURCES, ExtractedAnswer, Source, after_reasoning, final_answer, visible
from .answers.extract.result import extracted
from .answers.kinds.json_value import text_list

Read: TypeAlias = Literal["answer", "text"]

MAX_SHOWN = 300  # characters of an answer in a score
MAX_TEXT = 20_000  # characters of a text that is compared; sorting combining marks takes quadratic time

_MARKS = (("**", "**"), ("`", "`"), ("$", "$"), (r"\text{", "}"), ('"', '"'), ("“", "”"))


def read_completion(which: Read, format: Format, completion: Completion, sources: Sequence[Source]) -> ExtractedAnswer:
    """The final answer by ``sources``, or the ``text``."""
    return final_answer(format, completion, sources) if which == "answer" else read_text(format, completion)


def read_text(format: Format, completion: Completion) -> ExtractedAnswer:
    """The content of the answer block; without one, all after the reasoning."""
    block = final_answer(format, completion, ("answer_tag",))
    if block.source != "none":
        return block
    text = visible(after_reasoning(format, completion) or "")
    return extracted([text], "text", empty="there is no text after the reasoning")


def spellings(answer: ExtractedAnswer, text: str) -> list[str]:
    r"""An answer as it stands and, of a final answer, without ``**…**``, backticks, dollars, quotes or a period.

    Also with the period behind it, which may be that of an abbreviation.
    """
    texts = [text]
    for opening, closing in _MARKS * 2 if answer.source != "text" else ():
        if answer.source != "answer_tag" and text.endswith("."):
            text = text[:-1]
        inner = text[len(opening) : -len(closing)]
        if text.startswith(opening) and text.endswith(closing) and inner and opening not in inner:
            text = inner.strip()
        texts.append(text)
    if len(answer.answers) == 1 and answer.end and answer.text.startswith(".", answer.end):
        texts.append(f"{texts[0]}.")  # "The answer is U.S."
    return list(dict.fromkeys(texts))


def gold_texts(text: str | None, golds: Literal["one", "any"]) -> tuple[list[str], str]:
    """The texts that a gold answer allows: itself, or ``any`` of its JSON list; or none, and what is wrong with it."""
    if text is None or not text.strip():
        return [], "the gold answer is missing"
    texts = [text] if golds == "one" else text_list(text)
    if not texts:
        return [], f"golds: any needs a JSON list of texts or numbers as the gold answer, not {text[:60]!r}"
    if any(len(gold) > MAX_TEXT for gold in texts):
        return [], f"a gold answer of more than {MAX_TEXT:,} characters"
    return texts, ""


def shown(answers: Sequence[str]) -> str | None:
    """The answers as a score shows them."""
    return " | ".join(answers)[:MAX_SHOWN] if answers else None


def check_sources(name: str, sources: Sequence[Source]) -> None:
    """Raise ``UsageError`` if there are no sources, or one comes twice."""
    if not sources or len(set(sources)) < len(sources):
        raise UsageError(f"{name}: sources: one or more of {', '.join(ALL_SOURCES)}, each once, not {sources!r}")
