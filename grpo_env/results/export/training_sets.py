"""Training sets in TRL's formats: accepted completions, preference pairs, labeled steps.

An episode of several turns is a list of messages with tool calls and their results; its steps are its turns.

Formats: https://huggingface.co/docs/trl/dataset_formats, as TRL 1.16 reads them (stepwise: TRL 1.13).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Any

from grpo_env.core import Turn
from grpo_env.equality import CORRECT, equal
from grpo_env.errors import UsageError
from grpo_env.rows.reader import replace_surrogates

from ..episodes import conversation, has_calls_in_text, told_after, tools_of, turns_of
from ..part_scores import TOTAL, PartScore, named_scores, part_score, total_score
from ..rows import ScoreRow, location, metric_of, prompt_of
from .kinds import Kind, LeftOut


@dataclass(frozen=True)
class Sft(Kind):
    """Accepted completions for rejection fine-tuning, in TRL's prompt-completion format.

    A completion is accepted if its part has at least ``min_value``, it is not truncated, and differs from the earlier
    ones of its prompt.
    """

    part: str | None = None
    """The part that ``min_value`` applies to; default: the task's metric."""
    min_value: float = CORRECT
    """Minimum value of that part."""
    per_prompt: int = 0
    """Maximum number per prompt, best totals first, then in order; 0: all."""

    def __call__(self, rows: Sequence[ScoreRow], left_out: LeftOut) -> Iterator[dict[str, Any]]:
        accepted = [row for row in _trainable(rows, left_out) if self._accepts(row, left_out)]
        if self.per_prompt and len(accepted) > self.per_prompt:
            left_out[f"beyond {self.per_prompt} per prompt"] += len(accepted) - self.per_prompt
            best = nlargest(self.per_prompt, range(len(accepted)), key=lambda index: (_rank(accepted[index]), -index))
            accepted = [accepted[index] for index in sorted(best)]
        for row in accepted:
            yield {"id": row["id"], "prompt": row["prompt"], "completion": _as_prompt(row), **tools_of(row)}

    def _accepts(self, row: ScoreRow, left_out: LeftOut) -> bool:
        name = self.part or metric_of(row)
        score = part_score(row, name)
        if score.value is not None and not _at_least(score.value, self.min_value):
            left_out[f"{name} below {self.min_value:g}"] += 1
            return False
        return _is_scored(name, score, left_out)


@dataclass(frozen=True)
class Dpo(Kind):
    """Preference pairs within groups, in TRL's explicit-prompt format: ``chosen`` has the higher total. No ties."""

    per_prompt: int = 1
    """Maximum number of pairs per prompt, largest difference first: 1 is best against worst; 0: all."""
    part: str | None = None
    """The part that ``min_value`` applies to; default: the task's metric."""
    min_value: float | None = None
    """Minimum value of that part for the chosen completion: 1 requires a correct one."""

    def __call__(self, rows: Sequence[ScoreRow], left_out: LeftOut) -> Iterator[dict[str, Any]]:
        candidates = [row for row in _trainable(rows, left_out) if _is_scored(TOTAL, total_score(row), left_out)]
        paired: set[str] = set()
        for chosen, rejected in self._pairs(candidates):
            if chosen["prompt"] != rejected["prompt"]:
                raise UsageError(f"{location(rejected)}: different prompt than {location(chosen)} of the same group")
            paired |= {_content(chosen), _content(rejected)}
            yield {
                "id": chosen["id"],
                "prompt": chosen["prompt"],
                "chosen": _as_prompt(chosen),
                "rejected": _as_prompt(rejected),
                **tools_of(chosen),
            }
        if len(paired) < len(candidates):
            alone = "in groups of one (score --group COLUMN joins the rows of a prompt)"
            why = "in no pair" if paired else alone if len(rows) == 1 else "in groups without a pair"
            left_out[why] += len(candidates) - len(paired)

    def _pairs(self, candidates: Sequence[ScoreRow]) -> Iterable[tuple[ScoreRow, ScoreRow]]:
        eligible = [row for row in candidates if self._may_be_chosen(row)]
        pairs = (
            (chosen, rejected)
            for chosen in eligible
            for rejected in candidates
            if _rank(chosen) > _rank(rejected) and not equal(_rank(chosen), _rank(rejected))
        )
        if not self.per_prompt:
            return pairs
        return nlargest(self.per_prompt, pairs, key=lambda pair: _rank(pair[0]) - _rank(pair[1]))

    def _may_be_chosen(self, row: ScoreRow) -> bool:
        if self.min_value is None:
            return True
        value = part_score(row, self.part or metric_of(row)).value
        return value is not None and _at_least(value, self.min_value)


