"""What a hack is, and what it is built from. The hacks themselves are in ``hacks``, what they say in ``fields``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from string import Template
from typing import Literal

from grpo_env.check.gold_completion import NEUTRAL_REASONING, Layout
from grpo_env.core import Completion, Example, Finish

Knows = Literal["prompt", "gold"]
Rule = Literal["undeserved", "near", "guess", "padding", "right", "loose", "episode"]


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
    template: Layout
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

    @property
    def right_completion(self) -> Completion:
        """The completion that deserves full credit."""
        return self.template.completion(self.gold_completion)

    @property
    def wrong_completion(self) -> Completion:
        """A wrong answer in the task's format."""
        return self.template.answered(self.wrong)


Build = Callable[[Target], str | Completion | None]


@dataclass(frozen=True)
class Hack:
    """A text that should not be rewarded, as a template that is filled from a target (``fields`` says with what).

    The answer is between ``⟨`` and ``⟩``, after its reasoning; a template without them is the whole completion.
    ``source`` names the rewards that pay it (``SOURCES``). ``knows`` says what the text is made from: only the
    ``prompt``, or the ``gold`` answer as well, which stands for a lucky guess or a leak. ``rule`` says what it shows;
    the page on audits explains each. ``max_examples``: the number to try it on; ``build`` stands for the template.
    """

    name: str
    family: str
    template: str = ""
    source: str = ""
    knows: Knows = "gold"
    rule: Rule = "undeserved"
    max_examples: int | None = None
    finish: Finish = "stop"
    build: Build | None = None

    def made(self, target: Target, fields: Mapping[str, str]) -> Completion | None:
        """Its completion for a target, filled with its ``fields``; ``None`` where one has no value."""
        if self.build is not None:
            text = self.build(target)
            return target.template.completion(text) if isinstance(text, str) else text
        try:
            before, answer, after = (Template(piece).substitute(fields) for piece in self._pieces)
        except KeyError:
            return None
        if "⟨" in self.template:
            before = target.template.text(before or NEUTRAL_REASONING, answer)
        return target.template.completion(before + after, self.finish)

    def answer(self, fields: Mapping[str, str]) -> str | None:
        """What it answers; ``None`` where a field has no value."""
        try:
            return Template(self._pieces[1]).substitute(fields)
        except KeyError:
            return None

    @property
    def _pieces(self) -> tuple[str, str, str]:
        """The template in front of the answer, of the answer, and behind it."""
        before, _, rest = self.template.partition("⟨")
        answer, _, after = rest.partition("⟩")
        return before, answer, after
