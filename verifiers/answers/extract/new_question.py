"""Where a base model goes on after its answer: it invents a new question or the next turn of the user."""

from __future__ import annotations

from collections.abc import Callable

from grpo_env.lazy_regex import lazy_compile

from .extracted import ExtractedAnswer, is_value

_NEW_QUESTION = lazy_compile(
    r"\n[ \t]*(?:\*\*)?(?:Question|Q|Problem|User|Human)(?:[ \t]?\d{1,4})?(?:\*\*)?[ \t]?:"
    r"|\n#{2,6}[ \t]*(?:Instruction|Question|Problem|User|Human|Input)\b"
    r"|<\|im_start\|>\s{0,3}user\b|<\|start_header_id\|>\s{0,3}user\b|<\|user\|>|<start_of_turn>\s{0,3}user\b|\[INST\]"
)


def has_new_question(text: str) -> bool:
    """Whether a text may have a new question: whether it has what every match of the pattern has."""
    return (  # a letter is found faster than a word
        "Q" in text
        or ("#" in text and "\n##" in text)
        or ("<" in text and ("<|" in text or "<start_of" in text))
        or ("P" in text and "Problem" in text)
        or ("U" in text and "User" in text)
        or ("H" in text and "Human" in text)
        or ("[" in text and "[INST]" in text)
    )


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
