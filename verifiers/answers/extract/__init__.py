r"""Which text of a completion is its final answer.

Only what the model writes *after* its reasoning counts:

    reasoning block closed        the text after it (a lone ``</think>`` closes what a template opened)
    reasoning block not closed    no answer
    no reasoning tag at all       the whole text

What follows an invented question (``Question:``, ``User:``) is not read. In the rest the first of these sources that is
present decides; a task may name fewer of them, or another order:

    answer_tag     ``<answer>18</answer>``; inside it any of the next four, else all of its content;
                   a number that stands or is stated in front of it is an answer as well
    boxed          ``\boxed{18}``, ``\boxed 18``, ``\fbox{18}``; a box that is not closed: no answer
    json           the answer field of a JSON object, anywhere in the text
    hashes         ``#### 18`` with a number or at the end of the text, on a line of its own or not
    phrase         "The answer is 18.", "Final answer: $18$", ``A: 18``, "The correct option is (C)."
    last_line      the last line, if it is short or has one bold or coded part; or the number, letter or name in it
    last_number    the last number of the text, whatever it says: only if a task names it

Where the gold answer is a choice, only letters are candidates and the last one that is stated decides. Otherwise a
source yields all answers that it names; several different answers are no answer, and neither is one that is denied
(``not \boxed{4}``) or contradicted behind it (see ``after``). Every search is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from grpo_env.core import Completion, Format
from grpo_env.lazy_regex import lazy_compile

from ...blocks import after_block, find_tags, whole_turn
from .after import with_later_answers
from .boxed import EMPTY, boxed
from .ending import before_new_question, repeats_question, without_farewell
from .hashes import hashes
from .json_field import json_field
from .last_choice import letter_at_end, only_letter, truth_at_end
from .last_line import last_line, text_at_end
from .last_number import last_number
from .last_sentence import name_at_end, number_at_end, numbers_at_end
from .result import MAX_LENGTH, SOURCES, ExtractedAnswer, Source, extracted, is_number, unit_behind
from .stated import stated, statements
from .tags import from_answer_tags, other_tags

Read = Callable[[str], ExtractedAnswer | None]
IN_TEXT: dict[Source, Read] = {
    "boxed": boxed,
    "json": json_field,
    "hashes": hashes,
    "phrase": stated,
    "last_line": last_line,
    "last_number": last_number,
}
"""The sources that need no tags."""

AT_END: dict[str | None, Read] = {
    "number": number_at_end,
    "set": numbers_at_end,
    "text": text_at_end,
    "date": name_at_end,
    "choice": letter_at_end,
    "truth": truth_at_end,
}
"""What reads a longer last line, by the kind of the gold answer."""

MARKS: dict[Source, str] = {
    "answer_tag": "in <{tag}> tags",
    "boxed": r"in \boxed{{}}",
    "phrase": 'after "The answer is"',
    "hashes": "after ####",
    "json": 'in a field "answer" of JSON',
    "last_line": "alone on the last line",
    "last_number": "in digits",
}
"""Where an answer of each source stands, for messages, which name the first three of a task's sources."""

