"""Templates: what they may do, and the limits that hostile ones meet."""

import tracemalloc
from datetime import date

import pytest

from grpo_env.core import Example, Format, Message
from grpo_env.errors import UsageError
from grpo_env.taskfile import bounded_jinja
from grpo_env.taskfile.prompt import prompt_text, render

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
        ("{% for c in answer %}{% endfor %}{{ range(5) | sum }}{{ items | batch(1) | list }}", '10[["a"], ["b"]]'),
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


DOUBLING = (  # sixty times
    "{{% set ns = namespace(x='x') %}}{{% for i in range(60) %}}{{% set ns.x = {} %}}{{% endfor %}}"
    "{{{{ ns.x | length }}}}"
)
COLLECTING = "{{% set ns = namespace(l=[]) %}}{{% for i in range(99999) %}}{{% set ns.l = [ns.l, {}] %}}{{% endfor %}}"
HOSTILE = {
    "times": "{{ 'x' * 10**10 }}",
    "times reversed": "{{ 10**10 * 'x' }}",
    "a list": "{{ ([0] * 10**10) | length }}",
    "power": "{{ 7 ** 99999999 }}",
    "squares": DOUBLING.replace("x='x'", "x=3").format("ns.x * ns.x"),
    "nested loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "loops with text": "{% for a in range(99999) %}" + "x" * 1000 + "{% endfor %}",
    "text in a set block": "{% set s %}{% for a in range(99999) %}" + "x" * 1000 + "{% endfor %}{% endset %}",
    "values in a set block": "{% set s %}{% for a in range(99999) %}{{ long }}{% endfor %}{% endset %}",
    "a recursive loop": "{% for a in [range(9999)] * 9 recursive %}{{ loop([range(9)] * 9) }}{% endfor %}",
    "macros": "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
    "macros with text": "{% macro f() %}"
    + "x" * 100_000
    + "{% endmacro %}{% for a in range(9999) %}{% set s = f() %}{% endfor %}",
    "a macro without end": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "blocks": "{% block a %}{{ self.a() }}{{ self.a() }}{% endblock %}",
    "plus": DOUBLING.format("ns.x + ns.x"),
    "tilde": DOUBLING.format("ns.x ~ ns.x"),
    "percent": DOUBLING.format("'%s%s' % (ns.x, ns.x)"),
    "format": DOUBLING.format("'{0}{0}'.format(ns.x)"),
    "format_map": DOUBLING.format("'{a}{a}'.format_map({'a': ns.x})"),
    "join": DOUBLING.format("[ns.x, ns.x] | join"),
    "the method join": DOUBLING.format("''.join([ns.x, ns.x])"),
    "join with itself": DOUBLING.format("ns.x.join(['a', 'b', ns.x])"),
    "replace": DOUBLING.format("ns.x | replace('x', 'xx')"),
    "the method replace": DOUBLING.format("ns.x.replace('x', ns.x ~ 'x')"),
    "replace nothing": DOUBLING.format("ns.x.replace('', ns.x)"),
    "translate": DOUBLING.format("ns.x.translate({120: ns.x ~ 'x'})"),
    "nested lists": DOUBLING.replace("| length", "").format("[ns.x, ns.x]"),
    "nested mappings": DOUBLING.replace("| length", "| tojson").format("{'a': ns.x, 'b': ns.x}"),
    "many values": COLLECTING.format("long ~ i"),
    "many slices": COLLECTING.format("long[1:]"),
    "many copies": COLLECTING.format("long.upper()"),
    "mapped": "{{ range(99999) | map('center', 9999) | list | length }}",
    "center": "{{ 'x' | center(10**10) }}",
    "the method ljust": "{{ 'x'.ljust(10**10) }}",
    "zfill": "{{ 'x'.zfill(10**10) }}",
    "expandtabs": "{{ ('\t' * 10**6).expandtabs(10**5) | length }}",
    "indent": "{{ ('\n' * 10**6) | indent(10**5) | length }}",
    "indent by text": "{{ ('\n' * 10**6) | indent('x' * 10**5) | length }}",
    "tojson": "{{ [[[[1]]]] | tojson(indent=10**9) }}",
    "batch": "{{ [1] | batch(10**10, 0) | list | length }}",
    "slice": "{{ [1] | slice(10**10) | list | length }}",
    "a wide field": "{{ '%10000000000d' % 1 }}",
    "a width from a value": "{{ '%*d' % (10**10, 1) }}",
    "a wide field of the filter": "{{ '%10000000000d' | format(1) }}",
    "a wide field of format": "{{ '{:10000000000}'.format(1) }}",
    "a width of format from a value": "{{ '{:{}}'.format(1, 10**10) }}",
    "round": "{{ 1.5 | round(10**10, 'ceil') }}",
    "bytes": "{{ n.to_bytes(10**10, 'big') | length }}",
    "range": "{{ range(10**10) | list }}",
    "lipsum": "{{ lipsum(n=10**7) }}",
    "parentheses": "{{ " + "(" * 20_000 + "1" + ")" * 20_000 + " }}",
    "loops in loops": "{% for a in [1] %}" * 50 + "{% endfor %}" * 50,
    "a long number": "{{ " + "9" * 10_000 + " }}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_templates_end_in_a_short_message(name, monkeypatch):
    monkeypatch.setattr(bounded_jinja, "MAX_STEPS", 10_000)  # steps are slow while memory is traced
    monkeypatch.setattr(bounded_jinja, "MAX_CHARACTERS", 2_500_000)
    tracemalloc.start()
    try:
        with pytest.raises(UsageError, match=r"^sums.yaml: template ") as error:
            filled(HOSTILE[name])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1 << 28
    assert len(str(error.value)) < 400
    assert "\n" not in str(error.value)


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
