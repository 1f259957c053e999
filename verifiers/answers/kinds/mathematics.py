"""Numbers, formulas, sets and tuples: read by ``math.parse``, compared by ``math.compare``.

What makes an answer wrong whatever its value is decided here as well: ``2+2`` for 4, ``4 or 5``, ``not 4``.
"""

from __future__ import annotations

from ..gold import Gold
from ..hedges import hedging, is_relative, unevaluated
from ..math.algebra import UnreadableError
from ..math.compare import compare
from ..math.normal import normal, same_text
from ..math.notation import as_tuple, brackets_may_be_left_out, is_one_of_choices
from ..math.parse import exact_part, parse
from ..math.parsed import Group, ParsedAnswer
from ..math.verdict import Rules, Verdict
from ..quantities.number import Number
from .which_kind import MATHEMATICS, read


class UndecidedError(UnreadableError):
    """The gold answer can only be compared as a text, and the texts differ."""


def same(gold: Gold, text: str, rules: Rules) -> Verdict:
    """The verdict on an answer as it stands.

    Raises ``OverLimitError``, ``DeadlineError``, ``UnreadableError`` for an answer that algebra cannot read, and
    ``UndecidedError``.
    """
    if gold.unreadable or gold.spelling:
        spelling = normal(text)
        if same_text(spelling, gold.spelling or gold.parsed.text):
            return Verdict(True, "the same text")
        if gold.unreadable and not hedging(gold.parsed.text, spelling):
            raise UndecidedError("gold", f"the gold answer: {gold.unreadable}, and the texts differ")
        text = exact_part(spelling)
    answer = read(gold.kind, text, rules.is_fixed)
    assert isinstance(answer, ParsedAnswer)
    if is_relative(gold.parsed.text, answer.text):
        return Verdict(False, "a range")
    if is_one_of_choices(gold.parsed, answer):
        return Verdict(False, "several answers, or a doubt")
    return _compared(gold.parsed, answer, rules)


def _compared(gold: ParsedAnswer, answer: ParsedAnswer, rules: Rules) -> Verdict:
    if rules.brackets == "optional":
        gold, answer = _without_brackets(gold, answer)
    try:
        verdict = compare(gold, answer, rules)
    except UnreadableError:
        if reason := hedging(gold.text, answer.text):
            return Verdict(False, reason)
        raise
    if isinstance(answer.content, Number):
        return verdict
    if verdict.correct:
        not_evaluated = rules.unevaluated == "wrong" and unevaluated(gold, answer)
        return Verdict(False, "not evaluated") if not_evaluated else verdict
    reason = hedging(gold.text, answer.text)
    is_set = reason == "a range" and isinstance(gold.content, Group)  # x > 2 where (1, 2) is right
    return Verdict(False, reason) if reason and not is_set else verdict


def _without_brackets(gold: ParsedAnswer, answer: ParsedAnswer) -> tuple[ParsedAnswer, ParsedAnswer]:
    """``5, 12, 13`` for the tuple ``(5,12,13)``, and ``[2, 3, 5]`` for the set ``2, 3, 5``."""
    if brackets_may_be_left_out(gold):
        assert isinstance(gold.content, Group)
        return gold, as_tuple(answer, gold.content.kind) or answer
    is_list = isinstance(answer.content, Group) and answer.content.kind == "[]" and brackets_may_be_left_out(answer)
    if is_list and (listed := as_tuple(gold, "[]")):
        return listed, answer
    return gold, answer


def several(gold: Gold, answers: tuple[str, ...], rules: Rules) -> Verdict | None:
    """The verdict on several answers that are one together, as the elements of a set; ``None`` if they are not."""
    if gold.kind not in MATHEMATICS or any(isinstance(parse(answer).content, Group) for answer in answers):
        return None
    joined = parse(", ".join(answers))
    if not (isinstance(gold.parsed.content, Group) and isinstance(joined.content, Group)):
        return None
    verdict = compare(gold.parsed, joined, rules)
    return verdict if verdict.correct else None
