r"""Build ``unseen.jsonl``, rows for natural.py from which no rule of ours comes, from seven public repositories.

    git clone https://github.com/iiis-ai/cumulative-reasoning && git -C cumulative-reasoning checkout 26c939b
    git clone https://github.com/suzgunmirac/BIG-Bench-Hard && git -C BIG-Bench-Hard checkout 9ee07bd
    git clone https://github.com/TIGER-AI-Lab/MMLU-Pro && git -C MMLU-Pro checkout f418b11
    git clone https://github.com/AGI-Edgerunners/Plan-and-Solve-Prompting
    git -C Plan-and-Solve-Prompting checkout 9d5a176
    git clone https://github.com/yale-nlp/FinanceMath && git -C FinanceMath checkout bdddc58
    git clone https://github.com/facebookresearch/cruxeval && git -C cruxeval checkout 190faf1
    git clone https://github.com/wenhuchen/TableCoT && git -C TableCoT checkout a907177
    python benchmarks/natural_unseen.py cumulative-reasoning BIG-Bench-Hard MMLU-Pro Plan-and-Solve-Prompting \
        FinanceMath cruxeval TableCoT --out FOLDER/unseen.jsonl
    python benchmarks/natural.py --file FOLDER/unseen.jsonl --sides ours inspect --peer-python /tmp/peers/bin/python

The labels are those of the sources: their field for it; ``pred`` is the answer (MMLU-Pro); what stands behind "the
answer is" is the gold answer (BIG-Bench Hard, whose published accuracies that gives), or the same without case,
punctuation and articles (TableCoT); execution (CRUXEval). Rows that are right within FinanceMath's tolerance alone are
left out. A reader yields groups, each with the number of rows that are drawn from it, half of them right if there are
as many. ``natural_unseen_doubtful.txt`` names by hashes the rows whose text states no answer, or another one than the
label says.
"""

from __future__ import annotations

import json
import random
import re
import string
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from natural_set import Row, build, row

DOUBTFUL = Path(__file__).with_name("natural_unseen_doubtful.txt")
Groups = Iterator[tuple[int, list[Row]]]

SEED = 20261128
MODELS = (
    *("Mistral-7B-Instruct-v0.2", "gemini-1.5-flash-002", "Phi-3-mini-4k-instruct", "Llama-2-7b-hf"),
    *("c4ai-command-r-v01", "Meta-Llama-3_1-8B-Instruct", "Qwen1.5-72B-Chat", "DeepSeek-Coder-V2", "mathstral-7B"),
    *("Yi-6b-Chat", "jamba-1.5-large", "Meta-Llama-3-70B"),
)
TABLES = ("response_s0_e1000_cot_davinci_23_16_13.json", "response_merged.json")


def cumulative_reasoning(folder: Path) -> Groups:
    items = [e for path in _files(folder / "MATH/results", "*.jsonl") for e in _lines(path)]
    fields = "ground_truth_answer", "final_solution", "final_answer", "correctness"
    found = [[e[field] for field in fields] for e in items]
    yield 1400, [_row("cumulative", gold, text, right == "Correct", answer) for gold, text, answer, right in found]


def big_bench_hard(folder: Path) -> Groups:
    for path in _files(folder / "code-davinci-002-outputs/code-davinci-002-cot", "*255000.json"):
        found = [(e["target"], e["prediction"]) for e in _json(path)["outputs"]]
        answers = [[*text.split("answer is "), ""][1].split("\n")[0].strip().removesuffix(".") for _, text in found]
        both = zip(found, answers, strict=True)
        yield 50, [_row("big-bench-hard", gold, text, answer == gold, answer) for (gold, text), answer in both]


def mmlu_pro(folder: Path) -> Groups:
    for model in MODELS:
        archive = zipfile.ZipFile(folder / f"eval_results/model_outputs_{model}_5shots.zip")
        names = (name for name in archive.namelist() if name.endswith((".json", ".jsonl")) and "__MACOSX" not in name)
        items = json.loads(archive.read(next(names)))
        if isinstance(items, dict):
            items = [e for value in items.values() for e in (value if isinstance(value, list) else [value])]
        own = [e for e in items if isinstance(e, dict)]
        found = [(e["answer"], e.get("generated_text") or e.get("model_outputs"), e.get("pred")) for e in own]
        yield 100, [_row("mmlu-pro", gold, text, answer == gold, answer) for gold, text, answer in found]


