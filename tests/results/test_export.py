"""What each export takes and leaves out, by small groups worked out by hand and by properties over random ones."""

import json
from collections import Counter

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_env.cli.app import main
from grpo_env.errors import RunError, UsageError
from grpo_env.results.export import KINDS, Exported, export, export_file, make_kind
from grpo_env.results.export.records import Inspect, Rewards
from grpo_env.results.export.training import Dpo, Prm, Sft

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
    counts = Exported()
    return list(export(rows, kind, counts)), counts


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_sft_takes_what_is_right_whole_and_new():
    rows = group(1.0, 0.5, None, 1.0, 1.0, 1.0, 1.0)
    rows[3]["finish_reason"] = "length"
    rows[4]["text"] = rows[0]["text"]
    rows[5]["text"] = "lone \ud800"
    rows[6]["prompt"] = None
    out, counts = exported(rows, Sft())
    assert out == [{"id": "1", "prompt": "2+2?", "completion": "1/0"}]
    assert counts.left_out == {
        "accuracy below 1": 1,
        "accuracy unscored (error)": 1,
        "truncated": 1,
        "the same text again": 1,
        "not valid Unicode": 1,
        "without a prompt": 1,
    }
    assert len(exported(rows, Sft(truncated=True, min_value=0.5))[0]) == 3


def test_sft_of_a_prompt_prefers_the_best_totals_and_keeps_their_order():
    rows = [row(total, completion=at, value=1.0) for at, total in enumerate([1.0, 1.2, 1.1, 1.2, None])]
    out, counts = exported(rows, Sft(per_prompt=2))
    assert [one["completion"] for one in out] == ["1/1", "1/3"]
    assert counts.left_out == {"beyond 2 of the prompt": 3}
    assert [one["completion"] for one in exported(rows, Sft(per_prompt=1))[0]] == ["1/1"]
    out, counts = exported(rows, Sft(min_total=1.1))
    assert [one["completion"] for one in out] == ["1/1", "1/2", "1/3"]
    assert counts.left_out == {"total below 1.1": 1, "total unscored (error)": 1}


def test_a_chat_stays_a_chat_and_the_same_text_counts_by_prompt():
    rows = [row(prompt=CHAT, text="4"), row(prompt=CHAT, text="4", id="2")]
    out, _ = exported(rows, Sft())
    assert out == [
        {"id": id, "prompt": CHAT, "completion": [{"role": "assistant", "content": "4"}]} for id in ("1", "2")
    ]


def test_dpo_is_best_against_worst_and_never_a_tie():
    out, counts = exported([*group(0.2, 1.0, 0.0, 1.0), *group(0.5, 0.5, id="2")], Dpo())
    assert out == [{"id": "1", "prompt": "2+2?", "chosen": "1/1", "rejected": "1/2"}]
    assert counts.left_out == {"in no pair": 2, "in groups without a pair": 2}
    assert exported(group(0.1 + 0.2, 0.3), Dpo())[0] == []  # 0.30000000000000004 is no preference


@pytest.mark.parametrize(("margin", "pairs"), [(0.0, 5), (0.5, 4), (0.8, 4), (0.9, 2), (1.0, 2), (1.5, 0)])
def test_dpo_of_all_pairs_with_a_margin(margin, pairs):
    # 1, 1, .2, 0: differences .8, .8, 1, 1, .2; .7 - .2 = .49999999999999994 has the margin .5
    rows = group(1.0, 1.0, 0.2, 0.0)
    assert len(exported(rows, Dpo(margin=margin, per_prompt=0))[0]) == pairs
    assert len(exported(group(0.7, 0.2), Dpo(margin=0.5))[0]) == 1


def test_dpo_may_ask_for_a_right_chosen_one_and_leaves_unscored_ones_out():
    rows = [row(0.5, value=0.0), row(0.1, value=0.0, completion=1), row(None, completion=2), row(0.9, completion=3)]
    rows[3]["finish_reason"] = "length"
    assert exported(rows, Dpo())[0][0]["chosen"] == "1/0"
    out, counts = exported(rows, Dpo(min_value=1.0))
    assert out == []
    assert counts.left_out == {"total unscored (error)": 1, "truncated": 1, "in groups without a pair": 2}


def test_dpo_refuses_a_group_of_two_prompts():
    with pytest.raises(UsageError, match="another prompt"):
        exported([row(1.0), row(0.0, completion=1, prompt="3+3?")], Dpo())


