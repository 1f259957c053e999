"""A judge of groups: what it is asked, in which order, and what its reply leads to."""

from __future__ import annotations

from typing import Any

import pytest

from grpo_env.core import Completion, Example, Group, Message, score_groups
from grpo_env.errors import UsageError
from grpo_env.taskfile.task import make_verifier
from grpo_env.verifiers.llm_judge_prompt import read_scores
from grpo_env.verifiers.llm_ranking import LLMRanking

from .conftest import request_data

EXAMPLE = Example("x", (Message("user", "Name a prime."),), "7")
TEXTS = ("7", "8", "seven", "7", "")


def by_length(number: int, body: dict[str, Any]) -> str:
    """A judge that scores a tenth for each character."""
    data, mark = request_data(body)
    replies = [data[key] for key in data if key.isdecimal()]
    return f"Compared.\n**SCORES {mark}: {', '.join(f'{len(reply) / 10:g}' for reply in replies)}**"


def ranking(url: str, **options: Any) -> LLMRanking:
    return LLMRanking(url, "judge-1", **{"retries": 0, **options})


def completions(*texts: str) -> list[Completion]:
    return [Completion(text) for text in texts]


def test_a_group_is_scored_by_one_request_and_equal_texts_are_sent_once(peer):
    server = peer(by_length)
    (scores,) = score_groups(ranking(server.url), [Group(EXAMPLE, completions(*TEXTS))])
    assert [(score.value, score.status) for score in scores] == [
        *((0.1, "scored"), (0.1, "scored"), (0.5, "scored"), (0.1, "scored")),
        (0.0, "no_answer"),
    ]
    assert scores[0].explanation == "judge-1: Compared."
    (body,) = server.requests
    data, _ = request_data(body)
    assert (data.pop("question"), data.pop("reference")) == ("Name a prime.", "7")
    assert sorted(data.values()) == ["7", "8", "seven"]


def test_the_order_of_a_group_does_not_matter(peer, tmp_path):
    server = peer(by_length)
    judge = ranking(server.url, cache=str(tmp_path / "judge.db"))
    there = judge.group(EXAMPLE, completions("a", "bcd", "ef"))
    back = judge.group(EXAMPLE, completions("ef", "bcd", "a"))
    assert [score.value for score in there] == [0.1, 0.3, 0.2]
    assert [score.value for score in back] == [0.2, 0.3, 0.1]
    assert len(server.requests) == 1


def test_all_groups_are_asked_about_together(peer):
    server = peer(by_length)
    groups = [Group(EXAMPLE, completions("a", "bb")), Group(EXAMPLE, ()), Group(EXAMPLE, completions("ccc"))]
    rows = score_groups(ranking(server.url), groups)
    assert [[score.value for score in row] for row in rows] == [[0.1, 0.2], [], [0.3]]


@pytest.mark.parametrize(
    "reply", ["SCORES {mark}: 0.1", "SCORES {mark}: 0.1, 1.1", "SCORES 000000: 0.1, 0.2", "0.1, 0.2", "no"]
)
def test_a_reply_without_a_score_for_each_leaves_the_group_unscored(peer, reply):
    server = peer(lambda number, body: reply.replace("{mark}", request_data(body)[1]))
    scores = ranking(server.url).group(EXAMPLE, completions("a", "bb", ""))
    assert [(score.value, score.status) for score in scores] == [(None, "error"), (None, "error"), (0.0, "no_answer")]
    assert len(server.requests) == 2  # with a reminder


def test_a_group_without_a_prompt_and_a_text_that_is_too_long(peer):
    server = peer(by_length)
    scores = ranking(server.url).group(Example("x"), completions("a"))
    assert scores[0].status == "not_applicable"
    assert ranking(server.url, max_chars=3).group(EXAMPLE, completions("abcd"))[0].status == "over_limit"


@pytest.mark.parametrize(
    ("line", "count", "scores"),
    [
        ("SCORES abcdef: 1", 1, (1.0,)),
        ("scores abcdef: [0, 0.5,1]", 3, (0.0, 0.5, 1.0)),
        ("`SCORES abcdef: 0.25, 0.75`.", 2, (0.25, 0.75)),
        ("SCORES abcdef: " + ", ".join(["0.123456"] * 64), 64, (0.123456,) * 64),
        ("SCORES abcdef: 1, 0", 1, None),
        ("SCORES abcdef: -1", 1, None),
        ("SCORES abcdef: 1/2", 1, None),
        ("SCORES abcdef:", 1, None),
        ("SCORES abcdef: " + "1, " * 100_000, 2, None),
    ],
)
def test_scores_are_read_from_the_last_line(line, count, scores):
    assert read_scores(f"I think\n{line}", "abcdef", count) == scores


def test_options():
    verifier = make_verifier("llm_ranking", {"base_url": "http://x/v1", "model": "m"}, "task.yaml")
    assert verifier.compares_completions
    assert verifier.late_status == "error"
    with pytest.raises(UsageError, match="rubric"):
        make_verifier("llm_ranking", {"base_url": "http://x/v1", "model": "m", "rubric": " "}, "task.yaml")
