"""Rows that form a group: never split between chunks, scored together, with the advantages of GRPO."""

import json
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_env.core import Score, Verifier
from grpo_env.errors import UsageError
from grpo_env.registry import verifier
from grpo_env.rows.reader import Line, Record
from grpo_env.scoring import Fields, ScoreSummary, chunks, score_records
from grpo_env.scoring.chunks import Chunk, cut_file
from grpo_env.scoring.columns import MAX_GROUP
from grpo_env.scoring.isolate_failures import isolate_failures
from grpo_env.scoring.job import Job
from grpo_env.scoring.row_reader import RowReader
from grpo_env.taskfile.task import make_task
from grpo_env.workers.killable_worker import WorkerDiedError

VOTES = {
    "version": 1,
    "task": "votes",
    "dataset": {"path": "rows.jsonl", "answer": "{{ answer }}"},
    "prompt": {"user": "{{ question }}"},
    "verifiers": {
        "accuracy": {"process": 0.0},
        "steps": {"use": "equation_steps", "weight": 0.0, "process": 1.0},
        "majority": {"weight": 0.5, "process": 0.0},
    },
    "metric": "accuracy",
}


@pytest.fixture
def task(tmp_path):
    return make_task(VOTES, "votes.yaml", tmp_path)


def lines(rows):
    return tuple(
        Line(number, (row if isinstance(row, str) else json.dumps(row)).encode()) for number, row in enumerate(rows, 1)
    )


def row(text, group=None, **more):
    return {"answer": "5", "completion": text, **({"group": group} if group else {}), **more}


def scored(task, rows, fields=None, **options):
    """The output rows and the rejects of some rows as score chunk."""
    job = Job(task, ("file",), (RowReader(task, fields or Fields()),), **options)
    done = job(Chunk(0, lines(rows)))
    return [json.loads(line) for line in done.lines.splitlines()], done


def votes(rows):
    return [row["parts"]["majority"].get("value") for row in rows]


def test_rows_with_the_same_group_are_scored_like_the_completions_of_one_row(task):
    texts = ["#### 5", "#### 6", "#### 5"]
    apart, _ = scored(task, [row(text, group="q") for text in texts])
    together, _ = scored(task, [{"answer": "5", "completions": texts}])
    assert votes(apart) == votes(together) == [1.0, 0.0, 1.0]
    assert {score["group"] for score in apart} == {"q"}
    assert {score["group"] for score in together} == {"line 1"}
    assert [(score["line"], score["completion"]) for score in apart] == [(1, 0), (2, 1), (3, 2)]


def test_the_completions_of_a_group_of_rows_are_numbered_through(task):
    rows = [row("#### 5", "q"), {"answer": "", "completion": "5", "group": "q"}, "{broken", row("#### 6", "q")]
    rows += [row("#### 5", "r"), row("#### 5"), {"answer": "5", "completions": ["5", "6"]}, row("#### 5", "s")]
    done, _ = scored(task, rows)  # a row that this task cannot score has its number in another task too
    assert [score["completion"] for score in done] == [0, 2, 0, 0, 0, 1, 0]


def test_a_row_without_a_group_joins_none_that_looks_like_its_line(task):
    rows = scored(task, [row("#### 5", "2"), row("#### 6")])[0]
    assert [score["group"] for score in rows] == ["2", "line 2"]


def test_any_selector_can_name_the_group(task):
    rows = [row("#### 5", meta={"q": 7}), row("#### 5", meta={"q": 7}), row("#### 5", meta={"q": 8})]
    by_path, done = scored(task, rows, Fields(group="meta.q"))
    assert (votes(by_path), [score["group"] for score in by_path]) == ([1.0, 1.0, None], ["7", "7", "8"])
    assert done.summary.completions == 3
    _, done = scored(task, [*rows, row("#### 5")], Fields(group="meta.q"))
    assert [reject.problem[:22] for reject in done.rejects] == ["no field 'meta.q': 'me"]


def test_a_row_that_cannot_be_read_does_not_split_its_group(task):
    rows, done = scored(task, [row("#### 5", "q"), "{broken", row("#### 5", "q"), {"group": "q", "answer": "5"}])
    assert votes(rows) == [1.0, 1.0]
    assert [(reject.line, reject.row) for reject in done.rejects] == [
        (2, "{broken"),
        (4, {"group": "q", "answer": "5"}),
    ]
    assert (done.summary.rows, done.summary.bad_rows) == (4, 2)


def test_a_group_scored_as_a_whole_must_have_one_gold_answer(task, tmp_path):
    rows = [row("#### 5", "q"), {**row("#### 6", "q"), "answer": "6"}]
    assert all("different gold answers" in reject.problem for reject in scored(task, rows)[1].rejects)
    alone = make_task({**VOTES, "verifiers": {"accuracy": {}}}, "alone.yaml", tmp_path)
    assert [score["total"] for score in scored(alone, rows)[0]] == [1.0, 1.0], (
        "scored one by one, with their own gold answers"
    )


