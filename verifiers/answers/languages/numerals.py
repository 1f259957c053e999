# ruff: noqa: E501, RUF001, SIM905  (words of other languages)
"""Numbers in words of other languages: ``quince``, ``siebenundzwanzig``, ``on sekiz``, 千二百, ``sette ottavi``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from grpo_env.lazy_regex import lazy_compile

from ..vocabulary.foreign_words import AND, UNITS
from .counting import HALF_OF, HALVES, LANGUAGES, QUARTERS, SCALES, all_words, parts_of, table_of, words_of
from .east_asian import DIGITS, in_east_asian_figures
from .which_language import WORD, languages_by_letters

MAX_LENGTH = 240
_MAX_WORDS = 7
_POINTS = frozenset(
    "komma virgule coma vírgula virgola koma virgül phẩy przecinek čárka целых целая κόμμα נקודה दशमलव দশমিক فاصلة"
    " ممیز จุด pilkku virgulă punto".split()
)
_ZEROS = frozenset(
    "null nul noll zéro zero cero nolla nula nulla ноль нуль sıfır nol không sifuri μηδέν אפס صفر शून्य শূন্য ศูนย์".split()
)
_PART_FIRST = {"theluthi": 3, "robo": 4, "humusi": 5, "thumuni": 8}  # of Swahili, before its number
_JOINS = frozenset("و e și i и na at t ו og".split())  # what stands between thousands and the rest
_ENGLISH = frozenset(
    "once due fire hat sex on dos cent sept six elf ti sei ba sto but sat set to tres en a o no half kwart quart mil bin son en tres firs pet isa".split()
)
_ARTICLES = frozenset(form for numbers in LANGUAGES.values() for form in numbers.small.split()[0].split("/")) - {
    "eins",
    "uno",
    "unu",
    "één",
}
_ONE_HALF_MORE = lazy_compile("(.+)(?:einhalb|ënhalf|enhalf|ënhalve|enhalve)")
_MILLIONS = tuple(
    [word] for word in "million millón milhão milione milion miljoen miljon milliarde milliard miliardo".split()
)
_GLUED = lazy_compile(
    "tausend|duizend|tusen|tusind|mille|mila|ezer|tuhat|einhalb|nhalf|nhalve|hundert|honderd|hundra|hundre|cento|száz|sata"
)
_MINUS = lazy_compile(
    r"(?<!\w)(?:minus|moins|menos|meno|min|miinus|mínusz|mínus|μείον|минус|мінус|eksi|âm|negativ[oa]|negatif|hasi|ลบ|ऋण|माइनस|মাইনাস|ঋণাত্মক|மைனஸ்|మైనస్|سالب|ناقص|منفی|منفي|מינוס) ?(?=\d)|(?<![\d)）])(?:负|負|零下|氷点下|マイナス|마이너스 ?|영하 ?|âm )(?=\d)",
    re.I,
)
_OF_ZERO = (
    "null",
    "nul",
    "noll",
    "fry",
    "zér",
    "zer",
    "cero",
    "нул",
    "minusgrad",
    "negativos",
    " 0",
    "alt",
    "nol",
    "μηδέν",
    "الصفر",
    "אפס",
    "शून्य",
)
_BELOW_ZERO = lazy_compile(  # sju grader under null, 7 градусов ниже нуля, 零下7度
    r"(?<![\d.,])(?P<number>\d{1,3}(?:[.,]\d{1,2})?) ?(?P<unit>[°℃C]{1,2}|[^\W\d_]{2,12}(?: (?:celsius|цельсия|celsjusza|celcius))?)? ?"
    r"(?:unter null|sous (?:zéro|0)|bajo (?:cero|0)|sotto (?:zero|lo zero)|abaixo de zero|negativos|ниже нуля|нижче нуля|onder (?:nul|het vriespunt)|under (?:noll|nollan|null|frysepunktet|fryspunkten)"
    r"|poniżej zera|pod nulou|ispod nule|sıfırın altında|di bawah nol|nollan alapuolella|sub zero|κάτω από το μηδέν|مئوية تحت الصفر|تحت الصفر|מתחת לאפס|शून्य से नीचे)(?!\w)"
    r"|(?<![\d.,])(?P<counted>\d{1,3}) ?minusgrade(?:r|n)?",
    re.IGNORECASE,
)
_OTHER_PART = lazy_compile(  # üçte bir, một phần ba
    r"(?<!\w)(?:(?P<below>iki|üç|dört|beş|altı|yedi|sekiz|dokuz|on)[dt][ae] (?P<above>bir|iki|üç|dört|beş|altı|yedi|sekiz|dokuz)"
    r"|(?P<top>một|hai|ba|bốn|năm|sáu|bảy|tám|chín) phần (?P<bottom>hai|ba|tư|bốn|năm|sáu|bảy|tám|chín|mười))(?!\w)",
    re.IGNORECASE,
)
_HALVED = lazy_compile(  # 2 horas y media, 2時間半
    r"(?P<number>\d{1,4}) ?(?P<unit>(?!heures?\b|giờ\b)[^\W\d_]{1,14}?)(?: (?:y medi[oa]|et demie?|e mezz[ao]|e mei[ao]|och en halv|och ett halvt|og en halv|en een half"
    r"|en een halve|und eine halbe|i pół|с половиной|з половиною|rưỡi)(?!\w)|(?<=時間)半|(?<=시간) ?반|(?<=小时)半)",
    re.IGNORECASE,
)
_IN_COINS = lazy_compile(  # 12 Euro und 50 Cent
    r"(?<![\d.,])(\d{1,6}) (euros?|€|zł|złot\w+|рубл\w+|руб\.?|грн\.?|гривен\w*|lei|reais|dollars?|dólares|dollari|pesos) (?:(?:und|et|y|e|i|и|en|con) )?(\d\d)"
    r"(?: (?:cent\w*|centimes?|céntimos?|cêntimos?|centavos?|groszy?|gr|копе\w+|коп|копійок|bani|ban|ct|cts|paise))?\.?(?![\w.,%])",
    re.IGNORECASE,
)
_HALF_COUNTED = lazy_compile(r"(?P<number>\d{1,4}|[一二三四五六七八九两])个半(?=小时|月)")
_THAI_ALONE = lazy_compile("(?:ลบ|ร้อยละ|คือ|เท่ากับ)? ?(?P<number>[\u0e00-\u0e7f]{2,40})")
_THAI_PART = lazy_compile("เศษ ?(.+?) ?ส่วน ?(.+)")
_THAI_COUNTED = "คน ชิ้น ลูก ตัว ใบ อัน เล่ม ผล บาท ปี วัน เดือน ชั่วโมง นาที วินาที เมตร เซนติเมตร กิโลเมตร กิโลกรัม กรัม ลิตร องศา แผ่น หน้า ครั้ง กล่อง คัน สตางค์ เปอร์เซ็นต์".split()
_THAI = lazy_compile(
    rf"(?:{'|'.join(sorted(table_of('th'), key=len, reverse=True))})(?= ?(?:{'|'.join(_THAI_COUNTED)}))"
)


def _may_be_any(words: set[str]) -> bool:
    """Whether one of some words may be in a number of any language."""
    return (
        not words.isdisjoint(all_words())
        or any(len(word) > 7 and _GLUED.search(word) for word in words)
        or any("\u0e00" <= word[0] <= "\u0e7f" for word in words)
    )


def _may_count(words: set[str], language: str) -> bool:
    """Whether one of some words may be in a number of a language."""
    if not words.isdisjoint(words_of(language)):
        return True
    return any(len(word) > 7 and _GLUED.search(word) for word in words)


@lru_cache(maxsize=256)
def in_figures(text: str, languages: tuple[str, ...] | None = None) -> str | None:
    """A text with its numbers in words in figures, or ``None`` if it has none or more than one reading.

    Without ``languages`` it may be in any, and words that are English are none.
    """
    if len(text) > MAX_LENGTH:
        return None
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    if text.isascii() and not text[:1].isalpha() and languages is None:
        return halved if (halved := with_halves(text)) != text else None
    if part := _OTHER_PART.search(text):
        table = table_of("tr" if part["below"] else "vi") | {"tư": 4}
        top, bottom = (
            table[_lower(word, "tr")] for word in (part["above"] or part["top"], part["below"] or part["bottom"])
        )
        return f"{text[: part.start()]}{top}/{bottom}{text[part.end() :]}"
    if east := in_east_asian_figures(text):
        return with_halves(east)
    words = {_lower(word, "tr" if "I" in word or "İ" in word else "") for word in WORD.findall(text)} | set(
        WORD.findall(text.lower())
    )
    may_be = languages if languages is not None else languages_by_letters(text) if _may_be_any(words) else ()
    by_language = {
        language: reading
        for language in may_be
        if (language == "th" or _may_count(words, language))
        and (reading := _in_figures(text, language, languages is None))
    }
    readings = set(by_language.values())
    if len(readings) > 1:  # that of the language which knows most of the words
        known = {language: len(words & words_of(language)) for language in by_language}
        readings = {reading for language, reading in by_language.items() if known[language] == max(known.values())}
    if not readings and (halved := with_halves(text)) != text:
        return halved
    return readings.pop() if len(readings) == 1 else None


def with_halves(text: str) -> str:
    """A text with ``2.5 horas`` for ``2 horas y media``, and ``-5`` for ``minus 5`` where no number is before it."""
    if (minus := _MINUS.search(text)) and not re.search(r"\d", text[: minus.start()]):
        text = text[: minus.start()] + "-" + text[minus.end() :]
    if money := _IN_COINS.search(text):
        text = f"{text[: money.start()]}{money[1]}.{money[3]} {money[2]}{text[money.end() :]}"
    if (
        any(word in text for word in _OF_ZERO)
        and (below := _BELOW_ZERO.search(text))
        and not re.search(r"\d", text[: below.start()] + text[below.end() :])
    ):
        text = (
            f"{text[: below.start()]}-{below['number'] or below['counted']} {below['unit'] or '°'}{text[below.end() :]}"
        )
    text = _HALF_COUNTED.sub(lambda match: f"{DIGITS.get(match['number'], match['number'])}.5", text)
    return _HALVED.sub(lambda match: f"{match['number']}.5 {match['unit']}", text)


def _in_figures(text: str, language: str, is_bare: bool) -> str | None:
    """The text with figures if it is in one language."""
    found = list(_thai_numbers(text) if language == "th" else _numbers(text, language, is_bare))
    pieces, at = [], 0
    for start, end, value in found:
        pieces += [text[at:start], value]
        at = end
    figures = with_halves("".join(pieces) + text[at:])
    return figures if figures != text else None


def _thai_numbers(text: str) -> Iterator[tuple[int, int, str]]:
    """Where numbers stand before what they count in a text without spaces."""
    table = table_of("th")
    if whole := _THAI_ALONE.fullmatch(text):
        if whole["number"] in table:
            yield *whole.span("number"), str(table[whole["number"]])
        elif (part := _THAI_PART.fullmatch(whole["number"])) and part[1] in table and part[2] in table:
            yield *whole.span("number"), f"{table[part[1]]}/{table[part[2]]}"
        return
    for match in _THAI.finditer(text):
        yield match.start(), match.end(), str(table[match[0]])


def _numbers(text: str, language: str, is_bare: bool) -> Iterator[tuple[int, int, str]]:
    """Where numbers stand in a text, and what they are in figures."""
    table, parts = table_of(language), parts_of(language)
    spec = LANGUAGES.get(language)
    thousands = frozenset(spec.thousand.split("/")) if spec and spec.thousand else frozenset()
    halves = [half.split() for half in spec.half.split("/")] if spec and spec.half else []
    spans = [match.span() for match in WORD.finditer(text)]
    words = [_lower(text[start:end], language) for start, end in spans]
    at = 0
    while at < len(words):
        if spec is None and (scaled := _scaled(words, at, table)):
            figures, count = scaled
            yield spans[at][0], spans[at + count - 1][1], figures
            at += count
            continue
        value, count = _longest(words, at, table)
        if count == 0 and (glued := _glued(words[at], table, thousands)):
            value, count = glued, 1
        end = at + count
        is_thousand = end < len(words) and words[end] in thousands
        if is_thousand and count == 0 and language == "tr" and not _longest(words, end + 1, table)[1]:  # a thousand
            is_thousand = False
        if text[: spans[at][0]].rstrip()[-1:].isdigit() or (at and words[at - 1] in ("pour", "por", "per", "pro")):
            at += 1  # 2 mil, 3 quarts, pour cent
            continue
        if is_thousand:
            value, end = (value or 1) * 1000, end + 1
            joins = end < len(words) and words[end] in _JOINS
            more, others = _longest(words, end + joins, table)
            if not others and language == "ar" and end < len(words):
                more, others = _longest([words[end].removeprefix("و"), *words[end + 1 :]], 0, table)
            value, end = (value + more, end + others + joins) if others else (value, end)
        figures = str(value)
        if end == at and words[at] in _ZEROS and (places := _places(words, at + 1, table)):
            yield spans[at][0], spans[places[1] - 1][1], f"0.{places[0]}"
            at = places[1]
            continue
        if end == at and words[at] in _PART_FIRST:
            top, others = _longest(words, at + 1, table)
            yield spans[at][0], spans[at + others][1], f"{top or 1}/{_PART_FIRST[words[at]]}"
            at += others + 1
            continue
        if end == at and words[at] == "elfu":  # of Swahili, before its number
            value, others = _longest(words, at + 1, {word: number for word, number in table.items() if number < 100})
            more, rest = _longest(words, at + 1 + others, table)
            yield spans[at][0], spans[at + others + rest][1], str(1000 * (value or 1) + more)
            at += others + rest + 1
            continue
        if end == at and (half := _ONE_HALF_MORE.fullmatch(words[at])) and half[1] in table:
            figures, end = f"{table[half[1]]}.5", at + 1
            yield spans[at][0], spans[at][1], figures
            at = end
            continue
        if end == at and words[at] in HALVES:
            figures, end = HALVES[words[at]], at + 1
        elif (
            end == at
            and words[at] in HALF_OF
            and at + 1 < len(words)
            and (words[at + 1] in UNITS or words[at] == "nửa")
        ):
            figures, end = "0.5", at + 1
        elif end == at and words[at] in parts and words[at].startswith(("seper", "setengah", "треть", "четверть")):
            figures, end = f"1/{parts[words[at]]}", at + 1
        elif end == at:
            at += 1
            continue
        elif end < len(words) and words[end] in parts:
            figures, end = f"{figures}/{parts[words[end]]}", end + 1
        elif (mixed := _with_part(words, end, table, parts)) is not None:
            figures, end = f"{figures} {mixed[0]}", mixed[1]
        elif (places := _places(words, end, table)) is not None:
            figures, end = f"{figures}.{places[0]}", places[1]
        elif tail := next((words_of for words_of in halves if words[end : end + len(words_of)] == words_of), None):
            figures, end = f"{figures}.5", end + len(tail)
        elif (_is_unsure(words[at:end], is_bare) and words[end : end + 1] not in _MILLIONS) or words[at:] == [
            "neuf"
        ]:  # new
            at += 1
            continue
        yield spans[at][0], spans[end - 1][1], figures
        at = end


def _with_part(words: list[str], end: int, table: dict[str, int], parts: dict[str, int]) -> tuple[str, int] | None:
    """``3/4`` of "and three quarters" behind a number, and where it ends."""
    if end >= len(words) or words[end] not in AND:
        return None
    top, count = _longest(words, end + 1, table)
    at = end + 1 + count
    return (f"{top}/{parts[words[at]]}", at + 1) if count and at < len(words) and words[at] in parts else None


def _places(words: list[str], end: int, table: dict[str, int]) -> tuple[str, int] | None:
    """The decimals of a number behind the word for the comma, and where they end."""
    if end >= len(words) or words[end] not in _POINTS:
        return None
    at, digits = end + 1, ""
    while at < len(words) and (words[at] in _ZEROS or table.get(words[at], 0) in range(1, 10)):
        digits, at = digits + str(table.get(words[at], 0)), at + 1
    value, count = _longest(words, end + 1, table)
    if count and value > 9 and len(digits) < 2:
        return str(value), end + 1 + count
    return (digits, at) if digits else None


def _is_unsure(words: list[str], is_bare: bool) -> bool:
    """Whether a number may be another word: an article, or without a context a word of English."""
    return len(words) == 1 and (words[0] in _ARTICLES or (is_bare and words[0] in _ENGLISH))


def _lower(word: str, language: str) -> str:
    return word.replace("I", "ı").replace("İ", "i").lower() if language == "tr" else word.lower()


def _longest(words: list[str], at: int, table: dict[str, int]) -> tuple[int, int]:
    """The number that the words from a place on start with, and of how many words it is."""
    for count in range(min(_MAX_WORDS, len(words) - at), 0, -1):
        if value := table.get(" ".join(words[at : at + count])):
            return value, count
    return 0, 0


def _scaled(words: list[str], at: int, table: dict[str, int]) -> tuple[str, int] | None:
    """A number with hundreds, thousands or quarters in Hindi and the like, and of how many words it is."""
    quarters = QUARTERS.get(words[at], 0)
    start = at + bool(quarters)
    end, total, least = start, Fraction(0), 10**9
    while end < len(words):
        number = Fraction(HALVES[words[end]]) if words[end] in HALVES else table.get(words[end], 0)
        scale = SCALES.get(words[end + 1] if end + 1 < len(words) and number else words[end], 1)
        if (not number and scale == 1) or scale >= least or (number >= least):
            break
        number = (number or 1) + (Fraction(quarters, 4) if end == start else 0)
        end += 1 if scale == 1 or words[end] in SCALES else 2
        total, least = total + number * scale, max(scale, 100 if number >= 100 else 1)
        if least == 1:
            break
    parts = end - start
    if not total or parts < 2 - bool(quarters):
        return None
    figures = str(total.numerator) if total.denominator == 1 else f"{float(total)}"
    return figures, end - at


def _glued(word: str, table: dict[str, int], thousands: frozenset[str]) -> int:
    """The number of one word with a word for a thousand in it: 2500 of ``zweitausendfünfhundert``; 0 for other words."""
    for thousand in thousands:
        head, sign, rest = word.partition(thousand)
        if sign and len(thousand) > 3 and (head or rest):
            factor, more = table.get(head, 0) if head else 1, table.get(rest, 0) if rest else 0
            if factor and (more or not rest):
                return factor * 1000 + more
    return 0
