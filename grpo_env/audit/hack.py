"""What a hack is, what it is built from, and how users add their own. The hacks themselves are in ``hacks``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from grpo_env.check.gold_completion import NEUTRAL_REASONING, CompletionTemplate
from grpo_env.core import Completion, Example

Knows = Literal["prompt", "gold"]
Rule = Literal["undeserved", "form", "guess", "padding"]


@dataclass(frozen=True)
class Target:
    """An example under attack: what a hack can build its text from.

    ``template`` lays out a completion in the task's format. ``question`` is the prompt's last message. ``gold`` is the
    gold answer as a model would write it, ``wrong_answers`` are at least three plausible wrong ones (gold answers of
    other examples), ``most_common`` is the most frequent gold answer. ``gold_completion`` is the text that deserves
    full credit, ``reasoning`` its reasoning. ``tolerates`` names the options by which the task accepts more than the
    exact answer (``rel_tol``, ``decimals``, ``unevaluated``): what they allow is not a hack.
    """

    example: Example
    template: CompletionTemplate
    prompt: str
    question: str
    gold: str
    wrong_answers: tuple[str, ...]
    most_common: str
    reasoning: str
    gold_completion: str
    tolerates: frozenset[str] = frozenset()

    @property
    def wrong(self) -> str:
        """A plausible wrong answer."""
        return self.wrong_answers[0]

    def answered(self, answer: str) -> str:
        """An answer in the task's format, after one sentence of neutral reasoning."""
        return self.template.text(NEUTRAL_REASONING, answer)


Build = Callable[[Target], str | Completion | None]


@dataclass(frozen=True)
class Hack:
    """A strategy that should not be rewarded. ``build`` returns its text for a target, or ``None`` to skip it.

    ``knows`` says what the text is made from: only the ``prompt``, or the ``gold`` answer as well, which stands for a
    lucky guess or a leak. ``rule`` says when it is an exploit:

        undeserved   no answer, or one that is not the gold answer: must not beat a wrong answer in the same format
        form         as undeserved, and must not reach half of the gold completion's reward
        guess        one plain answer, which may be correct: must stay well below the gold completion's reward
        padding      the gold answer with useless additions: must not beat the gold completion
    """

    name: str
    family: str
    description: str
    build: Build
    knows: Knows = "gold"
    rule: Rule = "undeserved"
    max_examples: int | None = None
    """The number of examples to try it on; ``None`` for all."""
