"""Every verifier documents itself truly: its options have texts, its cases hold, the page in docs is today's."""

from dataclasses import fields
from pathlib import Path

import pytest

from grpo_env.core import Case, Verifier
from grpo_env.docgen.catalogue import failed_cases, options, page, summary, whole_page
from grpo_env.errors import UsageError
from grpo_env.registry import BUILT_IN, find, load_file, verifier

# Models and servers have no verdicts of their own, and what composites are made of is told in docs/verifiers.md.
WITHOUT_CASES = {"reward_model", "process_reward_model", "llm_judge", "weighted_sum", "any_of", "all_of", "clip"}


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_case_holds(name):
    assert list(failed_cases(name)) == []


@pytest.mark.parametrize("name", sorted(BUILT_IN.keys() - WITHOUT_CASES))
def test_the_cases_show_what_is_paid_and_what_is_not(name):
    cases = find(name).cases
    values = {value for case in cases for value in (case.value if isinstance(case.value, tuple) else (case.value,))}
    assert len(cases) >= 3
    assert len(values - {None}) >= 2


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_option_has_a_meaning(name):
    cls = find(name)
    documented = {option.name for option in options(cls)}
    assert {field.name for field in fields(cls)} - {"format", "parts"} <= documented
    assert 10 < len(summary(cls)) < 250


def test_the_page_in_the_docs_is_todays():
    assert (Path(__file__).parents[2] / "docs/catalogue.md").read_text() == whole_page()


def test_a_case_that_does_not_hold_is_told(monkeypatch):
    monkeypatch.setattr(find("strict_format"), "cases", (Case("<answer>1</answer>", 1.0, "a wrong claim"),))
    (line,) = failed_cases("strict_format")
    assert "a wrong claim" in line
    assert "expected 1.0, found 0.0" in line


def test_a_page_keeps_its_table_whole_when_a_case_holds_bars_and_line_ends(monkeypatch):
    monkeypatch.setattr(find("strict_format"), "cases", (Case("a|b\nc`d", 0.0, "no|tags"),))
    (row,) = [line for line in page("strict_format").splitlines() if "tags" in line and line.startswith("| ``")]
    assert row.replace("\\|", "").count("|") == 5


def test_a_file_with_a_verifier_makes_it_known(tmp_path):
    own = tmp_path / "own_verifier_a.py"
    own.write_text(
        "from dataclasses import dataclass\n"
        "from grpo_env import Score, Verifier, verifier\n"
        "@verifier('own_a')\n"
        "@dataclass(frozen=True)\n"
        "class Own(Verifier):\n"
        "    def __call__(self, example, completion):\n"
        "        return Score(1.0)\n"
    )
    assert load_file(own) == ["own_a"]
    assert load_file(own) == ["own_a"]
    assert issubclass(find("own_a"), Verifier)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("own_verifier_b.py", "x = 1", "registers no verifier"),
        ("own_verifier_c.py", "x = (", "cannot be loaded: SyntaxError"),
        ("json.py", "x = 1", "another module 'json'"),
        ("own-verifier.py", "x = 1", "must be a Python name"),
        ("own_verifier_d.txt", "x = 1", "expected a Python file"),
    ],
)
def test_a_file_without_verifiers_is_one_clear_sentence(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=message):
        load_file(tmp_path / name)


def test_a_built_in_name_cannot_be_taken():
    with pytest.raises(UsageError, match="built in"):
        verifier("accuracy")(type("Own", (Verifier,), {}))
