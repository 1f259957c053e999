"""The recording of a terminal shows what its commands print, and ends within half a minute."""

import re
from html import escape
from pathlib import Path

import pytest

from . import recording
from .pages import same_line

PICTURE = (Path(__file__).parents[2] / "docs/recording.svg").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_recording_is_current(tmp_path):
    lines = [escape(line) for scene in recording.record(tmp_path) for line in scene]
    shown = recording.shown(PICTURE)
    different = [pair for pair in zip(shown, lines, strict=False) if not same_line(*pair)]
    assert (len(shown), different) == (len(lines), []), "run: python tests/docs/pictures.py recording"


def test_the_recording_is_short():
    assert max(map(float, re.findall(r"k\d+_\d+ ([\d.]+)s", PICTURE))) <= 30


def test_a_line_is_hidden_before_its_time_and_after_its_scene():
    picture = recording.draw([["$ a", "b"], ["$ c"]])  # 0.8 + 2 x 0.12 + 4 s, then 0.8 + 0.12 + 4 s: 9.96 s
    begin, end = (0.8 + 0.12) / 9.96, 5.04 / 9.96
    assert f"@keyframes k0_1{{0%,{begin:.2%}{{visibility:hidden}}" in picture
    assert f"{end:.2%},100%{{visibility:hidden}}" in picture
    assert recording.shown(picture) == ["$ a", "b", "$ c"]
