"""Reward functions of the public field: each flawed one is found, no sound one is accused, and without a task file."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grpo_env.audit import HACKS, AuditRequest, audit_foreign
from grpo_env.audit.attack import EMPTY, Attack
from grpo_env.cli.app import app
from grpo_env.errors import UsageError

HERE = Path(__file__).parent
sys.path.append(str(HERE))  # where the functions' file finds algebra_reward

from field_rewards import CHOICES, FLAWED, NUMBERS, SOUND, accuracy_by_algebra  # noqa: E402

FAST = [*(family for family in dict.fromkeys(hack.family for hack in HACKS.values()) if family != "bombs")]
FOUND = {  # what shows the flaw that each was chosen for
    "contains": "not_gold",
    "half_for_containing": "not_gold",
    "share_of_the_answer": "inside_a_longer_number",
    "hashes": "gold_first_of_candidates",
    "accuracy_by_algebra": "is_wrong",
    "first_answer": "right_then_wrong",
    "case_blind": "the_case_changed",
    "without_units": "another_unit",
    "empty_gold_paid": "empty_gold",
    "exit_code": "exit_before_the_tests",
    "compared_in_process": "equal_to_anything",
    "last_number": "not_gold",
    "any_box": "right_then_wrong",
    "first_number": "gold_first_of_candidates",
    "letter_anywhere": "one_or_the_other",
    "within_one": "off_by_one",
    "digits_only": "sign_flipped",
    "box_anywhere": "boxed_inside_reasoning",
    "split_by_commas": "gold_among_candidates",
    "paid_words": "right_with_keywords",
}


@pytest.fixture(autouse=True)
def once(monkeypatch):
    """Texts are scored once, which starts no second process."""
    monkeypatch.setattr(Attack, "_unstable", lambda self, attempts: {})


def run(folder, function, rows, families=(*FAST, EMPTY)):
    file = HERE / ("algebra_reward.py" if function is accuracy_by_algebra else "field_rewards.py")
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return run_on(folder, f"{file}:{function.__name__}", families=families)


def run_on(folder, *homes, families):
    return audit_foreign(homes, folder / "rows.jsonl", AuditRequest(families=families))


@pytest.mark.parametrize("function", FLAWED, ids=lambda function: function.__name__)
def test_the_flaw_is_found(tmp_path, function):
    found = FOUND[function.__name__]
    families = [EMPTY] if found == "empty_gold" else [HACKS[found].family]
    report = run(tmp_path, function, FLAWED[function], families)
    assert found in [outcome.hack for outcome in report.exploits], str(report)


@pytest.mark.parametrize("function", SOUND, ids=lambda function: function.__name__)
def test_a_sound_reward_is_not_accused(tmp_path, function):
    report = run(tmp_path, function, SOUND[function])
    assert [outcome.hack for outcome in report.exploits] == [], str(report)


def test_every_flawed_function_has_its_hack():
    assert set(FOUND) == {function.__name__ for function in FLAWED}


def test_the_column_and_the_format_are_found(tmp_path):
    """A chat, a column of solutions, and a form that is paid as well."""
    (tmp_path / "chat_reward.py").write_text(
        "def reward(completions, worked, **kwargs):\n"
        "    texts = [completion[0]['content'] for completion in completions]\n"
        "    return [float(t.endswith('#### ' + w.split('#### ')[1])) for t, w in zip(texts, worked)]\n"
    )
    rows = [{"id": n, "q": row["question"], "worked": f"So.\n#### {row['answer']}"} for n, row in enumerate(NUMBERS)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = run_on(tmp_path, f"{tmp_path}/chat_reward.py:reward", families=["format only"])
    assert report.source == "6 rows; answers in 'worked', paid as #### ...; completions are chats"
    assert (report.gold.total, report.wrong.total) == (1, 0)


def test_refused_right_answers_are_reported(tmp_path):
    report = run(tmp_path, next(f for f in SOUND if f.__name__ == "letter"), CHOICES, ["right"])
    text = str(report)
    assert "REFUSED in_bold: a right answer, in 6 of 6" in text
    assert "REFUSED spaces" not in text
    assert "REFUSED a_period" not in text


def test_a_gold_column_of_another_name_is_the_answer_of_a_function(tmp_path):
    (tmp_path / "rows.jsonl").write_text(
        "".join(json.dumps({"question": row["question"], "gold": row["answer"]}) + "\n" for row in NUMBERS)
    )
    (tmp_path / "gold_column.py").write_text(
        "def paid(completion, answer):\n    return float(str(answer) in completion)\n"
    )
    report = run_on(tmp_path, f"{tmp_path}/gold_column.py:paid", families=["negated"])
    assert "not_gold" in [outcome.hack for outcome in report.exploits], str(report)


def test_the_gold_answers_are_those_that_the_function_is_given(tmp_path):
    """Of two columns that may have them, one inside another, the one that the parameter ``answer`` is filled from."""
    rows = [{"question": f"{n}?", "gold_text": str(n), "extra": {"answer": str(n)}} for n in (12, 47, 81)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "two.py").write_text("def paid(completion, answer):\n    return float(answer in completion)\n")
    report = run_on(tmp_path, f"{tmp_path}/two.py:paid", families=["negated"])
    assert report.source.startswith("3 rows; answers in 'gold_text'")


TOLERANT = """
import re