def test_a_group_that_is_too_large_stops_the_run(task, monkeypatch):
    rows = [*(row("#### 5", "small") for _ in range(5)), *(row("#### 5", "big") for _ in range(7))]
    monkeypatch.setattr(chunks, "MAX_GROUP", 3)
    monkeypatch.setattr(chunks, "CHUNK_ROWS", 3)
    made = cut_file(0, lines(rows), RowReader(task).key)
    assert [line.line for line in next(made).rows] == [1, 2, 3, 4, 5]
    with pytest.raises(UsageError, match=r"row 12: the group 'big' has more than 3 completions; is --group the right"):
        next(made)
    (result,) = score_records(task, Fields(), [Record(1, {"answer": "5", "completions": ["5"] * (MAX_GROUP + 1)})])
    assert "4,097 completions; a group may have 4,096" in result.problem


KEYS = st.lists(st.tuples(st.sampled_from(["a", "b", None, "broken"]), st.integers(1, 6)), max_size=12)


@given(runs=KEYS, size=st.integers(1, 5), most_bytes=st.integers(1, 5))
def test_no_chunk_ends_inside_a_group(runs, size, most_bytes):
    keys = [key for key, length in runs for _ in range(length)]
    rows = tuple(Line(number, b"x") for number in range(len(keys)))

    def key(line):
        if keys[line.line] == "broken":
            raise UsageError("broken")
        return keys[line.line]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "CHUNK_ROWS", size)
        patch.setattr(chunks, "CHUNK_BYTES", most_bytes)  # of rows of one byte
        chunks_made = list(cut_file(0, rows, key))
    assert sum((chunk.rows for chunk in chunks_made), ()) == rows
    assert all(chunk.rows for chunk in chunks_made)
    assert all(len(chunk.rows) >= min(size, most_bytes) for chunk in chunks_made[:-1])
    home = {line.line: number for number, chunk in enumerate(chunks_made) for line in chunk.rows}
    sound = [place for place, key in enumerate(keys) if key != "broken"]
    for line, following in pairwise(sound):
        assert home[line] == home[following] or keys[line] is None or keys[line] != keys[following]


def test_advantages_match_hand_arithmetic(task):
    texts = ["2+3=5\n#### 5", "2+3=6\n2+3=5\n#### 6", "#### 5"]
    rows, _ = scored(task, [row(text, "q") for text in texts], advantages=True)
    # Totals 1 + 0.5 (majority), 0, 1.5: mean 1, sample deviation sqrt(3) / 2.
    assert [score["total"] for score in rows] == [1.5, 0.0, 1.5]
    assert [score["advantage"] for score in rows] == pytest.approx([0.57735, -1.15470, 0.57735], abs=1e-5)
    # Step rewards 1; 0, 1; 0 for a text without steps: mean 1/2, sample deviation 0.57735. The first of two steps has
    # the sum of both.
    good, bad = (1 - 1 / 2) / 0.5773503, (0 - 1 / 2) / 0.5773503
    assert rows[0]["step_advantages"] == pytest.approx([good], abs=1e-6)
    assert rows[1]["step_advantages"] == pytest.approx([bad + good, good], abs=1e-6)
    assert rows[2]["step_advantages"] == pytest.approx([bad], abs=1e-6)


def test_a_damaged_row_does_not_divide_a_group(task):
    right, wrong = row("#### 5", "q"), row("#### 6", "q")
    rows, _ = scored(task, [right, wrong, "{damaged", right], advantages=True)
    assert [score["advantage"] for score in rows] == pytest.approx([0.57735, -1.15470, 0.57735], abs=1e-5)


def test_an_unscored_completion_has_no_advantage(tmp_path):
    data = {**VOTES, "verifiers": {"accuracy": {}, "majority": {}}}
    alone = make_task(data, "votes.yaml", tmp_path)
    (score,), _ = scored(alone, [row("#### 5")], advantages=True)
    assert (score["total"], "advantage" in score, "step_advantages" in score) == (None, False, False)


