"""What each export writes and leaves out: small groups by hand, and properties of random ones."""

import json
from collections import Counter

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_env.cli.app import main
from grpo_env.errors import RunError, UsageError
from grpo_env.results.export import KINDS, ExportSummary, export, export_file, make_kind
from grpo_env.results.export.inspect_records import Inspect
from grpo_env.results.export.training_sets import Dpo, Prm, Sft

CHAT = [{"role": "system", "content": "Solve."}, {"role": "user", "content": "2+2?"}]


def row(total=1.0, id="1", completion=0, **more):
    status = "scored" if total is not None else "error"
    value = more.pop("value", total)
    part = {"value": value, "weight": 1.0, "weighted": value, "status": "scored" if value is not None else "error"}
    part |= {"answer": "4", "gold": "4", "explanation": "equal"}
    base = {"id": id, "completion": completion, "group": id, "prompt": "2+2?", "text": f"{id}/{completion}"}
    base |= {"finish_reason": "stop", "metric": "accuracy", "total": total, "status": status, "explanation": ""}
    return base | {"parts": {"accuracy": part}} | more


def group(*totals, **more):
    return [row(total, completion=at, **more) for at, total in enumerate(totals)]


def exported(rows, kind):
    summary = ExportSummary()
    return list(export(rows, kind, summary)), summary


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_sft_accepts_correct_complete_and_new_completions():
    rows = group(1.0, 0.5, None, 1.0, 1.0, 1.0, 1.0)
    rows[3]["finish_reason"] = "length"
    rows[4]["text"] = rows[0]["text"]
    rows[5]["text"] = "lone \ud800"
    rows[6]["prompt"] = None
    out, summary = exported(rows, Sft())
    assert out == [{"id": "1", "prompt": "2+2?", "completion": "1/0"}]
    assert summary.left_out == {
        "accuracy below 1": 1,
        "accuracy unscored (error)": 1,
        "truncated": 1,
        "duplicates": 1,
        "not valid Unicode": 1,
        "without a prompt": 1,
    }
    assert len(exported(rows, Sft(min_value=0.5))[0]) == 2


def test_sft_per_prompt_prefers_the_best_totals_and_keeps_the_order():
    rows = [row(total, completion=at, value=1.0) for at, total in enumerate([1.0, 1.2, 1.1, 1.2, None])]
    out, summary = exported(rows, Sft(per_prompt=2))
    assert [row["completion"] for row in out] == ["1/1", "1/3"]
    assert summary.left_out == {"beyond 2 per prompt": 3}
    assert [row["completion"] for row in exported(rows, Sft(per_prompt=1))[0]] == ["1/1"]
    out, summary = exported(rows, Sft(part="total", min_value=1.1))
    assert [row["completion"] for row in out] == ["1/1", "1/2", "1/3"]
    assert summary.left_out == {"total below 1.1": 1, "total unscored (error)": 1}


def test_chats_stay_chats_and_duplicates_are_per_prompt():
    rows = [row(prompt=CHAT, text="4"), row(prompt=CHAT, text="4", id="2")]
    out, _ = exported(rows, Sft())
    assert out == [
        {"id": id, "prompt": CHAT, "completion": [{"role": "assistant", "content": "4"}]} for id in ("1", "2")
    ]


@pytest.mark.parametrize(
    ("recorded", "count"), [([True, True], 0), ([False, True], 1), ([False, False], 2), ([None, True], 1)]
)
def test_prompts_that_are_not_recorded_are_counted(recorded, count):
    rows = [*group(1.0, 0.0), row(prompt=None, id="2")]
    for made, value in zip(rows, recorded, strict=False):
        made |= {} if value is None else {"prompt_recorded": value}
    assert exported(rows, Sft())[1].unrecorded == count


def test_dpo_is_best_against_worst_and_never_a_tie():
    out, summary = exported([*group(0.2, 1.0, 0.0, 1.0), *group(0.5, 0.5, id="2")], Dpo())
    assert out == [{"id": "1", "prompt": "2+2?", "chosen": "1/1", "rejected": "1/2"}]
    assert summary.left_out == {"in no pair": 2, "in groups without a pair": 2}
    assert exported(group(0.1 + 0.2, 0.3), Dpo())[0] == []  # equal up to rounding


