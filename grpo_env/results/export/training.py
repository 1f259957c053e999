"""Data sets for training in TRL's formats: accepted completions, preference pairs, labelled steps.

Formats: https://huggingface.co/docs/trl/dataset_formats, as TRL 1.16 reads them (stepwise: TRL 1.13).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Any, ClassVar

from grpo_env.errors import UsageError
from grpo_env.files.writer import Column

from ..parts import Verdict, metric, named, prompt, total, valid, verdict, verdicts, where
from ..rows import ScoreRow
from .kinds import Kind, LeftOut

EQUAL = 1e-9  # totals closer than this are a tie, as in trainer/advantages.py
FULL_MARK = 1.0
BOTH = (".jsonl", ".parquet")


@dataclass(frozen=True)
class Sft(Kind):
    """Accepted completions for rejection fine-tuning, in TRL's prompt-completion format.

    Accepted is what has at least ``min_value`` and ``min_total``, ended by itself and is not the same text as an
    earlier one of its prompt.
    """

    part: str | None = None
    """The part that decides; default: the task's metric."""
    min_value: float = FULL_MARK
    """The least value of that part."""
    min_total: float | None = None
    """The least total."""
    per_prompt: int = 0
    """At most so many of a prompt, the best totals first, then the first ones; 0: all."""
    truncated: bool = False
    """Whether completions that were cut off are taken too."""
    suffixes: ClassVar[tuple[str, ...]] = BOTH

    def columns(self, row: Mapping[str, Any]) -> Mapping[str, Column]:
        kind = _form(row)
        return {"id": "text", "prompt": kind, "completion": kind}

    def __call__(self, rows: Sequence[ScoreRow], left_out: LeftOut) -> Iterator[dict[str, Any]]:
        accepted = [row for row in _usable(rows, self.truncated, left_out) if self._accepts(row, left_out)]
        if self.per_prompt and len(accepted) > self.per_prompt:
            left_out[f"beyond {self.per_prompt} of the prompt"] += len(accepted) - self.per_prompt
            best = nlargest(self.per_prompt, range(len(accepted)), key=lambda at: (_known(accepted[at]), -at))
            accepted = [accepted[at] for at in sorted(best)]
        for row in accepted:
            yield {"id": row["id"], "prompt": row["prompt"], "completion": _answer(row, row["text"])}

    def _accepts(self, row: ScoreRow, left_out: LeftOut) -> bool:
        name = self.part or metric(row)
        found = verdict(row, name)
        if found.value is None:
            left_out[f"{name} unscored ({found.status})"] += 1
        elif found.value < self.min_value - EQUAL:
            left_out[f"{name} below {self.min_value:g}"] += 1
        elif self.min_total is not None and not _is_scored(row, left_out):
            return False
        elif self.min_total is not None and _known(row) < self.min_total - EQUAL:
            left_out[f"total below {self.min_total:g}"] += 1
        else:
            return True
        return False


@dataclass(frozen=True)
class Dpo(Kind):
    """Preference pairs within groups, in TRL's explicit-prompt format: ``chosen`` has the higher total. Never a tie."""

    margin: float = 0.0
    """The least difference of the totals."""
    per_prompt: int = 1
    """At most so many pairs of a prompt, the widest first: 1 is best against worst; 0: all."""
    part: str | None = None
    """The part that ``min_value`` is about; default: the task's metric."""
    min_value: float | None = None
    """The least value of that part in the chosen one: 1 for "chosen is right"."""
    truncated: bool = False
    """Whether completions that were cut off are taken too."""
    suffixes: ClassVar[tuple[str, ...]] = BOTH

    def columns(self, row: Mapping[str, Any]) -> Mapping[str, Column]:
        kind = _form(row)
        return {"id": "text", "prompt": kind, "chosen": kind, "rejected": kind}

    def __call__(self, rows: Sequence[ScoreRow], left_out: LeftOut) -> Iterator[dict[str, Any]]:
        usable = [row for row in _usable(rows, self.truncated, left_out) if _is_scored(row, left_out)]
        best = [row for row in usable if self._may_be_chosen(row)]
        pairs: Iterable[tuple[ScoreRow, ScoreRow]]
        pairs = ((chosen, rejected) for chosen in best for rejected in usable if self._prefers(chosen, rejected))
        if self.per_prompt:
            pairs = nlargest(self.per_prompt, pairs, key=lambda pair: _known(pair[0]) - _known(pair[1]))
        used: set[str] = set()
        for pair in pairs:
            used.update(row["text"] for row in pair)
            chosen, rejected = (_answer(row, row["text"]) for row in pair)
            if pair[0]["prompt"] != pair[1]["prompt"]:
                raise UsageError(f"{where(pair[1])}: another prompt than {where(pair[0])}, though they are one group")
            yield {"id": pair[0]["id"], "prompt": pair[0]["prompt"], "chosen": chosen, "rejected": rejected}
        if len(used) < len(usable):
            left_out["in no pair" if used else "in groups without a pair"] += len(usable) - len(used)

    def _prefers(self, chosen: ScoreRow, rejected: ScoreRow) -> bool:
        difference = _known(chosen) - _known(rejected)
        return difference > EQUAL and difference >= self.margin - EQUAL

    def _may_be_chosen(self, row: ScoreRow) -> bool:
        if self.min_value is None:
            return True
        value = verdict(row, self.part or metric(row)).value
        return value is not None and value >= self.min_value - EQUAL


