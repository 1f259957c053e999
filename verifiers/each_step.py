"""Any verifier for each step of a completion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import ClassVar, NamedTuple

from grpo_env.core import BatchVerifier, Case, Completion, Example, Group, Score, Status, StepScore, Verifier
from grpo_env.errors import UsageError
from grpo_env.plural import counted
from grpo_env.registry import verifier

from .parts_and_gates import Unweighted, composite_score, needs_whole, unscored_composite
from .steps import MAX_STEPS, Segmented

MAX_CHARACTERS = 5_000_000  # that the part reads of a completion, with the context of each step


class _Cut(NamedTuple):
    """The steps of a completion as its part reads them, with their spans; or the score of a completion without any."""

    pieces: tuple[Completion, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    score: Score | None = None


@verifier("each_step")
@dataclass(frozen=True)
class EachStep(Segmented, Unweighted):
    """The mean of what its one part gives to each step, with that as the step's score.

    Steps are those of the reasoning block if there is one, else of the whole text, split by ``segments``. The part
    reads a step as if it were the whole turn, and may not count tokens; with ``context: true`` the turn before the step
    is its prefill. Without steps the status is ``no_answer``, beyond 1,000 steps or 5,000,000 characters to read it is
    ``over_limit``. A step that the part leaves unscored makes the whole unscored. The part's ``deadline`` is for all
    steps of a completion together.

    Source: rewards at the ends of steps are those of DeepSeekMath (arXiv:2402.03300, 4.1.3). Who labels a step of
    PRM800K (arXiv:2305.20050) has read what comes before it.
    """

    context: bool = False
    """Whether the part also reads what the turn has before the step."""

    reads_turns: ClassVar[bool] = False
    keeps_status: ClassVar[bool] = True
    cases: ClassVar[tuple[Case, ...]] = (
        Case("<think>\nAdd 3 to 4.\nSeven\n</think>\n7", 0.625, "a line of four words and one of one word",
             options={"of": {"short": {"use": "target_length", "unit": "word", "target": 4}}}),
        Case("We add:\n\\[\n3 + 4 = 7\n\\]\nSo 8 = 7 + 2", 0.5, "a display belongs to the line that announces it",
             options={"of": {"equation_steps": {}}}),
        Case("<step>3+4=7</step> hm <step>7+2=8</step>", 0.0, "1 for the right step, -1 for the wrong one",
             options={"segments": "<step>", "of": {"equation_steps": {"values": {"right": 1, "wrong": -1}}}}),
        Case("no step in tags", 0.0, "no step", options={"segments": "<step>", "of": {"equation_steps": {}}}),
        Case("so 4\nor 5", None, "the part needs a gold answer", options={"of": {"accuracy": {}}}),
    )  # fmt: skip

    def __post_init__(self) -> None:
        Unweighted.__post_init__(self)
        Segmented.__post_init__(self)
        if len(self.parts) != 1:
            raise UsageError(f"each_step: needs one part, which scores each step, not {len(self.parts)}")
        (part,) = self.parts
        if part.on != "last":
            raise UsageError(f"verifier {part.name!r}: each step is a text of its own: it has no turns ('on')")
        if what := needs_whole(part.verifier):
            raise UsageError(f"verifier {part.name!r}: each step is a text of its own: {what} has no steps")
        object.__setattr__(self, "late_status", part.verifier.late_status)

    def named_parts(self) -> Iterator[tuple[str, Verifier, float | None]]:
        return iter(())  # a deadline is that of a completion, and the part reads steps

    @property
    def default_deadline(self) -> float:
        (part,) = self.parts
        return part.deadline or part.verifier.default_deadline

    def __call__(self, example: Example, completion: Completion) -> Score:
        return self._scores([Group(example, (completion,))])[0][0]

    def score_groups(self, groups: Sequence[Group]) -> list[list[Score]]:
        if any(isinstance(inner, BatchVerifier) for inner in self.walk()):
            return self._scores(groups)
        return Verifier.score_groups(self, groups)

    def _scores(self, groups: Sequence[Group]) -> list[list[Score]]:
        cuts = [[self._cut(completion) for completion in group.completions] for group in groups]
        asked = [
            Group(group.example, tuple(piece for cut in row for piece in cut.pieces))
            for group, row in zip(groups, cuts, strict=True)
        ]
        scores = (score for row in self.parts[0].score(asked) for score in row)
        return [[cut.score or self._folded(cut, [next(scores) for _ in cut.pieces]) for cut in row] for row in cuts]

    def _cut(self, completion: Completion) -> _Cut:
        text, steps, offset = self.steps_in(completion, MAX_STEPS)
        if not steps:
            return self._without("no_answer", "no steps")
        if len(steps) > MAX_STEPS:
            return self._without("over_limit", f"more than {MAX_STEPS} steps")
        starts = [0 if self.context else first for first, _ in steps]
        if sum(last - start for start, (_, last) in zip(starts, steps, strict=True)) > MAX_CHARACTERS:
            return self._without("over_limit", f"the part would read more than {MAX_CHARACTERS} characters")
        bare = replace(completion, num_tokens=None, token_ids=None, turns=())
        pieces = tuple(
            replace(bare, text=text[first:last], prefill=text[start:first])
            for start, (first, last) in zip(starts, steps, strict=True)
        )
        return _Cut(pieces, tuple((max(first - offset, 0), last - offset) for first, last in steps))

    def _without(self, status: Status, why: str) -> _Cut:
        score = Score(0.0, status, explanation=why)
        return _Cut(score=replace(score, parts=(self.parts[0].label(score),)))

    def _folded(self, cut: _Cut, scores: Sequence[Score]) -> Score:
        (part,) = self.parts
        missing = next((score for score in scores if not score.scored), None)
        if missing is not None:
            return unscored_composite(missing, (replace(missing, parts=()),))
        steps = tuple(
            StepScore(first, last, score.value or 0.0, score.explanation)
            for (first, last), score in zip(cut.spans, scores, strict=True)
        )
        value = fsum(step.value for step in steps) / len(steps)
        mean = Score(value, explanation=f"mean of {counted(len(steps), 'step')}", steps=steps)
        return composite_score(value, (part.label(mean),), mean.explanation, steps)
