"""Compares the completions of one prompt: do they agree on an answer?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import ClassVar

from grpo_env.core import Case, Completion, Example, Format, GroupVerifier, Score
from grpo_env.registry import verifier
from grpo_env.workers.killable_worker import START_TIMEOUT

from .answer_text import MAX_SHOWN, check_rel_tol, check_timeout, shown
from .answers.decide import decide
from .answers.extract import final_answer
from .answers.extract.result import ExtractedAnswer
from .answers.gold import Gold
from .answers.hedges import unevaluated
from .answers.kinds.plain_text import plain
from .answers.kinds.which_kind import kind_of, read
from .answers.math.algebra import DeadlineError, TimeLimit, UnreadableError
from .answers.math.normal import squeezed
from .answers.math.parse import parse
from .answers.math.parsed import Formula, Group, ParsedAnswer
from .answers.math.verdict import Rules
from .answers.quantities.number import OverLimitError

MAX_ANSWERS = 20  # of one completion; more are no answer
MAX_COMPARED = 32  # spellings of a group, those with most votes, that are compared by value
MAX_DEADLINES = 2  # comparisons of a group that may reach their deadline; then only numbers are compared

_AS_IT_STANDS = ExtractedAnswer((), "text")
_ANYTHING = ParsedAnswer("x", Formula("x"))  # stands for the unknown gold answer in asking for an evaluated answer


@verifier("majority")
@dataclass(frozen=True)
class Majority(GroupVerifier):
    """1 if the final answer is the one that most completions of the prompt give, else 0. It needs no gold answer.

    Two final answers are equal if ``accuracy`` accepts one of them where the other one is the gold answer. A
    completion without an answer (``no_answer``) or with an unevaluated one (``2+2``) has no vote and scores 0. An
    answer wins if at least two completions give it and no other has as many votes; in a tie all score 0. A prompt with
    a single completion is unscored. A gate (``when``) would remove votes: to reward only well-formed completions, put
    ``strict_format`` and ``majority`` under ``all_of``.

    The vote rewards what the model is most confident of, in the end perhaps the same answer to every prompt. Watch
    ``accuracy`` on some prompts that have gold answers.

    Source: TTRL (Zuo et al. 2025, arXiv:2504.16084); self-consistency (Wang et al. 2022, arXiv:2203.11171).
    """

    format: Format = field(default_factory=Format)
    rel_tol: float | None = None
    """Numbers within this relative tolerance (below 1) are equal; by default only the same values are."""
    timeout: float = 1.0
    """Seconds that computer algebra may take to compare two answers."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case(("18", r"\boxed{18}", "<answer>17</answer>"), (1.0, 1.0, 0.0), "two votes for 18, one for 17"),
        Case((r"\boxed{\frac12}", "0.5", "2", "-1"), (1.0, 1.0, 0.0, 0.0), "answers are counted by value"),
        Case(("18", "<think>\n18", "18"), (1.0, 0.0, 1.0), "a completion without an answer has no vote"),
        Case(("18", "17", "18", "17", "5"), (0.0,) * 5, "a tie: two votes each"),
        Case(("18", "17"), (0.0, 0.0), "no majority of one vote"),
        Case(
            ("18", r"not \boxed{18}", r"\boxed{18} or \boxed{17}"),
            (0.0,) * 3,
            "no vote for denied or several answers",
        ),
        Case(("9*2", "9*2", "18"), (0.0,) * 3, "a repeated question is not an answer"),
        Case(("2024-05-01", "May 1, 2024", "2024-06-01"), (1.0, 1.0, 0.0), "dates"),
        Case("18", None, "a single completion"),
    )

    def __post_init__(self) -> None:
        check_rel_tol("majority", self.rel_tol)
        check_timeout("majority", self.timeout)

    @property
    def default_deadline(self) -> float:
        return 2 * START_TIMEOUT + 20 * self.timeout  # computer algebra may start twice

    def group(self, example: Example, completions: Sequence[Completion]) -> Sequence[Score]:
        if len(completions) < 2:
            return [Score(None, "not_applicable", explanation="a vote needs two completions") for _ in completions]
        equal = _Equality(self.rel_tol, self.timeout)
        scores, votes = zip(*(self._vote(completion, equal) for completion in completions), strict=True)
        answers = {_spelling(answer): answer for answer in votes if answer is not None}
        counts = Counter(_spelling(answer) for answer in votes if answer is not None)
        winner, agreeing, why = _elect(counts, answers, equal)
        gold = answers[winner].text[:MAX_SHOWN] if winner is not None else None
        return [
            replace(score, gold=gold)
            if answer is None
            else replace(score, value=float(_spelling(answer) in agreeing), gold=gold, explanation=why)
            for score, answer in zip(scores, votes, strict=True)
        ]

    def _vote(self, completion: Completion, equal: _Equality) -> tuple[Score, Gold | None]:
        """A completion's score if it has no vote, and the answer that it votes for, if any."""
        final = final_answer(self.format, completion)
        score = Score(0.0, answer=shown(final.answers[:MAX_ANSWERS]))
        if not final.answers:
            return replace(score, status="no_answer", explanation=final.reason), None
        if final.denied:
            return replace(score, explanation="the text denies the answer"), None
        several = replace(score, explanation=f"{len(final.answers)} different answers")
        if len(final.answers) > MAX_ANSWERS:
            return several, None
        try:
            answers = list(map(_read, final.answers))
            evaluated = [answer for answer in answers if not _is_unevaluated(answer)]
            if not evaluated:
                return replace(score, explanation="the answer is not evaluated"), None
            if all(equal(evaluated[0], answer) for answer in answers):
                return score, evaluated[0]
            text = ", ".join(final.answers)
            joined = parse(text)
        except OverLimitError as error:
            return replace(score, status="over_limit", explanation=str(error)), None
        return (score, Gold(text, joined, "set")) if isinstance(joined.content, Group) else (several, None)