@dataclass(frozen=True)
class Prm(Kind):
    """Steps with labels for a process reward model, in TRL's stepwise format: good is ``min_step`` or more.

    A step's text goes from the end of the step before it to its own end, or to the end of its line where no other
    step begins in it. So what stands between two steps belongs to the later one, and what follows the last one's line
    has no label and is left out. White space around a step is cut, since the trainer puts its separator there. Steps
    with one end are one, good if all are. A chat is given as its messages' texts with empty lines between, since this
    format has no chats.
    """

    part: str | None = None
    """The part whose steps are taken; default: the one that has some."""
    min_step: float = 0.5
    """The least value of a good step."""
    truncated: bool = False
    """Whether completions that were cut off are taken too; their last step may be half a step."""
    suffixes: ClassVar[tuple[str, ...]] = BOTH

    def columns(self, row: Mapping[str, Any]) -> Mapping[str, Column]:
        return {"id": "text", "prompt": "text", "completions": "texts", "labels": "flags"}

    def __call__(self, rows: Sequence[ScoreRow], left_out: LeftOut) -> Iterator[dict[str, Any]]:
        for row in _usable(rows, self.truncated, left_out):
            found = self._steps(row)
            if found.value is None:
                left_out[f"steps unscored ({found.status})"] += 1
                continue
            steps = list(self._labelled(row, found))
            if not steps:
                left_out["no steps"] += 1
                continue
            texts, labels = zip(*steps, strict=True)
            yield {
                "id": row["id"],
                "prompt": _joined(row["prompt"]),
                "completions": list(texts),
                "labels": list(labels),
            }

    def _steps(self, row: ScoreRow) -> Verdict:
        found = verdicts(row)
        if self.part:
            return found[named(row, self.part, found)]
        names = [name for name, each in found.items() if each.steps]
        # A part made of others repeats their steps, weighted.
        leaves = [name for name in names if not any(other.startswith(f"{name}.") for other in names)]
        if len(leaves) > 1:
            raise UsageError(f"{where(row)}: steps of several parts: {', '.join(leaves)}; choose one with --part")
        return found[leaves[0]] if leaves else Verdict(0.0, "no_answer")

    def _labelled(self, row: ScoreRow, found: Verdict) -> Iterator[tuple[str, bool]]:
        text, at = row["text"], 0
        starts = sorted(step["start"] for step in found.steps)
        good: dict[int, bool] = {}
        for step in found.steps:
            if not 0 <= step["start"] <= step["end"] <= len(text):
                raise UsageError(f"{where(row)}: a step is at [{step['start']}, {step['end']}), outside of the text")
            end = _end_of_line(text, step["end"], starts)
            good[end] = good.get(end, True) and step["value"] >= self.min_step - EQUAL
        for end in sorted(good):
            if text[at:end].strip():
                yield text[at:end].strip(), good[end]
                at = end


def _end_of_line(text: str, end: int, starts: Sequence[int]) -> int:
    """Where the line of a step that ends at ``end`` does; ``end`` itself if another step starts before that."""
    newline = text.find("\n", end)
    stop = len(text) if newline < 0 else newline
    following = bisect_left(starts, end)
    return end if following < len(starts) and starts[following] < stop else stop


def _usable(rows: Sequence[ScoreRow], truncated: bool, left_out: LeftOut) -> Iterator[ScoreRow]:
    """The rows whose text can be trained on, the first of those with one text; prompts as ``prompt`` reads them."""
    seen = set()
    for row in rows:
        text, asked = row.get("text"), prompt(row)
        if text is None:
            raise UsageError(f"{where(row)}: the file has no text of it; score again without --no-text")
        if row.get("finish_reason") == "length" and not truncated:
            left_out["truncated"] += 1
        elif not asked:
            left_out["without a prompt"] += 1
        elif any(valid(each) != each for each in (row["id"], text, _joined(asked))):
            left_out["not valid Unicode"] += 1
        elif text in seen:
            left_out["the same text again"] += 1
        else:
            seen.add(text)
            yield {**row, "prompt": asked}


def _is_scored(row: ScoreRow, left_out: LeftOut) -> bool:
    scored = total(row) is not None
    if not scored:
        left_out[f"total unscored ({row['status']})"] += 1
    return scored


def _known(row: ScoreRow) -> float:
    """The total for ordering; an unscored one, which only an accepted part can bring here, comes last."""
    value = total(row)
    return float("-inf") if value is None else value


def _form(row: Mapping[str, Any]) -> Column:
    return "text" if isinstance(row["prompt"], str) else "chat"


def _joined(asked: str | list[dict[str, str]]) -> str:
    return asked if isinstance(asked, str) else "\n\n".join(message["content"] for message in asked)


def _answer(row: ScoreRow, text: str) -> str | list[dict[str, str]]:
    """A completion in the form that its prompt has."""
    return text if isinstance(row["prompt"], str) else [{"role": "assistant", "content": text}]
