r"""Build ``recent.jsonl``, rows for natural.py that models of 2024 to 2026 wrote, from seven public repositories.

    git clone https://github.com/HaveFunWithAI/gpqa_diamond_exp && git -C gpqa_diamond_exp checkout 532103b
    git clone https://github.com/kuk/simple-evals-ru && git -C simple-evals-ru checkout 5fb1507
    git clone https://github.com/open-thought/reasoning-gym-eval && git -C reasoning-gym-eval checkout 5f09fec
    git clone https://github.com/LAION-AI/AIW && git -C AIW checkout 4d5d079
    git clone https://github.com/MMMU-Benchmark/MMMU && git -C MMMU checkout bb0b95a
    git clone https://github.com/lamalab-org/chembench-paper && git -C chembench-paper checkout 8fe2291
    git clone https://github.com/arka-ritual/omni-math-rule-ca && git -C omni-math-rule-ca checkout 811748a
    python benchmarks/natural_recent.py gpqa_diamond_exp simple-evals-ru reasoning-gym-eval AIW MMMU chembench-paper \
        omni-math-rule-ca --out FOLDER/recent.jsonl
    python benchmarks/natural.py --file FOLDER/recent.jsonl --sides ours inspect --peer-python /tmp/peers/bin/python

The labels are those of the sources. In gpqa_diamond_exp the answer that it read is the letter where each version of a
question has the right option; MATH in simple-evals-ru was judged by a model. Scores of Reasoning Gym between 0.3 and
0.99 are left out, and numbers within ChemBench's tolerance alone. Of each source 400 right and 400 wrong outputs are
drawn, evenly over its models or data sets, from the files under 4 MiB. ``natural_recent_doubtful.txt`` names by hashes
the rows whose text states no answer, or another one than the label says. They were looked for only where
our verdict was not the label, and rules of ours came from these rows: the figures are not those of unseen outputs.
"""

from __future__ import annotations

import csv
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from natural_set import Row, build, row

DOUBTFUL = Path(__file__).with_name("natural_recent_doubtful.txt")
Strata = Iterator[tuple[tuple[str, ...], Row]]  # the first draws evenly over

SEED, EACH, LARGEST = 7, 400, 4 * 2**20
TASKS = (
    "acre advanced_geometry aiw base_conversion basic_arithmetic bf binary_alternation bitwise_arithmetic "
    "caesar_cipher calendar_arithmetic chain_sum circuit_logic color_cube_rotation complex_arithmetic count_bits "
    "count_primes course_schedule decimal_arithmetic decimal_chain_sum dice family_relationships figlet_font "
    "fraction_simplification gcd gsm_symbolic intermediate_integration isomorphic_strings knights_knaves "
    "largest_island lcm leg_counting letter_counting letter_jumble list_functions needle_haystack number_filtering "
    "number_format number_sequence number_sorting polynomial_equations polynomial_multiplication power_function "
    "prime_factorization products ransom_note rectangle_count rotten_oranges self_reference sentence_reordering "
    "simple_equations simple_geometry simple_integration spell_backward string_insertion string_manipulation syllogism "
    "time_intervals word_sequence_reversal word_sorting zebra_puzzles"
)
OLDER = re.compile("T-one|claude2|galactica|gemma-1|gpt-3|gpt-4$|humans|llama2|log_|mixtral|paper|random")
_MARKUP = re.compile(r"\[/?(?:START|END)_[A-Z]+\]|\\ce\{|\\pu\{|[{}\s$]")


def gpqa_diamond(folder: Path) -> Strata:
    csv.field_size_limit(LARGEST)
    for name in _files(folder, "*.csv"):
        model = name.split("gpqa_diamond_")[1].split("_eval")[0]
        with (folder / name).open(encoding="utf-8", newline="") as lines:
            for item in csv.DictReader(lines):
                for version, gold in enumerate("ABCD", 1):
                    text, answer = item[f"r{version}"], item[f"a{version}"]
                    yield (model,), _row("gpqa_diamond_exp", model, gold, text, answer == gold, answer)


def simple_evals_ru(folder: Path) -> Strata:
    for bench in ("math", "mgsm", "gpqa", "mmlu", "bbh"):
        kind = "math" if bench in ("math", "mgsm") else "choice"
        by = "judge model" if bench == "math" else "published rule"
        golds = {str(e["id"]): e["target"] for e in _lines(folder / f"data/benches/{bench}.jsonl")}
        for name in _files(folder, f"data/results/{bench}/*"):
            model = Path(name).stem
            for e in _lines(folder / name):
                fields = golds[str(e["id"])], e["answer"], e["is_correct"], e["pred"]
                yield (bench, model), _row(f"simple-evals-ru/{kind}", model, *fields, by)


def reasoning_gym(folder: Path) -> Strata:
    root, draws = folder / "reasoninggym-paper-experiments", random.Random(3)
    for name in _files(root, "zero-shot/*/*/*/*.json"):
        model, _, task = name.removesuffix(".json").split("/")[2:]
        for item in _json(root / name)["results"] if task in TASKS.split() else ():
            if len(str(item["expected_answer"])) <= 100:
                one = draws.choice(item["completions"])
                if not 0.3 <= one["score"] < 0.99:
                    yield (task,), _gym("zero-shot", re.sub("_2025.*", "", model), item, one)
    for name in _files(root, "math-evals/**/*"):
        if name.endswith(".jsonl"):
            model, data = name.split("/")[2:5:2]
            for e in _lines(root / name):
                fields = e["gt"], e["code"][0], e["score"][0], e["pred"][0]
                yield (data, model), _row("reasoning-gym-eval/math-evals", model, *fields)
        elif not name.endswith("metrics.json"):
            data, draws = name.split("/")[3], random.Random(5)
            parts = [part for category in _json(root / name)["categories"] for part in category["datasets"]]
            for item in (item for part in parts for item in part["results"]):
                for one in draws.sample(item["completions"], 4):
                    yield (data, "llama-3.2-3b-rg"), _gym("math-evals", "llama-3.2-3b-rg", item, one)


