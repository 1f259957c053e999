"""The LaTeX set of the benchmarks is correct and reproducible, and the verdict and GPU benchmarks run."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from grpo_env.core import Completion, Example
from grpo_env.verifiers.accuracy import Accuracy

FOLDER = Path(__file__).parent.parent / "benchmarks"


def latex_set() -> ModuleType:
    spec = importlib.util.spec_from_file_location("latex_set", FOLDER / "latex_set.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["latex_set"] = module  # needed by its NamedTuple
    spec.loader.exec_module(module)
    return module


def test_the_latex_set_agrees_with_our_verifier() -> None:
    """The labels are true by construction, so each checks the other."""
    rows = list(latex_set().rows(seed=7, groups=60))
    assert [row["kind"] for row in rows[:6]] == ["fraction", "radical", "set", "interval", "matrix", "polynomial"]
    for row in rows:
        assert sorted(row["correct"]) == [False] * 4 + [True] * 4
        scores = [Accuracy()(Example("x", answer=row["gold"]), Completion(text)) for text in row["completions"]]
        assert [score.value for score in scores] == row["correct"], [row["gold"], *scores]


def test_the_latex_set_is_reproducible() -> None:
    """Published figures refer to these rows."""
    digest = hashlib.sha256(json.dumps(list(latex_set().rows())).encode()).hexdigest()
    assert digest.startswith("0b6631067b239be5")


def test_the_verdict_benchmark_prints_its_table() -> None:
    command = [sys.executable, str(FOLDER / "verdicts.py"), "--sets", "latex", "--list"]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "| latex | 2,400 | ours |" in process.stdout
    assert "| 2,400 (100.00%) | 0 | 0 | 0 |" in process.stdout


def test_the_natural_benchmark_prints_its_tables_and_disagreements(tmp_path: Path) -> None:
    rows = [
        {"gold": "18", "completion": "So the answer is 18.", "extracted": "<answer>18</answer>", "label": True},
        {"gold": "18", "completion": "So the answer is 17.", "label": False},
        {"gold": "B", "completion": "The answer is C.", "label": True},
        {"gold": "B", "completion": "The answer is C.", "label": True, "doubtful": True},
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps({"source": "made", **row}) + "\n" for row in rows))
    process = subprocess.run(natural("--file", str(file), "--list"), capture_output=True, text=True, check=True)
    assert "| as written | ours | 3 | 66.7% | 0 | 1 |" in process.stdout
    assert "| answer extracted | ours | 1 | 100.0% | 0 | 0 |" in process.stdout
    assert "| made | 3 | 66.7 (0, 1) |" in process.stdout
    assert "made: gold 'B', label 1, answer 'C'" in process.stdout


def test_the_natural_benchmark_says_why_it_is_skipped(tmp_path: Path) -> None:
    command, environment = natural(), {**os.environ, "GRPO_ENV_DATA": str(tmp_path)}
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "skipped: GRPO_ENV_DATA does not name the folder" in process.stderr
    assert process.stdout == ""


def natural(*options: str) -> list[str]:
    return [sys.executable, str(FOLDER / "natural.py"), *options]


def test_the_natural_rows_are_read_as_their_sources_read_them(tmp_path: Path) -> None:
    outputs = ['{"answer": "$1,800"}', '{"reasoning": "x, "answer": "17"', "I give up."]
    crux = {"answer": "'a b'", "output": ['{"answer": "a b"}']}
    solution = {"ground_truth_answer": 5, "model_output_answer_correctness": "wrong"}
    steps = ["Step 1: 2 + 2 = 4.", "Step 2: #### 4"]
    log = "1st data\n1_th_sampling\nQ: Is it?\nA: It is.\nTherefore, the answer (Yes or No) is Yes.\n"
    log += "pred_before : Yes.\npred_after : yes\npred_list : ['yes']\npred_mode : yes\nGT : no\n"
    names = ("addsub", "aqua", "coin_flip", "commonsensqa", "date_understanding", "gsm8k", "last_letters")
    names += ("multiarith", "shuffled_objects", "singleeq", "strategyqa", "svamp")
    files = {
        "a/result_dirs/gsm/m.json": json.dumps([{"answer": "# 1800", "output": [text]} for text in outputs]),
        "a/result_dirs/crux/m.json": json.dumps([crux]),
        **{f"b/log/{name}_zero_shot{kind}.log": "" for name in names for kind in ("", "_cot")},
        "b/log/coin_flip_zero_shot_cot.log": log,
        "c/eval_results/gpt4-grading/m.json": json.dumps([{**solution, "model_output_steps": steps}]),
        "d/dataset/mr-math_invalid_errors.json": json.dumps({**solution, "model_output": "4"}),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    folders = [str(tmp_path / folder) for folder in "abcd"]
    command = [sys.executable, str(FOLDER / "natural_set.py"), *folders, "--all", "--out", str(tmp_path / "rows")]
    subprocess.run(command, check=True)
    rows = [json.loads(line) for line in (tmp_path / "rows").read_text().splitlines()]
    assert [(row["source"], row["gold"], row["label"], row.get("extracted")) for row in rows] == [
        ("zeroeval-gsm", "1800", True, "<answer>$1,800</answer>"),
        ("zeroeval-gsm", "1800", False, "<answer>17</answer>"),
        ("zeroeval-gsm", "1800", False, None),
        ("zeroeval-crux", "'a b'", True, "<answer>a b</answer>"),
        ("kojima-coin_flip", "no", False, "<answer>Yes.</answer>"),
        ("mr-gsm8k", "5", False, None),
        ("mr-math", "5", False, None),
    ]
    assert rows[5]["completion"] == "2 + 2 = 4.\n#### 4"


def test_the_unseen_rows_are_read_as_their_sources_read_them(tmp_path: Path) -> None:
    """By hand, of each source: the label, the answer that it reads, and what it leaves out."""
    letters = [{"answer": "B", "pred": "B", "model_outputs": " It is (B). "}, {"answer": "A", "pred": None}, "a note"]
    plans = [
        {"answer": 4.0, "pred": 4, "ans": True, "chain-of-thought": "It is 4."},
        {"answer": 0.3333333, "pred": 0.3333333, "ans": True, "chain-of-thought": "A third."},
        {"answer": "no", "pred": None, "ans": False, "chain-of-thought": "Who knows?"},
    ]
    money = [
        {"ground_truth": 5.0, "output": ["$5.00"], "extracted_pred_answer": "$5.00", "result": {"acc": 1}},
        {"ground_truth": 5.0, "output": "It is 5.01.", "extracted_pred_answer": "5.01", "result": {"acc": 1}},
        {"ground_truth": 1234.5, "output": "It is 7.", "extracted_pred_answer": "7", "result": {"acc": 0}},
    ]
    runs = {"raw_generations": {"sample_0": ["[1]", "[1]", "[2]"]}, "raw_scored": {"sample_0": [True, True, False]}}
    asked = [
        {"key": "k", "answer": "The Hague", "response": "It is hague."},
        {"key": "m", "answer": "a|b", "response": ""},
    ]
    read = [{"key": "k", "prediction": "hague."}, {"key": "m", "prediction": "a"}]
    worked = {"ground_truth_answer": "2", "final_solution": "So 2.", "final_answer": " 2 ", "correctness": "Correct"}
    said = {"target": "Yes", "prediction": "It is so. So the answer is Yes.\nQ: more"}
    files = {
        "a/MATH/results/m.jsonl": json.dumps(worked),
        "b/code-davinci-002-outputs/code-davinci-002-cot/t_255000.json": json.dumps({"outputs": [said]}),
        "d/generated_result/SVAMP-zero.json": json.dumps(plans),
        "e/outputs/validation/processed_cot_outputs/m.json": json.dumps(money),
        "f/data/cruxeval.jsonl": json.dumps({"id": "sample_0", "output": "[1]"}),
        "f/samples/evaluation_results/sample_scored_codellama-7b_temp0.2_output.json": json.dumps(runs),
        "g/wikitableqa/outputs/response_merged.json": "\n".join(map(json.dumps, asked)) + "\nno JSON",
        "g/wikitableqa/outputs/response_merged.json.processed": "\n".join(map(json.dumps, read)),
        "g/wikitableqa/outputs/response_s0_e1000_cot_davinci_23_16_13.json": "",
        "g/wikitableqa/outputs/response_s0_e1000_cot_davinci_23_16_13.json.processed": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "c/eval_results").mkdir(parents=True)
    source = (FOLDER / "natural_unseen.py").read_text().partition("MODELS = (")[2].partition(")\nTABLES")[0]
    for number, model in enumerate(re.findall('"(.+?)"', source)):
        with zipfile.ZipFile(tmp_path / f"c/eval_results/model_outputs_{model}_5shots.zip", "w") as archive:
            archive.writestr("out.json", json.dumps(letters if number == 0 else {"law": letters[0]}))
    folders = [str(tmp_path / folder) for folder in "abcdefg"]
    command = [sys.executable, str(FOLDER / "natural_unseen.py"), *folders, "--out", str(tmp_path / "rows")]
    subprocess.run(command, check=True)
    rows = [json.loads(line) for line in (tmp_path / "rows").read_text().splitlines()]
    found = [(row["source"], row["gold"], row["completion"], row["label"], row.get("extracted")) for row in rows]
    assert sorted(found, key=str) == [
        ("big-bench-hard", "Yes", "It is so. So the answer is Yes.\nQ: more", True, "<answer>Yes</answer>"),
        ("cruxeval", "[1]", "[1]", True, "<answer>[1]</answer>"),
        ("cruxeval", "[1]", "[2]", False, "<answer>[2]</answer>"),
        ("cumulative", "2", "So 2.", True, "<answer>2</answer>"),
        ("financemath", "1234.5", "It is 7.", False, None),
        ("financemath", "5", "$5.00", True, None),
        ("mmlu-pro", "B", "It is (B).", True, "<answer>B</answer>"),
        ("plan-and-solve", "4", "It is 4.", True, "<answer>4</answer>"),
        ("plan-and-solve", "no", "Who knows?", False, None),
        ("tablecot", "The Hague", "It is hague.", True, "<answer>hague.</answer>"),
    ]


def test_the_recent_rows_are_read_as_their_sources_read_them(tmp_path: Path) -> None:
    """By hand, of each source: the label, the answer that it reads, and what it leaves out."""
    root, tried = "c/reasoninggym-paper-experiments", {"full_model_response": "It is 2.", "model_answer": "2"}
    scored = {"expected_answer": "2", "completions": [{**tried, "score": 1.0}]}
    partial = {"expected_answer": "3", "completions": [{**tried, "score": 0.5}]}
    of_math = {"gt": "7", "code": ["So 8."], "score": [False], "pred": ["8"]}
    by_step = {"categories": [{"datasets": [{"results": [{**scored, "completions": scored["completions"] * 4}]}]}]}
    cousins = {"right_answer": "4", "model": "lab/m", "model_response": "### Answer: 3", "parsed_answer": "3"}
    chosen = {"right_answer": "null", "correct": False}
    picture = {"answer": "B", "response": "Answer: B", "if_right": True, "pred_indexs": "B"}
    asked = "Which?\nOptions:\nA. \\ce{H2O}\nB. Gold\n"
    option = {"prompt": asked, "targets_": {"H2O": 1, "Gold": 0}, "metrics": {"hamming": 0}, "parsed_output": ["A"]}
    number = {"targets_": 5.0, "metrics": {}, "parsed_output": 6.0}
    near = {"targets_": 1000.0, "metrics": {}, "parsed_output": 1001.0}
    plain = {"answer": "9", "model_generation": "Nine.", "score": True, "pred": "9"}
    coded = {"answer": "9", "code": "Ten.", "score": [False], "pred": ["10"]}
    said = {"triggered_refusal": False, "output": {"text": "I say so."}}
    chemistry = "f/src/data/chem-bench-main/reports/{}/x/reports/{}.json"
    files = {
        "a/gpqa_diamond_m_eval.csv": "r1,a1,r2,a2,r3,a3,r4,a4\nIt is A.,A,It is A.,A,,,,\n",
        **{f"b/data/benches/{name}.jsonl": "" for name in ("mgsm", "gpqa", "mmlu", "bbh")},
        "b/data/benches/math.jsonl": json.dumps({"id": 1, "target": "5"}),
        "b/data/results/math/m.jsonl": json.dumps({"id": "1", "answer": "5.", "is_correct": True, "pred": "5"}),
        f"{root}/zero-shot/easy/m_2025/games/dice.json": json.dumps({"results": [scored, partial]}),
        f"{root}/zero-shot/easy/m_2025/games/sudoku.json": json.dumps({"results": [scored]}),
        f"{root}/math-evals/lab/m/math_eval/svamp/out.jsonl": json.dumps(of_math),
        f"{root}/math-evals/lab/m/math_eval/svamp/out_metrics.json": "{}",
        f"{root}/math-evals/llama/step_400/amc23/run/results.json": json.dumps(by_step),
        "d/collected_responses/out.json": json.dumps([{**cousins, "correct": False}, chosen]),
        "e/mmmu-pro/output/gpt-4o_cot.jsonl": json.dumps(picture),
        chemistry.format("o1", "a"): json.dumps([{**said, **option}]),
        chemistry.format("o1", "b"): json.dumps([{**said, **number}]),
        chemistry.format("o1", "c"): json.dumps([{**said, **near}]),
        chemistry.format("gpt-4", "a"): json.dumps([{**said, **option}]),
        "g/evaluation/output/m/out.jsonl": json.dumps(plain) + "\n" + json.dumps(coded),
        "g/evaluation/output/m_test/out.jsonl": json.dumps(plain),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    folders = [str(tmp_path / folder) for folder in "abcdefg"]
    command = [sys.executable, str(FOLDER / "natural_recent.py"), *folders, "--out", str(tmp_path / "rows")]
    subprocess.run(command, check=True)
    rows = [json.loads(line) for line in (tmp_path / "rows").read_text().splitlines()]
    found = [(row["source"], row["gold"], row["completion"], row["label"], row.get("extracted")) for row in rows]
    assert found == [
        ("gpqa_diamond_exp", "A", "It is A.", True, "<answer>A</answer>"),
        ("gpqa_diamond_exp", "B", "It is A.", False, "<answer>A</answer>"),
        ("simple-evals-ru/math", "5", "5.", True, "<answer>5</answer>"),
        ("reasoning-gym-eval/zero-shot", "2", "It is 2.", True, "<answer>2</answer>"),
        ("reasoning-gym-eval/math-evals", "2", "It is 2.", True, "<answer>2</answer>"),
        ("reasoning-gym-eval/math-evals", "7", "So 8.", False, "<answer>8</answer>"),
        ("AIW", "4", "### Answer: 3", False, "<answer>3</answer>"),
        ("MMMU-Pro", "B", "Answer: B", True, "<answer>B</answer>"),
        ("chembench-paper", "A", "I say so.", True, "<answer>A</answer>"),
        ("chembench-paper", "5", "I say so.", False, "<answer>6.0</answer>"),
        ("omni-math-rule-ca", "9", "Nine.", True, "<answer>9</answer>"),
        ("omni-math-rule-ca", "9", "Ten.", False, "<answer>10</answer>"),
    ]


def test_gold_answers_are_echoed_and_counted(tmp_path: Path) -> None:
    rows = {"a": ["$x=2$ or $x=3$", "$y=1-$", "", None], "b": ["9 * 2 = 18\n#### 18"]}
    for name, answers in rows.items():
        (tmp_path / name).mkdir()
        lines = "".join(json.dumps({"answer": answer}) + "\n" for answer in answers)
        (tmp_path / name / "test.jsonl").write_text(lines, encoding="utf-8")
    command = [sys.executable, str(FOLDER / "golds.py"), str(tmp_path), "--list"]
    listed, *counts = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert listed.startswith("a: '$y=1-$': 1.0")
    assert [" ".join(line.split()) for line in counts] == [
        "a 2 golds: 0 not right when echoed, 1 unreadable (50.00%)",
        "b 1 golds: 0 not right when echoed, 0 unreadable (0.00%)",
        "all 3 golds: 0 not right when echoed, 1 unreadable (33.33%)",
    ]


STAND_IN = """
import sys, time
if sys.argv[1] == "crashes":
    raise ValueError("no such kernel")
