"""What the gold answers are, which of them look out of place, and the verifier that suits them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from grpo_env.core import Example
from grpo_env.taskfile.kinds_of_golds import MATHEMATICS, NAMES, PLURALS, counted, main_kind, odd_kinds
from grpo_env.taskfile.schema import VerifierSpec
from grpo_env.taskfile.task import Task, entries
from grpo_env.taskfile.yaml_file import entry_line
from grpo_env.terminal import shortened

from .findings import Finding, warning

EXAMPLES = 3  # of each kind
LISTED = 5  # rows in a finding
LENGTH = 40  # characters of an example
MOST = 0.9  # the fraction of the gold answers that one kind has to be to fix it
JUDGED = "first_of or appeal with a judge reads the rest"

SUITED: dict[str, tuple[str, ...]] = {
    "accuracy": tuple(NAMES),
    "exact_text": ("text", "truth", "choice"),
    "choice": ("choice",),
    "numeric": ("number",),
    "math_verify": MATHEMATICS,
    "json_answer": ("literal",),
}
"""The kinds that a verifier of answers compares as they should be. Of other verifiers nothing is known."""


@dataclass(frozen=True)
class _Golds:
    """Gold answers and the indices of those of each kind, the most frequent kind first."""

    texts: Sequence[str]
    indices: Mapping[str, Sequence[int]]

    @property
    def counts(self) -> dict[str, int]:
        """How many gold answers are of each kind."""
        return {kind: len(rows) for kind, rows in self.indices.items()}

    @property
    def odd_kinds(self) -> list[str]:
        """The kinds that look out of place, the rarest first."""
        return sorted(odd_kinds(self.counts), key=self.counts.__getitem__)

    @property
    def odd(self) -> list[int]:
        """The indices of gold answers that look out of place."""
        return [row for kind in self.odd_kinds for row in self.indices[kind]]

    def described(self) -> str:
        """A line for each kind: its count and examples."""
        lines = []
        for kind, rows in self.indices.items():
            texts = list(dict.fromkeys(_short(self.texts[row]) for row in rows))[:EXAMPLES]
            lines.append(f"{counted(kind, len(rows))}: {' | '.join(texts)}")
        return "\n".join(lines)

    def free_text(self, doubts: Set[int]) -> int:
        """How many are texts, and neither codes (``3-1``, ``10:30``) nor doubtful."""
        from grpo_env.verifiers.answers.kinds.codes import is_code
        from grpo_env.verifiers.answers.kinds.plain_text import plain

        rows = (row for row in self.indices.get("text", ()) if row not in doubts)
        return sum(not is_code(plain(self.texts[row])) for row in rows)


def gold_kinds(
    task: Task, examples: Sequence[Example], texts: Sequence[str], unreadable: int = 0, doubts: Set[int] = frozenset()
) -> tuple[dict[str, str], list[Finding]]:
    """The kinds of gold answers and the verifier to take, as facts; and a finding if some look out of place.

    ``unreadable`` is the number of rows without a usable gold answer, which are not among the examples.
    ``doubts`` are the indices of those of which there is a finding already.
    """
    from grpo_env.verifiers.answers.gold import kind_of_gold

    indices: dict[str, list[int]] = defaultdict(list)
    for index, text in enumerate(texts):
        indices[kind_of_gold(text)].append(index)
    golds = _Golds(texts, dict(sorted(indices.items(), key=lambda item: -len(item[1]))))
    name, spec = task.metric, metric_spec(task)
    used = spec.use or name
    facts = {"kinds": golds.described() + (f"\n{unreadable:,} of no kind (see data)" if unreadable else "")}
    if advice := _advice(used, name, spec, golds):
        facts["advice"] = advice
    decided = used != "accuracy" or _option(spec, "kind") is not None
    if not decided and (free := golds.free_text(doubts)):
        facts["text"] = f"{free:,} of {len(texts):,} gold answers are free text: they are compared as text; {JUDGED}"
    odd = [row for row in golds.odd if row not in doubts]
    return facts, [] if decided or not odd else [_out_of_place(golds, examples, odd)]


def _short(text: str) -> str:
    return shortened(" ".join(text.split()), LENGTH)


def _out_of_place(golds: _Golds, examples: Sequence[Example], rows: Sequence[int]) -> Finding:
    main = main_kind(golds.counts)
    listed = ", ".join(f"{_short(golds.texts[row])!r} ({examples[row].name})" for row in rows[:LISTED])
    more = f" and {len(rows) - LISTED:,} more" if len(rows) > LISTED else ""
    numbers = {kind: len(set(golds.indices[kind]).intersection(rows)) for kind in golds.odd_kinds}
    counts = ", ".join(counted(kind, count) for kind, count in numbers.items() if count)
    others = PLURALS[main or "formula"]
    fix = f"they are not compared as {others}; fix those that should be"
    return warning("kinds", "gold answers", f"{counts} among {others}: {listed}{more}", fix)


def _advice(used: str, name: str, spec: VerifierSpec, golds: _Golds) -> str | None:
    """What to write in the task file, ``None`` if it is right as it is or nothing is known of the verifier."""
    main = main_kind(golds.counts)
    if main is None or used not in SUITED:
        return None
    if used != "accuracy":
        options = {"weight": weight_of(spec)} | ({"kind": main} if main not in MATHEMATICS else {})
        instead = f"{used} is not made for {PLURALS[main]}; with metric: accuracy, this is:"
        return None if main in SUITED[used] else f"{instead}\n  {entry_line('accuracy', options)}"
    is_decided = _option(spec, "kind") is not None or _option(spec, "golds")  # of several only the first is known
    if is_decided or not golds.odd or golds.counts.get(main, 0) < MOST * len(golds.texts):
        return None
    line = entry_line(name, options_of(spec) | {"kind": main})
    return f"kind: {main} refuses gold answers that are none:\n  {line}"


def metric_spec(task: Task) -> VerifierSpec:
    """The entry of the metric, at any depth."""
    return next(spec for _, name, spec in entries(task.spec.verifiers) if name == task.metric)


def _option(spec: VerifierSpec, name: str) -> Any:
    return (spec.model_extra or {}).get(name)


def options_of(spec: VerifierSpec) -> dict[str, Any]:
    """The entry as it is written in the task file."""
    return {"weight": weight_of(spec)} | spec.model_dump(mode="json", by_alias=True, exclude_unset=True)


def weight_of(spec: VerifierSpec) -> Any:
    """The weight to write for a verifier in the place of this one."""
    return spec.model_dump(mode="json", by_alias=True)["weight"] or 1.0
