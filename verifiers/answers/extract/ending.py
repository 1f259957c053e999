"""Where a base model goes on after its answer: it invents a new question or the next turn of the user."""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

_NEW_QUESTION = lazy_compile(
    r"\n[ \t]*(?:\*\*)?(?:Question|Q|Problem|User|Human)(?:[ \t]?\d{1,4})?(?:\*\*)?[ \t]?:"
    r"|\n#{2,6}[ \t]*(?:Instruction|Question|Problem|User|Human|Input)\b"
    r"|<\|im_start\|>\s{0,3}user\b|<\|start_header_id\|>\s{0,3}user\b|<\|user\|>|<start_of_turn>\s{0,3}user\b|\[INST\]|<eoa>"
)
_REMAINS = lazy_compile(  # of a stop string
    r"(?:<eoa>|</s>|<\|[a-z_]{1,20}\|>|\n[ \t]{0,9}(?:Q|Question|User|Human|Problem)\s?:?)\Z"
)
_TOKEN = lazy_compile(r"<(?:\||eoa>|/s>|start_of)")
LONGEST_REMAINS = 40  # characters
# "I hope this helps! Let me know if you have any other questions.", below Bard's answers of MathVista
_FAREWELL = lazy_compile(
    r"(?:I hope (?:this|that)|(?:please )?let me know if|is there anything else"
    r"|do you (?:have|want to try) (?:any )?other) [^\n]*",
    re.IGNORECASE,
)
_INTRODUCTION = lazy_compile(
    r"\s*(?:let['\u2019]s|let (?:me|us)|i(?:['\u2019]ll| will| can| need to)|to|here|sure|okay)\b", re.IGNORECASE
)


def repeats_question(before: str) -> bool:
    """Whether a text only introduces the question below it: "Let's solve it step by step." """
    return before.rstrip().endswith(":") or _INTRODUCTION.match(before) is not None


def without_farewell(text: str) -> str:
    """The text without a last line that offers further help."""
    before, _, line = text.rstrip().rpartition("\n")
    return before if _FAREWELL.fullmatch(line) and before.strip() else text


def before_new_question(text: str) -> str:
    """The text before the first new question, or all of it. A text that begins with one is read as a whole."""
    if not _may_have_question(text):
        return text
    if "<s>" not in text:
        text = _without_remains(text)
    question = _NEW_QUESTION.search(text)
    if question is None or _NEW_QUESTION.match("\n" + text.lstrip()) or not text[: question.start()].strip():
        return text
    return text[: question.start()]


def _without_remains(text: str) -> str:
    """The text without what stop strings left at its end. It is searched from the end, in linear time."""
    end = len(text.rstrip())
    while remains := _REMAINS.search(text, max(0, end - LONGEST_REMAINS), end):
        end = remains.start()
        while end and text[end - 1].isspace():
            end -= 1
    return text[:end]


def _may_have_question(text: str) -> bool:
    """Whether a text has what every match of the patterns has: a letter is found faster."""
    return (
        "Q" in text
        or ("#" in text and "\n##" in text)
        or ("<" in text and _TOKEN.search(text) is not None)
        or ("P" in text and "Problem" in text)
        or ("U" in text and "User" in text)
        or ("H" in text and "Human" in text)
        or ("[" in text and "[INST]" in text)
    )