_INVISIBLE = lazy_compile("[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_MARKED = lazy_compile(r"\\(?:boxed|fbox)|####|\{\s?\"|\b(?:the )?(?:final )?answer\b", re.IGNORECASE)
_CHANNELS = (("<|channel>thought", "<channel|>"), ("<|channel|>analysis", "<|channel|>final<|message|>"))
_JOINS = lazy_compile(
    r"\A(?:[\s$*]|\\[(\[]|either\b)+|(?:[\s$*,.;:<>]|\\[)\]]|\b(?:or|and|so|then)\b)+\Z", re.IGNORECASE
)
# {"answer": "A"} or {"answer": "B"} (easy-problems-that-llms-get-wrong), \boxed{A} and \boxed{B} (Rereading-LLM)
_EITHER = lazy_compile(
    r"[}>]\W{0,3}\bor\b\W{0,3}(?=[{<])|\\(?:boxed|fbox)\s?\{(?:[^{}\n]|\{[^{}\n]*\}){1,60}\}[^.!?\n]{1,60}\\(?:boxed|fbox)"
)
_MULTIPLE = lazy_compile(r"\d[A-Za-z]\Z")  # "so the area is 4K = \boxed{28}" (MATH), which are no kelvins
_FENCE = lazy_compile(r"\s*(```|\"\"\")[a-z0-9+#]{0,12}[ \t]*\n((?:(?!\1).)*)\1\s*", re.DOTALL)


def final_answer(
    format: Format,
    completion: Completion,
    sources: Sequence[Source] = SOURCES,
    accepts: Callable[[str], bool] | None = None,
    kind: str | None = None,
) -> ExtractedAnswer:
    """The final answer of a completion. ``answers`` of the result are the different ones that it names as its last.

    Where the gold answer is an option's letter or yes or no, ``accepts`` says which texts are one: a source without any
    is passed over, and the last one decides. ``kind`` is that of the gold answer: where it is a number, the last
    line may be a sentence with one number, and where it is a text or a date, one that names something.
    """
    text = after_reasoning(format, completion)
    if text is None:
        return ExtractedAnswer((), "reasoning", "the reasoning block is not closed")
    before = before_new_question(text)
    found = _found(format, before, sources, accepts, kind)
    if found.source in ("none", "last_line") and before != text and repeats_question(before):
        found = _found(format, text, sources, accepts, kind)
    return found


def _found(
    format: Format, text: str, sources: Sequence[Source], accepts: Callable[[str], bool] | None, kind: str | None
) -> ExtractedAnswer:
    """The final answer of a text behind the reasoning, with what follows it."""
    text = without_farewell(text)
    at_end = AT_END.get(kind)
    accepted = _last_accepted(format, text, sources, accepts, at_end) if accepts else None
    answer = accepted or _answer(format, text, sources, None if accepts else at_end)
    if answer is None:
        places = f"write it {_places(format, sources)}" if text.strip() else "there is no text"
        return ExtractedAnswer((), "none", f"no answer found: {places}", text=text)
    answers, source, reason, denied, end, unit, _ = answer
    if source == "last_line" and end:
        unit = unit_behind(text, end)
    elif source == "last_line" and len(sources) > 1 and not accepted:
        reason = f"all of the last line was compared, since no answer is {_places(format, sources)}"
    return ExtractedAnswer(answers, source, reason, denied, end, unit, text)


def _places(format: Format, sources: Sequence[Source]) -> str:
    """Where sources expect the answer, in words: ``in <answer> tags, in \\boxed{} or after "The answer is"``."""
    *places, last = [MARKS[source].format(tag=format.answer or "answer") for source in MARKS if source in sources][:3]
    return f"{', '.join(places)} or {last}" if places else last


def _answer(format: Format, text: str, sources: Sequence[Source], at_end: Read | None) -> ExtractedAnswer | None:
    """The answer by the first source that is present, with what follows it."""
    empty: ExtractedAnswer | None = None
    for source in sources:
        answer = _in_tags(format, text, sources) if source == "answer_tag" else IN_TEXT[source](text)
        if source == "last_line" and at_end and not (answer and answer.end):
            answer = at_end(text) or answer
        if answer is None:
            continue
        if source == "boxed" and answer.reason == EMPTY:  # "Put the answer in \boxed{}."
            empty = answer
        elif not (empty and source in ("last_line", "last_number")):
            return with_later_answers(answer, text, sources)
    return empty


def _last_accepted(
    format: Format, text: str, sources: Sequence[Source], accepts: Callable[[str], bool], at_end: Read | None
) -> ExtractedAnswer | None:
    """The last text that is accepted, by the first source that has one."""
    for source in sources:
        if source == "last_line" and at_end:
            answer = at_end(text)
        else:
            answer = _with_accepted(format, text, source, sources, accepts)
        if answer is None or (not answer.answers and answer.reason == EMPTY):
            continue
        accepted = [one for one in answer.answers if accepts(one)]
        if not accepted and answer.answers:
            if source == "answer_tag":
                return None
            continue
        if len(accepted) > 1 and _EITHER.search(text):
            return answer
        is_only = len(accepted) == len(answer.answers)
        is_last = is_only or (source != "answer_tag" and accepted[-1] == answer.answers[-1])
        if not accepted or (source in ("answer_tag", "boxed") and not is_last):
            return answer  # \\boxed{C} \\boxed{42}
        return with_later_answers(answer._replace(answers=(accepted[-1],)), text, sources, accepts)
    return None


def _with_accepted(
    format: Format, text: str, source: Source, sources: Sequence[Source], accepts: Callable[[str], bool]
) -> ExtractedAnswer | None:
    """What a source has, with regard to the texts that are accepted: of phrases the last of them."""
    if source == "phrase":
        stated = [(only_letter(answer) or answer, end) for answer, end in statements(text)[0]]
        found = [(answer, end) for answer, end in stated if accepts(answer)]
        return extracted([found[-1][0]], source, end=found[-1][1]) if found else None
    if source == "answer_tag":
        return _in_tags(format, text, sources, accepts)
    return IN_TEXT[source](text)


def _in_tags(
    format: Format, text: str, sources: Sequence[Source], accepts: Callable[[str], bool] | None = None
) -> ExtractedAnswer | None:
    tag = format.answer or "answer"
    tags = find_tags(text, tag) if f"{tag}>" in text else []
    if not tags:
        return other_tags(text)

    def read(inner: str) -> ExtractedAnswer:
        if accepts and accepts(inner):  # as it stands: in ``A: 36`` the letter is no marker
            return extracted([inner], "answer_tag")
        return answer_in(inner, sources)

    return from_answer_tags(text, tags, read) or other_tags(text)


def answer_in(text: str, sources: Sequence[Source] = SOURCES) -> ExtractedAnswer:
    """The answer in a text that is nothing but an answer, such as the content of an answer tag or a gold answer.

    A number in front of a marked answer is an answer as well: ``31 \\boxed{28}`` names two.
    """
    text = visible(text)
    for source in sources:
        if source not in ("answer_tag", "last_line", "last_number") and (answer := IN_TEXT[source](text)):
            if answer.answers and (before := _numbers_before(text, answer)):
                answer = answer._replace(answers=tuple(dict.fromkeys([*before, *answer.answers])))
            return with_later_answers(answer, text, sources)
    if ("```" in text or '"""' in text) and (fence := _FENCE.fullmatch(text)):
        text = fence[2].strip()
    return extracted([text], "text")


def _numbers_before(text: str, answer: ExtractedAnswer) -> list[str]:
    """The numbers that stand or are stated in front of the first mark: ``31``, ``x = 31 =``, "The answer is 31." """
    said = stated(text)
    found = []
    for one in (text, *(said.answers if said else ())):
        before = _MARKED.split(one, maxsplit=1)[0]
        near = _JOINS.sub("", before[-MAX_LENGTH:])
        if near.endswith("="):
            near = near.rstrip("= ").rpartition("=")[2].strip()
        elif len(before) > MAX_LENGTH:
            continue
        if near and is_number(near) and not _MULTIPLE.search(near):
            found.append(near)
    return found


def visible(text: str) -> str:
    """The text without marks that have no width: byte order marks, directions, soft hyphens and the like."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def after_reasoning(format: Format, completion: Completion) -> str | None:
    """What follows the reasoning: all of the text if it has no reasoning tag, ``None`` if the block is not closed.

    Where it is a channel (raw tokens of Gemma 4 and gpt-oss), the text after the last one.
    """
    text = visible(whole_turn(format, completion)[0])
    for start, end in _CHANNELS if "channel" in text else ():
        text = text.rpartition(end)[2]
        if start in text:
            return None
    return after_block(text, format.reasoning)
