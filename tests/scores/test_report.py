"""The report as a whole: what it says of files made by hand, and that no text of theirs can harm the page."""

import json
import re
from html.parser import HTMLParser

import pytest
from typer.testing import CliRunner

from grpo_env.cli import app
from grpo_env.core import Completion, Example, Group, Score, StepScore
from grpo_env.errors import UsageError
from grpo_env.scores.advice import findings
from grpo_env.scores.notebook import show, show_group
from grpo_env.scores.report import make_report
from grpo_env.scores.spans import Step, find_answer, level, marked, visible

HOSTILE = (
    '<script>alert(1)</script><img src="http://x/y" onerror=alert(1)>\x1b[31m\u202e\ud800\x00</pre></style>"\'{{ 7*7 }}'
)


def part(value, weight=1.0, status="scored", **more):
    weighted = None if value is None else weight * value
    return {"value": value, "weight": weight, "weighted": weighted, "process": 0.0, "status": status, **more}


def row(prompt, completion, right, tidy=1.0, **more):
    """A completion paid 1 for being right and 2 for being tidy."""
    parts = {"accuracy": part(right, answer=more.pop("answer", "4"), gold="4"), "tidy": part(tidy, 2.0)}
    total = None if right is None else right + 2 * tidy
    if right is None:
        parts["accuracy"] |= {"status": "bad_gold", "explanation": "gold is no number"}
    return {
        "id": f"q{prompt}",
        "line": prompt + 1,
        "completion": completion,
        "group": f"g{prompt}",
        "prompt": f"What is {prompt}?",
        "text": "so it is 4" * (completion + 1),
        "finish_reason": "stop",
        "num_tokens": None,
        "total": total,
        "status": "scored" if right is not None else "bad_gold",
        "explanation": "" if right is not None else "accuracy: gold is no number",
        "parts": parts,
        "steps": [],
        "seconds": 0.001,
        "task": "sums",
        "metric": "accuracy",
        **more,
    }


def rows():
    """Groups of two: mixed and misranked, all right, all wrong, starved, unscored."""
    table = [((1, 0), (0, 1)), ((1, 1), (1, 1)), ((0, 0), (0, 0)), ((1, 0), (0, 0.5)), ((None, 1), (None, 1))]
    return [row(p, c, *values) for p, group in enumerate(table) for c, values in enumerate(group)]


def hostile_rows():
    steps = [{"start": 0, "end": 8, "value": 0.0, "explanation": HOSTILE}]
    for completion in range(2):
        made = row(0, completion, 1.0 - completion, id=HOSTILE, group=HOSTILE, task=HOSTILE, text=HOSTILE)
        made["prompt"] = [{"role": HOSTILE, "content": HOSTILE}]
        made["parts"][HOSTILE] = part(
            None, 0.0, "error", explanation=HOSTILE, answer=HOSTILE, gold=HOSTILE, steps=steps
        )
        yield made


def write(path, made):
    path.write_text("".join(json.dumps(one) + "\n" for one in made))
    return path