def test_dpo_of_all_pairs():
    pairs = exported(group(1.0, 1.0, 0.2, 0.0), Dpo(per_prompt=0))[0]
    assert [(pair["chosen"], pair["rejected"]) for pair in pairs] == [
        ("1/0", "1/2"), ("1/0", "1/3"), ("1/1", "1/2"), ("1/1", "1/3"), ("1/2", "1/3")
    ]  # fmt: skip


def test_dpo_can_require_a_correct_chosen_completion_and_leaves_unscored_ones_out():
    rows = [row(0.5, value=0.0), row(0.1, value=0.0, completion=1), row(None, completion=2), row(0.9, completion=3)]
    rows[3]["finish_reason"] = "length"
    assert exported(rows, Dpo())[0][0]["chosen"] == "1/0"
    out, summary = exported(rows, Dpo(min_value=1.0))
    assert out == []
    assert summary.left_out == {"total unscored (error)": 1, "truncated": 1, "in groups without a pair": 2}


def test_dpo_rejects_a_group_of_two_prompts():
    with pytest.raises(UsageError, match="different prompt"):
        exported([row(1.0), row(0.0, completion=1, prompt="3+3?")], Dpo())


def stepped(text, *steps, **more):
    spans = [{"start": start, "end": end, "value": value, "explanation": ""} for start, end, value in steps]
    score_row = row(text=text, **more)
    score_row["parts"]["equations"] = {"value": 0.5, "status": "scored", "weight": 0.0, "steps": spans}
    return score_row


def test_prm_steps_include_the_text_before_them_but_not_the_text_after_the_last():
    text = "First <<1+1=2>>2 eggs.\nSo far, so good.\nThen <<2+2=5>>5, and <<1+1=2>>2 more.\nA: 5"
    steps = [(text.index(mark), text.index(mark) + 9, value) for mark, value in (("<<1", 1.0), ("<<2", 0.0))]
    last = text.rindex("<<1")
    out, _ = exported([stepped(text, *steps, (last, last + 9, 1.0), prompt=CHAT)], Prm())
    assert out == [
        {
            "id": "1",
            "prompt": "Solve.\n\n2+2?",
            "completions": ["First <<1+1=2>>2 eggs.", "So far, so good.\nThen <<2+2=5>>", "5, and <<1+1=2>>2 more."],
            "labels": [True, False, True],
        }
    ]


def test_prm_counts_completions_without_steps_and_uses_its_threshold():
    rows = [stepped("a\nb", (0, 1, 0.4), (2, 3, 0.5)), stepped("none", completion=1), row(completion=2)]
    out, summary = exported(rows, Prm())
    assert out[0]["labels"] == [False, True]
    assert summary.left_out == {"without steps": 2}
    assert exported(rows[:1], Prm(min_step=0.4))[0][0]["labels"] == [True, True]
    rows[0]["parts"]["equations"] |= {"value": None, "status": "not_applicable"}
    assert exported(rows[:1], Prm(part="equations"))[1].left_out == {"steps unscored (not_applicable)": 1}


def test_prm_merges_steps_with_the_same_end_and_needs_a_choice_between_parts():
    half_correct = stepped("abc", (0, 3, 0.0), (1, 3, 1.0))
    assert exported([half_correct], Prm())[0][0] | {"prompt": ""} == {
        "id": "1",
        "prompt": "",
        "completions": ["abc"],
        "labels": [False],
    }
    half_correct["parts"]["model"] = {**half_correct["parts"]["equations"]}
    with pytest.raises(UsageError, match="several parts have steps: equations, model; choose one"):
        exported([half_correct], Prm())
    assert exported([half_correct], Prm(part="model"))[1].written == 1
    with pytest.raises(UsageError, match="outside the text"):
        exported([stepped("abc", (0, 4, 1.0))], Prm())


def test_prm_prefers_the_steps_of_a_part_to_those_of_its_composite():
    nested = stepped("abc", (0, 3, 1.0))
    inner = nested["parts"].pop("equations")
    halved = [{**step, "value": 0.25} for step in inner["steps"]]
    nested["parts"]["both"] = {**inner, "steps": halved, "parts": {"equations": inner}}
    assert exported([nested], Prm())[0][0]["labels"] == [True]
    assert exported([nested], Prm(part="both"))[0][0]["labels"] == [False]


