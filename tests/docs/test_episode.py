"""The picture of an episode is current, and its advantages follow by hand from the group's step scores."""

import os
import re
from itertools import zip_longest
from pathlib import Path
from statistics import fmean, stdev

import pytest

from . import episode

PICTURE = Path(__file__).parents[2] / "docs/episode.svg"
# Step scores of the turns of the group's episodes: 0.1 for a call that can be run, 0.25 for an item of the basket that
# is looked up, 1 for the total.
GROUP = [
    [0.35, 0],
    [0.35, 0.35, 1],
    [0.35, 0.1, 0],
    [0.35, 0.35, 0],
    [0.35, 0, 0],
    [0.35, 0.35, 1],
    [0.35, 0.35, 0, 0.1, 0.1, 0],
    [0.35, 0],
]
TOTALS = [0, 1, 0, 0, 0, 1, 0, 0]


@pytest.mark.skipif(os.environ.get("GRPO_ENV_DOCS") != "all", reason="samples for ten seconds; GRPO_ENV_DOCS=all")
def test_the_picture_is_current():
    assert PICTURE.read_text() == episode.draw(*episode.record()), "run: python tests/docs/pictures.py episode"


def test_the_figures_in_the_picture_follow_from_the_group():
    returns = [[sum(row[turn:]) for turn in range(len(row))] for row in GROUP]
    columns = list(zip_longest(*returns, fillvalue=0.0))
    deviation = stdev(value for column in columns for value in column)
    outcome = (TOTALS[episode.ROW] - fmean(TOTALS)) / stdev(TOTALS)
    expected = []
    for score, column in zip(GROUP[episode.ROW], columns, strict=False):
        value, mean = column[episode.ROW], fmean(column)
        expected += [score, value, mean, (value - mean) / deviation, outcome]
    shown = [float(text) for text in re.findall(r'class="n v[^>]*>([^<]+)<', PICTURE.read_text())]
    assert len(shown) == len(expected)
    assert all(abs(a - b) < 0.0051 for a, b in zip(shown, expected, strict=True)), (shown, expected)