class Page(HTMLParser):
    """Collects tags and attributes; fails where a tag is not closed."""

    VOID = frozenset({"meta", "br", "img", "link", "input", "rect", "line", "circle", "polyline", "polygon"})

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.open = set(), [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


# What it says


def test_the_numbers_of_a_small_file():
    report = make_report(rows())
    assert (report.task, report.metric, report.completions, report.groups, report.input_rows) == (
        "sums",
        "accuracy",
        10,
        5,
        5,
    )
    assert (report.unscored, report.cut, report.finish_known) == (2, 0, 10)
    assert report.accuracy.value == 4 / 8
    assert report.reward.value == (1 + 2 + 3 + 3 + 0 + 0 + 1 + 1) / 8
    assert report.kinds == {"mixed": 1, "all right": 1, "all wrong": 1, "starved": 2}
    assert (report.dropped, report.contrasted, report.misranked) == (8, 2, 1)
    assert report.pass_at[1].value == (0.5 + 1 + 0 + 0.5) / 4
    assert report.pass_at[2].value == 3 / 4
    assert report.maj_at[2].value == (0.5 + 1 + 0 + 0.5) / 4  # all say 4: the vote is as right as they are
    # Rewards 1 2 3 3 0 0 1 1: mean 11/8, sum of squares 25 - 121/8 = 79/8. Accuracy has with them 8 - 4 * 11/8 = 5/2.
    assert {part.name: part.variance_share for part in report.parts} == pytest.approx(
        {"accuracy": 20 / 79, "tidy": 59 / 79}
    )
    assert report.length.unit == "characters"


def test_length_is_in_tokens_where_every_row_has_a_count():
    made = make_report([one | {"num_tokens": 7} for one in rows()])
    assert (made.length.unit, made.length.mean) == ("tokens", 7)


def test_warnings_say_what_is_wrong_with_numbers():
    seen = " / ".join(finding.seen for finding in findings(make_report(rows())))
    for words in (
        "20% of the completions are unscored; first reasons: accuracy: gold is no number",
        "in 50% of the groups with right and wrong completions a wrong one earns more than a right one",
        "tidy pays 0.75 of the reward's variance",
        "80% of the groups carry no signal: all their rewards are equal (1 all right, 1 all wrong, 2 starved)",
        "40% of the groups are starved",
    ):
        assert words in seen


def test_a_sound_reward_is_silent():
    made = [row(p, c, float(c), 0.5 + 0.5 * c, text="so it is 4", steps=[]) for p in range(30) for c in range(2)]
    made = [
        one | {"parts": {"accuracy": one["parts"]["accuracy"]}, "total": one["parts"]["accuracy"]["value"]}
        for one in made
    ]
    assert findings(make_report(made)) == []
    assert "No warnings" in make_report(made).html


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda one, at: {"finish_reason": "length" if at % 9 == 0 else "stop"}, "11% of the completions were cut"),
        (lambda one, at: {"seconds": 9.0 if at == 3 else 0.001}, "slowest 1 % of the verdicts take 98% of the time"),
        (lambda one, at: {"label": at % 2 == 0}, "accuracy disagrees with 100% of the labels"),
        (lambda one, at: {"text": "x" * (5 + 90 * (at % 2))}, "accuracy and length correlate at 1.00: longer"),
    ],
)  # fmt: skip
def test_each_other_warning_has_its_cause(change, words):
    made = [row(at // 2, at % 2, float(at % 2), 0.0, text="4") for at in range(180)]
    made = [one | change(one, at) for at, one in enumerate(made)]
    seen = [finding.seen for finding in findings(make_report(made))]
    assert any(words in one for one in seen), seen
    assert any("tidy never varies: it is 0 for all 180 completions" in one for one in seen)


def test_steps_have_a_profile_and_a_colour():
    steps = [
        {"start": 0, "end": 2, "value": 1.0, "explanation": "fine"},
        {"start": 3, "end": 5, "value": 0.0, "explanation": ""},
    ]
    made = rows()
    for one in made:
        one["parts"]["tidy"]["steps"] = steps
    report = make_report(made)
    (profile,) = report.steps
    assert (profile.part, profile.completions, profile.steps, profile.lowest, profile.highest) == ("tidy", 10, 20, 0, 1)
    assert profile.by_position == (None, 1, None, 0, None)
    assert profile.by_index == (1, 0)
    assert '<span class="step v4" title="tidy: fine">so</span><sup class="v4">1</sup>' in report.html


# What can be wrong with a file


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ([], "no scores in it"),
        ([{"id": 1}], "line 1: no key 'completion'"),
        ([{**row(0, 0, 1), "group": None}], "has no 'group'; score the file anew"),
        ([row(0, 0, 1), {**row(1, 0, 1), "metric": "other"}], "two tasks, with the metrics 'accuracy' and 'other'"),
        ([row(0, 0, 1), row(1, 0, 1), row(0, 1, 1)], "the rows of group 'g0' are not together"),
        ([{**row(0, 0, 1), "parts": {"accuracy": {}}}], "1 is not as grpo_env score writes it (KeyError: 'value')"),
        ([{**row(0, 0, 1), "total": "1"}], "completion 1 is not as grpo_env score writes it (TypeError"),
        ([{**row(0, 0, 1), "total": float("nan")}], "nan is no finite number"),
    ],
)  # fmt: skip
def test_a_file_that_is_none_of_scores_is_refused(tmp_path, made, words):
    with pytest.raises(UsageError, match=re.escape(words)):
        make_report(write(tmp_path / "scores.jsonl", made))


def test_no_texts_no_answers_no_rewards_no_groups():
    bare = [{key: value for key, value in one.items() if key not in ("text", "prompt", "seconds")} for one in rows()]
    assert "keeps no texts" in make_report(bare).html
    assert make_report(bare).length is None
    alone = make_report([row(p, 0, None) for p in range(3)])
    assert (alone.reward, alone.accuracy, alone.maj_at, alone.kinds) == (None, None, {}, {"single": 3})
    assert "No completion could be judged by accuracy" in alone.html
    Page(alone.html)


def test_a_parquet_file_says_the_same(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(rows()), tmp_path / "scores.parquet")
    jsonl = make_report(write(tmp_path / "scores.jsonl", rows()), source="same")
    assert make_report(tmp_path / "scores.parquet", source="same").html == jsonl.html


# The page


@pytest.mark.parametrize("made", [rows, lambda: list(hostile_rows())], ids=["plain", "hostile"])
def test_the_page_is_whole_and_needs_nothing_else(made):
    html = make_report(made()).html
    html.encode()
    page = Page(html)
    assert not page.tags & {"script", "img", "link", "iframe", "object", "form", "a"}
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("src", "href")]
    assert "url(" not in re.search(r"<style>(.*?)</style>", html, re.DOTALL)[1]
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", html)