def test_inspect_records_have_epochs_from_1_and_unscored_completions_have_none():
    rows = group(1.0, None, 0.0)
    rows[2]["parts"]["accuracy"]["answer"] = "lone \ud800"
    out, summary = exported(rows, Inspect())
    assert out[0] == {
        "id": "1",
        "epoch": 1,
        "value": 1.0,
        "answer": "4",
        "explanation": "equal",
        "metadata": {"status": "scored", "total": 1.0, "accuracy": 1.0},
    }
    assert [(record["epoch"], record["value"], record["answer"]) for record in out] == [
        (1, 1.0, "4"),
        (3, 0.0, "lone \ufffd"),
    ]
    assert summary.left_out == {"unscored (error)": 1}
    rows[0]["parts"]["accuracy"]["rule"] = "number"
    assert exported(rows, Inspect())[0][0]["metadata"]["rule"] == "number"
    for rows in ([row(), row()], [row(group="a"), row(group="b")]):
        with pytest.raises(UsageError, match="id '1', epoch 1: twice"):
            exported(rows, Inspect())


@pytest.mark.parametrize("kind", [Sft(), Dpo(), Inspect()])
def test_the_rows_of_a_group_must_be_adjacent(kind):
    with pytest.raises(UsageError, match="row '1', completion 1: the rows of group '1' are not adjacent; sort the"):
        exported([row(), row(id="2"), row(completion=1)], kind)


@pytest.mark.parametrize("kind", [Sft(), Dpo(), Prm()])
def test_training_sets_need_texts_and_records_do_not(kind):
    with pytest.raises(UsageError, match="--no-text"):
        exported([row(text=None)], kind)
    assert exported([row(text=None)], Inspect())[1].written == 1


def test_chats_and_texts_cannot_be_mixed():
    with pytest.raises(UsageError, match="some prompts are chats"):
        exported([row(), row(id="2", prompt=CHAT)], Sft())


def test_a_chat_in_a_parquet_column_of_texts_is_recognized():
    assert exported([row(prompt=json.dumps(CHAT))], Sft())[0] == exported([row(prompt=CHAT)], Sft())[0]
    assert exported([row(prompt='[{"role": no chat')], Sft())[0][0]["prompt"] == '[{"role": no chat'


def test_options_of_another_kind_are_rejected():
    assert make_kind("dpo", {"per_prompt": 2}) == Dpo(per_prompt=2)
    with pytest.raises(UsageError, match=r"export sft has no option --min-step; its options are .*per-prompt"):
        make_kind("sft", {"min_step": 0.5})
    with pytest.raises(UsageError, match="did you mean 'inspect'"):
        make_kind("inspekt", {})


TOTALS = st.sampled_from([0.0, 0.2, 0.5, 0.7, 1.0, None])
GROUPS = st.lists(st.lists(st.tuples(TOTALS, st.sampled_from("abcde")), min_size=1, max_size=6), min_size=1, max_size=5)


@given(GROUPS, st.integers(0, 3))
@settings(max_examples=80)
def test_every_completion_is_counted_and_the_chosen_is_better(groups, per_prompt):
    rows = [
        row(total, id=str(g), completion=at, text=f"{g}{text}")
        for g, members in enumerate(groups)
        for at, (total, text) in enumerate(members)
    ]
    totals = {(score_row["id"], score_row["text"]): [] for score_row in rows}
    for score_row in rows:
        totals[score_row["id"], score_row["text"]].append(score_row["total"])
    sft, summary = exported(rows, Sft(per_prompt=per_prompt))
    assert summary.completions == len(rows) == summary.written + summary.left_out.total()
    assert all(1.0 in totals[accepted["id"], accepted["completion"]] for accepted in sft)
    assert len({(accepted["id"], accepted["completion"]) for accepted in sft}) == len(sft)
    assert not per_prompt or max(Counter(accepted["id"] for accepted in sft).values(), default=0) <= per_prompt
    for pair in exported(rows, Dpo(per_prompt=per_prompt))[0]:
        assert pair["chosen"][0] == pair["rejected"][0] == pair["id"]  # each text starts with its group
        best, worst = (totals[pair["id"], pair[side]][0] for side in ("chosen", "rejected"))
        assert best > worst


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
@pytest.mark.parametrize("kind", ["sft", "dpo", "prm"])
def test_jsonl_and_parquet_have_the_same_rows(tmp_path, kind, suffix, monkeypatch):
    monkeypatch.setattr("grpo_env.rows.writer.ROW_GROUP", 2)
    rows = [
        stepped(f"a{at}\nb", (0, 2, 1.0), (3, 4, 0.0), total=1.0 - at, id=str(g), completion=at, prompt=CHAT)
        for g in range(5)
        for at in (0, 1)
    ]
    export_kind, out = make_kind(kind, {}), tmp_path / f"out{suffix}"
    summary = export_file(rows, export_kind, out)
    read = pq.read_table(out).to_pylist() if suffix == ".parquet" else lines(out)
    assert read == exported(rows, export_kind)[0]
    assert len(read) == summary.written >= 5
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