def alice_in_wonderland(folder: Path) -> Strata:
    for name in _files(folder, "collected_responses/**/*.json"):
        if any(part in name for part in ("param", "base_models", "multi_turn")):
            continue
        for e in _json(folder / name):
            if e["right_answer"] != "null":
                model = e["model"].split("/")[-1]
                fields = e["right_answer"], e["model_response"], e["correct"], e["parsed_answer"]
                yield (model,), _row("AIW", model, *fields)


def mmmu_pro(folder: Path) -> Strata:
    for name in _files(folder, "mmmu-pro/output/*"):
        model = "gpt-4o/" + name.split("gpt-4o_")[-1].removesuffix(".jsonl")
        for e in _lines(folder / name):
            yield (model,), _row("MMMU-Pro", model, e["answer"], e["response"], e["if_right"], e["pred_indexs"])


def chem_bench(folder: Path) -> Strata:
    root, draws = folder / "src/data/chem-bench-main/reports", random.Random(11)
    models: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for name in _files(root, "*/**/reports/**/*.json"):
        models[name.split("/")[0]]["preference" in name].append(name)
    for model in [model for model in models if not OLDER.search(model)]:
        for number, names in zip((420, 40), models[model], strict=True):
            for name in draws.sample(names, min(number, len(names))):
                item = _json(root / name)[0]
                judged = (_choice if isinstance(item["targets_"], dict) else _measure)(item)
                if judged and not item["triggered_refusal"]:
                    (kind, gold, label), read = judged, item["parsed_output"]
                    answer = ", ".join(map(str, read)) if isinstance(read, list) else read
                    yield (kind, model), _row("chembench-paper", model, gold, item["output"]["text"], label, answer)


def _choice(item: Row) -> tuple[str, str, bool] | None:
    """The letters of the options whose target is 1; none if an option counts in part or its target is not found."""
    targets = {_MARKUP.sub("", option): float(target) for option, target in item["targets_"].items()}
    options = re.findall(r"^\s*([A-Z])[.)] (.*)$", item["prompt"], re.M)
    found = {letter: targets.get(_MARKUP.sub("", option)) for letter, option in options}
    gold = [letter for letter, target in found.items() if target]
    kind, label = "multi" if len(gold) > 1 else "mc", item["metrics"].get("hamming") == 0
    return (kind, ", ".join(gold), label) if gold and {*found.values()} <= {0, 1} else None


def _measure(item: Row) -> tuple[str, str, bool] | None:
    """A number, and whether the one that was read is the same; none if it is so within the tolerance alone."""
    try:
        gold, answer = float(item["targets_"]), float(item["parsed_output"])
    except (TypeError, ValueError):
        return None
    error = abs(answer - gold) / (abs(gold) or 1)
    text = str(item["targets_"]).removesuffix(".0")
    return None if 1e-9 < error < 0.01 else ("num", text, error <= 1e-9)


def omni_math(folder: Path) -> Strata:
    for name in _files(folder, "evaluation/output/**/*.jsonl"):
        for e in _lines(folder / name) if not re.search("BACKUP|[/_]test", name) else ():
            model, plain = name.split("/")[2], "model_generation" in e
            own = (e["model_generation"], e["score"], e["pred"]) if plain else (e["code"], e["score"][0], e["pred"][0])
            yield (model,), _row("omni-math-rule-ca", model, e["answer"], *own)


READERS = (gpqa_diamond, simple_evals_ru, reasoning_gym, alice_in_wonderland, mmmu_pro, chem_bench, omni_math)


def drawn(found: Strata) -> Iterator[Row]:
    """Of each source as many right as wrong rows, each once, by turns from its strata."""
    sources: dict[str, dict[bool, dict[Any, list[Row]]]] = {}
    seen = set()
    for stratum, one in found:
        key = (one["source"], one["model"], one["gold"], one["completion"])
        if key not in seen and one["gold"].strip() and one["completion"].strip():
            seen.add(key)
            labels = sources.setdefault(one["source"], {True: defaultdict(list), False: defaultdict(list)})
            labels[one["label"]][stratum].append(one)
    for labels in sources.values():
        draws = random.Random(SEED)
        for strata in labels.values():
            for rows in strata.values():
                draws.shuffle(rows)
            order = sorted(strata)
            draws.shuffle(order)
            turns = zip_longest(*(reversed(strata[stratum]) for stratum in order))
            yield from islice((one for turn in turns for one in turn if one), EACH)


def _row(
    source: str, model: str, gold: Any, text: Any, label: Any, read: Any = None, by: str = "published rule"
) -> Row:
    text, answer = text if isinstance(text, str) else "", "" if read is None else str(read).strip()
    return {**row(source, str(gold), text, bool(label), by, answer or None), "model": model}


def _gym(kind: str, model: str, item: Row, one: Row) -> Row:
    fields = item["expected_answer"], one["full_model_response"], one["score"] >= 0.99, one["model_answer"]
    return _row(f"reasoning-gym-eval/{kind}", model, *fields)


def _files(folder: Path, pattern: str) -> list[str]:
    """Names in the folder, in the order of git."""
    paths = {path for path in folder.glob(pattern) if path.is_file() and path.stat().st_size < LARGEST}
    return sorted(path.relative_to(folder).as_posix() for path in paths)


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _lines(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


if __name__ == "__main__":
    build(__doc__, READERS, drawn, DOUBTFUL, "recent.jsonl")
