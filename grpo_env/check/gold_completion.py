"""A task's right answers as an obedient model would write them: the yardstick of ``check`` and ``audit``."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from grpo_env.core import Completion, Example, Finish, Format, score_one
from grpo_env.taskfile.task import Task

NEUTRAL = "I read the question again and work it out."
CHARACTERS_OF_A_TOKEN = 4  # so that verifiers of length have something to count

_MARK = re.compile(r"<<[^<>\n]*>>")
_HASHES = re.compile(r"\s*####[^\n]*\s*$")


@dataclass(frozen=True)
class Form:
    """How a completion is laid out: blocks in the format's tags, on lines of their own; a box where it names no answer
    tag."""

    format: Format

    def text(self, reasoning: str, answer: str) -> str:
        """Reasoning and answer in the task's form, without what the prefill has written already."""
        whole = f"{self.reasoned(reasoning)}{self.answered(answer)}"
        written = self.format.prefill.rstrip()
        return whole[len(written) :].lstrip("\n") if written and whole.startswith(written) else whole

    def reasoned(self, reasoning: str) -> str:
        """The reasoning in its block, with a line end."""
        tag = self.format.reasoning
        return f"<{tag}>\n{reasoning}\n</{tag}>\n" if tag else f"{reasoning}\n"

    def answered(self, answer: str) -> str:
        """The answer in its block."""
        tag = self.format.answer
        return f"<{tag}>\n{answer}\n</{tag}>" if tag else f"\\boxed{{{answer}}}"

    def completion(self, text: str, finish: Finish = "stop") -> Completion:
        """The text as the sampler would hand it over, its tokens guessed from its length."""
        return Completion(text, finish, len(text) // CHARACTERS_OF_A_TOKEN + 1, self.format.prefill)


def written_gold(task: Task, example: Example) -> str | None:
    """The gold answer as a model would give it, or ``None`` where the data has none.

    A worked solution is reduced to the answer that the verdict reads from it; of several accepted answers
    (``golds: any``) the first is written, of several that are all needed, all.
    """
    gold = example.answer
    if gold is None or not gold.strip():
        return None
    kind = next((found for one in task.verifier.within() if (found := getattr(one, "golds", "one")) != "one"), "one")
    if kind != "one":
        golds = [str(one) for one in json.loads(gold, parse_float=str)]
        return golds[0] if kind == "any" else ", ".join(golds)
    if "####" not in gold and "\\boxed" not in gold:
        return gold.strip()
    return score_one(task.verifier, example, Completion("")).part(task.metric).gold


def worked(task: Task, example: Example, gold: str) -> str:
    """Honest reasoning: the equations that a verifier expects, the row's worked solution, or a neutral sentence.

    A worked solution is the longest text column that has the gold answer in it and is no part of the prompt.
    """
    for one in task.verifier.within():
        column = getattr(one, "expected", None)
        if isinstance(column, str) and isinstance(example.info.get(column), list | tuple):
            return "\n".join(map(str, example.info[column]))
    prompt = prompt_text(example)
    texts = [
        text
        for text in example.info.values()
        if isinstance(text, str) and gold in text and len(text) > 2 * len(gold) + 10 and text not in prompt
    ]
    if not texts:
        return NEUTRAL
    return _HASHES.sub("", _MARK.sub("", max(texts, key=len))).strip() or NEUTRAL


def prompt_text(example: Example) -> str:
    """The prompt as one text, messages joined by blank lines."""
    if isinstance(example.prompt, str):
        return example.prompt
    return "\n\n".join(message.content for message in example.prompt)