def test_hostile_texts_are_shown_as_text():
    html = make_report(hostile_rows()).html
    assert "&lt;script&gt;" in html
    assert "⟨U+001B⟩[31m⟨U+202E⟩⟨U+D800⟩⟨U+0000⟩" in html
    assert "{{ 7*7 }}" in html


def test_a_page_of_huge_texts_stays_small():
    made = [row(0, c, float(c), text="x" * 1_000_000, explanation="z" * 1_000_000) for c in range(2)]
    for one in made:
        one["prompt"] = "y" * 1_000_000
        one["parts"]["accuracy"] |= {"answer": "x" * 1_000_000, "explanation": "z" * 1_000_000}
    html = make_report(made).html
    assert "995,500 characters left out" in html
    assert len(html) < 100_000


# Spans


def test_steps_and_answer_in_a_text():
    html = marked("1+1=3 so 3", [Step(0, 5, 0.0, "wrong"), Step(6, 8, 1.0)], find_answer("1+1=3 so 3", "3"))
    assert html == (
        '<span class="step v0" title="wrong">1+1=3</span><sup class="v0">0</sup> '
        '<span class="step v4" title="">so</span><sup class="v4">1</sup> <mark>3</mark>'
    )


def test_where_steps_overlap_the_shorter_one_gives_the_colour():
    html = marked("abcd", [Step(0, 4, 2.0), Step(1, 2, 0.0)])
    assert re.findall(r'step v(\d)" title="">(\w+)', html) == [("4", "a"), ("0", "b"), ("4", "cd")]
    assert marked("ab", [Step(0, 9, 1.0), Step(-1, 1, 1.0), Step(1, 1, 1.0)]) == "ab"  # not within the text


def test_the_end_of_a_long_text_is_kept_with_its_marks():
    html = marked("a" * 50 + " 42", [], (51, 53), head=10, tail=6)
    assert html == 'aaaaaaaaaa<span class="note">… 37 characters left out …</span>aaa <mark>42</mark>'


@pytest.mark.parametrize(
    ("text", "answer", "span"),
    [
        ("4, 42, 4.5 and 4", "4", (15, 16)),
        ("4, 42, 4.5", "4", (0, 1)),
        ("it ends in 4.", "4", (11, 12)),
        (r"\boxed{\frac12}", r"\frac12", (7, 14)),
        ("1,000", "1000", None),
        ("4", None, None),
        ("4", " ", None),
    ],
)
def test_the_answer_is_found_where_it_stands_by_itself(text, answer, span):
    assert find_answer(text, answer) == span


def test_levels_and_codes():
    assert [level(value, 0, 1) for value in (0, 0.19, 0.5, 0.81, 1)] == [0, 0, 2, 4, 4]
    assert level(1, 1, 1) == 4
    assert visible("a\tb\nc\x7f\ufeff") == "a\tb\nc⟨U+007F⟩⟨U+FEFF⟩"


# The command


def test_the_command_writes_a_page_and_pictures_and_never_over_one(tmp_path):
    scores, out, folder = write(tmp_path / "scores.jsonl", rows()), tmp_path / "r.html", tmp_path / "png"
    done = CliRunner().invoke(app, ["report", str(scores), "--out", str(out), "--png", str(folder)])
    assert done.exit_code == 0, done.output
    assert "warning: tidy pays 0.75 of the reward's variance" in done.stderr
    assert out.read_text() == make_report(scores).html
    pictures = sorted(path.name for path in folder.iterdir())
    assert pictures == ["groups.png", "length.png", "parts.png", "pass.png", "shares.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in folder.iterdir())
    again = CliRunner().invoke(app, ["report", str(scores), "--out", str(out)])
    assert isinstance(again.exception, UsageError)
    other = CliRunner().invoke(app, ["report", str(scores), "--out", str(tmp_path / "new.html"), "--png", str(folder)])
    assert "exists already" in str(other.exception)
    assert not (tmp_path / "new.html").exists()


# Notebooks


def test_scores_groups_and_reports_show_themselves():
    steps = (StepScore(0, 5, 1.0, HOSTILE),)
    score = Score(0.5, name="total", parts=(Score(0.5, name="accuracy", answer="2", steps=steps),))
    completion = Completion("1+1=2 <b>")
    assert "accuracy" in score._repr_html_()
    assert '<mark>2</mark></span><sup class="v4">1</sup> &lt;b&gt;' in show(score, completion)
    group = Group(Example("q<b>", answer="2"), [completion, Completion(HOSTILE)])
    unscored = Score(None, "bad_gold", name="total")
    for html in (
        show(score, completion),
        group._repr_html_(),
        show_group(group, [score, unscored]),
        unscored._repr_html_(),
    ):
        assert "script" not in Page(html).tags
    with pytest.raises(ValueError, match="1 scores for 2 completions"):
        show_group(group, [score])
    assert make_report(rows())._repr_html_().startswith("<iframe srcdoc=")
