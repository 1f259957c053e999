# ruff: noqa: E501, RUF001, SIM905  (words of other languages)
"""Answers in other languages in the spelling of English: ``5 Stunden``, ``2.500,00 €``, ``오후 3시 30분``, ``12 e 15``.

Only what has one meaning is translated: numbers and their separators, units, currencies, percent, times of day, dates,
the letter of an option, what joins the values of a list, and yes, no, true and false.
"""

from __future__ import annotations

import re
import unicodedata

from grpo_env.lazy_regex import lazy_compile

from ..spelling.normal import normal
from ..vocabulary.currencies import CODES
from ..vocabulary.foreign_words import AND, MAGNITUDES, MONTHS, OPTION, OR, TRUTHS, UNITS, WEEKDAYS
from ..vocabulary.number_words import in_digits
from .clocks import spoken_clock
from .east_asian import in_our_years
from .numerals import in_figures, with_halves

MAX_LENGTH = 160

_NUMBER = r"\d{1,3}(?:[.,' ]\d{2,3})+(?:[.,]\d{1,9})?(?!\d)|\d+(?:[.,]\d+)?"
_QUANTITY = lazy_compile(
    rf"(?P<head>[^\d\\{{}}()\[\]=<>|+*/^-]{{0,24}}?)\s?(?P<sign>- ?)?(?P<number>{_NUMBER})(?P<rest>[^\d]{{0,60}}|[^\d]{{1,40}}(?:[23]|\^\{{[23]\}}))"
)
_TAIL = lazy_compile(r"(?P<core>.*[\d}\])])\s?(?P<rest>[^\d{}()\[\]\\$=<>^]{1,40})")
_LEADING_NUMBER = lazy_compile(r"(-?\d+(?: \d+/\d+|[./]\d+)?)\s?(.*)", re.DOTALL)
_TEXT_LETTER = lazy_compile(r"\\text\s?\{\s?([^{}]+?)\s?\}")
_PART = lazy_compile(r"(\d+)\s?([^\d\s]+)\.?\s?(?:(?:und|et|y|e|i|и|en|och|ve|và|dan) )?")
_PARTS_OF_UNITS = {"kg": ("g",), "m": ("cm", "dm"), "km": ("m",), "L": ("ml",), "cm": ("mm",), "tonnes": ("kg",)}
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
    rf"(?:\s?[,，(（]?\s?(?P<weekday>{'|'.join(word for word in WEEKDAYS if not word[0].isascii() and len(word) < 4)})[)）]?)?"
)
_WEEKDAY = lazy_compile(
    rf"(?:hari |يوم |jour |am |le |el |la |il |den |de |w |we |в |во )?({'|'.join(sorted(WEEKDAYS, key=len, reverse=True))})(?: günü)?",
    re.IGNORECASE,
)
_ENGLISH_MONTHS = tuple(dict.fromkeys(MONTHS.values()))
_DATE = lazy_compile(
    rf"(?:(?:le|el|il|am|em|on|den|der|dne|w) )?(?:(?P<weekday>{'|'.join(WEEKDAYS)}),?\s)?(?:(?:le|el|il|den|der|dem|dia|día) )?"
    rf"(?P<day>[12]?\d|3[01])(?:\.|er|º|°|ος)?\s?(?:de |d'|di |ב|की |ng )?(?P<month>{'|'.join(sorted(MONTHS, key=len, reverse=True))})"
    r"(?:,?\s(?:de |del |do |năm )?(?P<year>\d{4})(?:\s?(?:г\.?|года|год|r\.?|roku|р\.?|року))?)?",
    re.IGNORECASE,
)
_LEADS = "|".join(sorted((re.escape(word.replace("_", " ")) for word in OPTION), key=len, reverse=True))
_OPTION = lazy_compile(
    rf"(?:(?:la|l'|die|der|o|a|il|das|den) ?)?(?:{_LEADS})(?: (?:correcta|correcte|correta|corretta|số|no|nº))?\s?[:：]?\s?"
    r"[\"'(*]{0,3}(?P<letter>[^\W\d_]|[①-⑳]|\d{1,2})[\"'׳’)*.]{0,3}",
    re.IGNORECASE,
)
_NUMBERED = lazy_compile(
    r"(?:第)?(?P<number>\d{1,2}|[①-⑳])(?:번|番|号|题|項)|(?P<letter>[A-F])\s?(?:şıkkı|seçeneği)(?:d[ıi]r)?"
)
_LETTER_IN_BRACKETS = lazy_compile(
    r"[\"'(（「*]{0,3}(?P<letter>(?![A-Za-zÀ-ÿ\u0370-\u03ff\u3400-\u9fff])[^\W\d_])[\"'׳’)）」*.]{1,3}"
)
_CIRCLED = lazy_compile(r"[①-⑳](?:\s?(?:和|与|と|및|과|와|、|,|，|·|и|et|und|y|e|và|ve)?\s?[①-⑳])*")
_TRUTH = lazy_compile(
    r"[\"«„“'*]*(?P<word>[^\W\d_]+(?:[\u0900-\u0e7f]+)?(?: kweli)?)[\"»“”'*]*(?:\s?[,.;:!。，、،–—-]\s?(?P<reason>.+))?",
    re.S,
)
_SIGNS_OF_TRUTH = {**dict.fromkeys(("√", "✓", "✔"), "true"), **dict.fromkeys(("×", "✗", "✘", "\\times"), "false")}
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
CONDITION_AT_END = lazy_compile(
    r"(?P<sufficient>充分)(?:[而但]?(?P<not>不|非)必要|[且而]?必要)(?:条件)?\Z|必要[而但]?(?:不|非)充分(?:条件)?\Z|充要(?:条件)?\Z"
    r"|(?P<neither>既?(?:不|非)充分[也又]?(?:不|非)必要|既?(?:不|非)必要[也又]?(?:不|非)充分)(?:条件)?\Z"
)
"""A condition that is sufficient, necessary, both or neither, in Chinese."""
_BLANKS = lazy_compile(
    r"第[一1](?:个)?空\s?(?:应?填|为|是|[:：])?\s?(?P<first>[^,，;；。、]+?)\s?[,，;；。、]\s?第[二2](?:个)?空\s?(?:应?填|为|是|[:：])?\s?(?P<second>[^,，;；。、空]+)"
)
NO_SOLUTION = lazy_compile(
    r"(?!.*(?:(?<!\w)(?:nicht|не кажд\w+|не всяк\w+|nie każd\w+|no tod\w+|pas tou\w+|falsch|faux|falso|неверно|wenn|falls|si|se|если|nếu|eğer|jika|gdy|jeśli|als|oder|ou|o|или|vielleicht|peut-être)(?!\w)"
    r"|如果|若|当|不是|并非|もし|만약))(?:(?:[^.!?\n,;:=<>$]{0,80}\s)?(?:hat |besitzt )?(?:also |somit |damit )?keine (?:reelle |reellen )?(?:lösung|lösungen|nullstellen?)|unlösbar"
    r"|(?:[^.!?\n,;:=<>$]{0,80}(?:n'a|n'admet|n’a|n’admet|il n'y a|n'existe)\s(?:donc |ainsi )?)?(?:pas de|aucune) (?:solution|racine)s?(?: réelles?)?"
    r"|(?:[^.!?\n,;:=<>$]{0,80}\s)?(?:no (?:tiene|hay|existe|existen|posee) (?:solución|soluciones|raíces)|sin solución|sin soluciones|ninguna solución)(?: real(?:es)?)?"
    r"|(?:[^.!?\n,;:=<>$]{0,80}\s)?(?:não (?:tem|há|possui|existe|existem) (?:solução|soluções|raízes)|sem solução|nenhuma solução)(?: rea(?:l|is))?"
    r"|(?:[^.!?\n,;:=<>$]{0,80}\s)?(?:non (?:ha|ci sono|esistono|ammette|possiede) soluzion[ei]|nessuna soluzione)(?: reali?)?"
    r"|(?:[^.!?\n,;:=<>$]{0,80}\s)?(?:heeft geen|geen) oplossing(?:en)?|(?:[^.!?\n,;:=<>$]{0,80}\s)?(?:nie ma|brak) rozwiąza(?:ń|nia)|sprzeczne"
    r"|(?:[^.!?\n,;:=<>$]{0,80}\s)?(?:не имеет|нет|не існує|немає|не имеют) (?:действительных |вещественных |дійсних )?(?:решений|корней|розв'язків|коренів)"
    r"|(?:[^.!?\n,;:=<>$]{0,40}\s)?(?:решений|корней|розв'язків|коренів) (?:нет|немає|не существует)"
    r"|(?:[^.!?\n,;:=<>$]{0,80}\s)?(?:çözüm(?:ü)? yok(?:tur)?|vô nghiệm|tidak (?:memiliki|mempunyai|ada) (?:solusi|penyelesaian)|ingen lösning|ingen løsning|saknar lösning|nemá řešení|nincs megoldás|nu are soluții)"
    r"|[^。.!?\n,，;:=<>$]{0,40}(?:无(?:实数)?(?:解|根)|無解|没有(?:实数)?(?:解|根)|(?:解|実数解)(?:は|が)?(?:なし|ない|存在しない|ありません)|(?:실)?(?:해|근)(?:가|는|은|이)? ?(?:없다|없음|없습니다|존재하지 않는다))"
    r"|(?:ليس (?:لها|للمعادلة) حل|لا (?:يوجد|توجد) (?:حل|حلول)|ไม่มีคำตอบ|ไม่มีรากจริง|कोई हल नहीं(?: है)?|कोई समाधान नहीं(?: है)?|কোনো সমাধান নেই))",
    re.IGNORECASE,
)
"""That there is no solution: keine Lösung, 方程无解. A sentence may say which equation has none."""
_RATIO = lazy_compile(r"(\d+(?:[.,]\d+)?)\s?(?:zu|à|a|para|к|до|op|till?|ke|比|対|대) ?(\d+(?:[.,]\d+)?)")
_BAR_POINT = lazy_compile(
    r"([A-Z]?(?:_\{?\d\}?)?)\s?(?:\\left)?\(\s?([^()|,;]{1,30}?)\s?(?:\\(?:mid|vert|middle)\s?\|?|\|)\s?([^()|,;]{1,30}?)\s?(?:\\right)?\)"
)
_RAISED = lazy_compile(r"(.+?)\s?\^?\s?\{?([23])\}?")
_ENGLISH = lazy_compile(r"\b(?:[Tt]he|[Tt]herefore|[Hh]ence|which|this)\b")
_TRANSLATABLE = lazy_compile(
    r"[^\x00-\x7f]|,|%\s?\d|(?<![A-Za-z\\])[A-Za-z]{2}|\\text|\\math|\s[A-Za-z]\s|\\,\d|\d[ ~]\d|\d\.\d{3}(?!\d)|[./]\d\d?[./]\d{4}\Z|\||\\mid|^[SLM]\s?=|\d\{?[:.]\}?\d\d(?!\d)"
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
_SET = lazy_compile(r"\\?\\\{\s?[A-Za-z]\s?(?:\\mid|\||:|\\colon|\\vert|｜|\\in)")
_OR_IN_SET = lazy_compile(
    rf"\s?(?:(?<!\w)(?:{'|'.join(word for word in OR if word.isascii() or len(word) > 1)})(?!\w)|或者?|または)\s?"
)
_AND_IN_SET = lazy_compile(r"\s?(?:(?<!\w)(?:und|et|e|и|oraz|ve|và|dan)(?!\w)|且|かつ)\s?")
_VALUE = lazy_compile(r"\$?[A-Za-z](?:_\{?\w\}?)?\s?=\s?[^=]+|.*[\d\\].*", re.DOTALL)
_PLAIN_VALUE = lazy_compile(r"\$?(?:[A-Za-z](?:_\{?\w\}?)?\s?=\s?)?[-+]?\d+(?:[.,]\d+)?\$?")


def may_be_translated(answer: str, text: str = "") -> bool:
    """Whether an answer has words, or signs that other languages write otherwise, and its text is not plainly English.

    This is cheap to find out.
    """
    return _TRANSLATABLE.search(answer) is not None and not (text.isascii() and _ENGLISH.search(text))


def in_english(text: str, comma: bool = False, point: bool = False) -> str | None:
    """An answer as it is written in English, or ``None`` if it is no answer of these, or the same.

    ``comma`` if a comma between digits is a decimal one, ``point`` if a point separates thousands, as in most languages.
    """
    if not text or len(text) > MAX_LENGTH:
        return None
    written, text = text, _unquoted(text)
    if not text.isascii():
        text = in_our_years(text)
    if article := _ARTICLE.match(text):
        text = text[article.end() :]
    if percent := _PERCENT_FIRST.fullmatch(text.replace("\\", "").strip("$")):
        text = f"{percent[1]}%"
        return in_english(text) or text
    if circled := _CIRCLED.fullmatch(text):
        digits = [unicodedata.normalize("NFKC", sign) for sign in re.findall("[①-⑳]", circled[0])]
        return ", ".join(digits)
    if option := _OPTION.fullmatch(text) or _NUMBERED.fullmatch(text) or _letter(text):
        return unicodedata.normalize("NFKC", option.groupdict().get("letter") or option["number"])
    if truth := truth_in_english(text) or _SIGNS_OF_TRUTH.get(text.strip("$* ")):
        return truth
    if other := _in_brackets(text) or _with_bar(text):
        return other
    plain = normal(text).strip(_ENDS)
    if NO_SOLUTION.fullmatch(plain):
        return "no solution"
    if ratio := _RATIO.fullmatch(plain):
        return f"{ratio[1]}:{ratio[2]}".replace(",", ".")
    if condition := CONDITION_AT_END.fullmatch(plain):
        if condition["neither"]:
            return "neither sufficient nor necessary"
        if condition["sufficient"]:
            return "sufficient but not necessary" if condition["not"] else "necessary and sufficient"
        return "necessary and sufficient" if plain.startswith("充要") else "necessary but not sufficient"
    if solutions := _SOLUTIONS.fullmatch(plain):
        return solutions[1]
    english = (
        _clock(plain)
        or ((told := spoken_clock(plain, whole=True)) and told.time)
        or _date(plain)
        or joined_in_english(plain)
        or _quantity(plain, comma, point)
    )
    if english and english != plain:
        return english
    is_foreign = text != written.strip().strip(_ENDS) or _OTHER_SIGNS.search(written)
    return plain if plain != written and is_foreign else None


def _in_brackets(text: str) -> str | None:
    """``(-3, 4]`` of the Polish interval ``(-3, 4\\rangle``; two angle brackets alone may be a vector."""
    plain = _ANGLE.sub(lambda match: "[" if match[0] in ("\\langle", "⟨", "<") else "]", text.strip("$ "))
    intervals = _INTERVALS.split(plain)
    if plain == text.strip("$ ") or not all(_INTERVAL.fullmatch(part.strip()) for part in intervals):
        return None
    return plain if any(part.strip()[0] == "(" or part.strip()[-1] == ")" for part in intervals) else None


def _with_bar(text: str) -> str | None:
    """``(2, 3)`` of the German point ``S(2|3)``."""
    point = _BAR_POINT.fullmatch(text.strip("$ "))
    if point is None or not re.search(r"\d", point[2] + point[3]) or re.search(r"[=<>]", text):
        return None
    return f"({point[2]}, {point[3]})"


_ANGLE = lazy_compile(r"\\[lr]angle|[⟨⟩]|(?<![^(\s∪p])<(?=[\s\d\-−])|(?<=[\w}\s])>(?![^)\s∪\\])")
_INTERVALS = lazy_compile(r"\\cup(?![A-Za-z])|∪")
_INTERVAL = lazy_compile(r"[(\[][^()\[\]<>=]+[,;][^()\[\]<>=]+[)\]]")


def only_in_english(text: str) -> str | None:
    """An answer that means something else as it stands: a list with foreign words in it, ``70.000 đồng``."""
    if joined := joined_in_english(text) or _in_brackets(text) or _with_bar(text):
        return joined
    if _PERCENT_FIRST.fullmatch(text.replace("\\", "").strip("$ ")):
        return in_english(text)
    if (match := _QUANTITY.fullmatch(normal(text))) and _COMMA.fullmatch(match["number"]) and match["rest"].strip():
        return in_english(text) if _unit(match["rest"])[1] is not None else None
    return whole_amount(text)


def has_magnitude(text: str) -> bool:
    """Whether a text has a word in it by which its number is multiplied: 3 Millionen."""
    return any(word.casefold() in MAGNITUDES for word in re.findall(r"[^\W\d_]+", text))


def is_date(english: str) -> bool:
    """Whether a text in English is or has a day with the name of its month."""
    return any(month in english for month in _ENGLISH_MONTHS)


def whole_amount(text: str) -> str | None:
    """``70000 dong`` of ``70.000 đồng``, whose currency has no decimals; ``2.5 h`` of ``2 horas y media``."""
    if share := _in_percent(text):
        return share
    if text[:1].isdigit() and len(text) <= MAX_LENGTH and (halved := with_halves(text)) != text:
        return in_english(halved) or halved
    number, _, unit = text.partition(" ")
    return in_english(text) if _POINT.fullmatch(number) and _unit(unit)[1] in _WHOLE_CURRENCIES else None


def joined_in_english(text: str) -> str | None:
    """``x = 2 or x = -3`` for ``x = 2 \\text{ oder } x = -3``, ``12 and 15`` for ``12 e 15``; else ``None``."""
    plain = normal(text)
    if _SET.match(plain):
        english = _OR_IN_SET.sub(r" \\text{ or } ", _AND_IN_SET.sub(r" \\text{ and } ", plain))
        return english if english != plain else None
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


def with_part_of_day(before: str, time: str, behind: str) -> str | None:
    """A time of day in English with the part of the day right before or behind it."""
    words = _PARTS_BEFORE.search(before) or _PARTS_BEHIND.match(behind)
    if words is None:
        return None
    name = words["part"].lower()
    return _clock(f"{name}{normal(time)}") or _clock(f"{normal(time)} {name}")


def blanks(text: str) -> str | None:
    """What fills the first and the second blank at the end of a text, as a list."""
    found = _BLANKS.search(text.strip(_ENDS), max(0, len(text) - 160))
    return f"{found['first']}; {found['second']}" if found and found.end() == len(text.strip(_ENDS)) else None


def fills_blanks(text: str) -> bool:
    """Whether a text says in which order its values fill the blanks of a question."""
    return not text.isascii() and _FILLED.search(text) is not None


_PARTS_BEFORE = lazy_compile(rf"(?P<part>{'|'.join(_AM + _PM)})\s?\$?\s?\Z")
_PARTS_BEHIND = lazy_compile(
    rf"\$?\s?(?:Uhr |uur )?[(（]?(?P<part>{'|'.join((*_AM, *_PM, *_MORNING, *_EVENING))})(?!\w)", re.IGNORECASE
)
_FILLED = lazy_compile(r"空[^。\n]{0,6}依次|依次(?:应?填|为空)|第[一1]个?空")


def day_first(text: str) -> str | None:
    """``3 October 1990`` of ``03.10.1990``."""
    match = _NUMERIC_DATE.fullmatch(text.strip(" .$*"))
    if match is None or not 1 <= int(match["month"]) <= 12:
        return None
    return f"{int(match['day'])} {_ENGLISH_MONTHS[int(match['month']) - 1]} {match['year']}"


_DATE_IN_ORDER = lazy_compile(  # ngày 15 tháng 3 năm 2021, 2021. március 15.
    r"(?:ngày )?(?P<day>\d{1,2}) tháng (?P<month>\d{1,2}) năm (?P<year>\d{4})|(?P<first>\d{4})\. ?(?P<name>[^\W\d_]{3,12}) (?P<last>\d{1,2})\.?(?:-[aáeé]n?)?"
)
_NUMERIC_DATE = lazy_compile(r"(?P<day>\d{1,2})(?P<sign>[./-]) ?(?P<month>\d{1,2})(?P=sign) ?(?P<year>\d{4})")


def _date(text: str) -> str | None:
    """``2021-03-15`` of ``2021年3月15日``, ``Monday, 15 March 2021`` of ``lunedì 15 marzo 2021``."""
    if only_weekday := _WEEKDAY.fullmatch(text):
        return WEEKDAYS.get(only_weekday[1].casefold())
    if match := _IN_CHINESE.fullmatch(text):
        month = _ENGLISH_MONTHS[int(match["month"]) - 1]
        of_week = WEEKDAYS.get(match["weekday"] or "", "")
        return f"{of_week} {match['day']} {month} {match['year'] or ''}".strip()
    if not text.isascii() and (ordered := _DATE_IN_ORDER.fullmatch(text)) and 1 <= int(ordered["month"] or 1) <= 12:
        name = _ENGLISH_MONTHS[int(ordered["month"]) - 1] if ordered["month"] else MONTHS.get(ordered["name"].lower())
        return f"{ordered['day'] or ordered['last']} {name} {ordered['year'] or ordered['first']}" if name else None
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
    if share := _in_percent(text):
        return share
    if (chinese := _CHINESE.fullmatch(text)) and not chinese["rest"].startswith("分之"):
        value = in_digits(chinese["number"])
        if value and chinese["percent"]:
            return f"{value}%" if not chinese["rest"] else None
        return _with_unit(value, chinese["rest"]) if value and chinese["rest"] else value
    if text[:1].isdigit() and (halved := with_halves(text)) != text:
        return _quantity(halved, comma, point) or halved
    figures = in_figures(text) if not text[:1].isdigit() else None
    if figures and figures.lstrip("-")[:1].isdigit() and not _is_prose(figures.split(" ", 1)[0]):
        number, rest = _LEADING_NUMBER.fullmatch(figures).groups()  # type: ignore[union-attr]
        return number if not rest else _with_unit(number, rest) if _unit(rest)[1] is not None else None
    if figures and (named := _QUANTITY.fullmatch(figures)) and named["head"].strip(" .:").casefold() in UNITS:
        text = figures  # yüzde otuz beş, shilingi mia tano
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


_SHARE = lazy_compile(r"(?P<tens>[1-9一二三四五六七八九])[割할成](?:(?P<units>[1-9一二三四五六七八九])分)?")


def _in_percent(text: str) -> str | None:
    """``30%`` of 3割 and 三成, ``35%`` of 3割5分."""
    share = _SHARE.fullmatch(text) if not text.isascii() else None
    return f"{10 * _tenths(share['tens']) + _tenths(share['units'])}%" if share else None


def _letter(text: str) -> re.Match[str] | None:
    """A letter of another alphabet in brackets or with a sign behind it, as a choice."""
    return _LETTER_IN_BRACKETS.fullmatch(text) if not text.isascii() and len(text) < 9 else None


def _tenths(digit: str | None) -> int:
    return int(digit) if (digit or "0").isdecimal() and digit else "零一二三四五六七八九".find(digit or "零")


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
    parts: list[tuple[str, str]] = []
    at = 0
    while match := _PART.match(text, at):
        unit = _IN_PARTS.get(match[2]) or UNITS.get(match[2].strip(".").casefold()) or ""
        following = _ORDER[_ORDER.index(parts[-1][1]) + 1 :] if parts and parts[-1][1] in _ORDER else ()
        if (
            unit not in (*following, *_PARTS_OF_UNITS.get(parts[-1][1], ()))
            if parts
            else (unit not in _ORDER and unit not in _PARTS_OF_UNITS)
        ):
            return None
        parts.append((match[1], unit))
        at = match.end()
    if at < len(text) or len(parts) < 2:
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
    if words[0] >= "\u0400" and words[0] <= "\u04ff":
        words = _in_genitive(words)
    return scale, UNITS.get(words) or UNITS.get(words.replace(".", "")) or (
        words if scale > 1 and words.isascii() else None
    )


def _in_genitive(words: str) -> str:
    """The words of a unit as they follow a number: ``километров в час`` for километрам в час."""
    if words in UNITS:
        return words
    words = _DATIVE.sub(lambda match: "ных" if match[1] else "ых", words)
    forms = (_PLURAL.sub(ending, words, count=0) for ending in ("ов", "ев", "а", "я", "ы", "и", ""))
    return next((form for form in forms if form in UNITS), words)


_DATIVE = lazy_compile(r"(н)?(?:ыми|ым)(?=\s)")
_PLURAL = lazy_compile(r"(?<=\w\w)(?:ам|ям|ами|ями|ах|ях|ом|ем|у|ю)(?=\s|\Z)")
_BY_LENGTH = sorted(MAGNITUDES, key=len, reverse=True)


def _ends_word(words: str, end: int) -> bool:
    return end == len(words) or not words[end].isalpha() or "\u3040" <= words[end - 1] <= "\ud7af"