def stepped(text, *steps, **more):
    spans = [{"start": start, "end": end, "value": value, "explanation": ""} for start, end, value in steps]
    whole = row(text=text, **more)
    whole["parts"]["equations"] = {"value": 0.5, "status": "scored", "weight": 0.0, "steps": spans}
    return whole


def test_prm_gives_the_text_before_a_step_to_it_and_none_to_what_follows():
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


def test_prm_counts_what_has_no_steps_and_takes_its_threshold():
    rows = [stepped("a\nb", (0, 1, 0.4), (2, 3, 0.5)), stepped("none", completion=1), row(completion=2)]
    out, counts = exported(rows, Prm())
    assert out[0]["labels"] == [False, True]
    assert counts.left_out == {"no steps": 2}
    assert exported(rows[:1], Prm(min_step=0.4))[0][0]["labels"] == [True, True]
    rows[0]["parts"]["equations"] |= {"value": None, "status": "not_applicable"}
    assert exported(rows[:1], Prm(part="equations"))[1].left_out == {"steps unscored (not_applicable)": 1}


def test_prm_steps_with_one_end_are_good_if_all_are_and_two_parts_must_be_chosen_from():
    both = stepped("abc", (0, 3, 0.0), (1, 3, 1.0))
    assert exported([both], Prm())[0][0] | {"prompt": ""} == {
        "id": "1",
        "prompt": "",
        "completions": ["abc"],
        "labels": [False],
    }
    both["parts"]["model"] = {**both["parts"]["equations"]}
    with pytest.raises(UsageError, match="equations, model; choose one with --part"):
        exported([both], Prm())
    assert exported([both], Prm(part="model"))[1].written == 1
    with pytest.raises(UsageError, match="outside of the text"):
        exported([stepped("abc", (0, 4, 1.0))], Prm())


def test_prm_takes_the_steps_of_the_part_itself_not_those_that_a_composite_repeats():
    whole = stepped("abc", (0, 3, 1.0))
    inner = whole["parts"].pop("equations")
    halved = [{**step, "value": 0.25} for step in inner["steps"]]
    whole["parts"]["both"] = {**inner, "steps": halved, "parts": {"equations": inner}}
    assert exported([whole], Prm())[0][0]["labels"] == [True]
    assert exported([whole], Prm(part="both"))[0][0]["labels"] == [False]


def test_inspect_records_have_epochs_from_one_and_unscored_ones_have_none():
    rows = group(1.0, None, 0.0)
    rows[2]["parts"]["accuracy"]["answer"] = "lone \ud800"
    out, counts = exported(rows, Inspect())
    assert out[0] == {
        "id": "1",
        "epoch": 1,
        "value": 1.0,
        "answer": "4",
        "explanation": "equal",
        "metadata": {"status": "scored", "total": 1.0, "accuracy": 1.0},
    }
    assert [(one["epoch"], one["value"], one["answer"]) for one in out] == [(1, 1.0, "4"), (3, 0.0, "lone \ufffd")]
    assert counts.left_out == {"unscored (error)": 1}
    with pytest.raises(UsageError, match="twice"):
        exported([row(), row()], Inspect())


def test_rewards_are_lists_by_group():
    rows = [*group(1.0, None, 0.5), *group(None, id="2")]
    out, counts = exported(rows, Rewards())
    assert out == [{"prompt_id": "1", "rewards": [1.0, 0.5]}]
    assert counts.left_out == {"unscored (error)": 2}
    rows[2]["parts"]["accuracy"]["value"] = 0.25
    assert exported(rows, Rewards(part="accuracy"))[0][0]["rewards"] == [1.0, 0.25]


@pytest.mark.parametrize("kind", [Sft(), Dpo(), Prm()])
def test_a_file_without_texts_is_an_error_where_they_are_needed(kind):
    with pytest.raises(UsageError, match="--no-text"):
        exported([row(text=None)], kind)
    assert exported([row(text=None)], Rewards())[1].written == exported([row(text=None)], Inspect())[1].written == 1


def test_chats_and_texts_do_not_go_into_one_file():
    with pytest.raises(UsageError, match="some prompts are chats"):
        exported([row(), row(id="2", prompt=CHAT)], Sft())


def test_a_chat_among_texts_is_told_apart_where_parquet_holds_it_as_json():
    assert exported([row(prompt=json.dumps(CHAT))], Sft())[0] == exported([row(prompt=CHAT)], Sft())[0]
    assert exported([row(prompt='[{"role": no chat')], Sft())[0][0]["prompt"] == '[{"role": no chat'


