"""What is said where no row of a file has a completion or a gold answer by the names that are looked for."""

import pytest

from grpo_env.errors import UsageError, nearest
from grpo_env.scoring.column_check import check_columns


def read(name):
    def column(row):
        if name not in row:
            raise UsageError(f"no column {name!r}; {nearest(name, row)}")
        return row[name]

    return column


READERS = {"completion": read("completion"), "answer": read("answer")}


@pytest.mark.parametrize(
    ("rows", "said", "not_said"),
    [
        ([{"q": "2+2?", "answer": "4", "output": "It is 4."}], "try --completion output", "--answer"),
        ([{"q": "2+2?", "target": "4", "output": "It is 4."}], "try --completion output --answer target", "--join"),
        # A copy of the gold answer would be right in all rows.
        (
            [{"answer": "4", "response": "4"}, {"answer": "5", "response": "5"}],
            "name them with --completion COLUMN",
            "--completion response",
        ),
        ([{"answer": "4", "response": "4"}, {"answer": "5", "response": "6"}], "try --completion response", "--answer"),
        (
            [{"target": "4", "output": "4"}, {"target": "5", "output": "5"}],
            "try --answer target",
            "--completion output",
        ),
        # Nor does a copy of the column that the gold answer was taken from.
        (
            [{"answer": "4", "solution": "2+2\n#### 4", "output": "2+2\n#### 4"}],
            "name them with --completion COLUMN",
            "--completion output",
        ),
        # Nor is it what was meant, though its name is near.
        (
            [{"answer": "4", "solution": "4", "response_text": "It is 4."}],
            "no completion (no column 'completion') in the first row",
            "did you mean",
        ),
        # Rows under a key that has no usual name.
        ([{"licence": "MIT", "tasks": [{"q": "2+2?"}]}], "the rows are under 'tasks': jq -c '.tasks[]'", "try"),
    ],
)
def test_flags_are_advised_for_columns_that_look_right_but_not_for_copies_of_the_gold(rows, said, not_said):
    with pytest.raises(UsageError) as raised:
        check_columns(rows, READERS)
    assert said in str(raised.value)
    assert not_said not in str(raised.value)


def test_what_all_first_rows_or_only_some_have_is_no_problem():
    check_columns([{"completion": "4", "answer": "4"}, {"answer": "4"}], READERS)
