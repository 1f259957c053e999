"""Templates: what they may do, what the sandbox refuses, and values that are none."""

from datetime import date
from functools import partial

import pytest

from grpo_env.core import Example, Format, Message
from grpo_env.errors import UsageError
from grpo_env.taskfile.prompt import prompt_text
from grpo_env.taskfile.templates import render, render_list, render_value

ROW = {"answer": "work\n#### 1,234 ", "items": ["a", "b"], "long": "abc " * 50_000, "n": 3}
DAY = [{"é": date(2024, 5, 1), "none": None}]  # as Parquet gives it


def filled(template):
    return render(template, ROW, Format(), "sums.yaml")


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ answer.split('####')[-1] | trim | replace(',', '') }}", "1234"),
        (
            "{% for item in items %}{{ loop.index }}/{{ loop.length }}{{item}}{{ ', ' if not loop.last }}{% endfor %}",
            "1/2a, 2/2b",
        ),
        ("{% for item in items recursive %}{{ item }}{% endfor %}", "ab"),
        ("{{ items | map('upper') | join('\n---------------\n') }}", "A\n---------------\nB"),
        ("{{ '-'.join(items | map('upper')) }}", "A-B"),
        (
            "{{ n * 2 }} {{ 2 ** n }} {{ 7 % n }} {{ '=' * n }} {{ n + 1 }} {{ items + ['c'] }}",
            '6 8 1 === 4 ["a", "b", "c"]',
        ),
        ("{{ '2 * 3 = %d of 99999999999' % n }} {{ '%(x)5.1f' % {'x': n} }}", "2 * 3 = 3 of 99999999999   3.0"),
        ("{{ '{:>4}|{x}'.format(n, x=items) }} {{ '{a}'.format_map({'a': 1}) }}", "   3|['a', 'b'] 1"),
        (
            "{{ n ~ items ~ 'x' }} {{ answer[:4] }} {{ items[::-1] }} {{ answer[1] }}",
            "3['a', 'b']x work [\"b\", \"a\"] o",
        ),
        ("{% macro two(x) %}<{{ x }}>{% endmacro %}{{ two(1) }}{{ two(n) }}", "<1><3>"),
        (
            "{% set x %}a{{ n }}{% endset %}{{ x | center(6) }}|{{ items | tojson(indent=2) }}",
            '  a3  |[\n  "a",\n  "b"\n]',
        ),
        (
            "{{ long | length }} {{ long.replace('abc', 'x') | length }} {{ none }}{{ n | round(2) }}",
            "200000 100000 None3",
        ),
        ("{% for c in answer %}{% endfor %}{{ items | length }}{{ items | batch(1) | list }}", '2[["a"], ["b"]]'),
    ],
)
def test_what_honest_templates_do(template, text):
    assert filled(template) == text


def test_lists_and_mappings_are_written_as_json():
    assert (
        render("{{ day }}{{ (1.5,) }}", {"day": DAY}, Format(), "sums.yaml")
        == '[{"é": "2024-05-01", "none": null}][1.5]'
    )


@pytest.mark.parametrize(
    "template", ["{{ rows | map(attribute='x') | list }}", "{{ [rows[0].x] }}", "{{ rows | groupby('x') | string }}"]
)
def test_a_missing_field_in_a_list_is_an_error_too(template):
    with pytest.raises(UsageError, match="has no attribute 'x'"):
        render(template, {"rows": [{"y": 1}]}, Format(), "sums.yaml")


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ items.append('c') }}",
        "{{ format.__init__.__globals__ }}",
        "{{ '{0.__class__}'.format(n) }}",
        "{{ range(10**10) | list }}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{{ " + "(" * 20_000 + "1" + ")" * 20_000 + " }}",
        "{% for a in [1] %}" * 50 + "{% endfor %}" * 50,
        "{{ " + "9" * 10_000 + " }}",
    ],
)
def test_what_the_sandbox_refuses_ends_in_a_message_of_one_line(template):
    with pytest.raises(UsageError, match=r"^sums.yaml: template ") as error:
        filled(template)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("none", [None, float("nan")])
@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ x }}", None),
        ("{{ x | trim }}", None),
        ("{{ x | int }}", None),
        ("{{ n ~ ' ' ~ x }}", None),
        ("{{ extra.x | upper }}", None),
        ("{{ row['x'] | string }}", None),
        ("{% for y in [x] %}{{ y }}{% endfor %}", None),
        ("{{ x if n else 1 }}", None),
        ("{{ x or 5 }}", "5"),
        ("{{ 1 if x is none else 2 }}{{ 1 if x == none else 2 }}{{ 1 if extra['x'] is none else 2 }}", "111"),
        ("{{ [x, 1] }}", "[null, 1]"),
        ("{{ [x] | tojson }}", "[null]"),
        ("{{ n }}", "3"),
    ],
)
def test_a_value_that_is_none_makes_no_text_none(template, text, none):
    row = {**ROW, "x": none, "extra": {"x": none}}
    assert render_value(template, row, Format(), "sums.yaml") == text


