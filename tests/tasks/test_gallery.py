"""The tasks of the gallery: each is clean on its sample under check, and under audit where a text can be attacked."""

from pathlib import Path

import pytest
import yaml

from grpo_env.audit import HACKS, AuditRequest, audit
from grpo_env.check import check
from grpo_env.core import Completion, Example
from grpo_env.taskfile.task import load_task

FOLDER = Path(__file__).parent.parent.parent / "examples" / "gallery"
OWN = sorted(file.stem for file in FOLDER.glob("*.yaml"))
WITH_SAMPLE = ("gsm8k", "math")  # bundled tasks whose data are on the hub
GENERATED = ("arithmetic", "countdown", "letter_counting", "search", "till")
FAST = [family for family in dict.fromkeys(hack.family for hack in HACKS.values()) if family != "bombs"]
FREE = ["format only", "tag stuffing", "stuffing", "prompt copy"]  # where any text that follows is right
JUDGED = "judge"  # by a model behind a server


def task_of(name):
    if name in OWN:
        return load_task(FOLDER / f"{name}.yaml")
    sample = {"dataset.path": str(FOLDER / f"{name}.jsonl"), "dataset.split": {"train": 1.0}}
    return load_task(name, sample if name in WITH_SAMPLE else {})


def test_the_page_lists_every_task_of_the_gallery():
    page = (FOLDER.parent.parent / "docs" / "gallery.md").read_text()
    assert len({*OWN, *WITH_SAMPLE, *GENERATED}) >= 15
    assert all(f"/{name}.yaml)" in page for name in (*OWN, *WITH_SAMPLE, *GENERATED))


@pytest.mark.parametrize("name", [*OWN, *WITH_SAMPLE, *GENERATED])
def test_check_is_clean(name):
    if name == "reasoning_gym":
        pytest.importorskip("reasoning_gym")
    result = check(task_of(name), limit=4 if name == "mbpp" else 10)  # each of its rows runs many programs
    assert result.findings == [], str(result)
    assert "data" in result.facts


@pytest.mark.parametrize("name", [name for name in OWN if name not in ("reasoning_gym", JUDGED)])
def test_audit_is_clean(name):
    few = {"ifeval": FREE, "mbpp": ["programs", "negated", "two answers", "right"]}
    report = audit(
        task_of(name), AuditRequest(limit=2 if name == "mbpp" else 5, families=few.get(name, FAST), rescore=False)
    )
    assert (report.exploits, report.failed) == ([], []), str(report)


ROSE = "Roses are red"
FOLLOWED = [  # kind, arguments, a text that follows it, one that does not
    ("punctuation:no_comma", {}, ROSE, "Roses, red"),
    ("length_constraints:number_words", {"num_words": 3, "relation": "at least"}, ROSE, "Roses"),
    ("length_constraints:number_words", {"num_words": 3, "relation": "less than"}, "Roses", ROSE),
    ("length_constraints:number_sentences", {"num_sentences": 2, "relation": "at least"}, "A. B!", "A"),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "A\n***\nB", "A\n\nB"),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "* a\n* b", "* a\n* b\n* c"),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 1}, "a *b* c", "a * b"),
    ("detectable_format:title", {}, "<<Rain>>", "<Rain>"),
    ("detectable_format:json_format", {}, '```json\n{"a": 1}\n```', "{a: 1}"),
    ("detectable_content:number_placeholders", {"num_placeholders": 2}, "[a] [b]", "[a]"),
    ("keywords:existence", {"keywords": ["red"]}, ROSE, "hundred"),
    ("keywords:forbidden_words", {"forbidden_words": ["red"]}, "hundred", ROSE),
    ("keywords:frequency", {"keyword": "red", "frequency": 2, "relation": "at least"}, "Red red", "red"),
    ("change_case:english_lowercase", {}, "roses", "Roses"),
    ("change_case:english_capital", {}, "ROSES", "Roses"),
    ("startend:end_checker", {"end_phrase": "Bye."}, "Well. bye.", "Bye. Well."),
    ("startend:quotation", {}, f'"{ROSE}"', f'"{ROSE}'),
]


@pytest.mark.parametrize(("kind", "arguments", "right", "wrong"), FOLLOWED, ids=[row[0] for row in FOLLOWED])
def test_instructions(kind, arguments, right, wrong):
    verifier = task_of("ifeval").metric_verifier
    example = Example("x", info={"instruction_id_list": [kind], "kwargs": [arguments]})
    values = [verifier(example, Completion(f"<think>,</think>{text}")).value for text in (right, wrong, "")]
    assert values == [1.0, 0.0, 0.0]


def test_every_kind_of_instruction_is_tested_and_used_by_data_that_say_so():
    rows = [yaml.safe_load(line) for line in (FOLDER / "ifeval.jsonl").read_text().splitlines()]
    names = {name for row in rows for name in row["instruction_id_list"]}
    assert names <= {kind for kind, *_ in FOLLOWED}
    assert task_of("ifeval").verifier.problem(Example("x", info={"instruction_id_list": ["no:such"], "kwargs": [{}]}))
