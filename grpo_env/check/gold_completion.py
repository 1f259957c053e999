"""Gold answers written out as completions in the task's format, which ``check`` and ``audit`` score."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from inspect import Parameter
from typing import Any

from grpo_env.core import Completion, Example, Finish, Format, Group, Score, Verifier
from grpo_env.environments.replay import CHARACTERS_PER_TOKEN
from grpo_env.errors import UsageError
from grpo_env.taskfile.row_options import RowOptions, class_of
from grpo_env.taskfile.task import Task
from grpo_env.workers.scoring_process import score_in_process

NEUTRAL_REASONING = "I read the question again and work it out."

_CALCULATION = re.compile(r"<<[^<>\n]*>>")
_FINAL_ANSWER = re.compile(r"\s*####[^\n]*\s*$")


@dataclass(frozen=True)
class Layout:
    """Where reasoning and answer stand in a completion: what opens and what closes each of them.

    Without ``reasoning`` the completion is the answer alone.
    """

    answer: tuple[str, str]
    reasoning: tuple[str, str] | None = None
    prefill: str = ""

    @classmethod
    def of(cls, format: Format) -> Layout:
        """That of a task: each block on lines of its own, the answer in a box if it has no tag."""
        reasoning, answer = format.reasoning, format.answer
        return cls(
            (f"<{answer}>\n", f"\n</{answer}>") if answer else (r"\boxed{", "}"),
            (f"<{reasoning}>\n", f"\n</{reasoning}>\n") if reasoning else ("", "\n"),
            format.prefill,
        )

    def text(self, reasoning: str, answer: str) -> str:
        """Reasoning and answer in their places, without what the prefill has already written."""
        before = reasoning.join(self.reasoning) if self.reasoning else ""
        return self.without_prefill(f"{before}{self.answer_block(answer)}")

    def without_prefill(self, text: str) -> str:
        """A whole response as the model continues the prefill."""
        prefill = self.prefill.rstrip()
        return text[len(prefill) :].lstrip("\n") if prefill and text.startswith(prefill) else text

    def answer_block(self, answer: str) -> str:
        """The answer in its place."""
        return answer.join(self.answer)

    def answered(self, answer: str) -> Completion:
        """A completion with an answer, after one sentence of neutral reasoning."""
        return self.completion(self.text(NEUTRAL_REASONING, answer))

    def completion(self, text: str, finish: Finish = "stop") -> Completion:
        """The text as the sampler would return it, with an estimated number of tokens."""
        return Completion(text, finish, len(text) // CHARACTERS_PER_TOKEN + 1, self.prefill)


def scored(task: Task, pairs: Iterable[tuple[Example, Completion]], copies: int = 1) -> list[Score]:
    """The score of each completion by a worker process, in a group of ``copies`` of itself.

    An appeal is heard as in a group that also has a correct completion.
    """
    groups = [Group(example, [completion] * copies) for example, completion in pairs]
    return [task.with_parts(scores[0]) for scores in score_in_process(_heard(task.verifier), groups)]


def _heard(verifier: Verifier) -> Verifier:
    """The verifier with every ``appeal`` in it asking its second part about all wrong completions."""
    from grpo_env.verifiers.compose import Appeal
    from grpo_env.verifiers.parts_and_gates import Composite

    if not isinstance(verifier, Composite):
        return verifier
    parts = tuple(replace(part, verifier=_heard(part.verifier)) for part in verifier.parts)
    return replace(verifier, parts=parts, **({"groups": "all"} if isinstance(verifier, Appeal) else {}))


def metric_scores(task: Task, answers: Iterable[tuple[Example, str]]) -> list[Score]:
    """The metric's score of each answer in the task's format, without running the other parts of the reward."""
    layout = Layout.of(task.format)
    pairs = [(example, layout.answered(answer)) for example, answer in answers]
    return [score.part(task.metric) for score in scored(replace(task, verifier=task.metric_alone), pairs)]


def gold_answer(task: Task, example: Example) -> str | None:
    """The gold answer as a model would write it, or ``None`` if the example has none.

    A worked solution is reduced to the answer that the metric reads from it. Of several accepted answers
    (``golds: any``) it is the first; several that are all required are joined by commas.
    """
    gold = example.answer
    if gold is None or not gold.strip():
        return None
    mode = _golds(task, example)
    if mode != "one":
        golds = accepted_answers(task, example)
        return golds[0] if mode == "any" else ", ".join(golds)
    if "####" not in gold and "\\boxed" not in gold:
        return gold.strip()
    (score,) = scored(task, [(example, Completion(""))])
    return score.part(task.metric).gold


def judging(verifier: Verifier, example: Example) -> Iterator[Verifier]:
    """The verifier and its parts that judge an example, with the options of its row.

    Parts are left out that the row leaves out (``when``), and those that cannot read its gold answer.
    """
    if isinstance(verifier, RowOptions):
        try:
            verifier = verifier.verifier_of(example)
        except UsageError:  # which leaves the example unscored
            return
    yield verifier
    for part in getattr(verifier, "parts", ()):
        if (part.applies is None or part.applies(example)) and part.verifier.problem(example) is None:
            yield from judging(part.verifier, example)


def option(verifier: Verifier, name: str, default: Any = None) -> Any:
    """An option of a verifier, or the template of it that the row fills; ``default`` if it has no such option.

    Of a plain function it is the default of its parameter if the task sets no other.
    """
    if isinstance(verifier, RowOptions):
        value = verifier.options.get(name, getattr(verifier.cls, name, default))
    else:
        value = getattr(verifier, name, default)
    return getattr(class_of(verifier), "defaults", {}).get(name) if value is Parameter.empty else value


def accepted_answers(task: Task, example: Example) -> list[str]:
    """The gold answers of an example that has several (``golds: any`` or ``all``), else none."""
    if _golds(task, example) == "one" or example.answer is None:
        return []
    return [str(answer) for answer in json.loads(example.answer, parse_float=str)]


def _golds(task: Task, example: Example) -> str:
    modes = (option(verifier, "golds", "one") for verifier in judging(task.verifier, example))
    return next((mode for mode in modes if mode != "one"), "one")


def gold_text(task: Task, example: Example, gold: str) -> str:
    """The honest completion: the response in the data if it has one in the task's tags, else one that is written."""
    template = Layout.of(task.format)
    if (response := _tagged_response(task, example, gold)) is not None:
        return template.without_prefill(response)
    return template.text(gold_reasoning(task, example, gold), gold)