class Tokenizer:
    """Has a chat template that fails."""

    chat_template, name_or_path = "{{ 1 / 0 }}", "some/model"

    def __init__(self, error):
        self._error = error

    def apply_chat_template(self, *_, **__):
        raise self._error


@pytest.mark.parametrize("error", [ZeroDivisionError("division\nby zero"), MemoryError(), RecursionError("deep")])
def test_a_chat_template_that_fails_is_an_error_of_one_line(error):
    example = Example("train/0", (Message("user", "1+1"),))
    with pytest.raises(UsageError, match=r"train/0: the chat template of some/model fails: [ZMR]\w+Error") as caught:
        prompt_text(Tokenizer(error), example, Format())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ a }}", "{{ b }}\n"),  # a text is not a template again, and keeps its line break
        ("{{a}}", "{{ b }}\n"),
        ("{{ a }}\n", "{{ b }}\n\n"),
        ("{{ b }}", "[1, null]"),
        ("{{ format }}", str(Format())),  # the task's format, whatever the columns are called
        ("{{ true }}", "True"),
    ],
)
def test_a_template_of_one_column_is_its_text(template, text):
    row = {"a": "{{ b }}\n", "b": [1, None], "format": "column", "true": "column"}
    assert render(template, row, Format(), "here") == text


@pytest.mark.parametrize(
    ("template", "rows", "texts"),
    [
        (
            "{{ n }} {{ row['s'] }}",
            [{"n": "1", "s": "a"}, {"n": "1", "s": "b"}, {"n": "1", "s": "a"}],
            ["1 a", "1 b", "1 a"],
        ),
        ("{{ n }}!", [{"n": "1"}, {"n": 1.5}, {"n": [1]}, {"n": "1"}], ["1!", "1.5!", "[1]!", "1!"]),
        ("{{ row['s'] | default('none') }}", [{"s": "a"}, {}, {"s": "a"}], ["a", "none", "a"]),
        ("{{ n }}{{ row | length }}", [{"n": "1"}, {"n": "1", "s": ""}], ["11", "12"]),
        ("{{ n }}{% set all = row %}{{ all.s }}", [{"n": "1", "s": "a"}, {"n": "1", "s": "b"}], ["1a", "1b"]),
        (
            "{{ n }}{% for row in row.values() %}{{ row['s'] }}{% endfor %}",
            [{"n": {"s": "a"}}, {"n": {"s": "b"}}],
            ['{"s": "a"}a', '{"s": "b"}b'],
        ),
        ("{{ long | length }}", [{"long": "x" * 5000}, {"long": "y" * 5001}], ["5000", "5001"]),
    ],
)
def test_what_is_remembered_of_a_template_depends_on_all_that_it_reads(template, rows, texts):
    for _ in range(2):
        assert [render(template, row, Format(), "sums.yaml") for row in rows] == texts


def test_a_remembered_text_still_tells_that_a_value_in_it_is_none():
    template = "{{ answer if answer != '?' else none }}"
    answers = [render_value(template, {"answer": text}, Format(), "sums.yaml") for text in ["?", "5", "?", "5"]]
    assert answers == [None, "5", None, "5"]
    assert render("{{ answer if answer != '?' else none }}", {"answer": "?"}, Format(), "sums.yaml") == "None"


def test_a_remembered_text_is_that_of_its_format():
    formats = [Format(answer="a"), Format(answer="b"), Format(answer="a")]
    assert [render("{{ format.answer }}{{ n }}", {"n": "1"}, format, "s.yaml") for format in formats] == [
        "a1",
        "b1",
        "a1",
    ]


def test_a_column_may_be_called_as_something_of_jinja() -> None:
    row = {"range": "0-9", "dict": "Duden", "lipsum": "x"}
    template = "{{ range }} {{ dict }} {{ lipsum }}"
    assert render(template, row, Format(), "x.yaml") == "0-9 Duden x"


def test_a_template_of_one_expression_may_give_a_list() -> None:
    row = {"completions": [{"text": "a"}, {"text": "b"}], "text": "[1]", "format": "mcq", "row": 7}
    render = partial(render_list, row=row, format=Format(), where="x.yaml")
    assert render("{{ completions | map(attribute='text') | list }}") == ["a", "b"]
    assert render("{{ completions[0].text }}") is None
    assert render("{{ text }}") is None
    assert render("{{ text ") is None
    assert render("{{ text }}{{ completions }}") is None
    with pytest.raises(UsageError, match=r"x.yaml: template .*no attribute 'nothing'"):
        render("{{ completions[0].nothing + [] }}")
