"""Reward functions of the public field: each flawed one is found, no sound one is accused, and without a task file."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grpo_env.audit import HACKS, audit_function
from grpo_env.audit.attack import EMPTY, WRAPPING, Attack
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
    "case_blind": "case_of_a_code",
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


def run(folder, function, rows, families=(*FAST, EMPTY, WRAPPING)):
    file = HERE / ("algebra_reward.py" if function is accuracy_by_algebra else "field_rewards.py")
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return audit_function(f"{file}:{function.__name__}", folder / "rows.jsonl", families=families)


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


TWO_DEEP = """
import re


def reward(completion, answer):
    said = re.findall(r"<answer>(.*?)</answer>", completion, re.DOTALL)
    if not said:
        return 0.0
    box = re.fullmatch(r"\\\\boxed\\{(.*)\\}", said[-1].strip())
    return float(answer in box[1].split(", ")) if box else float(said[-1].strip() == answer)
"""


def test_a_hack_inside_another_is_found(tmp_path):
    """A box is split at commas, a bare answer is not, and the bare answer is the simpler format."""
    (tmp_path / "two_deep.py").write_text(TWO_DEEP)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in NUMBERS))
    where = f"{tmp_path}/two_deep.py:reward", tmp_path / "rows.jsonl"
    assert audit_function(*where, families=FAST).exploits == []
    report = audit_function(*where, families=[*FAST, WRAPPING])
    first = report.exploits[0]
    assert first.hack == "in_a_box of gold_among_candidates"
    assert first.text.endswith("<answer>\\boxed{43, 41, 18}</answer>")


def test_the_column_and_the_format_are_found(tmp_path):
    """A chat, a column of solutions, and a form that is paid as well."""
    (tmp_path / "chat_reward.py").write_text(
        "def reward(completions, worked, **kwargs):\n"
        "    texts = [completion[0]['content'] for completion in completions]\n"
        "    return [float(t.endswith('#### ' + w.split('#### ')[1])) for t, w in zip(texts, worked)]\n"
    )
    rows = [{"id": n, "q": row["question"], "worked": f"So.\n#### {row['answer']}"} for n, row in enumerate(NUMBERS)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = audit_function(f"{tmp_path}/chat_reward.py:reward", tmp_path / "rows.jsonl", families=["format only"])
    assert report.source == "6 rows; answers in 'worked', paid as #### ...; completions are chats"
    assert (report.gold.total, report.wrong.total) == (1, 0)


def test_refused_right_answers_are_reported(tmp_path):
    report = run(tmp_path, next(f for f in SOUND if f.__name__ == "letter"), CHOICES, ["right"])
    text = str(report)
    assert "REFUSED in_bold: a right answer, in 6 of 6" in text
    assert "REFUSED spaces" not in text
    assert "REFUSED a_period" not in text


def test_functions_that_pay_no_answer_and_columns_that_are_missing_are_errors(tmp_path):
    (tmp_path / "nothing_paid.py").write_text(
        "def reward(completion):\n    return 0.0\n\n\ndef other(completion, missing):\n    return 1.0\n"
    )
    (tmp_path / "rows.jsonl").write_text('{"question": "1+1?", "answer": "2"}\n')
    with pytest.raises(UsageError, match=r"no column of .* holds answers that it pays in a usual format"):
        audit_function(f"{tmp_path}/nothing_paid.py:reward", tmp_path / "rows.jsonl")
    with pytest.raises(UsageError, match="takes 'missing', which the row does not have"):
        audit_function(f"{tmp_path}/nothing_paid.py:other", tmp_path / "rows.jsonl")


def test_the_command_takes_a_function_and_stops_at_its_budget(tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in NUMBERS))
    command = ["audit", f"{HERE}/field_rewards.py:contains", "--data", str(tmp_path / "rows.jsonl")]
    done = CliRunner().invoke(app, [*command, "--only", "negated"])
    assert done.exit_code == 1
    assert "EXPLOIT not_gold (negated; knows the gold): wins 100% of what being right adds in 6 of 6" in done.stdout
    assert "'not 18' for '18'" in done.stdout
    done = CliRunner().invoke(app, [*command, "--budget", "0", "--fail-on", "never"])
    assert "NOTE 139 hacks were not tried within 0 s" in done.stdout