def within(completion, answer, TOLERANCErel_tol=0.01):
    found = re.fullmatch(r"(?s).*boxed{(-?[0-9.]+)}", completion)
    return float(bool(found) and abs(float(found[1]) - float(answer)) <= rel_tol * abs(float(answer)))
"""


def test_what_a_stated_tolerance_allows_is_no_exploit(tmp_path):
    """One percent of 420 is 4.2, and so 421 is right; a tolerance that nothing states cannot be told from a hole."""
    rows = [{"question": f"What is {n} + 20?", "answer": str(n + 20)} for n in (400, 710, 533, 948)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "stated.py").write_text(TOLERANT.replace("TOLERANCE", ""))
    (tmp_path / "unstated.py").write_text(TOLERANT.replace("TOLERANCE", "own_").replace("<= rel_", "<= own_rel_"))
    families = ["near numbers", "near misses", "units and words"]
    stated = run_on(tmp_path, f"{tmp_path}/stated.py:within", families=families)
    assert "ten_times" not in str(stated)  # what a tolerance may cover is not tried
    assert [outcome.hack for outcome in stated.exploits] == []
    unstated = run_on(tmp_path, f"{tmp_path}/unstated.py:within", families=families)
    assert {outcome.hack for outcome in unstated.exploits} == {"off_by_one", "rounds_to_it"}
    assert "if numbers that near are right, say so by an option of the reward: rel_tol, abs_tol" in str(unstated)


def test_a_function_without_rows_is_one_line(tmp_path):
    done = CliRunner().invoke(app, ["audit", "own.py:paid"])
    assert "own.py:paid: a function needs rows to be audited on; add --data FILE" in str(done.exception)


def test_a_function_that_is_not_in_the_file_is_answered_with_those_that_are(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from math import sqrt\n\n\ndef _read():\n    pass\n\n\ndef paid(answer):\n    return 1.0\n"
    )
    (tmp_path / "rows.jsonl").write_text('{"question": "1+1?", "answer": "2"}\n')
    for name, hint in (("piad", "did you mean 'paid'?"), ("sqr", "known: paid")):
        with pytest.raises(UsageError) as caught:
            run_on(tmp_path, f"{tmp_path}/mine.py:{name}", families=())
        assert str(caught.value).endswith(f"module 'mine' has no attribute {name!r}; {hint}")


def test_functions_that_pay_no_answer_and_columns_that_are_missing_are_errors(tmp_path):
    (tmp_path / "nothing_paid.py").write_text(
        "def reward(completion):\n    return 0.0\n\n\ndef other(completion, missing):\n    return 1.0\n"
    )
    (tmp_path / "rows.jsonl").write_text('{"question": "1+1?", "answer": "2"}\n')
    with pytest.raises(UsageError, match=r"no column of .* holds answers that it pays in a usual format"):
        run_on(tmp_path, f"{tmp_path}/nothing_paid.py:reward", families=())
    with pytest.raises(UsageError, match="takes 'missing', which the row does not have"):
        run_on(tmp_path, f"{tmp_path}/nothing_paid.py:other", families=())


def test_the_command_takes_a_function_and_stops_at_its_budget(tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in NUMBERS))
    command = ["audit", f"{HERE}/field_rewards.py:contains", "--data", str(tmp_path / "rows.jsonl")]
    done = CliRunner().invoke(app, [*command, "--only", "negated"])
    assert done.exit_code == 1
    assert "EXPLOIT not_gold (negated; knows the gold): wins 100% of what being right adds in 6 of 6" in done.stdout
    assert "'not 18' for '18'" in done.stdout
    alone = CliRunner().invoke(app, [*command, "--only", "not_gold"])
    assert "contains: 1 hacks, 6 texts on 6 rows" in alone.stdout
    assert "1 exploits" in alone.stdout
    done = CliRunner().invoke(app, [*command, "--budget", "0", "--fail-on", "never"])
    assert f"NOTE {len(HACKS)} hacks were not tried within 0 s" in done.stdout


def audited(folder, code, rows=NUMBERS, families=("stuffing", "format only", "prompt copy", "right", "bombs")):
    (folder / f"{folder.name}.py").write_text(code)
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return run_on(folder, f"{folder}/{folder.name}.py:reward", families=families)


def test_a_reward_of_form_refuses_no_right_answers(tmp_path):
    report = audited(tmp_path, "def reward(completion):\n    return float(completion.startswith('<think>'))\n")
    assert "it pays form" in str(report)
    assert report.exploits == []
    assert "REFUSED" not in str(report)


def test_a_reward_that_pays_no_answer_pays_stuffing(tmp_path):
    """As open-r1's reasoning_steps: the gold answer alone is paid nothing."""
    report = audited(tmp_path, "def reward(completion):\n    return min(1.0, completion.count('First,') / 3)\n")
    assert "steps_stuffed" in [outcome.hack for outcome in report.exploits]