def test_nothing_is_overwritten_and_no_partial_file_remains(tmp_path):
    out = tmp_path / "out.jsonl"
    with pytest.raises(RunError, match="nothing to export: left out 1 of 1 completion in 1 group: 1 accuracy below 1"):
        export_file([row(0.0)], Sft(), out)
    with pytest.raises(UsageError, match="finite number"):
        export_file([row(), row(float("nan"), id="2")], Sft(min_value=0.0), out)
    with pytest.raises(UsageError, match=r"must end in \.jsonl"):
        export_file([row()], Inspect(), tmp_path / "out.parquet")
    assert list(tmp_path.iterdir()) == []
    out.write_text("mine")
    with pytest.raises(UsageError, match="already exists"):
        export_file([row()], Sft(), out)
    assert out.read_text() == "mine"


def test_a_file_that_appears_in_the_meantime_is_kept(tmp_path):
    out = tmp_path / "out.jsonl"

    def rows():
        yield row()
        out.write_text("theirs")
        yield row(id="2")

    with pytest.raises(UsageError, match="another process"):
        export_file(rows(), Sft(), out)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("out.jsonl", "theirs")]


def test_the_command_summarizes_the_export(tmp_path, monkeypatch, capsys):
    scores, out = tmp_path / "scores.jsonl", tmp_path / "sft.jsonl"
    scores.write_text("".join(json.dumps(score_row) + "\n" for score_row in group(1.0, 0.0, None)))
    monkeypatch.setattr("sys.argv", ["grpo_env", "export", "sft", str(scores), "--out", str(out)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"Wrote 1 sft row to {out}; left out 2 of 3 completions in 1 group: " in captured.err
    assert "1 accuracy below 1, 1 accuracy unscored (error)" in captured.err
    assert "note: the file does not say which prompt made 3 of 3 completions" in captured.err
    assert lines(out)[0]["completion"] == "1/0"


def test_the_command_does_not_replace_its_own_file(tmp_path, monkeypatch, capsys):
    scores = tmp_path / "scores.jsonl"
    scores.write_text("".join(json.dumps(score_row) + "\n" for score_row in group(1.0, 0.0)))
    before = scores.read_bytes()
    monkeypatch.setattr("sys.argv", ["grpo_env", "export", "sft", str(scores), "--out", str(scores), "--overwrite"])
    with pytest.raises(SystemExit):
        main()
    assert "is an input" in capsys.readouterr().err.replace("\n", " ")
    assert scores.read_bytes() == before


@pytest.mark.parametrize(("values", "note"), [((0.1, 0.4), "all 2 labels are false"), ((0.1, 0.9), "")])
def test_labels_that_are_all_the_same_are_said(values, note):
    steps = [{"start": n, "end": n + 1, "value": value, "explanation": ""} for n, value in enumerate(values)]
    parts = {"rollouts": {"value": min(values), "status": "ok", "steps": steps}}
    summary = ExportSummary()
    list(export([row(text="ab", prompt="q", parts=parts)], Prm(part="rollouts"), summary))
    assert summary.label_note().partition(":")[0] == note


def test_what_cannot_be_exported_says_what_can(tmp_path, monkeypatch, capsys):
    scores, run = tmp_path / "scores.jsonl", tmp_path / "run"
    scores.write_text(json.dumps(row(prompt=None)) + "\n")
    (run / "samples").mkdir(parents=True)
    (run / "samples/step-000000.parquet").touch()
    for file, message in (
        (scores, "1 without a prompt; name the column of prompts when you score: grpo_env score --prompt COLUMN"),
        (run, f"such as {run}/samples/step-000000.parquet"),
    ):
        monkeypatch.setattr("sys.argv", ["grpo_env", "export", "sft", str(file), "--out", str(tmp_path / "out.jsonl")])
        with pytest.raises(SystemExit):
            main()
        assert message in capsys.readouterr().err.replace("\n", "")


def test_the_help_names_every_kind():
    from grpo_env.cli.scores import export as command

    assert all(f"{kind}:" in command.__doc__ for kind in KINDS)
