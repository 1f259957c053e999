r"""Which text of a completion is its final answer.

Only what the model writes *after* its reasoning counts:

    reasoning block closed        the text after it (a lone ``</think>`` closes what a template opened)
    reasoning block not closed    no answer
    no reasoning tag at all       the whole text

In that text the first of these sources that is present decides; a task may name fewer of them, or another order:

    answer_tag     ``<answer>18</answer>``; inside it any of the next four, else all of its content
    boxed          ``\boxed{18}``, ``\boxed 18``, ``\fbox{18}``; a box that is not closed: no answer
    hashes         ``#### 18`` with a number or at the end of the text, on a line of its own or not
    phrase         "The answer is 18.", "Final answer: $18$", "The correct option is (C)."
    a_line         ``A: 18``, ``Ans: 18``; "La respuesta es 18.", "Ответ: 18"
    last_line      if it is a short answer by itself, contains one bold ``**18**`` or one piece of code, or ends in its
                   only italic text; or all of a text of one or two sentences that begins with yes or no; or the
                   answer field of a JSON object; or a conclusion in another language
    last_number    the last number of the text, whatever it says: only if a task names it

A source yields all answers that it names, in order and without repetitions of the same text. Several different
answers are no answer; the caller decides that. One that follows an explicit correction replaces those before it, and
what follows a new question is not read (see ``corrections.replaced`` and ``new_question``). An answer that a weaker
source names later is added to them, and contradicts them if it differs (see ``later``), and so is one that corrects
them or stands beside them (see ``corrections``). An answer that is denied (``not \boxed{4}``, ``\boxed{4} is wrong``)
is not accepted. If no source is present, ``accuracy`` reads what the last sentence concludes: see ``closing``. Every
search is linear in the length of the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from grpo_env.core import Completion, Format

from ...blocks import find_tags, whole_turn
from ..languages.foreign_text import uses_commas, uses_other_language
from .answer_tag import from_answer_tags, not_mentioned
from .boxed import EMPTY
from .conclusions import values_at_end
from .corrections import replaced
from .extracted import ALL_SOURCES, SOURCES, ExtractedAnswer, Source, is_value, unit_behind
from .last_number import last_number
from .later import IN_TEXT, answer_in, visible, with_later_answers
from .new_question import before_new_question, has_new_question

__all__ = [
    "ALL_SOURCES",
    "SOURCES",
    "ExtractedAnswer",
    "Source",
    "after_reasoning",
    "answer_in",
    "final_answer",
    "uses_commas",
    "uses_other_language",
    "values_at_end",
]


def final_answer(format: Format, completion: Completion, sources: Sequence[Source] = SOURCES) -> ExtractedAnswer:
    """The final answer of a completion, by the rules of ``accuracy``: see ``grpo_env.verifiers.answers.extract``.

    ``answers`` of the result are the different answers that the completion names as its last; several are none.
    ``sources`` may be fewer than all, or in another order.
    """
    text = after_reasoning(format, completion)
    if text is None:
        return ExtractedAnswer((), "reasoning", "the reasoning block is not closed")
    if has_new_question(text):
        text = before_new_question(text, partial(_stated, format, sources))
    answer = _answer(format, text, sources)
    if answer and (answer.denied or len(answer.answers) > 1):
        answer = replaced(text, answer, partial(_stated, format, sources)) or answer
    if answer:
        is_marked = answer.source == "last_line" and answer.end and not answer.is_all
        return answer._replace(text=text, unit=unit_behind(text, answer.end) if is_marked else answer.unit)
    return ExtractedAnswer((), "none", "no final answer in the text", text=text)


def _stated(format: Format, sources: Sequence[Source], text: str) -> ExtractedAnswer | None:
    """The answer that a text states, by a source other than its last line."""
    return _answer(format, text, [source for source in sources if source not in ("last_line", "last_number")])


def _answer(format: Format, text: str, sources: Sequence[Source]) -> ExtractedAnswer | None:
    """The answer by the first source that is present, with what follows it."""
    empty: ExtractedAnswer | None = None
    for source in sources:
        if source == "answer_tag":
            tags = not_mentioned(text, find_tags(text, format.answer)) if format.answer else []
            extracted = from_answer_tags(text, tags, sources) if tags else None
        else:
            extracted = IN_TEXT[source](text)
        if extracted is None or (source == "last_line" and _is_sentence(extracted, sources)):
            continue
        if source == "boxed" and extracted.reason == EMPTY:  # "Put the answer in \boxed{}."
            empty = extracted
        elif not (empty and source in ("last_line", "last_number")):
            return with_later_answers(extracted, text, sources)
    return empty


def after_reasoning(format: Format, completion: Completion) -> str | None:
    """What follows the reasoning: all of the text if it has no reasoning tag, ``None`` if the block is not closed."""
    text = visible(whole_turn(format, completion)[0])
    tags = find_tags(text, format.reasoning) if format.reasoning else []
    if tags and not tags[-1].closing:
        return None
    return text[tags[-1].end :] if tags else text


def _is_sentence(line: ExtractedAnswer, sources: Sequence[Source]) -> bool:
    """Whether the last line is words with a number in them, where the task reads the last number."""
    if "last_number" not in sources or not line.answers:
        return False
    return (line.is_all or not is_value(line.answers[0])) and last_number(line.answers[0]) is not None