class _Equality:
    """Whether ``accuracy`` takes two answers as equal. After too many deadlines only numbers are compared by value."""

    def __init__(self, rel_tol: float | None, timeout: float) -> None:
        self._rules = Rules(rel_tol=rel_tol, time=TimeLimit(timeout))
        self._deadlines = 0

    def __call__(self, one: Gold, other: Gold) -> bool:
        return self._accepts(one, other) or self._accepts(other, one)

    def _accepts(self, gold: Gold, answer: Gold) -> bool:
        if self._deadlines >= MAX_DEADLINES and {gold.kind, answer.kind} != {"number"}:
            return _spelling(gold) == _spelling(answer)
        try:
            return decide(gold, answer.text, _AS_IT_STANDS, self._rules).correct
        except DeadlineError:
            self._deadlines += 1
        except (OverLimitError, UnreadableError):
            pass
        return False


def _elect(
    counts: Mapping[str, int], answers: Mapping[str, Gold], equal: _Equality
) -> tuple[str | None, set[str], str]:
    """The spelling that wins, the spellings equal to it, and why. The order of the completions plays no part."""
    by_votes = sorted(counts, key=lambda spelling: (-counts[spelling], spelling))
    agreeing = {spelling: {spelling} for spelling in by_votes}
    for one, other in combinations(by_votes[:MAX_COMPARED], 2):
        if equal(answers[one], answers[other]):
            agreeing[one].add(other)
            agreeing[other].add(one)
    votes = {spelling: sum(counts[other] for other in agreeing[spelling]) for spelling in by_votes}
    most = max(votes.values(), default=0)
    first, *rivals = (spelling for spelling in by_votes if votes[spelling] == most) if votes else (None,)
    if first is None or most < 2:
        return None, set(), "no majority: no two completions agree"
    if any(rival not in agreeing[first] for rival in rivals):
        return None, set(), f"no majority: a tie with {most} votes each"
    return first, agreeing[first], f"{most} of {sum(counts.values())} votes are for {first[:80]}"


def _read(text: str) -> Gold:
    """An answer as the gold answer of the others."""
    kind = kind_of(text)
    return Gold(text, read(kind, text, False), kind)


def _is_unevaluated(answer: Gold) -> bool:
    return answer.kind not in ("date", "literal") and unevaluated(_ANYTHING, parse(answer.text))


def _spelling(answer: Gold) -> str:
    return squeezed(answer.parsed.text) if isinstance(answer.answer, ParsedAnswer) else plain(answer.text)
