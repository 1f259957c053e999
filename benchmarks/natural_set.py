r"""Rebuild ``natural.jsonl``, the rows of natural.py, from the public repositories that they come from.

    git clone https://github.com/WildEval/ZeroEval && git -C ZeroEval checkout 8c1485e
    git clone https://github.com/kojima-takeshi188/zero_shot_cot && git -C zero_shot_cot checkout 5ef330f
    git clone https://github.com/dvlab-research/MR-GSM8K && git -C MR-GSM8K checkout 3f666d6
    git clone https://github.com/GAIR-NLP/ReasonEval && git -C ReasonEval checkout 6c91c7a
    python benchmarks/natural_set.py ZeroEval zero_shot_cot MR-GSM8K ReasonEval --out FOLDER/natural.jsonl

Read are ZeroEval's ``result_dirs/{gsm,math-l5,crux}/*.json`` (Apache-2.0), the published logs of zero-shot chain of
thought with GPT-3, the solutions of ``eval_results/gpt4-grading/*.json`` (Apache-2.0), which people judged, and
MR-MATH, ``dataset/mr-math_invalid_errors.json``. The labels are those of the sources:

    zeroeval-gsm, -math-l5   the first number of the model's answer is that of the gold answer
    zeroeval-crux            the model's answer is the gold answer, both read as Python literals
    kojima-*                 ``pred_mode`` in the log is ``GT``
    mr-gsm8k, mr-math        ``model_output_answer_correctness``, by people

``extracted`` is the answer that the source itself reads, in the logs the rest of the line after "the answer is".

natural.jsonl has a sample of them, which ``natural_rows.txt`` names by hashes of source, gold answer and completion,
one for each row; ``!`` behind a hash means that the label was read and found wrong or undecidable (``doubtful``).
With ``--all`` every row is written, none marked; with ``--check FILE`` nothing is, and rows are compared with those
of FILE.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

ROWS = Path(__file__).parent / "natural_rows.txt"
LOGS = (
    *("addsub", "aqua", "coin_flip", "commonsensqa", "date_understanding", "gsm8k", "last_letters", "multiarith"),
    *("shuffled_objects", "singleeq", "strategyqa", "svamp"),
)
DIRECT = ("aqua", "date_understanding", "svamp")  # whose logs without chain of thought are read too
Row = dict[str, Any]

_ENTRY = re.compile(
    r"^\d+st data\n1_th_sampling\nQ: .*?\nA: (?P<completion>.*?)\n?pred_before : .*?\n"
    r"pred_mode : (?P<answer>[^\n]*)\nGT : (?P<gold>[^\n]*)\n",
    re.DOTALL | re.MULTILINE,
)
_STATED = re.compile(r"the answer(?: \([^)]*\))? is:?\s*(\S.*)")
_FIRST_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_STEP = re.compile(r"^Step \d+:\s*")
_FIELD = re.compile(r'"answer"\s*:\s*(?:"([^"\n]*)"|([^\s",][^",\n]*))')


def zeroeval(folder: Path) -> Iterator[Row]:
    for name in ("gsm", "math-l5", "crux"):
        agrees = same_literal if name == "crux" else same_first_number
        by = "published rule" + (" (literal equality)" if name == "crux" else "")
        for path in sorted((folder / "result_dirs" / name).glob("*.json")):
            for item in json.loads(path.read_text(encoding="utf-8")):
                gold = str(item["answer"]) if name == "crux" else item["answer"].replace("#", "").strip()
                completion = item["output"][0]
                answer = answer_field(completion)
                label = answer is not None and agrees(answer, gold)
                yield row(f"zeroeval-{name}", gold, completion, label, by, answer)


def answer_field(completion: str) -> str | None:
    """The field of the first object, or what stands behind the last such name where that is not JSON."""
    if (first := first_object(completion)) is not None and "answer" in first:
        return str(first["answer"]) or None
    found = ["".join(either).strip() for either in _FIELD.findall(completion)]
    return found[-1] or None if found else None


def first_object(text: str) -> Row | None:
    """The first braces that close, as JSON without line breaks; None if they are none."""
    depth, start = 0, text.find("{")
    for place, character in enumerate(text[start:], start):
        depth += (character == "{") - (character == "}")
        if character == "}" and depth == 0:
            try:
                return json.loads(text[start : place + 1].replace("\n", ""))
            except json.JSONDecodeError:
                return None
    return None


def same_first_number(answer: str, gold: str) -> bool:
    found = [_FIRST_NUMBER.search(decimal(text.replace("$", "").strip().replace(",", ""))) for text in (answer, gold)]
    return None not in found and len({float(number[0]) for number in found if number}) == 1


def decimal(text: str) -> str:
    numerator, slash, denominator = text.partition("/")
    try:
        return str(float(numerator) / float(denominator)) if slash else text
    except (ValueError, ZeroDivisionError):
        return text


def same_literal(answer: str, gold: str) -> bool:
    with warnings.catch_warnings(), suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        warnings.simplefilter("ignore")  # of literals that look like a mistake
        if ast.literal_eval(answer.strip()) == ast.literal_eval(gold):
            return True
    return answer.strip().strip("'\"") == gold.strip("'\"")


def kojima(folder: Path) -> Iterator[Row]:
    for name in LOGS:
        for log, kind in (("zero_shot_cot", ""), ("zero_shot", "-direct"))[: 1 + (name in DIRECT)]:
            text = (folder / f"log/{name}_{log}.log").read_text(encoding="utf-8")
            for entry in _ENTRY.finditer(text):
                completion, gold = entry["completion"], entry["gold"].strip()
                stated = _STATED.search(completion)
                label = entry["answer"].strip() == gold
                yield row(f"kojima-{name}{kind}", gold, completion, label, extracted=stated and stated[1].strip())


def mr_gsm8k(folder: Path) -> Iterator[Row]:
    for path in sorted((folder / "eval_results/gpt4-grading").glob("*.json")):
        for item in json.loads(path.read_text(encoding="utf-8")):
            completion = "\n".join(_STEP.sub("", step) for step in item["model_output_steps"])
            label = item["model_output_answer_correctness"] == "correct"
            yield row("mr-gsm8k", str(item["ground_truth_answer"]), completion, label, "human")


def mr_math(folder: Path) -> Iterator[Row]:
    for line in (folder / "dataset/mr-math_invalid_errors.json").read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        label = item["model_output_answer_correctness"] == "correct"
        yield row("mr-math", str(item["ground_truth_answer"]), item["model_output"], label, "human")


def row(
    source: str, gold: str, completion: str, label: bool, by: str = "published rule", extracted: str | None = None
) -> Row:
    found = {"source": source, "gold": gold, "completion": completion, "label": label, "labelled_by": by}
    return found if extracted is None else {**found, "extracted": f"<answer>{extracted}</answer>"}


READERS: tuple[Callable[[Path], Iterator[Row]], ...] = (zeroeval, kojima, mr_gsm8k, mr_math)


def digest(row: Row) -> str:
    return hashlib.sha256("\0".join((row["source"], row["gold"], row["completion"])).encode()).hexdigest()[:8]


def chosen(rows: list[Row]) -> Iterator[Row]:
    """The rows that ``natural_rows.txt`` names, each as often as there."""
    names = ROWS.read_text(encoding="ascii").split()
    doubtful = {name.rstrip("!") for name in names if name.endswith("!")}
    left = Counter(name.rstrip("!") for name in names)
    for row in rows:
        if left[name := digest(row)]:
            left[name] -= 1
            yield {**row, "doubtful": True} if name in doubtful else row
    if missing := left.total():
        print(f"{missing:,} rows of {ROWS.name} are not in these repositories", file=sys.stderr)


def check(rows: list[Row], path: Path) -> None:
    """How many rows of an earlier file are among these, in all fields but the id."""
    with path.open(encoding="utf-8") as lines:
        earlier = [{key: value for key, value in json.loads(line).items() if key != "id"} for line in lines]
    left = Counter(json.dumps(row, sort_keys=True) for row in rows)
    same: Counter[str] = Counter()
    for row in earlier:
        if left[text := json.dumps(row, sort_keys=True)]:
            left[text] -= 1
            same[row["source"]] += 1
    for source, number in Counter(row["source"] for row in earlier).items():
        print(f"{source}: {same[source]:,} of {number:,}")
    print(f"{same.total():,} of {len(earlier):,} rows are the same, {left.total():,} more were rebuilt")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs=4, type=Path, metavar="CLONE", help="in the order above")
    parser.add_argument("--out", type=Path, default=Path("natural.jsonl"))
    parser.add_argument("--all", action="store_true", help="write every row, not the sample")
    parser.add_argument("--check", type=Path, metavar="FILE", help="an earlier file to compare with")
    options = parser.parse_args()
    rows = [row for read, folder in zip(READERS, options.folders, strict=True) for row in read(folder)]
    rows = rows if options.all else list(chosen(rows))
    if options.check:
        check(rows, options.check)
        return
    write(rows, options.out)


def build(
    doc: str, readers: Sequence[Callable[[Path], Any]], drawn: Callable[[Any], Iterable[Row]], doubtful: Path, out: str
) -> None:
    """The command of a script beside this one: ``drawn`` of what each reader finds in its clone, written to a file.

    ``doubtful`` names rows by their digests.
    """
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("folders", nargs=len(readers), type=Path, metavar="CLONE", help="in the order above")
    parser.add_argument("--out", type=Path, default=Path(out))
    options = parser.parse_args()
    names = set(doubtful.read_text(encoding="ascii").split())
    rows = [one for read, folder in zip(readers, options.folders, strict=True) for one in drawn(read(folder))]
    write([{**one, "doubtful": True} if digest(one) in names else one for one in rows], options.out)


def write(rows: list[Row], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number, row in enumerate(rows):
            file.write(json.dumps({"id": f"{row['source']}-{number}", **row}, ensure_ascii=False) + "\n")
    print(f"{len(rows):,} rows in {path}")


if __name__ == "__main__":
    main()