def test_separated_reasoning_is_put_back_into_its_tags(tmp_path):
    task = make_task({**VOTES, "verifiers": {"strict_format": {}}, "metric": "strict_format"}, "x.yaml", tmp_path)
    split = row("<answer>\n5\n</answer>", reasoning_content="2+3=5")
    cut_off = row(None, reasoning_content="2+3", finish_reason="length")
    rows, _ = scored(task, [split, cut_off, row("<answer>\n5\n</answer>")])
    full_text = "<think>\n2+3=5\n</think>\n<answer>\n5\n</answer>"
    assert (rows[0]["text"], rows[0]["reasoning_content"], rows[0]["total"]) == (full_text, "2+3=5", 1.0)
    assert (rows[1]["text"], rows[1]["finish_reason"], rows[1]["total"]) == ("<think>\n2+3", "length", 0.0)
    assert "reasoning_content" not in rows[2]
    again, _ = scored(task, [{"answer": "5", "completion": rows[0]["text"], "reasoning_content": "2+3=5"}])
    assert again[0]["text"] == full_text, "reasoning that is in the text already is not repeated"
    plain = make_task({**VOTES, "format": {"reasoning": None}}, "plain.yaml", tmp_path)
    assert scored(plain, [split])[0][0]["text"] == "<answer>\n5\n</answer>"


@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": ""}, {"tool_calls": []}])
def test_a_message_that_only_calls_a_tool_has_no_answer(task, content):
    rows, done = scored(task, [{**row("#### 5"), "completion": [{"role": "assistant", **content}]}])
    assert [score["text"] for score in rows] == [""]
    assert rows[0]["parts"]["accuracy"]["status"] == "no_answer"
    assert not done.rejects


def test_a_prompt_message_without_content_has_the_empty_text(task):
    chat = [
        {"role": "user", "content": "2+3?"},
        {"role": "assistant", "content": None},
        {"role": "user", "content": "?"},
    ]
    rows, _ = scored(task, [{**row("#### 5"), "prompt": chat}])
    assert [message["content"] for message in rows[0]["prompt"]] == ["2+3?", "", "?"]


@verifier("test_groups_nan")
@dataclass(frozen=True)
class NotANumber(Verifier):
    """A user's verifier that returns NaN by mistake."""

    def __call__(self, example, completion):
        return Score(float(completion.text))


def test_a_score_that_is_no_number_is_unscored(tmp_path):
    data = {**VOTES, "verifiers": {"nan": {"use": "test_groups_nan"}}, "metric": "nan"}
    rows, done = scored(make_task(data, "x.yaml", tmp_path), [row("nan"), row("1.5")])
    assert [(score["total"], score["status"]) for score in rows] == [(None, "error"), (1.5, "scored")]
    assert "the value of a score is a finite number, not nan" in rows[0]["explanation"]
    assert (done.summary.bad_rows, done.summary.completions) == (0, 2)


@verifier("test_groups_no_text")
@dataclass(frozen=True)
class NoText(Verifier):
    """A user's verifier whose answers are no texts."""

    def __call__(self, example, completion):
        return Score(1.0, answer={completion.text})


def test_a_score_that_json_cannot_represent_makes_its_row_a_reject(tmp_path):
    data = {**VOTES, "verifiers": {"no_text": {"use": "test_groups_no_text"}}, "metric": "no_text"}
    rows, done = scored(make_task(data, "x.yaml", tmp_path), [row("5")])
    assert rows == []
    problem = "its score cannot be written as JSON (Object of type set is not JSON serializable)"
    assert [(reject.line, reject.problem) for reject in done.rejects] == [(1, problem)]
    assert (done.summary.bad_rows, done.summary.completions) == (1, 0)


def test_only_the_rows_that_kill_the_process_become_rejects(task):
    rows = [
        row("#### 5", "q"),
        row("boom", "q"),
        "{broken",
        row("#### 5", "q"),
        row("#### 5"),
        {"completions": ["boom"]},
    ]
    job = Job(task, ("file",), (RowReader(task),))

    def attempt(chunk):
        if any(b"boom" in line.data for line in chunk.rows):
            raise WorkerDiedError("the worker process died (SIGKILL)")
        return job(chunk)

    done = isolate_failures(job, Chunk(0, lines(rows)), attempt)
    scores = [json.loads(line) for line in done.lines.splitlines()]
    assert [score["line"] for score in scores] == [1, 4, 5]
    assert votes(scores) == [1.0, 1.0, None]
    assert sorted((reject.line, "SIGKILL" in reject.problem) for reject in done.rejects) == [
        (2, True),
        (3, False),
        (6, True),
    ]
    assert (done.summary.rows, done.summary.bad_rows, done.summary.completions) == (6, 3, 3)


def test_summaries_merge_and_round_trip_through_json(task):
    rows = [row("2+3=5\n#### 5", y=True), row("#### 6", y=True), "{broken", row("#### 5", y=False)]
    job = Job(task, ("file",), (RowReader(task, Fields(label=("y",))),))
    pieces, at_once = ScoreSummary(), job(Chunk(0, lines(rows))).summary
    for line in lines(rows):
        pieces.merge(job(Chunk(0, (line,))).summary)
    for summary in (pieces, at_once):
        summary.seconds = 0.0
    assert pieces == at_once == ScoreSummary.from_dict(json.loads(json.dumps(vars(at_once))))
    assert (at_once.false_positives, at_once.false_negatives) == (1, 1)