def test_options_belong_to_kinds():
    assert make_kind("dpo", {"margin": 0.5}) == Dpo(margin=0.5)
    with pytest.raises(UsageError, match=r"--margin is no option of export sft; it has: .*per-prompt"):
        make_kind("sft", {"margin": 0.5})
    with pytest.raises(UsageError, match="did you mean 'rewards'"):
        make_kind("reward", {})


TOTALS = st.sampled_from([0.0, 0.2, 0.5, 0.7, 1.0, None])
GROUPS = st.lists(st.lists(st.tuples(TOTALS, st.sampled_from("abcde")), min_size=1, max_size=6), min_size=1, max_size=5)


@given(GROUPS, st.sampled_from([0.0, 0.3, 0.5]), st.integers(0, 3))
@settings(max_examples=80)
def test_every_completion_is_accounted_for_and_pairs_keep_their_promises(groups, margin, per_prompt):
    rows = [
        row(total, id=str(g), completion=at, text=f"{g}{text}")
        for g, members in enumerate(groups)
        for at, (total, text) in enumerate(members)
    ]
    totals = {(one["id"], one["text"]): [] for one in rows}
    for one in rows:
        totals[one["id"], one["text"]].append(one["total"])
    sft, counts = exported(rows, Sft(per_prompt=per_prompt))
    assert counts.completions == len(rows) == counts.written + counts.left_out.total()
    assert all(1.0 in totals[one["id"], one["completion"]] for one in sft)
    assert len({(one["id"], one["completion"]) for one in sft}) == len(sft)
    assert not per_prompt or max(Counter(one["id"] for one in sft).values(), default=0) <= per_prompt
    for one in exported(rows, Dpo(margin=margin, per_prompt=per_prompt))[0]:
        assert one["chosen"][0] == one["rejected"][0] == one["id"]  # the text begins with its group
        best, worst = (totals[one["id"], one[side]][0] for side in ("chosen", "rejected"))
        assert best > worst
        assert best - worst >= margin - 1e-9


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
@pytest.mark.parametrize("kind", ["sft", "dpo", "prm"])
def test_both_kinds_of_files_hold_the_same(tmp_path, kind, suffix, monkeypatch):
    monkeypatch.setattr("grpo_env.files.writer.BATCH", 2)
    rows = [
        stepped(f"a{at}\nb", (0, 2, 1.0), (3, 4, 0.0), total=1.0 - at, id=str(g), completion=at, prompt=CHAT)
        for g in range(5)
        for at in (0, 1)
    ]
    made, out = make_kind(kind, {}), tmp_path / f"out{suffix}"
    counts = export_file(rows, made, out)
    read = pq.read_table(out).to_pylist() if suffix == ".parquet" else lines(out)
    assert read == exported(rows, made)[0]
    assert len(read) == counts.written >= 5
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


def test_nothing_is_overwritten_and_nothing_half_done_is_left(tmp_path):
    out = tmp_path / "out.jsonl"
    with pytest.raises(RunError, match="nothing to export: of 1 completions in 1 groups left out: 1 accuracy below 1"):
        export_file([row(0.0)], Sft(), out)
    with pytest.raises(UsageError, match="finite number"):
        export_file([row(), row(float("nan"), id="2")], Sft(min_total=0.0), out)
    with pytest.raises(UsageError, match=r"must end in \.jsonl"):
        export_file([row()], Inspect(), tmp_path / "out.parquet")
    assert list(tmp_path.iterdir()) == []
    out.write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        export_file([row()], Sft(), out)
    assert out.read_text() == "mine"


def test_a_file_that_appears_in_the_meantime_is_kept(tmp_path):
    out = tmp_path / "out.jsonl"

    def rows():
        yield row()
        out.write_text("theirs")
        yield row(id="2")

    with pytest.raises(UsageError, match="somebody else"):
        export_file(rows(), Sft(), out)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("out.jsonl", "theirs")]


def test_the_command_says_what_it_took(tmp_path, monkeypatch, capsys):
    scores, out = tmp_path / "scores.jsonl", tmp_path / "sft.jsonl"
    scores.write_text("".join(json.dumps(one) + "\n" for one in group(1.0, 0.0, None)))
    monkeypatch.setattr("sys.argv", ["grpo_env", "export", "sft", str(scores), "--out", str(out)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "1 rows of sft" in said.err
    assert "of 3 completions in 1 groups left out: 1 accuracy below 1, 1 accuracy unscored (error)" in said.err
    assert lines(out)[0]["completion"] == "1/0"


def test_help_names_every_kind():
    from grpo_env.cli.scores import export as command

    assert all(f"{kind}:" in command.__doc__ for kind in KINDS)
