"""A language model as judge of a group: it sees all completions of a prompt, and scores them beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import ClassVar, NamedTuple

from grpo_env.core import Completion, Example, Group, GroupVerifier, Score, Status
from grpo_env.endpoint import Reply
from grpo_env.errors import UsageError
from grpo_env.registry import verifier

from .blocks import whole_turn
from .llm_judge import LONGEST_COMPLETION, Judge, Verdict, is_unreadable
from .llm_judge_prompt import Question, ranking_question, read_scores

DEFAULT_RUBRIC = """\
- A reply that does what the request asks for has a clearly higher score than one that does not.
- Of two that do, the one without detours has the higher score.
- Small differences in quality are small differences in score, and large ones large.
- A reply that comes part of the way gets part of the credit."""


NOT_ASKED = Verdict((), "scored", "")


class _Asked(NamedTuple):
    """A score for each completion of a group, ``None`` where the judge is asked; their texts; and the question."""

    scores: list[Score | None]
    texts: list[str]
    replies: list[str]
    question: Question | None


@verifier("llm_ranking")
@dataclass(frozen=True)
class LLMRanking(Judge, GroupVerifier):
    """The score from 0 to 1 that a language model gives to each completion of a group, seeing all of them at once.

    It sees the question (the last user message), the gold answer (if there is one) and the completions, equal ones
    once. An empty completion scores 0 (``no_answer``), one longer than ``max_chars`` as well (``over_limit``), and the
    judge does not see them. Without a usable reply the group is unscored (``error``). Texts, replies, cache and limits
    are as in ``llm_judge``.

    A score compares completions of one group, so a mean over a file says little. No gold answer or rule is needed,
    which is the risk too: what pleases the judge is paid.

    Source: RULER, OpenPipe's ART (``src/art/rewards/ruler.py``).
    """

    rubric: str = DEFAULT_RUBRIC
    """What makes a reply better than another."""

    late_status: ClassVar[Status] = "error"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.rubric.strip():
            raise UsageError("rubric: the text is empty; omit it for a general one")

    def group(self, example: Example, completions: Sequence[Completion]) -> list[Score]:
        return self.score_groups([Group(example, completions)])[0]

    def score_groups(self, groups: Sequence[Group]) -> list[list[Score]]:
        asked = [self._asked(group) for group in groups]
        verdicts = self.verdicts([one.question for one in asked if one.question is not None])
        rows = []
        for group, one in zip(groups, asked, strict=True):
            value, status, why = verdicts[one.question.hash] if one.question else NOT_ASKED
            values = dict(zip(one.replies, value or (), strict=False))
            rows.append(
                [
                    score or Score(values.get(text), status, gold=group.example.answer, explanation=why)
                    for score, text in zip(one.scores, one.texts, strict=True)
                ]
            )
        return rows

    def _asked(self, group: Group) -> _Asked:
        known, unasked = self.asked(group.example)
        texts = [whole_turn(self.format, completion)[0] for completion in group.completions]
        scores = [unasked or self._without_judge(text) for text in texts]
        replies = {text for text, score in zip(texts, scores, strict=True) if score is None}
        ordered = sorted(replies, key=lambda text: sha256(text.encode(errors="replace")).digest())
        return _Asked(scores, texts, ordered, ranking_question(self.rubric, known, ordered) if ordered else None)

    def _without_judge(self, text: str) -> Score | None:
        limit = self.max_chars or LONGEST_COMPLETION
        if is_unreadable(text):
            return Score(0.0, "no_answer", explanation="the completion is empty")
        if len(text) > limit:
            return Score(0.0, "over_limit", explanation=f"{len(text)} characters, of at most {limit}")
        return None

    def read(self, question: Question, reply: Reply) -> tuple[float, ...] | None:
        return read_scores(reply.text, question.mark, question.numbers)
