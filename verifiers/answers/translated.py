# ruff: noqa: E501, RUF001, SIM905  (words of other languages)
"""Answers in other languages in the spelling of English: ``5 Stunden``, ``2.500,00 €``, ``오후 3시 30분``, ``12 e 15``.

Only what has one meaning is translated: numbers and their separators, units, currencies, percent, times of day, dates,
the letter of an option, what joins the values of a list, and yes, no, true and false.
"""

from __future__ import annotations

import re
import unicodedata

from grpo_env.lazy_regex import lazy_compile

from .currencies import CODES
from .foreign_words import AND, MAGNITUDES, MONTHS, NUMBERS, NUMBERS_ALONE, OPTION, OR, TRUTHS, UNITS, WEEKDAYS
from .normal import normal
from .number_words import in_digits

MAX_LENGTH = 160

_NUMBER = r"\d{1,3}(?:[.,' ]\d{2,3})+(?:[.,]\d{1,9})?(?!\d)|\d+(?:[.,]\d+)?"
_QUANTITY = lazy_compile(
    rf"(?P<head>[^\d\\{{}}()\[\]=<>|+*/^-]{{0,24}}?)\s?(?P<sign>- ?)?(?P<number>{_NUMBER})(?P<rest>[^\d]{{0,60}}|[^\d]{{1,40}}(?:[23]|\^\{{[23]\}}))"
)
_TAIL = lazy_compile(r"(?P<core>.*[\d}\])])\s?(?P<rest>[^\d{}()\[\]\\$=<>^]{1,40})")
_TEXT_LETTER = lazy_compile(r"\\text\s?\{\s?([^{}]+?)\s?\}")
_PART = lazy_compile(r"(\d+)\s?([^\d\s]+)\.?\s?(?:(?:und|et|y|e|i|и|en|och|ve|và|dan) )?")
_IN_PARTS = {"分": "min", "秒": "s", "時間": "h", "小时": "h", "小時": "h", "h": "h", "min": "min", "s": "s"}
_SPEEDS = {"時速": "h", "时速": "h", "시속": "h", "分速": "min", "분속": "min", "秒速": "s", "초속": "s"}
_ORDER = ("days", "h", "min", "s")
_ENDS = " .。｡।،؛،、,;:!！\u200f\u200e"
_QUOTES = (("「", "」"), ("『", "』"), ("«", "»"), ("„", "“"), ("“", "”"), ("‹", "›"), ("【", "】"), ("《", "》"))
_TANWIN = lazy_compile("[\u064b-\u0652]")
_EUROPEAN = lazy_compile(r"\d{1,3}(?:[. ']\d{3})+,\d+|\d{1,3}(?: \d{3})+(?:,\d+)?|\d{1,3}(?:\.\d{3}){2,}")
_INDIAN = lazy_compile(r"\d{1,2}(?:,\d\d)+,\d{3}(?:\.\d+)?|\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_COMMA = lazy_compile(r"0,\d+|[1-9]\d{0,2},(?:\d{1,2}|\d{4,})|[1-9]\d{3,},\d+")
_POINT = lazy_compile(r"[1-9]\d{0,2}\.\d{3}")
_CHINESE = lazy_compile("(?P<percent>百分之)?(?P<number>[零〇一二三四五六七八九两十百千万亿]+)(?P<rest>[^\\d]{0,8})")
_COUNTERS = frozenset(
    "个 個 つ 件 条 本 枚 人 名 只 隻 匹 头 頭 台 辆 張 张 颗 粒 座 棵 朵 支 枝 杯 瓶 盒 箱 袋 册 冊 页 題 题 次 回 种 位 番 号 개 명 마리"
    " 권 장 대 송이 그루 번 점 가지 자루 병 잔 คน ชิ้น ลูก ตัว ใบ อัน เล่ม ผล টি টা জন টা".split()
)
_AM = "上午 午前 오전 早上 凌晨 صباحا".split()
_PM = "下午 午後 오후 晚上 傍晚 مساء".split()
_MORNING = (
    "de la mañana",
    "da manhã",
    "du matin",
    "morgens",
    "vormittags",
    "di mattina",
    "del mattino",
    "утра",
    "صباحا",
)
_EVENING = (
    "de la tarde", "da tarde", "de l'après-midi", "nachmittags", "del pomeriggio", "дня", "вечера", "de la noche",
    "da noite", "du soir", "abends", "di sera", "مساء",
)  # fmt: skip
_CLOCK = lazy_compile(
    rf"(?:(?:à|um|alle|a las|às|в|at|kl\.?|om|saat|lúc|pukul|o) )?(?P<half>{'|'.join(_AM + _PM)})?\s?(?P<hour>[01]?\d|2[0-4])\s?"
    r"(?P<sign>:|\.(?=\d\d ?Uhr)|h\b|h(?=\d)|heures?\b|Uhr|时|時|点|點|시|giờ)\s?(?:(?P<minute>[0-5]?\d)\s?(?:分|분|phút)?|(?P<halved>半|반))?"
    rf"\s?(?:Uhr|整|정각)?(?: (?P<part>{'|'.join(_MORNING + _EVENING)}))?"
)
_IN_CHINESE = lazy_compile(
    r"(?:(?P<year>\d{4})\s?[年년]\s?)?(?P<month>1[0-2]|[1-9])\s?[月월]\s?(?P<day>[12]?\d|3[01])\s?[日号일]"
)
_ENGLISH_MONTHS = tuple(dict.fromkeys(MONTHS.values()))
_DATE = lazy_compile(
    rf"(?:(?:le|el|il|am|em|on|den|der|dne|w) )?(?:(?P<weekday>{'|'.join(WEEKDAYS)}),?\s)?(?:(?:le|el|il|den|der|dem|dia|día) )?"
    rf"(?P<day>[12]?\d|3[01])(?:\.|er|º|°|ος)?\s?(?:de |d'|di |tháng )?(?P<month>{'|'.join(sorted(MONTHS, key=len, reverse=True))})"
    r"(?:,?\s(?:de |del |do |năm )?(?P<year>\d{4})(?:\s?(?:г\.?|года|год|r\.?|roku|р\.?|року))?)?",
    re.IGNORECASE,
)
_LEADS = "|".join(sorted((re.escape(word.replace("_", " ")) for word in OPTION), key=len, reverse=True))
_OPTION = lazy_compile(
    rf"(?:(?:la|l'|die|der|o|a|il|das|den) ?)?(?:{_LEADS})(?: (?:correcta|correcte|correta|corretta|số|no|nº))?\s?[:：]?\s?"
    r"[\"'(*]{0,3}(?P<letter>[A-Za-zА-Яа-яア-ンก-ฮ가-하①-⑳]|\d{1,2})[\"')*.]{0,3}",
    re.IGNORECASE,
)
_NUMBERED = lazy_compile(
    r"(?:第)?(?P<number>\d{1,2}|[①-⑳])(?:번|番|号|题|項)|(?P<letter>[A-F])\s?(?:şıkkı|seçeneği)(?:d[ıi]r)?"
)
_CIRCLED = lazy_compile(r"[①-⑳](?:\s?(?:和|与|と|및|과|와|、|,|，|·|и|et|und|y|e|và|ve)?\s?[①-⑳])*")
_TRUTH = lazy_compile(
    r"[\"«„“'*]*(?P<word>[^\W\d_]+(?:[\u0900-\u0dff]+)?(?: kweli)?)[\"»“”'*]*(?:\s?[,.;:!。，、،–—-]\s?(?P<reason>.+))?",
    re.S,
)
_DENIES = lazy_compile(
    r"(?<!\w)(?:nicht|kein\w*|pas|no|non|não|nao|не|нет|nie|niet|inte|ikke|không|değil|tidak|bukan|nu|není|nem|ei|si|δεν"
    r"|ليس\w*|لا|not?)(?!\w)|不|没|ない|ません|아니|않|नहीं|নয়|না|ไม่|n['’]",
    re.IGNORECASE,
)
_DOUBTS = lazy_compile(
    r"(?<!\w)(?:aber|oder|vielleicht|nein|ja|mais|ou|oui|peut-être|pero|quizás?|tal vez|sí|mas|talvez|sim|ma|forse|sì|но|или|да"
    r"|возможно|может|ale|lub|może|tak|maar|misschien|men|kanske|måske|kanskje|nhưng|hoặc|có thể|ama|belki|veya|evet|tapi"
    r"|mungkin|atau|но|لكن|ربما|أو|but|or|maybe|wrong|falsch|faux|falso|неверно|ошибка|sai|salah|yanlış|depende|dépend|hängt)(?!\w)"
    r"|但|可能|或|也许|しかし|かも|하지만|또는|아마|लेकिन|शायद|(?<![\u0900-\u0dff])या |কিন্তু|แต่|อาจ|[?？؟]",
    re.IGNORECASE,
)
_RAISED = lazy_compile(r"(.+?)\s?\^?\s?\{?([23])\}?")
_TRANSLATABLE = lazy_compile(
    r"[^\x00-\x7f]|,|%\s?\d|(?<![A-Za-z\\])[A-Za-z]{2}|\\text|\\math|\s[A-Za-z]\s|\\,\d|\d[ ~]\d|\d\.\d{3}(?!\d)|^[SLM]\s?="
)
_CONDITION = lazy_compile(
    r"(?:если|wenn|falls|sofern|si|se|jeśli|als|nếu|eğer|jika|if|nur|solo|seulement)(?!\w)|如果|만약|もし|यदि|যদি|إذا",
    re.I,
)
_WHOLE_CURRENCIES = frozenset(("dong", "rupiah", "won", "forint"))  # without decimals
_UNSPACED_SCRIPT = lazy_compile("[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_ARTICLE = lazy_compile(
    r"(?:el|los|las|un|une?|unos|le|les|der|das|die|ein|eine|il|lo|o|os|uns)\s(?=[-$\d])", re.IGNORECASE
)
_PERCENT_FIRST = lazy_compile(r"%\s?(\d+(?:[.,]\d+)?)")  # %25 in Turkish
_OTHER_SIGNS = lazy_compile(
    "[\u0400-\u04ff\u0590-\u06ff\u0900-\u0dff\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af\uff01-\uff5e]"
)
_SOLUTIONS = lazy_compile(r"[SLM]\s?=\s?(\\?\\\{.+\})", re.DOTALL)
_SHORT = frozenset(word for word in AND + OR if len(word) == 1 or word in ("na", "ja", "en", "au", "of", "et"))
_SPACED = [
    word
    for word in dict.fromkeys(AND + OR)
    if word.isascii() or not re.match("[\u3040-\u9fff\uac00-\ud7af\u0e00-\u0e7f]", word)
]
_UNSPACED = [word for word in dict.fromkeys(AND + OR) if word not in _SPACED]
_JOINED = lazy_compile(
    rf"\s?[,;]?\s(?P<spaced>{'|'.join(sorted(_SPACED, key=len, reverse=True))})\s"
    rf"|(?<=[\d}})\]$①-⑳])\s?(?P<unspaced>{'|'.join(sorted(_UNSPACED, key=len, reverse=True))})\s?(?=[-\d\\(\[$a-z①-⑳])"
)
_VALUE = lazy_compile(r"\$?[A-Za-z](?:_\{?\w\}?)?\s?=\s?[^=]+|.*[\d\\].*", re.DOTALL)
_PLAIN_VALUE = lazy_compile(r"\$?(?:[A-Za-z](?:_\{?\w\}?)?\s?=\s?)?[-+]?\d+(?:[.,]\d+)?\$?")


def may_be_translated(text: str) -> bool:
    """Whether an answer has words, or signs that other languages write otherwise, which is cheap to find out."""
    return _TRANSLATABLE.search(text) is not None


def in_english(text: str, comma: bool = False, point: bool = False) -> str | None:
    """An answer as it is written in English, or ``None`` if it is no answer of these, or the same.

    ``comma`` if a comma between digits is a decimal one, ``point`` if a point separates thousands, as in most languages.
    """
    if not text or len(text) > MAX_LENGTH:
        return None
    written, text = text, _unquoted(text)
    if article := _ARTICLE.match(text):
        text = text[article.end() :]
    if percent := _PERCENT_FIRST.fullmatch(text.replace("\\", "").strip("$")):
        text = f"{percent[1]}%"
        return in_english(text) or text
    if circled := _CIRCLED.fullmatch(text):
        digits = [unicodedata.normalize("NFKC", sign) for sign in re.findall("[①-⑳]", circled[0])]
        return ", ".join(digits)
    if option := _OPTION.fullmatch(text) or _NUMBERED.fullmatch(text):
        return unicodedata.normalize("NFKC", option.groupdict().get("letter") or option["number"])
    if truth := truth_in_english(text):
        return truth
    plain = normal(text).strip(_ENDS)
    if solutions := _SOLUTIONS.fullmatch(plain):
        return solutions[1]
    english = _clock(plain) or _date(plain) or joined_in_english(plain) or _quantity(plain, comma, point)
    if english and english != plain:
        return english
    is_foreign = text != written.strip().strip(_ENDS) or _OTHER_SIGNS.search(written)
    return plain if plain != written and is_foreign else None


def only_in_english(text: str) -> str | None:
    """An answer that means something else as it stands: a list with foreign words in it, ``70.000 đồng``."""
    if joined := joined_in_english(text):
        return joined
    if _PERCENT_FIRST.fullmatch(text.replace("\\", "").strip("$ ")):
        return in_english(text)
    if (match := _QUANTITY.fullmatch(normal(text))) and _COMMA.fullmatch(match["number"]) and match["rest"].strip():
        return in_english(text) if _unit(match["rest"])[1] is not None else None
    number, _, unit = text.partition(" ")
    return in_english(text) if _POINT.fullmatch(number) and _unit(unit)[1] in _WHOLE_CURRENCIES else None


def joined_in_english(text: str) -> str | None:
    """``x = 2 or x = -3`` for ``x = 2 \\text{ oder } x = -3``, ``12 and 15`` for ``12 e 15``; else ``None``."""
    plain = normal(text)
    signs = list(_JOINED.finditer(plain))
    if not signs:
        return None
    words = [match["spaced"] or match["unspaced"] for match in signs]
    edges = [0, *(edge for match in signs for edge in match.span()), len(plain)]
    parts = [plain[start:end].strip() for start, end in zip(edges[::2], edges[1::2], strict=True)]
    value = _PLAIN_VALUE if any(word in _SHORT for word in words) else _VALUE
    if not all(
        value.fullmatch(item.strip()) and not _is_prose(item) for part in parts for item in re.split("[;]", part)
    ):
        return None
    return f" {'or' if any(word in OR and word not in AND for word in words) else 'and'} ".join(parts)


def _is_prose(text: str) -> bool:
    return re.search(r"(?<!\\)(?<![A-Za-z\\])[^\W\d_]{3,}", re.sub(r"\\[A-Za-z]+", " ", text)) is not None


def _unquoted(text: str) -> str:
    text = text.strip().strip(_ENDS)
    for opening, closing in _QUOTES:
        if text.startswith(opening) and text.endswith(closing) and len(text) > 2:
            return text[len(opening) : -len(closing)].strip()
    return text


def truth_in_english(text: str) -> str | None:
    """``yes`` of ``oui`` and of "Oui, le triangle est rectangle."; a reason that contradicts or doubts it is none."""
    match = _TRUTH.fullmatch(re.sub(r"\\text\s?\{([^{}]*)\}", r"\1", text.strip("$* ")))
    english = TRUTHS.get(match["word"].casefold()) if match else None
    if match is None or english is None or not match["reason"]:
        return english
    reason = match["reason"]
    items = re.split("[,;/、，،]", reason)
    if len(items) > 1 and all(len(item.split()) < 2 for item in items):
        return None  # a list
    if _DOUBTS.search(reason) or _CONDITION.match(reason) or (english in ("yes", "true") and _DENIES.search(reason)):
        return None
    return english


def unit_in_english(text: str) -> str | None:
    """The unit that a text in another language begins with, as the whole of a word where words are spaced."""
    first = text.split()[0] if text.split() else ""
    word = _TANWIN.sub("", re.split(r"[\s.,;:!。，।؛،$}]", first)[0]).casefold()
    ends = range(len(word), 0, -1) if _UNSPACED_SCRIPT.match(word) else (len(word),)
    return next((UNITS[word[:end]] for end in ends if word[:end] in UNITS), None)


def _clock(text: str) -> str | None:
    """``3:30 pm`` of ``오후 3시 30분``, ``14:30`` of ``14 h 30``."""
    match = _CLOCK.fullmatch(text)
    if match is None or (match["sign"] == ":" and not (match["half"] or match["part"] or "Uhr" in text)):
        return None
    if match["sign"] in ("h", "heure", "heures", "giờ") and not match["minute"]:
        return None
    hour, minute = int(match["hour"]), 30 if match["halved"] else int(match["minute"] or 0)
    if match["minute"] and len(match["minute"]) == 1 and match["sign"] in (":", "h", "."):
        return None
    half = "am" if match["half"] in _AM or match["part"] in _MORNING else "pm"
    if not (match["half"] or match["part"]) or hour > 12:
        return None if (match["half"] or match["part"]) and half == "am" else f"{hour}:{minute:02}"
    return f"{hour}:{minute:02} {half}"


def _date(text: str) -> str | None:
    """``2021-03-15`` of ``2021年3月15日``, ``Monday, 15 March 2021`` of ``lunedì 15 marzo 2021``."""
    if match := _IN_CHINESE.fullmatch(text):
        month = _ENGLISH_MONTHS[int(match["month"]) - 1]
        return f"{match['day']} {month} {match['year'] or ''}".strip()
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    weekday = WEEKDAYS.get((match["weekday"] or "").lower(), "")
    date = f"{match['day']} {MONTHS[match['month'].lower()]} {match['year'] or ''}".strip()
    return f"{weekday}, {date}" if weekday else date


def _quantity(text: str, comma: bool, point: bool) -> str | None:
    """A number in English spelling with its unit, or a formula with a unit."""
    text = _TEXT_LETTER.sub(r" \1", text) if not text.isascii() or "\\text" in text else text
    if parts := _in_parts(text):
        return parts
    if chinese := _CHINESE.fullmatch(text):
        number = in_digits(chinese["number"])
        if number and chinese["percent"]:
            return f"{number}%" if not chinese["rest"] else None
        return _with_unit(number, chinese["rest"]) if number and chinese["rest"] else number
    word, _, rest = text.partition(" ")
    if not rest and word.casefold() in NUMBERS_ALONE:
        return NUMBERS[word.casefold()]
    if rest and word.casefold() in NUMBERS:
        return _with_unit(NUMBERS[word.casefold()], rest) if _unit(rest)[1] is not None else None
    match = _QUANTITY.fullmatch(text)
    if match is None:
        tail = _TAIL.fullmatch(text)
        is_formula = tail is not None and not re.search("[,;]", tail["core"]) and not _is_prose(tail["core"])
        is_known = tail is not None and _unit(tail["rest"])[1] is not None
        return _with_unit(tail["core"], tail["rest"]) if tail and is_formula and is_known else None
    head = match["head"].strip(" .:").casefold()
    if speed := _SPEEDS.get(head):
        per = _unit(match["rest"])[1]
        return f"{match['number']} {per or match['rest'].strip()}/{speed}"
    unit = UNITS.get(head, "")
    if head and not unit and head.upper() not in _SIGNS and head not in CODES:
        return None
    rest = match["rest"].strip()
    is_foreign = (
        bool(unit) or (bool(rest) and _unit(rest)[1] is not None) or (comma and head in ("rp", "idr", "vnd", "₫", "₩"))
    )
    number = _number(match["number"], comma, bool(head or rest), is_foreign or point)
    if not is_foreign and number in (match["number"], match["number"].replace(",", "")) and text.isascii():
        return None
    sign = "-" if match["sign"] else ""
    if head and not unit:
        return f"{match['head'].strip()}{sign}{number}" + (f" {rest}" if rest else "")
    return _with_unit(sign + number, rest or unit)


_SIGNS = frozenset(name.upper() for name in CODES)


def _number(text: str, comma: bool, has_unit: bool, thousands: bool) -> str:
    """The digits of a number without separators of thousands and with a decimal point."""
    if _INDIAN.fullmatch(text):
        return text.replace(",", "")
    if _EUROPEAN.fullmatch(text):
        return re.sub("[. ']", "", text).replace(",", ".")
    if _COMMA.fullmatch(text) and (comma or has_unit):
        return text.replace(",", ".")
    if _POINT.fullmatch(text) and thousands:
        return text.replace(".", "")
    return text


def _in_parts(text: str) -> str | None:
    """``3 h 20 min`` of ``3時間20分``."""
    parts, at = [], 0
    while match := _PART.match(text, at):
        unit = _IN_PARTS.get(match[2]) or UNITS.get(match[2].strip(".").casefold())
        if unit not in _ORDER:
            return None
        parts.append((match[1], unit))
        at = match.end()
    if (
        at < len(text)
        or len(parts) < 2
        or [_ORDER.index(unit) for _, unit in parts] != sorted({_ORDER.index(unit) for _, unit in parts})
    ):
        return None
    return " ".join(f"{number} {unit}" for number, unit in parts)


def _with_unit(number: str, words: str) -> str | None:
    """A number with a unit in English, multiplied by the words for thousands and millions before it."""
    scale, unit = _unit(words)
    if unit is None:
        is_known = words.isascii() or words.casefold() in CODES
        return f"{number} {words}".strip() if is_known and scale == 1 else None
    if scale > 1:
        if not re.fullmatch(r"-?\d+(?:\.\d+)?", number):
            return None
        whole, _, places = number.partition(".")
        zeros = len(str(scale)) - 1
        number = whole + places.ljust(zeros, "0")[:zeros] + ("." + places[zeros:] if places[zeros:] else "")
    return f"{number}{unit}" if unit in ("%", "°", "°C") else f"{number} {unit}".strip()


def _unit(words: str) -> tuple[int, str | None]:
    """What the words after a number multiply it by, and their unit in English; ``None`` if they are not known."""
    words = " ".join(_TANWIN.sub("", words.strip(" .")).casefold().split())
    scale = 1
    for _ in range(2):
        name = next((word for word in _BY_LENGTH if words.startswith(word) and _ends_word(words, len(word))), "")
        if name and words not in UNITS:
            scale *= MAGNITUDES[name]
            words = words[len(name) :].strip(" .")
            words = words.removeprefix("de ").removeprefix("d'").removeprefix("di ")
    if raised := _RAISED.fullmatch(words):
        base = UNITS.get(raised[1])
        return scale, f"{base}^{raised[2]}" if base else None
    if not words or words in _COUNTERS:
        return scale, ""
    return scale, UNITS.get(words) or UNITS.get(words.replace(".", "")) or (
        words if scale > 1 and words.isascii() else None
    )


_BY_LENGTH = sorted(MAGNITUDES, key=len, reverse=True)


def _ends_word(words: str, end: int) -> bool:
    return end == len(words) or not words[end].isalpha() or "\u3040" <= words[end - 1] <= "\ud7af"
