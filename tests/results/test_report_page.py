"""The report page: escaped texts, no other files or network, and texts with steps and answer marked."""

import json
import re
import shutil
import subprocess

import pytest

from grpo_env.core import StepScore
from grpo_env.results.report import make_report, render
from grpo_env.results.report.spans import find_answer, level, mark_text, visible

from ..html_page import Page

HOSTILE = (
    '<script>alert(1)</script><img src="http://x/y" onerror=alert(1)>\x1b[31m\u202e\ud800\x00</pre></style>"\'{{ 7*7 }}'
)


@pytest.fixture
def hostile(row):
    steps = [{"start": 0, "end": 8, "value": 0.0, "explanation": HOSTILE}]
    rows = [row(0, c, 1.0 - c, id=HOSTILE, group=HOSTILE, task=HOSTILE, text=HOSTILE) for c in range(2)]
    for score_row in rows:
        score_row["prompt"] = [{"role": HOSTILE, "content": HOSTILE}]
        texts = {"explanation": HOSTILE, "rule": HOSTILE, "answer": HOSTILE, "gold": HOSTILE}
        score_row["parts"]["accuracy"]["rule"] = HOSTILE
        score_row["parts"][HOSTILE] = {
            "value": None,
            "weight": 0.0,
            "weighted": None,
            "status": "error",
            "steps": steps,
            **texts,
        }
    return rows


# The page


@pytest.mark.parametrize("fixture", ["rows", "hostile"])
def test_the_page_is_valid_and_self_contained(fixture, request):
    html = render(make_report(request.getfixturevalue(fixture)))
    html.encode()
    page = Page(html)
    assert not set(page.tags) & {"script", "img", "link", "iframe", "object", "form", "a"}
    assert not [name for _, name, _ in page.attributes if name.startswith("on") or name in ("src", "href")]
    assert "url(" not in re.search(r"<style>(.*?)</style>", html, re.DOTALL)[1]
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", html)


def test_hostile_texts_are_shown_as_text(hostile):
    html = render(make_report(hostile))
    assert "&lt;script&gt;" in html
    assert "⟨U+001B⟩[31m⟨U+202E⟩⟨U+D800⟩⟨U+0000⟩" in html
    assert "{{ 7*7 }}" in html


def test_a_page_of_huge_texts_stays_small(row):
    rows = [row(0, c, float(c), text="x" * 1_000_000, explanation="z" * 1_000_000) for c in range(2)]
    for score_row in rows:
        score_row["prompt"] = "y" * 1_000_000
        score_row["parts"]["accuracy"] |= {"answer": "x" * 1_000_000, "explanation": "z" * 1_000_000}
    html = render(make_report(rows))
    assert "995,500 characters omitted" in html
    assert len(html) < 100_000


CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"}]


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        ("2+2?", "2+2?"),
        (CHAT, "system: Be brief.\n\nuser: 2+2?"),
        (json.dumps(CHAT), "system: Be brief.\n\nuser: 2+2?"),  # as Parquet has it beside texts
        ([{"content": "2+2?"}], "[{&#39;content&#39;: &#39;2+2?&#39;}]"),
    ],
)
def test_a_prompt_is_shown_with_the_roles_of_a_chat(row, prompt, shown):
    page = render(make_report([{**row(0, c, float(c)), "prompt": prompt} for c in range(2)]))
    assert f'<summary>prompt</summary><pre class="text" tabindex="0">{shown}</pre>' in page


# In a browser

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
WIDTHS = (390, 1280)
HARNESS = """<body><script>onload = () => {
  const seen = [...document.querySelectorAll("iframe")].map(frame => {
    const page = frame.contentDocument.documentElement, view = frame.contentWindow;
    return [page.scrollWidth, view.performance.getEntriesByType("resource").length,
            view.getComputedStyle(frame.contentDocument.body).backgroundColor];
  });
  document.body.textContent = "SEEN" + JSON.stringify(seen) + "END";
}</script>"""


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
@pytest.mark.parametrize(
    ("scheme", "background"), [(0, "rgb(22, 24, 27)"), (1, "rgb(251, 251, 250)")], ids=["dark", "light"]
)
def test_a_browser_shows_it_without_requests_errors_or_sideways_scrolling(hostile, rows, tmp_path, scheme, background):
    long = [{**row, "id": "long" * 200, "text": "word" * 500, "task": HOSTILE} for row in rows]
    (tmp_path / "report.html").write_text(render(make_report([*long, *hostile])))
    frames = "".join(
        f'<iframe src="report.html" width="{width}" height="800" frameborder="0"></iframe>' for width in WIDTHS
    )
    (tmp_path / "harness.html").write_text(HARNESS + frames)
    # Everything but showing a page is switched off, so that the browser starts in a second.
    flags = (
        "headless no-sandbox disable-gpu disable-software-rasterizer disable-dev-shm-usage disable-extensions no-zygote"
    )
    flags += " no-first-run disable-background-networking disable-component-update disable-sync disable-breakpad"
    flags += " enable-logging=stderr allow-file-access-from-files hide-scrollbars dump-dom"
    flags += f" blink-settings=preferredColorScheme={scheme} user-data-dir={tmp_path / 'profile'}"
    command = [BROWSER, *(f"--{flag}" for flag in flags.split()), (tmp_path / "harness.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert ":CONSOLE" not in done.stderr
    frames = json.loads(re.search("SEEN(.*)END", done.stdout)[1])
    assert frames == [[width, 0, background] for width in WIDTHS]


# Spans


def test_steps_and_answer_in_a_text():
    html = mark_text(
        "1+1=3 so 3", [StepScore(0, 5, 0.0, "wrong"), StepScore(6, 8, 1.0)], find_answer("1+1=3 so 3", "3")
    )
    assert html == (
        '<span class="step v0" title="wrong">1+1=3</span><sup class="v0">0</sup> '
        '<span class="step v4" title="">so</span><sup class="v4">1</sup> <mark>3</mark>'
    )


def test_the_shorter_of_two_overlapping_steps_sets_the_color():
    html = mark_text("abcd", [StepScore(0, 4, 2.0), StepScore(1, 2, 0.0)])
    assert re.findall(r'step v(\d)" title="">(\w+)', html) == [("4", "a"), ("0", "b"), ("4", "cd")]
    assert (
        mark_text("ab", [StepScore(0, 9, 1.0), StepScore(-1, 1, 1.0), StepScore(1, 1, 1.0)]) == "ab"
    )  # not within the text


def test_a_long_text_keeps_its_end_and_marks():
    html = mark_text("a" * 50 + " 42", [], (51, 53), longest=16)
    assert html == 'aaaaaaaaaa<span class="note">… 37 characters omitted …</span>aaa <mark>42</mark>'


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
def test_the_answer_is_found_outside_longer_words_and_numbers(text, answer, span):
    assert find_answer(text, answer) == span


def test_step_levels_and_codes_of_invisible_characters():
    assert [level(value, 0, 1) for value in (0, 0.19, 0.5, 0.81, 1)] == [0, 0, 2, 4, 4]
    assert visible("a\tb\nc\x7f\ufeff") == "a\tb\nc⟨U+007F⟩⟨U+FEFF⟩"
