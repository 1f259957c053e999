"""Verifiers are documented: options have descriptions, cases pass, and docs/catalogue.md is up to date."""

from dataclasses import fields
from pathlib import Path

import pytest

from grpo_env.core import Case, Verifier
from grpo_env.docgen.cases import failed_cases, scores_of
from grpo_env.docgen.catalogue import FIRST_HOUR, GROUPS, catalogue, entry, summary
from grpo_env.docgen.documented_fields import options
from grpo_env.errors import UsageError
from grpo_env.registry import BUILT_IN, find, load_file, verifier
from grpo_env.taskfile.task import make_task
from grpo_env.taskfile.yaml_file import parse_yaml
from grpo_env.verifiers.sandbox.launch import unavailable

# These need a model or a server, or other verifiers (docs/catalogue.md).
WITHOUT_CASES = {
    "reward_model",
    "process_reward_model",
    "llm_judge",
    "weighted_sum",
    "any_of",
    "all_of",
    "first_of",
    "appeal",
    "clip",
}


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_case_passes(name):
    if name == "python_tests" and (reason := unavailable("bubblewrap")):
        pytest.skip(reason)
    assert list(failed_cases(name)) == []


@pytest.mark.parametrize("name", sorted(BUILT_IN.keys() - {"python_tests"}))
def test_a_rule_is_a_short_text_without_line_breaks(name):
    rules = {part.rule for case in find(name).cases for score in scores_of(name, case) for part in score.walk()}
    assert [rule for rule in rules if len(rule) > 60 or rule != " ".join(rule.split())] == []


@pytest.mark.parametrize("name", sorted(BUILT_IN.keys() - WITHOUT_CASES))
def test_cases_show_different_values(name):
    cases = find(name).cases
    values = {value for case in cases for value in (case.value if isinstance(case.value, tuple) else (case.value,))}
    assert len(cases) >= 3
    assert len(values - {None}) >= 2


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_option_has_a_description(name):
    cls = find(name)
    documented = {option.name for option in options(cls)}
    assert {field.name for field in fields(cls)} - {"format", "parts"} <= documented
    assert 10 < len(summary(cls)) < 250


@pytest.fixture(scope="module")
def page():
    return catalogue()


def test_the_page_in_the_docs_is_up_to_date(page):
    assert (Path(__file__).parents[2] / "docs/catalogue.md").read_text() == page


def test_every_verifier_has_one_place_on_the_page(page):
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(BUILT_IN)
    assert [page.count(f"\n### {name}\n") for name in BUILT_IN] == [1] * len(BUILT_IN)


@pytest.mark.parametrize(("name", "line"), [(name, line) for name, _, line in FIRST_HOUR])
def test_the_lines_for_the_first_hour_are_verifiers_of_a_task(name, line, tmp_path):
    data = parse_yaml(f"verifiers:\n  {line}\n", "page.yaml")
    assert list(data["verifiers"]) == [name]
    dataset = {"path": "rows.jsonl", "answer": "{{ answer }}"}
    data |= {"version": 1, "task": "page", "dataset": dataset, "prompt": {"user": "{{ question }}"}, "metric": name}
    assert make_task(data, "page.yaml", tmp_path).metric == name


def test_an_option_of_several_verifiers_stands_once_on_the_page_and_in_every_entry(page):
    text = "- `batch_tokens` (default `16384`): Tokens per forward pass"
    assert page.count(text) == entry("reward_model").count(text) == entry("process_reward_model").count(text) == 1


def test_failed_cases_are_reported(monkeypatch):
    monkeypatch.setattr(find("strict_format"), "cases", (Case("<answer>1</answer>", 1.0, "a wrong claim"),))
    (line,) = failed_cases("strict_format")
    assert "a wrong claim" in line
    assert "expected 1.0, but got 0.0" in line


def test_a_case_is_one_line(monkeypatch):
    monkeypatch.setattr(find("strict_format"), "cases", (Case("a\nb`c", 0.0, "no tags", answer="1\n2"),))
    assert entry("strict_format").endswith("- **0** for ``a⏎b`c`` with `answer: 1 2`: no tags\n")


def test_loading_a_file_registers_its_verifiers(tmp_path):
    path = tmp_path / "own_verifier_a.py"
    path.write_text(
        "from dataclasses import dataclass\n"
        "from grpo_env import Score, Verifier, verifier\n"
        "@verifier('own_a')\n"
        "@dataclass(frozen=True)\n"
        "class Own(Verifier):\n"
        "    def __call__(self, example, completion):\n"
        "        return Score(1.0)\n"
    )
    assert load_file(path) == ["own_a"]
    assert load_file(path) == ["own_a"]
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
def test_a_file_without_verifiers_is_a_usage_error(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=message):
        load_file(tmp_path / name)


def test_a_built_in_name_cannot_be_taken():
    with pytest.raises(UsageError, match="built in"):
        verifier("accuracy")(type("Own", (Verifier,), {}))
