r"""Verdicts per second and agreement with known labels: our ``accuracy`` and TRL's ``accuracy_reward``.

    python -m venv /tmp/peers && /tmp/peers/bin/pip install -r benchmarks/requirements.txt
    GRPO_ENV_DATA=FOLDER python benchmarks/verdicts.py --peer-python /tmp/peers/bin/python

Both get the same rows in the same order (the first three sets only if ``GRPO_ENV_DATA`` names a folder with them):

    gsm8k    the 5,276 completions of gsm8k_model_solutions.jsonl, labelled by their authors' ``is_correct``
    prose    the same completions without that line and GSM8K's marks of calculations, so that no mark names the answer
    groups   the 800 completions of math_groups.jsonl (``harness_correct``, not always right)
    latex    the 2,400 completions of latex_set.py, true by construction
    cases    the boxed answers in the table of our own tests, which states *our* policy

Each side gets what it can read. TRL reads boxes, and LaTeX in dollars after words like "the answer is", so it gets
GSM8K's last line ``A: 18`` as ``A: \boxed{18}``, and the gold answers of the other sets in dollars. It is called as its
trainer calls it, with one list per group. Ours gets the original text. With ``--math-verify`` our verifier of that name
is measured too, in both of its modes, on TRL's completions and the bare gold answers.

Every measurement is a new process pinned to one core (with its algebra worker) and without cached results. The time
runs from the first verdict to the last, without imports. TRL and math-verify compile their regular expressions when
they are imported, this library when they are first used, so its own are compiled before the time runs as well. ``CPU
s`` is the processor time of the same span (of the algebra worker from its start to its end), which a busy machine does
not change; ``total s`` is the time of the process, including start and imports. With ``--repeat`` the sides take turns
and the fastest run counts.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
import latex_set
from measured import measure, run

MODELS = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")
_MARK = re.compile(r"<<[^<>]*>>")  # <<9*2=18>>
_A_LINE = re.compile(r"^(\s*A:\s*)(.*\S)\s*\Z", re.MULTILINE)


class Group(NamedTuple):
    """Completions for one gold answer, as each side gets them, with their labels."""

    id: str
    gold: str
    completions: list[str]
    labels: list[bool]
    peer_gold: str
    peer_completions: list[str]


def gsm8k(data: Path) -> Iterator[Group]:
    for number, row in enumerate(_lines(data / "gsm8k_model_solutions.jsonl"), 1):
        gold = row["ground_truth"].rpartition("A:")[2].strip()
        texts = [row[model]["solution"] for model in MODELS]
        boxed = [_A_LINE.sub(lambda match: rf"{match[1]}\boxed{{{match[2]}}}", text) for text in texts]
        yield Group(f"gsm8k-{number}", gold, texts, [row[model]["is_correct"] for model in MODELS], gold, boxed)


def prose(data: Path) -> Iterator[Group]:
    for group in gsm8k(data):
        texts = [_MARK.sub("", text.rpartition("\nA:")[0]).strip() for text in group.completions]
        kept = [(text, label) for text, label in zip(texts, group.labels, strict=True) if text]
        texts = [text + "." if text[-1].isalnum() else text for text, _ in kept]
        labels = [label for _, label in kept]
        yield Group(group.id.replace("gsm8k", "prose"), group.gold, texts, labels, f"${group.gold}$", texts)


def groups(data: Path) -> Iterator[Group]:
    for row in _lines(data / "math_groups.jsonl"):
        gold, texts = row["answer"], row["completions"]
        yield Group(f"groups-{row['idx']}", gold, texts, row["harness_correct"], f"${gold}$", texts)


def latex(data: Path) -> Iterator[Group]:
    for row in latex_set.rows():
        gold, texts = row["gold"], row["completions"]
        yield Group(row["id"], gold, texts, row["correct"], f"${gold}$", texts)


def cases(data: Path) -> Iterator[Group]:
    tables = Path(__file__).parent.parent / "tests/verifiers/cases"
    for folder in ("kinds", "rejected", "rules", "sources"):
        for table in sorted((tables / folder).glob("*.jsonl")):
            for number, row in enumerate(_lines(table), 1):
                right = [row["completion"]] if folder != "rejected" else []
                texts = [text.removeprefix("<think>work</think>\n") for text in (*right, *row.get("rejected", ()))]
                texts = [text for text in texts if text.startswith(r"It is $\boxed") and not row.get("options")]
                if texts:
                    name, gold = f"cases-{folder}-{table.stem}-{number}", row["gold"]
                    yield Group(name, gold, texts, [bool(right)] * len(texts), f"${gold}$", texts)


SETS = {"gsm8k": gsm8k, "prose": prose, "groups": groups, "latex": latex, "cases": cases}
FROM_DATA = ("gsm8k", "prose", "groups")


def _lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def score_ours(groups: list[Group]) -> Iterator[list[tuple[float | None, Any]]]:
    from grpo_env.core import Completion, Example, Format
    from grpo_env.verifiers.accuracy import Accuracy
    from grpo_env.verifiers.answers.math import algebra

    verifier = Accuracy(format=Format(reasoning=None, answer=None))
    _compile_patterns()
    yield []  # imported
    for group in groups:
        example = Example(group.id, answer=group.gold)
        scores = [verifier(example, Completion(text)) for text in group.completions]
        yield [(score.value, score.explanation) for score in scores]
    algebra.ALGEBRA.worker.close()  # reaped, so that its processor time counts


def _compile_patterns() -> None:
    """Compile the regular expressions of this library, which are else compiled when they are first used."""
    from grpo_env.lazy_regex import lazy_compile

    for pattern in gc.get_objects():
        if type(pattern) is type(lazy_compile("")):
            pattern.search("")


def score_trl(groups: list[Group]) -> Iterator[list[tuple[float | None, Any]]]:
    from trl.rewards import accuracy_reward

    yield []  # imported
    for group in groups:
        chats = [[{"role": "assistant", "content": text}] for text in group.peer_completions]
        try:
            rewards = accuracy_reward(chats, [group.peer_gold] * len(chats))
        except Exception as error:  # some answers make the whole batch fail
            yield [(None, f"raised {type(error).__name__}")] * len(chats)
        else:
            yield [(reward, "") for reward in rewards]


def score_math_verify(extraction: str, groups: list[Group]) -> Iterator[list[tuple[float | None, Any]]]:
    from grpo_env.core import Completion, Example
    from grpo_env.verifiers import math_verify

    verifier = math_verify.MathVerify(extraction=extraction)
    yield []  # imported
    for group in groups:
        scores = [verifier(Example("", answer=group.gold), Completion(text)) for text in group.peer_completions]
        yield [(score.value, score.explanation) for score in scores]
    math_verify.WORKER.close()  # reaped, so that its processor time counts


MODES = {f"math_verify, {mode}": partial(score_math_verify, mode) for mode in ("boxed", "any")}
SIDES = {"ours": score_ours, "trl": score_trl, **MODES}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", help="python of the environment with benchmarks/requirements.txt")
    parser.add_argument("--math-verify", action="store_true", help="measure our verifier math_verify as well")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="print every disagreement")
    parser.add_argument("--side", nargs=2, metavar=("SIDE", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        side, path = options.side
        measure(SIDES[side]([Group(**row) for row in _lines(Path(path))]))
        return
    data = Path(os.environ.get("GRPO_ENV_DATA", "."))
    pythons = {"ours": sys.executable} | ({"trl": options.peer_python} if options.peer_python else {})
    pythons |= dict.fromkeys(MODES if options.math_verify else (), sys.executable)
    print(
        "| set | completions | side | verdicts/s | CPU s | total s | agree with the label | false + | false - | none |"
    )
    print("|---" * 10 + "|")
    disagreements = []
    for name in options.sets:
        if name in FROM_DATA and "GRPO_ENV_DATA" not in os.environ:
            print(f"{name}: skipped, GRPO_ENV_DATA does not name the folder with its file", file=sys.stderr)
            continue
        rows = list(SETS[name](data))
        best: dict[str, dict[str, Any]] = {}
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
            file.writelines(json.dumps(row._asdict()) + "\n" for row in rows)
            file.flush()
            for _ in range(options.repeat):
                for side, python in pythons.items():
                    result = run(__file__, side, python, file.name)
                    best[side] = min(result, best.get(side, result), key=lambda measured: measured["cpu"])
        labels = [label for row in rows for label in row.labels]
        for side, result in best.items():
            print(_table_row(name, side, result, labels))
        if "trl" in best:
            times = [best["trl"][key] / best["ours"][key] for key in ("seconds", "cpu")]
            print(f"| {name} | | ours : trl | {times[0]:.0f} x | {times[1]:.0f} x | | | | | |")
        disagreements += list(_disagreements(rows, best))
    if options.list:
        print()
        for line in disagreements:
            print(line)


def _table_row(name: str, side: str, result: dict[str, Any], labels: list[bool]) -> str:
    values = [value for value, _ in result["verdicts"]]
    pairs = list(zip(values, labels, strict=True))
    agree = sum(value is not None and (value == 1) == label for value, label in pairs)
    false_positives = sum(value == 1 and not label for value, label in pairs)
    false_negatives = sum(value == 0 and label for value, label in pairs)
    cells = [
        name,
        f"{len(values):,}",
        side,
        f"{len(values) / result['seconds']:,.0f}",
        f"{result['cpu']:.2f}",
        f"{result['total']:.1f}",
        f"{agree:,} ({agree / len(values):.2%})",
        *map(str, (false_positives, false_negatives, values.count(None))),
    ]
    return f"| {' | '.join(cells)} |"


def _disagreements(rows: list[Group], results: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Every completion whose label and verdicts differ, with our verifier's explanation."""
    names = [(row, index) for row in rows for index in range(len(row.completions))]
    for number, (row, index) in enumerate(names):
        values = {side: result["verdicts"][number][0] for side, result in results.items()}
        if any(value is None or (value == 1) != row.labels[index] for value in values.values()):
            verdicts = ", ".join(f"{side} {'-' if value is None else int(value)}" for side, value in values.items())
            why = results["ours"]["verdicts"][number][1]
            print_gold = row.gold if len(row.gold) < 60 else row.gold[:57] + "..."
            yield f"{row.id}[{index}] gold {print_gold!r}: label {int(row.labels[index])}, {verdicts}; {why}"


if __name__ == "__main__":
    main()