@dataclass(frozen=True)
class Prm(Kind):
    """Labeled steps for a process reward model, in TRL's stepwise format: a step is good at ``min_step`` or more.

    A step's text runs from the end of the previous step to its own end, or to the end of its line if no other step
    starts there. So text between two steps belongs to the later one, and text after the last step's line has no label
    and is left out. White space around steps is stripped because the trainer adds its own separator. Steps with the
    same end are one step, good if all of them are. In an episode a step is what the model was told after its last turn,
    followed by the turn; a turn without a label is joined with the next. Chats become their messages' texts with an
    empty line in between, because this format has no chats.
    """

    part: str | None = None
    """The part whose steps to use; default: the only part that has steps."""
    min_step: float = 0.5
    """Minimum value of a good step."""

    def __call__(self, rows: Sequence[ScoreRow], left_out: LeftOut) -> Iterator[dict[str, Any]]:
        for row in _trainable(rows, left_out, as_messages=False):
            score = self._score_with_steps(row)
            if not _is_scored("steps", score, left_out):
                continue
            steps = list(self._labeled_steps(row, score))
            if not steps:
                left_out["without steps"] += 1
                continue
            texts, labels = zip(*steps, strict=True)
            yield {
                "id": row["id"],
                "prompt": _prompt_text(row["prompt"]),
                "completions": list(texts),
                "labels": list(labels),
            }

    def _score_with_steps(self, row: ScoreRow) -> PartScore:
        if self.part:
            return part_score(row, self.part)
        scores = named_scores(row)
        names = [name for name, score in scores.items() if score.steps and name != TOTAL]
        # A composite repeats the steps of its parts, weighted.
        leaves = [name for name in names if not any(other.startswith(f"{name}.") for other in names)]
        if len(leaves) > 1:
            raise UsageError(f"{location(row)}: several parts have steps: {', '.join(leaves)}; choose one with --part")
        return scores[leaves[0]] if leaves else PartScore(0.0, "no_answer")

    def _labeled_steps(self, row: ScoreRow, score: PartScore) -> Iterator[tuple[str, bool]]:
        turns = turns_of(row)
        if turns:
            yield from self._labeled_turns(turns, score)
            return
        text, position, steps = row["text"], 0, score.step_scores()
        starts = sorted(step.start for step in steps)
        labels: dict[int, bool] = {}
        for step in steps:
            if not 0 <= step.start <= step.end <= len(text):
                raise UsageError(f"{location(row)}: a step at [{step.start}, {step.end}) is outside the text")
            end = _end_of_line(text, step.end, starts)
            labels[end] = labels.get(end, True) and _at_least(step.value, self.min_step)
        for end in sorted(labels):
            if step_text := text[position:end].strip():
                yield step_text, labels[end]
                position = end

    def _labeled_turns(self, turns: Sequence[Turn], score: PartScore) -> Iterator[tuple[str, bool]]:
        pieces: list[str] = []
        for turn in turns:
            pieces.append(turn.text)
            values = [step.value for step in score.step_scores() if turn.start < step.end <= turn.end]
            if values:
                yield "\n".join(filter(None, pieces)), all(_at_least(value, self.min_step) for value in values)
                pieces = []
            pieces.append(told_after(turn))


def _at_least(value: float, minimum: float) -> bool:
    return value >= minimum or equal(value, minimum)


def _end_of_line(text: str, end: int, starts: Sequence[int]) -> int:
    """The end of the line of a step that ends at ``end``; ``end`` itself if another step starts before that."""
    newline = text.find("\n", end)
    stop = len(text) if newline < 0 else newline
    following = bisect_left(starts, end)
    return end if following < len(starts) and starts[following] < stop else stop


def _trainable(rows: Sequence[ScoreRow], left_out: LeftOut, as_messages: bool = True) -> Iterator[ScoreRow]:
    """The rows whose text can be trained on, without duplicates; prompts as ``prompt_of`` reads them.

    ``as_messages`` says whether episodes are written as messages, with their calls apart.
    """
    seen = set()
    for row in rows:
        text, prompt = row.get("text"), prompt_of(row)
        if text is None:
            raise UsageError(f"{location(row)}: no text; score the file again without --no-text")
        if row.get("finish_reason") == "length":
            left_out["truncated"] += 1
        elif not prompt:
            left_out["without a prompt"] += 1
        elif any(replace_surrogates(part) != part for part in (row["id"], _content(row), _prompt_text(prompt))):
            left_out["not valid Unicode"] += 1
        elif isinstance(prompt, str) and row.get("turns"):
            left_out["episodes whose prompt is no chat"] += 1
        elif _content(row) in seen:
            left_out["duplicates"] += 1
        elif as_messages and not has_calls_in_text(turns_of(row)):
            left_out["episodes whose calls cannot be told from their texts"] += 1
        else:
            seen.add(_content(row))
            yield {**row, "prompt": prompt}


def _is_scored(name: str, score: PartScore, left_out: LeftOut) -> bool:
    """Whether a score has a value; counts it as left out under its ``name`` if not."""
    if score.value is None:
        left_out[f"{name} unscored ({score.status})"] += 1
    return score.value is not None


def _rank(row: ScoreRow) -> float:
    """The total for sorting. An unscored total sorts last; its completion may still be accepted by a part."""
    return float("-inf" if row["total"] is None else row["total"])


def _prompt_text(prompt: str | list[dict[str, str]]) -> str:
    return prompt if isinstance(prompt, str) else "\n\n".join(message["content"] for message in prompt)


def _as_prompt(row: ScoreRow) -> str | list[dict[str, Any]]:
    """A completion in the form of its prompt, text or chat; the messages of an episode."""
    if isinstance(row["prompt"], str):
        return str(row["text"])
    turns = turns_of(row)
    return conversation(turns) if turns else [{"role": "assistant", "content": row["text"]}]


def _content(row: ScoreRow) -> str:
    """The text of a completion, with what the model was told between its turns."""
    return "\n".join([row["text"], *map(told_after, turns_of(row))])