def _tagged_response(task: Task, example: Example, gold: str) -> str | None:
    """The longest text column with the gold answer in an answer block, or in a box after a reasoning block."""
    tag = task.format.answer or task.format.reasoning
    if tag is None:
        return None
    blocks = {text: re.findall(f"<{tag}>.*?</{tag}>", text, re.DOTALL) for text in _texts(example)}
    found = [text for text, spans in blocks.items() if len(spans) == 1 and gold in text[text.index(spans[0]) :]]
    return max(found, key=len, default=None)


def _texts(example: Example) -> list[str]:
    """The text columns that are not part of the prompt."""
    prompt = prompt_text(example)
    return [text for text in example.info.values() if isinstance(text, str) and text not in prompt]


def gold_reasoning(task: Task, example: Example, gold: str) -> str:
    """Reasoning for the gold answer: the equations a verifier expects, a worked solution, or a neutral sentence.

    A worked solution is the longest text column that contains the gold answer and is not part of the prompt; of a
    response in the task's tags, what stands in the reasoning block.
    """
    for verifier in judging(task.verifier, example):
        if equations := option(verifier, "written"):  # of equation_steps
            return "\n".join(equations)
    tag = task.format.reasoning
    if (response := _tagged_response(task, example, gold)) is not None:
        block = re.search(f"<{tag}>(.*?)</{tag}>", response, re.DOTALL) if tag else None
        return block[1].strip() if block else NEUTRAL_REASONING
    solutions = [text for text in _texts(example) if gold in text and len(text) > 2 * len(gold) + 10]
    if not solutions:
        return NEUTRAL_REASONING
    return _FINAL_ANSWER.sub("", _CALCULATION.sub("", max(solutions, key=len))).strip() or NEUTRAL_REASONING


def prompt_text(example: Example) -> str:
    """The prompt as one text, messages joined by blank lines."""
    if isinstance(example.prompt, str):
        return example.prompt
    return "\n\n".join(message.content for message in example.prompt)


def question_text(example: Example) -> str:
    """The last message of the prompt, or all of a plain one."""
    return example.prompt if isinstance(example.prompt, str) else example.prompt[-1].content