if sys.argv[1] == "hangs":
    time.sleep(60)
"""


def test_gpu_measurements_survive_each_other_and_only_failed_ones_are_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (FOLDER, FOLDER / "gpu"):
        monkeypatch.syspath_prepend(folder)
    run, measure = importlib.import_module("run"), importlib.import_module("measure")
    limits = {"crashes": 60, "hangs": 1.5, "works": 60}
    groups = [{name: (dict, limit) for name, limit in limits.items()}]
    command = [sys.executable, "-c", STAND_IN]

    run.run_stage(tmp_path, groups, command, seconds=120)
    outcomes = {row["measurement"]: row for row in measure.read(tmp_path)}
    assert [(outcomes[name]["ok"], outcomes[name]["error"]) for name in limits] == [
        (False, "ValueError: no such kernel"),
        (False, "took longer than 2 s"),
        (True, None),
    ]

    run.run_stage(tmp_path, groups, command, seconds=120)
    repeated = [row["measurement"] for row in measure.read(tmp_path)]
    assert [repeated.count(name) for name in limits] == [2, 2, 1]
    run.run_stage(tmp_path, [{"late": (dict, 60)}], command, seconds=0)
    assert "late" not in {row["measurement"] for row in measure.read(tmp_path)}


@pytest.mark.slow
def test_both_stages_of_the_gpu_benchmark_are_rehearsed_on_a_cpu(tmp_path: Path) -> None:
    """Without TRL, which is not installed here; what the model cannot do is not looked at."""
    rows = [{"question": f"Tom has {n} pens and gets 2. How many now?", "answer": f"#### {n + 2}"} for n in range(8)]
    for split in ("train", "test"):
        (tmp_path / f"gsm8k_{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = ["--out", str(tmp_path), "--device", "cpu", "--tiny", "--data", str(tmp_path), "--seconds", "600"]
    for stage in ("A", "B", "report"):
        command = [sys.executable, str(FOLDER / "gpu" / "run.py"), stage, *options]
        process = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    failed = {line["measurement"]: line["error"] for line in lines if not line.get("ok", True)}
    assert [error for name, error in failed.items() if not name.endswith("/trl")] == []
    assert "| ours | 0 | " in process.stdout
    assert [line["steps"] > 0 for line in lines if line["measurement"] == "curve/ours" and "steps" in line] != []


def test_public_rewards_are_audited_from_files_whose_other_imports_are_missing(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    public = importlib.import_module("public_rewards")
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "COMMIT").write_text("0123456789\n")
    (tmp_path / "toy" / "rewards.py").write_text(
        "import no_such_module\nTAG = no_such_module.TAG\n\ndef contains(text, gold: TAG):\n"
        "    print(text)\n    return float(gold in text)\n"
    )
    (tmp_path / "gsm8k.jsonl").write_text('{"question": "1+1?", "answer": "#### 2"}\n')
    monkeypatch.setattr(public, "TABLE", {"toy": ("toy/rewards.py", "names", "f.contains(text, answer)")})
    monkeypatch.setattr(sys, "argv", ["x", str(tmp_path), str(tmp_path / "out"), "--gsm8k", f"{tmp_path}/gsm8k.jsonl"])
    public.main()
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.startswith("| toy | toy 0123456 | ")
    assert "not_gold" in json.loads((tmp_path / "out").read_text())["exploits"]
