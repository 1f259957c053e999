"""Where a base model goes on after its answer: it invents a new question or the next turn of the user."""

from __future__ import annotations

from collections.abc import Callable

from grpo_env.lazy_regex import lazy_compile

from .extracted import ExtractedAnswer, is_value

# One of these stands in every match of the pattern below; to look for its one letter first is much faster.
_HINTS = (
    ("Q", "Q"),
    ("P", "Problem"),
    ("U", "User"),
    ("H", "Human"),
    ("#", "\n##"),
    ("|", "<|"),
    ("<", "<start_of"),
    ("[", "[INST]"),
)
_NEW_QUESTION = lazy_compile(
    r"\n[ \t]*(?:\*\*)?(?:Question|Q|Problem|User|Human)(?:[ \t]?\d{1,4})?(?:\*\*)?[ \t]?:"
    r"|\n#{2,6}[ \t]*(?:Instruction|Question|Problem|User|Human|Input)\b"
    r"|<\|im_start\|>\s{0,3}user\b|<\|start_header_id\|>\s{0,3}user\b|<\|user\|>|<start_of_turn>\s{0,3}user\b|\[INST\]"
)


def has_new_question(text: str) -> bool:
    """Whether a text may have a new question, which is cheap to find out."""
    return any(letter in text and hint in text for letter, hint in _HINTS)


def before_new_question(text: str, read: Callable[[str], ExtractedAnswer | None]) -> str:
    """The text before the first new question, if ``read`` finds that it states an answer; else all of it.

    So the first answer counts, whatever the model answers to its own questions. A text that begins with a question is
    read as a whole.
    """
    question = _NEW_QUESTION.search(text)
    if question is None or _NEW_QUESTION.match("\n" + text.lstrip()):
        return text
    first = text[: question.start()]
    return first if _states(first, read) else text


def _states(text: str, read: Callable[[str], ExtractedAnswer | None]) -> bool:
    answer = read(text)
    if answer and answer.answers:
        return True
    return "\n" not in text.strip() and bool(text.strip()) and is_value(text.strip())
