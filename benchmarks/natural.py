r"""Verdicts on outputs that models really wrote, with labels by others: ours and those of fourteen other graders.

    python -m venv /tmp/peers && /tmp/peers/bin/pip install -r benchmarks/requirements.txt
    GRPO_ENV_DATA=FOLDER python benchmarks/natural.py --peer-python /tmp/peers/bin/python

The rows are those of ``natural.jsonl`` in ``GRPO_ENV_DATA``, which natural_set.py builds, or of ``--file``: JSON
lines with ``gold``, ``completion``, ``label``, ``source`` and perhaps ``extracted``. Those marked ``doubtful`` are
left out. Each row is scored as written and, if its source names an answer, once more with this answer in
``<answer>``. The sides:

    ours          ``Accuracy()`` with the default format
    inspect       ``match(numeric=True)`` if the gold answer is a number, else ``match()``: does the text end in it?
    math-verify   as it is by default, with the gold answer in dollars and plain: either may be equal
    math-verify+  the same, but told the choices where the gold answer is a letter or yes/no
    trl           ``accuracy_reward`` with the gold answer in dollars
    verl-gsm8k    ``gsm8k.compute_score(method="flexible")``: the last number
    verl-math     ``math_reward.compute_score``: the last box, by Hendrycks' normalised strings
    verl-dapo     ``math_dapo.compute_score``: "Answer: ..." or the last box, in the last 300 characters
    verl-prime    ``prime_math.compute_score``: a box or the end of the text, strings and then sympy
    open-r1       ``accuracy_reward`` with the gold answer in dollars (no package: ``src`` of a clone in PYTHONPATH)
    verifiers     0.4's ``verify_boxed_math_answer``, the ``MathRubric`` of 0.3: the last box, by math-verify
    lm-eval-*     strict-match and flexible-extract of ``tasks/gsm8k/gsm8k.yaml``: ``#### ...``, the last number
    opencompass-* ``Gsm8kEvaluator``: the last number; ``MATHEvaluator("v2")``: a box or "answer is", by strings

Each gets an extracted answer as it reads it: ours in the tag, lm-eval-strict after ``####``, Inspect, math-verify and
those that want the last number bare, the others in a box, without a final period. A verdict is a reward of 1 or not; an
unscored row counts as refused. ``ms`` is the processor time a row, children's included and imports not, of a process
pinned to one core.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import types
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from measured import measure, run

_NUMBER = re.compile(r"[-+]?\$?\d[\d,]*(?:\.\d+)?|[-+]?\.\d+")
_CHOICES = ("ABCDEFGHIJ", "abcdefghij")
READINGS = {"completion": "as written", "extracted": "answer extracted"}


class Verdict(NamedTuple):
    accepted: bool
    answer: str | None = None
    why: str = ""
    rule: str = ""


Verdicts = Iterator[list[Verdict]]
Row = dict[str, Any]


def score_ours(rows: list[Row]) -> Verdicts:
    from grpo_env.core import Completion, Example
    from grpo_env.verifiers.accuracy import Accuracy
    from grpo_env.verifiers.answers.math import algebra

    verifier = Accuracy()
    yield []  # imported
    for number, row in enumerate(rows):
        score = verifier(Example(str(number), answer=row["gold"]), Completion(row["text"]))
        why = score.explanation if score.status == "scored" else f"{score.status}: {score.explanation}"
        yield [Verdict(score.value == 1, score.answer, why, score.rule)]
    algebra.ALGEBRA.worker.close()  # reaped, so that its processor time counts


def score_inspect(rows: list[Row]) -> Verdicts:
    import asyncio

    from inspect_ai.scorer import Target, match

    scorers = {True: match(numeric=True), False: match()}
    loop = asyncio.new_event_loop()
    yield []  # imported
    for row in rows:
        state: Any = SimpleNamespace(output=SimpleNamespace(completion=row["text"]))
        score = loop.run_until_complete(scorers[is_number(row["gold"])](state, Target(row["gold"])))
        yield [Verdict(score is not None and score.value == "C", score and score.answer)]
    loop.close()


def score_math_verify(rows: list[Row], told: bool = False) -> Verdicts:
    import logging

    from math_verify import ExprExtractionConfig, LatexExtractionConfig, StringExtractionConfig, parse, verify

    logging.disable(logging.WARNING)
    default = [LatexExtractionConfig(), ExprExtractionConfig()]
    yield []  # imported
    for row in rows:
        gold, configs = row["gold"], default
        if told and (choices := _choices(gold)):
            configs = [StringExtractionConfig(strings=choices, lowercase=len(gold) > 1)]
        try:
            answer = parse(row["text"], configs)
            accepted = any(verify(parse(written, configs), answer) for written in (f"${gold}$", gold))
        except Exception as error:
            yield [Verdict(False, why=f"raised {type(error).__name__}")]
        else:
            yield [Verdict(accepted, str(answer[-1]) if answer else None)]


def score_trl(rows: list[Row]) -> Verdicts:
    from trl.rewards import accuracy_reward

    return _each(rows, lambda text, gold: accuracy_reward([[{"role": "assistant", "content": text}]], [f"${gold}$"])[0])


def score_open_r1(rows: list[Row]) -> Verdicts:
    from public_rewards import load

    reward = load(_folder("open_r1"), ["rewards.py"]).accuracy_reward
    return _each(rows, lambda text, gold: reward([[{"content": text}]], [f"${gold}$"])[0])


def score_verl(rows: list[Row], module: str) -> Verdicts:
    _without_imports("verl", "verl.utils")
    compute = import_module(f"verl.utils.reward_score.{module}").compute_score
    options = {"method": "flexible"} if module == "gsm8k" else {}

    def paid(text: str, gold: str) -> Any:
        score = compute(text, gold, **options)
        return score["score"] if isinstance(score, dict) else score[0] if isinstance(score, tuple) else score

    return _each(rows, paid)


def score_verifiers(rows: list[Row]) -> Verdicts:
    _without_imports("verifiers", "verifiers.v1", "verifiers.v1.utils")
    sys.modules["verifiers.v1.errors"] = SimpleNamespace(SandboxError=OSError)  # type: ignore[assignment]
    return _each(rows, import_module("verifiers.v1.utils.score").verify_boxed_math_answer)


def score_lm_eval(rows: list[Row], name: str) -> Verdicts:
    import yaml
    from lm_eval.api.metrics import exact_match_hf_evaluate
    from lm_eval.filters.extraction import RegexFilter

    task = yaml.safe_load((_folder("lm_eval") / "tasks/gsm8k/gsm8k.yaml").read_text(encoding="utf-8"))
    (steps,) = (own["filter"] for own in task["filter_list"] if own["name"] == name)
    extract = RegexFilter(**{key: value for key, value in steps[0].items() if key != "function"})
    known = ("ignore_case", "ignore_punctuation", "regexes_to_ignore")
    options = {key: task["metric_list"][0][key] for key in known}

    def paid(text: str, gold: str) -> Any:
        ((answer,),) = extract.apply([[text]], [{}])
        return exact_match_hf_evaluate([answer], [gold], **options)["exact_match"]

    return _each(rows, paid)


def score_opencompass(rows: list[Row], module: str) -> Verdicts:
    _without_imports("opencompass", "opencompass.datasets")
    base = type("Base", (), {"__init__": lambda self, **options: None})
    registry = SimpleNamespace(register_module=lambda *names: lambda registered: registered)
    names = ("ICL_EVALUATORS", "LOAD_DATASET", "TEXT_POSTPROCESSORS")
    for name, members in (
        ("openicl", {"BaseEvaluator": base}),
        ("openicl.icl_evaluator", {"BaseEvaluator": base}),
        ("registry", dict.fromkeys(names, registry)),
        ("utils", {"get_data_path": None}),
        ("datasets.base", {"BaseDataset": base}),
    ):
        sys.modules[f"opencompass.{name}"] = types.ModuleType(name)
        sys.modules[f"opencompass.{name}"].__dict__.update(members)
    own = import_module(f"opencompass.datasets.{module}")
    if module == "math":
        return _each(rows, lambda text, gold: own.MATHEvaluator("v2").is_equiv(own.math_postprocess_v2(text), gold))
    return _each(rows, lambda text, gold: own.Gsm8kEvaluator().is_equal(own.gsm8k_postprocess(text), gold))


def _each(rows: list[Row], paid: Callable[[str, str], Any]) -> Verdicts:
    """The verdicts of a function of text and gold answer; an error refuses."""
    yield []  # imported
    for row in rows:
        try:
            score = paid(row["text"], row["gold"])
        except Exception as error:
            yield [Verdict(False, why=f"raised {type(error).__name__}")]
        else:
            yield [Verdict(bool(score == 1))]


def _folder(package: str) -> Path:
    return Path(find_spec(package).submodule_search_locations[0])  # type: ignore[union-attr,index]


def _without_imports(package: str, *inner: str) -> None:
    """Make packages importable without running what they import, such as a trainer."""
    root = _folder(package)
    for name in (package, *inner):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [str(root.joinpath(*name.split(".")[1:]))]


SIDES = {
    "ours": score_ours,
    "inspect": score_inspect,
    "math-verify": score_math_verify,
    "math-verify+": lambda rows: score_math_verify(rows, told=True),
    "trl": score_trl,
    "verl-gsm8k": lambda rows: score_verl(rows, "gsm8k"),
    "verl-math": lambda rows: score_verl(rows, "math_reward"),
    "verl-dapo": lambda rows: score_verl(rows, "math_dapo"),
    "verl-prime": lambda rows: score_verl(rows, "prime_math"),
    "open-r1": score_open_r1,
    "verifiers": score_verifiers,
    "lm-eval-strict": lambda rows: score_lm_eval(rows, "strict-match"),
    "lm-eval-flexible": lambda rows: score_lm_eval(rows, "flexible-extract"),
    "opencompass-gsm8k": lambda rows: score_opencompass(rows, "gsm8k"),
    "opencompass-math": lambda rows: score_opencompass(rows, "math"),
}


def is_number(gold: str) -> bool:
    return _NUMBER.fullmatch(gold.strip()) is not None


def _choices(gold: str) -> tuple[str, ...]:
    if gold.lower() in ("yes", "no"):
        return ("yes", "no", "Yes", "No")
    return next((tuple(letters) for letters in _CHOICES if len(gold) == 1 and gold in letters), ())


def _lines(path: Path) -> list[Row]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


class Counts(NamedTuple):
    rows: int
    false_positives: int
    false_negatives: int

    @property
    def cells(self) -> list[str]:
        agreed = self.rows - self.false_positives - self.false_negatives
        return [f"{agreed / self.rows:.1%}", f"{self.false_positives:,}", f"{self.false_negatives:,}"]


def count(rows: list[Row], verdicts: list[Verdict]) -> Counts:
    pairs = [(verdict.accepted, row["label"]) for row, verdict in zip(rows, verdicts, strict=True)]
    return Counts(len(pairs), pairs.count((True, False)), pairs.count((False, True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", help="python of the environment with the peers")
    parser.add_argument("--file", type=Path, nargs="+", help="other rows than natural.jsonl")
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES))
    parser.add_argument("--list", action="store_true", help="print every disagreement of ours, and the causes")
    parser.add_argument("--side", nargs=2, metavar=("SIDE", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        side, path = options.side
        measure(SIDES[side](_lines(Path(path))))
        return
    paths = options.file or [Path(os.environ.get("GRPO_ENV_DATA", ".")) / "natural.jsonl"]
    if not paths[0].is_file():
        print(f"skipped: GRPO_ENV_DATA does not name the folder with natural.jsonl, or no {paths[0]}", file=sys.stderr)
        return
    kept = [row for path in paths for row in _lines(path) if not row.get("doubtful")]
    sides = [side for side in options.sides if side == "ours" or options.peer_python]
    results: dict[str, dict[str, list[Verdict]]] = {}
    print("| rows | side | completions | agree with the label | false + | false - | ms |\n" + "|---" * 7 + "|")
    for reading, name in READINGS.items():
        rows = [{**row, "text": row[reading]} for row in kept if row.get(reading) is not None]
        results[name] = {}
        for side in sides if rows else ():
            written = [{**row, "text": _as_read(side, row["text"])} for row in rows] if reading == "extracted" else rows
            result = run_side(side, sys.executable if side == "ours" else options.peer_python, written)
            results[name][side] = verdicts = [Verdict(*verdict) for verdict in result["verdicts"]]
            cells = [name, side, f"{len(rows):,}", *count(rows, verdicts).cells]
            print(f"| {' | '.join(cells)} | {1000 * result['cpu'] / len(rows):.2f} |", flush=True)
    for reading, name in READINGS.items():
        rows = [row for row in kept if row.get(reading) is not None]
        if results[name]:
            _by_source(name, rows, results[name])
            _rules(name, rows, results[name].get("ours", []))
            if options.list:
                _disagreements(reading, rows, results[name].get("ours", []))


def _as_read(side: str, extracted: str) -> str:
    bare = extracted.removeprefix("<answer>").removesuffix("</answer>")
    if side == "lm-eval-strict":
        return f"#### {bare}"
    boxed = side in ("trl", "open-r1", "verifiers", "opencompass-math") or side.startswith("verl")
    return extracted if side == "ours" else rf"\boxed{{{bare.rstrip('.')}}}" if boxed else bare


def run_side(side: str, python: str, rows: list[Row]) -> dict[str, Any]:
    """The ``verdicts`` of a side on rows with ``gold`` and ``text``, in its own process, and its seconds (``cpu``)."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(json.dumps({"gold": row["gold"], "text": row["text"]}) + "\n" for row in rows)
        file.flush()
        return run(__file__, side, python, file.name)


