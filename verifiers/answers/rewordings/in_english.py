"""Readings in English of a whole extracted answer in another language, with what the text around it says."""

from __future__ import annotations

from collections.abc import Iterator

from grpo_env.lazy_regex import lazy_compile

from ..extract import ExtractedAnswer, uses_commas, uses_other_language, values_at_end
from ..languages import translated
from ..parse import parse
from ..quantities.number import Number, OverLimitError
from ..quantities.units import is_measure
from ..spelling.brackets import items
from ..spelling.normal import normal, same_text

_SEPARATOR = lazy_compile(r"\d[.,]\d")
_YEAR_FIRST = lazy_compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_AMOUNT = lazy_compile(r"-?\d[\d.,]* ?(?:[A-Za-z]{1,12}(?:[/^][a-z\d]{1,4})?|[%°]C?)?")


def readings(
    final: ExtractedAnswer, in_english: bool, with_end: bool, with_unit: bool, without_dates: bool
) -> Iterator[str]:
    """How one answer may be read, the whole first; the answer as it stands may be among these.

    ``in_english`` says whether words are translated, ``with_end`` whether the answer may be the end of a sentence,
    ``with_unit`` whether its unit counts, ``without_dates`` that there is no reading once one is a date.
    """
    answer = final.answers[0]
    texts = [answer]
    if with_end and uses_other_language(final.text):
        texts += values_at_end(answer, without_unit=not with_unit)
    if time := _with_part_of_day(final):
        texts.append(time)
    if final.source in ("phrase", "last_line") and (filled := translated.blanks(final.text)):
        texts.append(filled)
    if (date := translated.day_first(answer)) and is_day_first(final.text):
        yield date
    commas = _SEPARATOR.search(answer) is not None and uses_commas(final.text)
    for text in texts:
        reading = translated.in_english(text, commas, commas) if in_english else None
        if reading and without_dates and translated.is_date(reading):
            return
        if reading:
            yield reading
        if reading is None or not translated.has_magnitude(text):
            yield translated.whole_amount(text) or text
        if _AMOUNT.fullmatch(reading or "") or _has_measure(text):
            return


def is_day_first(text: str) -> bool:
    """Whether a text is in a language, other than English, whose dates begin with the day."""
    return uses_other_language(text) and _YEAR_FIRST.search(text) is None


def _has_measure(text: str) -> bool:
    """Whether a text is a number with a unit of measure, so that no less of it may be read."""
    try:
        number = parse(text).content
    except OverLimitError:
        return True
    return isinstance(number, Number) and any(is_measure(name) for name, _ in number.unit)


def _with_part_of_day(final: ExtractedAnswer) -> str | None:
    """A time in a box in English with what stands beside the box: ``\\boxed{8:45}`` (上午)."""
    if final.source != "boxed" or ":" not in final.answers[0]:
        return None
    start = final.text.rfind("\\boxed", 0, final.end)
    return translated.with_part_of_day(
        final.text[max(0, start - 20) : start], final.answers[0], final.text[final.end : final.end + 40]
    )


def fills_blanks_otherwise(gold: str, final: ExtractedAnswer) -> bool:
    """Whether a text fills blanks with the answers of a gold answer in another order."""
    if not translated.fills_blanks(final.text):
        return False
    answers = items(final.answers[0]) if len(final.answers) == 1 else list(final.answers)
    parts = items(gold)
    return len(parts) == len(answers) > 1 and any(
        not same_text(normal(part), normal(answer)) and any(same_text(normal(part), normal(other)) for other in answers)
        for part, answer in zip(parts, answers, strict=True)
    )