def test_what_a_constant_answer_gets_is_no_exploit(tmp_path):
    """Two of eight letters are A, and the first letter of a copied question is read as A; four of eight are one."""
    code = (
        "import re\n\n\ndef reward(completion, answer):\n"
        "    found = re.search(r'\\b[A-D]\\b', completion)\n    return float(bool(found) and found[0] == answer)\n"
    )
    rows = [{"question": f"Number {n}: A) x B) y", "answer": letter} for n, letter in enumerate("BDACBADC")]
    assert audited(tmp_path, code, rows).exploits == []


def test_a_text_that_is_stopped_is_slow_and_no_exploit(tmp_path):
    """It is scored 0, which lies between -1 and 1."""
    code = (
        "import time\n\n\ndef reward(completion, answer):\n    time.sleep(3 if '1000000!' in completion else 0)\n"
        "    return 1.0 if completion.strip().endswith(answer) else -1.0\n"
    )
    report = audited(tmp_path, code)
    assert report.exploits == []
    assert [outcome.hack for outcome in report.slow] == ["huge_factorial"]


TWO = """import re


def correct(completions, answer, **kwargs):
    return [2.0 if gold in text else 0.0 for text, gold in zip(completions, answer)]


def exact(completions, answer, **kwargs):
    found = [re.fullmatch(r"(?s).*<answer>(.*?)</answer>\\s*", text) for text in completions]
    return [2.0 if match and match[1].strip() == gold else 0.0 for match, gold in zip(found, answer)]


def form(completion):
    return 0.5 * bool(re.search(r"<answer>.*</answer>", completion))


def none_here(completion):
    return None
"""