def _by_source(name: str, rows: list[Row], results: dict[str, list[Verdict]]) -> None:
    print(f"\n{name}, agreement in % (false positives, false negatives)\n")
    print(f"| source | rows | {' | '.join(results)} |\n" + "|---" * (2 + len(results)) + "|")
    for source in dict.fromkeys(row["source"] for row in rows):
        places = [place for place, row in enumerate(rows) if row["source"] == source]
        own = [rows[place] for place in places]
        cells = [count(own, [verdicts[place] for place in places]).cells for verdicts in results.values()]
        shown = " | ".join(f"{agreed.rstrip('%')} ({', '.join(wrong)})" for agreed, *wrong in cells)
        print(f"| {source} | {len(places):,} | {shown} |")


def _rules(name: str, rows: list[Row], verdicts: list[Verdict]) -> None:
    """What decided our accepted rows."""
    rules = Counter(
        (verdict.rule, row["label"]) for row, verdict in zip(rows, verdicts, strict=False) if verdict.accepted
    )
    if rules:
        print(f"\n{name}, what decided the rows that ours accepts\n\n| rule | right | wrong |\n|---|---|---|")
        for rule in sorted({rule for rule, _ in rules}, key=lambda rule: -rules[rule, True]):
            print(f"| {rule} | {rules[rule, True]:,} | {rules[rule, False]:,} |")


def _disagreements(reading: str, rows: list[Row], verdicts: list[Verdict]) -> None:
    wrong = [pair for pair in zip(rows, verdicts, strict=False) if pair[0]["label"] != pair[1].accepted]
    print(f"\n{READINGS[reading]}, our disagreements")
    for row, verdict in wrong:
        where = f"{row['source']} {row.get('id', '')}".strip()
        shown = [f"gold {row['gold']!r}", f"label {int(row['label'])}", f"answer {verdict.answer!r}", verdict.why]
        print(f"{where}: {', '.join(shown)} {verdict.rule} | ...{row[reading][-160:]!r}")
    print(f"\n{READINGS[reading]}, our false negatives by cause")
    causes = Counter(_cause(verdict) for row, verdict in wrong if row["label"])
    for cause, number in causes.most_common():
        print(f"{number:,} x {cause}")


def _cause(verdict: Verdict) -> str:
    """The explanation without what is quoted and counted in it, so that like ones are one cause."""
    return re.sub(r"\d+", "0", re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "…", verdict.why))[:100]


if __name__ == "__main__":
    main()