def plan_and_solve(folder: Path) -> Groups:
    for path in _files(folder / "generated_result", "*"):
        found = [e for e in _json(path) if not re.search(r"\.\d{6,}", str(e["answer"]))]
        by = f"published rule ({path.name.partition('-')[0]})"
        fields = [(_number(e["answer"]), e["chain-of-thought"], e["ans"], _number(e["pred"])) for e in found]
        yield 120, [_row("plan-and-solve", *of_one, by) for of_one in fields]


def finance_math(folder: Path) -> Groups:
    items = [e for path in _files(folder / "outputs/validation/processed_cot_outputs", "*") for e in _json(path)]
    rows = []
    for e in items:
        if not e.get("result") or e["ground_truth"] is None:
            continue
        text = e["output"][0] if isinstance(e["output"], list) else e["output"]
        read = str(e.get("extracted_pred_answer")).replace(",", "").strip("$% ")
        label, gold = e["result"]["acc"], float(e["ground_truth"])
        if not (label and _float(read) != gold):
            rows.append(_row("financemath", _number(gold), text, label))
    yield 1200, rows


def cruxeval(folder: Path) -> Groups:
    golds = {item["id"]: item["output"] for item in _lines(folder / "data/cruxeval.jsonl")}
    found = _json(folder / "samples/evaluation_results/sample_scored_codellama-7b_temp0.2_output.json")
    scored = next(value for key, value in found.items() if "scored" in key)
    rows: dict[tuple[str, str], Row] = {}
    for name, texts in found["raw_generations"].items():
        for text, label in zip(texts, scored[name], strict=False):
            if len(text) <= 2000 and (name, text) not in rows:
                rows[name, text] = _row("cruxeval", golds[name], text, label, text)
    yield 600, list(rows.values())


def table_cot(folder: Path) -> Groups:
    rows = []
    for name in TABLES:
        asked = {e["key"]: e for e in _lines(folder / f"wikitableqa/outputs/{name}") if "key" in e}
        for e in _lines(folder / f"wikitableqa/outputs/{name}.processed"):
            item = asked.get(e.get("key"))
            if item and "|" not in item["answer"] and ", " not in item["answer"]:
                label = _plain(e["prediction"]) == _plain(item["answer"])
                rows.append(_row("tablecot", item["answer"], item["response"], label, e["prediction"]))
    yield 800, rows


READERS = (cumulative_reasoning, big_bench_hard, mmlu_pro, plan_and_solve, finance_math, cruxeval, table_cot)


def drawn(groups: Iterable[tuple[int, list[Row]]]) -> Iterator[Row]:
    """The rows that are drawn from the groups of a repository, each once."""
    draws, seen = random.Random(SEED), set()
    for number, group in groups:
        rows = [one for one in group if one["completion"]]
        right, wrong = ([row for row in rows if row["label"] is label] for label in (True, False))
        draws.shuffle(right)
        draws.shuffle(wrong)
        wrongs = min(len(wrong), number - min(len(right), number // 2))
        chosen = right[: number - wrongs] + wrong[:wrongs]
        draws.shuffle(chosen)
        for one in chosen:
            if (key := (one["labelled_by"], one["gold"], one["completion"])) not in seen:
                seen.add(key)
                yield one


def _row(
    source: str, gold: str, text: Any, label: Any, extracted: str | None = None, by: str = "published rule"
) -> Row:
    text = text.strip() if isinstance(text, str) else ""
    return row(source, gold, text, bool(label), by, (extracted or "").strip() or None)


def _files(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.glob(pattern))


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _lines(path: Path) -> Iterator[Row]:
    """The objects of the lines that are JSON."""
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def _number(value: Any) -> str:
    """A number, or the text of one, without ``.0``; nothing for None."""
    if isinstance(value, float) and value == int(value):
        value = int(value)
    return "" if value is None else re.sub(r"^(-?\d+)\.0$", r"\1", str(value))


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _plain(text: str) -> str:
    words = re.sub(r"\b(a|an|the)\b", " ", "".join(c for c in text.lower() if c not in string.punctuation or c == "."))
    plain = " ".join(words.split()).rstrip(".")
    return plain if (value := _float(plain)) is None else str(value)


if __name__ == "__main__":
    build(__doc__, READERS, drawn, DOUBTFUL, "unseen.jsonl")
