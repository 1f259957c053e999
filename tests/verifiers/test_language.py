"""Languages: sentences of 23 of them alone and mixed, what has no language, hostile texts."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Callable
from functools import cache
from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_env.core import Completion, Example, Format, Score
from grpo_env.errors import UsageError
from grpo_env.verifiers import language as module
from grpo_env.verifiers.language import LanguageConsistency
from grpo_env.verifiers.words import words

LINES = (Path(__file__).parent / "cases/sentences.jsonl").read_text().splitlines()
SENTENCES: dict[str, list[str]] = {row["language"]: row["sentences"] for row in map(json.loads, LINES)}
ENGLISH = "First we count the eggs that are left in the basket, then we sell all of them."
GERMAN = "Zuerst zählen wir die Eier, die noch im Korb sind, und dann verkaufen wir sie alle."
CHINESE = "我们先数一数篮子里还剩多少个鸡蛋，然后把它们全部卖掉。"  # noqa: RUF001


@cache
def verifier(language: str = "en", **options: Any) -> LanguageConsistency:
    return LanguageConsistency(Format(reasoning=None, answer=None), language, **options)


def score(text: str, language: str = "en") -> Score:
    return verifier(language)(Example("x"), Completion(text))


def counted(text: str) -> int:
    return sum(1 for word in words(text) if len(word) > 1 or not word.isascii())


@pytest.mark.parametrize("language", SENTENCES)
def test_a_text_in_one_language_scores_1(language: str) -> None:
    text = " ".join(SENTENCES[language])
    assert score(text, language).value == 1, score(text, language)
    for wrong_language in SENTENCES.keys() - {language}:
        assert score(text, wrong_language).value == 0, score(text, wrong_language)


@pytest.mark.parametrize(("first", "second"), [pair for pair in product(SENTENCES, repeat=2) if pair[0] < pair[1]])
def test_the_value_of_a_mixed_text_is_the_fraction_of_its_words(first: str, second: str) -> None:
    first_sentences, second_sentences = SENTENCES[first][:4], SENTENCES[second][:4]
    text = "\n".join([*first_sentences[:2], *second_sentences[:2], *first_sentences[2:], *second_sentences[2:]])
    expected = counted(" ".join(first_sentences)) / counted(text)
    assert score(text, first).value == pytest.approx(expected), score(text, first)
    assert score(text, second).value == pytest.approx(1 - expected), score(text, second)


def test_alternating_short_sentences_of_two_languages_are_mostly_distinguished() -> None:
    errors = []
    for language, other_language in product(SENTENCES, repeat=2):
        if language != other_language:
            first, second = SENTENCES[language][:4], SENTENCES[other_language][:4]
            text = "\n".join(chain.from_iterable(zip(first, second, strict=True)))
            fraction = score(text, language).value
            assert fraction is not None
            errors.append(abs(fraction - counted(" ".join(first)) / counted(text)))
    assert sum(error > 0.02 for error in errors) / len(errors) < 0.04


@pytest.mark.parametrize(
    ("text", "value", "why"),
    [
        (ENGLISH, 1, "English"),
        (f"{ENGLISH} $x_{{max}} = \\frac{{12}}{{4}}$ \\[ \\text{{wenn}} x > 3 \\]", 1, "formulas"),
        (f"{ENGLISH}\n```python\nfuer_jedes = [wert for wert in werte]\n```\n`eins zwei`", 1, "code"),
        (f"{ENGLISH} https://example.org/zuerst-zaehlen-wir-die-eier-im-korb", 1, "an address"),
        (f"{ENGLISH} 1 + 2 = 3, x + y = z, 12 km. " * 3, 1, "numbers, names and units"),
        (f"{ENGLISH} <<48/2=24>>", 1, "calculator marks"),
        (f"{ENGLISH.upper()} {ENGLISH}", 1, "capitals"),
        (f"He pays $5 for the apples and then $7 for pears. {ENGLISH}", 1, "amounts of money are no formulas"),
        (GERMAN, 0, "German"),
        (f"```\n{GERMAN}\n```", 0, "prose does not hide in code"),
        (f"${GERMAN}$", 0, "nor in a formula"),
        (f"\\[\\text{{{GERMAN}}}\\]", 0, "nor in a formula's text"),
        (f"\\({GERMAN}\\)", 0, "in any formula"),
        ("我们先数一数还剩多少个鸡蛋", None, "13 Chinese characters"),
        ("我们先数一数还剩多少个鸡蛋呢", 0, "14 Chinese characters"),
        (f"`{CHINESE}`", 0, "nor does Chinese"),
        (CHINESE, 0, "Chinese"),
        (f"{CHINESE} OK.", 1 / 26, "a word in another script"),
        ("$a$b" * 40, None, "letters do not grow together where a formula was"),
        ("x = 1\ny = 2 * x\n" * 20, None, "no words"),
        ("", None, "empty"),
        ("So it is.", None, "too little to tell"),
        ("等等。", None, "too little to tell, in Chinese"),
        ("\x00\ud800 \u0301 ∑∫ 🙂 " * 20, None, "no letters"),
    ],
)
def test_text_without_a_language_does_not_count(text: str, value: float | None, why: str) -> None:
    result = score(text)
    assert result.value == (None if value is None else pytest.approx(value)), f"{why}: {result}"
    assert result.status == ("not_applicable" if value is None else "scored")
    assert result.explanation


@pytest.mark.parametrize(
    "formula",
    ["\\(area max\\)", "\\[ area max \\]", "$area max$", "$$area\nmax$$", "<<area max>>", "`area max`", "\\max \\frac",
     "\\begin{align} x \\end{align}", "https://area.max", "```\nfor area in max\n```", "x y", "12"],
)  # fmt: skip
def test_names_in_formulas_and_code_do_not_count_as_english(formula: str) -> None:
    assert score(f"{CHINESE} {formula} {CHINESE}", "zh").value == 1
    assert score(f"{CHINESE} area {CHINESE}", "zh").value == pytest.approx(50 / 51)


@pytest.mark.parametrize(
    ("text", "where", "value", "status"),
    [
        (f"<think>{ENGLISH}</think>{GERMAN}", "reasoning", 1.0, "scored"),
        (f"<think>{GERMAN}</think>{ENGLISH}", "reasoning", 0.0, "scored"),
        (f"<think>{ENGLISH}", "reasoning", 1.0, "scored"),
        (ENGLISH, "reasoning", 0.0, "no_answer"),
        (ENGLISH, "all", 1.0, "scored"),
        (f"<think>{ENGLISH}</think><answer>{ENGLISH}</answer>", "all", 1.0, "scored"),
        ("<think></think>", "reasoning", None, "not_applicable"),
    ],
)
def test_the_option_where_selects_the_text(text: str, where: Any, value: float | None, status: str) -> None:
    result = LanguageConsistency(where=where)(Example("x"), Completion(text))
    assert (result.value, result.status) == (value, status)


def test_a_prefill_does_not_count() -> None:
    assert LanguageConsistency()(Example("x"), Completion(f"{ENGLISH}</think>", prefill=f"<think>{GERMAN} ")).value == 1


@pytest.mark.parametrize("text", ["Prvo zbrojimo oba broja, a zatim oduzmemo ostatak i podijelimo rezultat s dva."])
def test_indistinguishable_languages_count_as_one(text: str) -> None:
    assert score(text, "hr").value == score(text, "bs").value == score(text, "sr").value == 1


@given(
    parts=st.lists(st.sampled_from([ENGLISH, GERMAN, CHINESE, "$x$", "12", "\n", "\r\n", "`", "$", "\\["]), max_size=8)
)
@settings(deadline=None)
def test_bounds_and_line_ends(parts: list[str]) -> None:
    text = " ".join(parts)
    result = score(text)
    assert result.value is None or 0 <= result.value <= 1
    assert result == score(text.replace("\r\n", "\n"))


@pytest.mark.parametrize(
    "unit",
    ["a", "a ", "word ", "数", "First we add. ", "$", "$$a", "`", "```", "\\(", "\\[", "\\begin{", "<<", "Aa.", "http://",
     "\u0301", "\u0301\u0323", "añ ", "aa,"],
)  # fmt: skip
def test_a_long_text_takes_linear_time(unit: str, long_text: Callable[[str], str]) -> None:
    assert score(long_text(unit)).status in ("scored", "not_applicable")


def test_a_long_text_is_sampled_evenly() -> None:
    assert score(f"{ENGLISH}\n" * 3000 + f"{GERMAN}\n" * 1000).value == pytest.approx(0.75, abs=0.03)


def test_it_is_picklable_like_every_verifier() -> None:
    unpickled = pickle.loads(pickle.dumps(verifier()))
    assert unpickled(Example("x"), Completion(ENGLISH)).value == 1


def test_an_unknown_language_is_an_error() -> None:
    with pytest.raises(UsageError, match="unknown language 'english'"):
        LanguageConsistency(language="english")


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    module._identifier.cache_clear()
    monkeypatch.setitem(sys.modules, "py3langid.langid", None)
    with pytest.raises(UsageError, match=r"pip install -c constraints.txt '\.\[language\]'"):
        LanguageConsistency()