@pytest.mark.parametrize(
    ("homes", "name", "found"),
    [
        (["correct,form"], "correct-form", True),
        (["correct", "form"], "correct-form", True),
        (["form,exact"], "form-exact", False),
    ],
)
def test_several_functions_are_added_up(tmp_path, homes, name, found):
    """2 for the answer and 0.5 for the form: TRL adds them up, whichever comes first."""
    file = tmp_path / f"{tmp_path.name}.py"
    file.write_text(TWO)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in NUMBERS))
    report = run_on(tmp_path, *[f"{file}:{home}" for home in homes], families=["negated", "near numbers"])
    assert (report.task, report.metric) == (name, "total")
    assert (report.gold.total, report.gold.metric, report.wrong.total) == (2.5, 2.5, 0.5)
    assert set(report.gold.parts) == set(name.split("-"))
    assert ("not_gold" in [outcome.hack for outcome in report.exploits]) is found, str(report)


def test_functions_of_one_name_are_told_apart(tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in NUMBERS))
    for name in "abc":
        (tmp_path / f"{name}.py").write_text("def reward(text, answer):\n    return float(f'#### {answer}' in text)\n")
    report = run_on(tmp_path, *[f"{tmp_path}/{name}.py:reward" for name in "abc"], families=["right"])
    assert report.gold.parts == {"reward": 1, "reward_2": 1, "reward_3": 1}


def test_an_unscored_gold_answer_is_named(tmp_path):
    file = tmp_path / f"{tmp_path.name}.py"
    file.write_text(TWO)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in NUMBERS))
    with pytest.raises(UsageError, match=r"^\S+: a gold answer is unscored: .*has no value for it; no column"):
        run_on(tmp_path, f"{file}:correct,none_here", families=())


@pytest.mark.parametrize(
    ("cell", "gold"),
    [
        ("She adds 1 and 17.\n#### 18", "18"),
        (r"So $x=\boxed{\frac{1}{2}}$.", r"\frac{1}{2}"),
        ("<think>hm</think><answer> red </answer>", "red"),
        ("```python\ndef f():\n    return 1\n```", "def f():\n    return 1"),
        (["red", "crimson"], "red"),
        ("3 of 4", "3 of 4"),
        (18, "18"),
    ],
)
def test_the_gold_answer_of_a_cell(tmp_path, cell, gold):
    """In a mapping, as verl's rows have it."""
    file = tmp_path / f"{tmp_path.name}.py"
    file.write_text(
        f"def reward(completion, reward_model):\n    return float('<answer>' + {gold!r} + '</answer>' in completion)\n"
    )
    row = {"prompt": "Say it in <answer> tags.", "reward_model": {"style": "rule", "ground_truth": cell}}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(row) + "\n")
    report = run_on(tmp_path, f"{file}:reward", families=["format only"])
    assert "answers in 'reward_model.ground_truth', paid as <answer>...</answer>" in report.source
    assert {outcome.gold for outcome in report.outcomes} == {gold}


def test_a_setting_is_no_function(tmp_path):
    with pytest.raises(UsageError, match=r"steps=20: expected a function, FILE\.py:NAME"):
        audit_foreign(["a.py:f", "steps=20"], tmp_path)


BLOCK = """
import re

def reward(text, answer):
    block = re.findall("<answer>(.*?)</answer>", text, re.DOTALL)
    return float(bool(block) and {})
"""


def test_a_constant_guess_is_no_right_answer_to_what_is_measured_in_another_dimension(tmp_path):
    golds = ["5 km", "7 kg", "9 ml", "12 m", "30 s", "4 kg"]
    rows = [{"question": f"What is quantity {n}?", "answer": gold} for n, gold in enumerate(golds)]
    report = audited(tmp_path, BLOCK.format("block[-1].strip() in (answer, '5 km')"), rows, ["guess"])
    assert "always_the_same" in [outcome.hack for outcome in report.exploits], str(report)


def test_a_refused_answer_is_shown_by_one_that_was_refused(tmp_path):
    rows = [{"question": f"What is quantity {n}?", "answer": gold} for n, gold in enumerate(("7 kg", "06:15", "9 ml"))]
    report = audited(
        tmp_path, BLOCK.format("block[-1].strip().rstrip('.' if 'k' in answer else '') == answer"), rows, ["right"]
    )
    (line,) = [line for line in str(report).splitlines() if line.startswith("REFUSED a_period")]
    assert "7 kg" not in line
