# ruff: noqa: E501, RUF001, SIM905  (words of other languages)
"""Sentences in other languages that end in the answer: "Damit kostet es 18 Euro.", 所以面积是36平方厘米。, 각의 크기는 45도입니다.

Such a sentence is read if it is all of the text, or if it or its last clause begins with a word for "therefore". Of it
only the value at its end is read, and only if nothing else in it is a number, and no word denies, doubts or compares.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from itertools import pairwise

from grpo_env.lazy_regex import lazy_compile

from ..languages.clocks import spoken_clock
from ..languages.east_asian import in_our_years
from ..languages.numerals import in_figures, with_halves
from ..languages.translated import (
    CONDITION_AT_END,
    NO_SOLUTION,
    in_english,
    joined_in_english,
    truth_in_english,
    unit_in_english,
)
from ..languages.which_language import FUNCTION_WORDS, languages_of
from ..vocabulary.currencies import SIGNS
from ..vocabulary.foreign_doubts import (
    BEFORE_OR_AFTER,
    COMPARES,
    COMPARES_INSIDE,
    DENIES,
    DENIES_INSIDE,
    EXCEPT_OR_EVERY,
    NEAR_A_TIME,
    NEAR_A_TIME_INSIDE,
)
from ..vocabulary.foreign_words import MONTHS, WEEKDAYS

MAX_LENGTH = 240

_OTHER_LETTERS = lazy_compile(
    "[\u0400-\u04ff\u0590-\u05ff\u0600-\u06ff\u0900-\u0dff\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]|[\u0370-\u03ff]{3}"
)
_WITH_COMMAS = lazy_compile("[\u0400-\u04ff]|[\u0370-\u03ff]{3}")
# Words of languages in Latin letters that tell them from English.
_SHARED_WORDS = frozenset(
    "is in on to a at av of for we so it me hat alt tar hay total son de en y i z na da se do au on hon genau".split()
)
_FUNCTION_WORDS = (frozenset().union(*FUNCTION_WORDS.values()) - _SHARED_WORDS) | frozenset(
    "der die das ist sind und ein eine einen mit von für beträgt also damit somit nicht den dem es wir"
    " le la les est des du un une donc et dans pour sont ainsi par l d"
    " el los las es del por son una o os as é do da dos um uma são portanto logo"
    " il lo gli è di della dello un' quindi dunque sono"
    " het van een dus jest to w z wynosi więc zatem odpowiedź za"
    " bir ve cevap göre için olarak bu är och det ett er og alltså så"
    " là vậy của có số giá adalah dan yang jadi jumlah je tedy este deci și az tehát on siis ni ya kwa jibu hivyo".split()
)
_SURE_WORDS = frozenset(
    "antwort lautet beträgt ergebnis lösung réponse résultat respuesta resultado solución resposta risposta risultato antwoord"
    " resultaat odpowiedź wynik svaret svar cevap sonuç jawabannya jawaban vastaus vastus válasz odpověď výsledek răspunsul"
    " odgovor jibu đáp ist est è é är jest este adalah là wynosi rezultatul resultatet eredmény tulos hasilnya het dus kết kostet dauert wiegt"
    " coûte mesure cuesta mide dura pesa costa misura kosztuje zapłacono gesuchte uzunluk doğru alternativa correta masa".split()
)
_LARGE = frozenset(
    "millionen millones millón milhões milhão milioni milione miljoen miljoner milionów miliony milyon millió milioane milliarden tausend".split()
)
_REMARKS = frozenset(
    "nein moment falsch stimmt korrigierte korrektur attends faux espera não corrección aspetta nej nie hayır không".split()
)
_WITHOUT_COMMAS = frozenset("ni ya kwa jibu hivyo jumla gharama".split())
_ENGLISH = frozenset("the is of and so that are was to it in we she he has have this which therefore for be".split())
_ASCII_LETTERS = lazy_compile("[A-Za-z]")
_WORD = lazy_compile(r"(?<!\\)[^\W\d_]+")
_FORMULA = lazy_compile(r"\$[^$]*\$|\\[A-Za-z]+")
_THEREFORE = (
    r"(?:damit|somit|daher|also|folglich|demnach|insgesamt|(?:par conséquent|donc|ainsi|finalement|au total|on en déduit que|d'où)"
    r"|por (?:lo )?tanto|así que|así|entonces|luego|en conclusión|en total|en consecuencia|portanto|logo|assim|então|no total"
    r"|por isso|en conclusión|em conclusão|in conclusione|in totaal|totaal|in tutto|dengan demikian|quindi|dunque|pertanto|perciò|in totale|di conseguenza|dus|daarom|zatem|więc|dlatego|stąd|czyli|razem"
    r"|alltså|således|därför|altså|derfor|vậy(?: nên)?|do đó|vì vậy|vì thế|suy ra|jadi|oleh karena itu|maka|sonuç olarak"
    r"|buna göre|o halde|dolayısıyla|yani|tedy|proto|celkem|tehát|deci|prin urmare|așadar|siis|joten|kwa hivyo|kwa hiyo"
    r"|hivyo|таким образом|итак|значит|следовательно|поэтому|получается|отже|тому|άρα|επομένως|إذن|إذا|لذلك|وبالتالي|بالتالي"
    r"|لذا|ومنه|إذًا|לכן|אם כן|अतः|इसलिए|इस प्रकार|সুতরাং|অতএব|তাই|ดังนั้น|เพราะฉะนั้น|สรุป)(?!\w)"
    r"|所以|因此|因而|故|综上所述|综上|從而|从而|于是|於是|可得|可知|答[:：]|よって|したがって|従って|ゆえに|だから|以上より|따라서|그러므로"
    r"|그래서|결국|즉"
)
_STARTS = lazy_compile(rf"\W{{0,4}}(?:{_THEREFORE})", re.IGNORECASE)
_INSIDE = lazy_compile(  # "Er kommt also um halb acht an."
    r"(?:[^\s,;:.!?]+\s){1,4}(?:also|somit|damit|folglich|demnach|donc|ainsi|por (?:lo )?tanto|entonces|portanto|assim|quindi|dunque|pertanto|perciò|dus"
    r"|daarom|alltså|således|altså|derfor|därför|więc|zatem|tedy|teda|tehát|deci|așadar|siis|значит|итак|следовательно|таким образом|поэтому|отже|тому|jadi|dakle|stoga)[\s,]",
    re.IGNORECASE,
)
_STARTS_FOREIGN = lazy_compile(
    rf"\W{{0,4}}(?!(?:also|logo|proto|razem|deci|siis|i alt)\b)(?:{_THEREFORE})", re.IGNORECASE
)
_CLAUSE = lazy_compile(rf"[,，、;；:：]\s?(?={_THEREFORE})", re.IGNORECASE)
_SENTENCE_END = lazy_compile(r"(?<!\b\w)[.!](?:\s+(?=[^\d\s])(?![a-zà-ÿа-яё])|\Z)|[。！।؟?？｡]|．(?=\s|\Z)|\n")
_IN_WORD = r"[\w\u0900-\u0963\u0966-\u0dff]"  # signs of vowels are no \w
_AGAINST = lazy_compile(
    rf"(?<!{_IN_WORD})(?:{DENIES}|{COMPARES}|avant|antes|sebelum|trước|przed|sau)(?!{_IN_WORD})"
    rf"|{DENIES_INSIDE}|{COMPARES_INSIDE}",
    re.IGNORECASE,
)
_QUALIFIED = lazy_compile(  # per hour, per day; times as much
    r"(?<!\w)(?:mal so|keer zo|gånger så|ganger så|gange så|kali lipat|al giorno|alla settimana|al mese|all['’]anno|all['’]ora|à l['’]heure|por (?:hora|día|dia|semana|mes|mês|año|ano|persona|pessoa)"
    r"|al (?:día|mes|año)|na (?:godzinę|dzień|osobę)|в (?:час|день|неделю|месяц|год|минуту)|im (?:Monat|Jahr)|i timmen|om dagen|günde|saatte)"
    r"(?!\w)",
    re.IGNORECASE,
)
_AGAINST_TIME = lazy_compile(
    rf"(?<!{_IN_WORD})(?:{DENIES}|{NEAR_A_TIME}|{BEFORE_OR_AFTER})(?!{_IN_WORD})|{DENIES_INSIDE}|{NEAR_A_TIME_INSIDE}",
    re.IGNORECASE,
)
_TIME_WITH_POINT = lazy_compile(
    r"(?<!\w)(?:saat|kl|kl\.|klokken|klockan|klo|pukul|godz\.|godzinie|alle|ore) (?P<hour>[01]?\d|2[0-3])\.(?P<minute>[0-5]\d)(?!\d|[.,]\d|\s?(?:€|%|euro|kg|km|m)\b)",
    re.IGNORECASE,
)
_HOURS_AND_A_HALF = lazy_compile(r"(\d{1,3}) (?:heures? et demie|giờ rưỡi)")
_TURKISH_COPULA = lazy_compile(r"(?<=\w)['’]?[dt][ıiuü]r\Z")
_QUESTION = lazy_compile(r"[?？؟¿]")
_DIGITS = lazy_compile(r"\d")
_CALCULATED = lazy_compile(
    r"\A(?:[\d\s.,+\-−–*/×·⋅÷:%％()（）^]|\\(?:times|cdot|div|frac|,|;)|[{}$]|[²³]){2,80}(?:=|＝)\s?"
)
_OPERATOR_AT_END = lazy_compile(r"(?:[±∓+*/^<>≤≥≠≈~|]|\\(?!quad|text)[A-Za-z]+|[A-Za-z]\s?[-−])[\s${(]*\Z")
_PAREN = lazy_compile(r"\\[(\[]|\\[)\]]")
_START_OF_VALUE = lazy_compile(
    rf"(?:(?<!\w)(?:[A-Z]{{1,3}})?[{SIGNS}]\s?|(?<!\w)(?:Rp|Rs|Sh|Tsh|Ksh|S/|R\\?\$|US\$|€|kr)\.?\s?|[-−–](?=\s?\d)|\\[$]|%\s?)?\d"
    r"|[-−]?[√π∞\[\](]\s?(?=[-−]?[\d√π∞\\])|\\(?:frac|dfrac|tfrac|sqrt|pi|infty|\{)|\{(?=-?\d)|(?:上午|下午|午前|午後|오전|오후|早上|晚上)\s?(?=\d)"
    r"|(?<![\w\\])[A-Za-z](?![^\W\d_²³])(?=[^A-Za-z\u0100-\u21ff\u2300-\uffff]{0,40}(?:[A-Za-z](?![A-Za-z])[^A-Za-z\u0100-\u21ff\u2300-\uffff]{0,40}){0,4}"
    r"(?:[=＝<>≤≥⩽⩾∈]|\\(?:le|ge|in)))|百分之|[①-⑳]"
)
_LAST_WORD = lazy_compile(r"(\S+)\s+\Z")
_TIME = lazy_compile(r"\d{1,2}(?:[:.h]|\s?(?:Uhr|heures?))")
_BARE = lazy_compile(r"[-\d.,\s]+")
_MATH_NAME = lazy_compile(r"\$\s?\\?[A-Za-z](?:_\{?\w\}?)?\s?\$")
_IS = lazy_compile(
    r"\s(?:ist|sind|lautet|lauten|heißt|sont|son|sono|são|est|es|è|é|is|jest|to|är|er|este|adalah|là|sarà|será|sera|era|était|fue|foi|war|was|będzie|будет|blir|wordt|itakuwa|ilikuwa|είναι|— это|это был[ао]?|это|это|हैं?|ni)\s|(?<=\w)[是为為](?=\w)|は(?=\w)|(?<=[\uac00-\ud7af])[은는]\s"
)
_STATEMENT = lazy_compile(
    r"(?:(?:aussage|behauptung|affirmation|proposition|énoncé|afirmación|afirmação|afirmativa|proposición|proposição|enunciado|affermazione"
    r"|proposizione|enunciato|stelling|bewering|uitspraak|zdanie|stwierdzenie|påståendet|påstanden|утверждение|высказывание|твердження"
    r"|ifade|önerme|pernyataan|mệnh đề|khẳng định|phát biểu|taarifa|kauli|tvrzení|výrok|állítás|afirmația|πρόταση|الجملة|العبارة|القضية"
    r"|कथन|উক্তি|বক্তব্য|ข้อความ|ประพจน์|הטענה)(?!\w*[-])[^.!?\n,;:]{0,60}?(?:\s|เป็น)|(?:命题|命題|说法|說法|结论|判断|陈述|論述|主張|記述|명제|진술|주장)[^。，,、]{0,20}?[是为為은는がはも이가 ]\s?)"
    r"(?P<truth>[^\W\d_][^\s\d.,]*)\Z",
    re.IGNORECASE,
)
_ARTICLE = lazy_compile(
    r"\A(?:es )?(?:ein|eine|einen|der|die|das|un|une|uno|una|el|la|le|il|lo|um|uma|o|een|het|de|en|ett|et)\s", re.I
)
_LETTERS = lazy_compile(
    r"[A-H](?:(?:\s?[、,，]\s?|\s?[和与、]\s?|\s(?:y|e|et|und|en|och|og|i|и|ve|và|dan|e)\s)[A-H]){1,5}"
)
_IN_DAYS = lazy_compile(r"(?<!\w)(?:fra|tra) (?=\d+ (?:giorn|or|ann|mes|minut|settiman))")  # not "between"
_DAY_OF_MONTH = lazy_compile(
    rf"\d{{1,2}}(?:\.|er|º|°)?\s(?:de |di |d')?(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})(?!\w)",
    re.IGNORECASE,
)
_NOT_BEFORE = lazy_compile(r"(?:不是|并非|非|不|或|而不|可能)\s?\Z|不是|并非|不可能")
# "Poiché 9 + 16 = 25, sì, il triangolo è rettangolo."
_TRUTH_IN_CLAUSE = lazy_compile(
    r"(?:poiché|siccome|dato che|visto che|como|puesto que|ya que|dado que|já que|visto que|da|weil|comme|puisque|étant donné que|aangezien"
    r"|omdat|ponieważ|skoro|так как|поскольку|karena|vì|eftersom|pentru că|protože)(?!\w)[^.!?\n]{3,120}?,\s"
    r"(?P<rest>(?:sì|sí|sim|ja|oui|si|да|tak|ya|có|no|nein|non|não|нет|nie|nee|nej|tidak|không|da|nu|ano|ne),\s[^!?\n]{3,100})",
    re.IGNORECASE,
)
_ANSWERED = lazy_compile(r"\s{0,3}答[:：]\s?(?=[^\d]{1,4}\Z)")
_ADVERB = lazy_compile(
    r"(?:also|damit|somit|folglich|dus|donc|bien|ainsi|entonces|pues|portanto|quindi|dunque|więc|zatem|alltså|altså)\s",
    re.I,
)
_LAST_CLAUSE = lazy_compile(r"(?<=[,،，;؛])[^,،，;؛\d]{4,120}\Z")
_SEVERAL = lazy_compile(r"[,，、;；]|\s(?:und|et|y|e|i|и|en|och|og|ve|và|dan)\s|[和与と]")
_COPULA = lazy_compile(
    r"\s?(?:となります|になります|となる|になる|です|でした|である|だ|있습니다|입니다|이다|이에요|예요|됩니다|(?:이|가) 됩니다|[이가] 걸린다|[이가] 걸립니다|がかかります|がかかる|かかります|かかる|में|है|हैं|होगा|होगी|मिले|था|थी"
    r"|bulunur|olur|eder|olarak bulunur|'?[dt][ıiuü]r|olacaktır|হয়|হবে|টি|lang|alt|hoch|breit|groß|long|large|haut|weit)\Z"
)


WITHDRAWN = lazy_compile(
    r"(?:\A|[.!?\n])[\s$)\]}*_\\]{0,9}(?:nein|moment|halt|stopp|non|attends|attendez|espera|espere|perdón|não|aspetta|нет|стоп|подождите"
    r"|постойте|nee|wacht|nej|vänta|vent|chwila|zaraz|moment|počkat|hayır|bekle|khoan|tunggu|subiri|hapana)[\s]?[,!.:…\u2014\u2013-]"
    r"|\b(?:stimmt (?:so )?nicht|ist (?:aber )?(?:falsch|nicht richtig|nicht korrekt)|korrigiere|korrektur|korrigierte antwort|c'est faux"
    r"|est (?:fausse|incorrecte?)|je me suis trompée?|correction|es incorrect[oa]|está mal|me equivoqué|corrección|está errad[oa]|correção"
    r"|è sbagliat[oa]|è errat[oa]|correzione|mi sono sbagliat[oa]|это неверно|это неправильно|это ошибка|я ошиб\w*|исправл\w*|to błąd"
    r"|pomyłka|poprawka|klopt niet|is fout|yanlış|düzeltme|sai rồi|không đúng|đính chính|salah|koreksi|خطأ|تصحيح|عفوا|गलत|सुधार|ভুল)(?!\w)"
    r"|不对|不對|错了|錯了|更正|等等|有误|間違|誤り|訂正|いや、|いいえ、|아니,|아니요,|틀렸|잘못|정정|ผิด|แก้ไข",
    re.IGNORECASE,
)
"""That what was said before is wrong: "Nein, sie lautet 19.", "C'est faux."."""


def uses_commas(text: str) -> bool:
    """Whether a text is in a language, other than English, in which decimals have a comma."""
    text = _FORMULA.sub(" ", text[-1000:])
    if not text.isascii() and _OTHER_LETTERS.search(text):
        return _WITH_COMMAS.search(text) is not None
    words = _latin_words(text)
    return (
        _is_foreign(words) or bool(words & _LARGE) or _STARTS_FOREIGN.match(text) is not None
    ) and not words & _WITHOUT_COMMAS


def uses_other_language(text: str) -> bool:
    """Whether a text is in another language than English."""
    plain = _FORMULA.sub(" ", text[-1000:])
    if not plain.isascii():
        others = len(_OTHER_LETTERS.findall(plain))
        if others and 2 * others > len(_ASCII_LETTERS.findall(plain)):
            return True
    words = _latin_words(plain)
    if words & _LARGE or (len(words) < 12 and not words & _ENGLISH and _has_number(plain[-160:])):
        return True
    return bool(words & _REMARKS) or _STARTS_FOREIGN.match(plain) is not None or _is_foreign(words)


def _has_number(text: str) -> bool:
    """Whether a text has a number or a time of day in words of another language."""
    return in_figures(text, languages_of(text)) is not None or spoken_clock(text) is not None


def conclusion(text: str) -> str | None:
    """The sentence or clause at the end of a text in another language that is its conclusion; ``None`` for no such."""
    text = text.strip()
    sentences = _split(text[-1200:])
    if not sentences or len(sentences[-1]) > MAX_LENGTH or text[-1:] in "?？؟":
        return None
    last = sentences[-1]
    if not uses_other_language(last):
        return None
    if truth_in_english(last):
        return last
    clauses = list(_CLAUSE.finditer(last))
    if clauses:
        return last[clauses[-1].end() :]
    return last if len(sentences) == 1 or _STARTS.match(last) or _INSIDE.match(last) else None


def values_at_end(sentence: str, without_unit: bool) -> Iterator[str]:
    """The value that ends a sentence in another language, if it is the only one there.

    Words behind it may be left out, but not all of them if they may be its unit, unless it may stand ``without_unit``.
    """
    if len(sentence) > MAX_LENGTH or _QUESTION.search(sentence):
        return
    if not sentence.isascii():
        sentence = in_our_years(sentence)
    if (condition := CONDITION_AT_END.search(sentence.strip(" .。"))) and not _NOT_BEFORE.search(
        sentence[: condition.start()]
    ):
        yield condition[0]
    if NO_SOLUTION.fullmatch(_STARTS.sub("", sentence.strip(" .。"), count=1).strip(" ,，")):
        yield "no solution"
        return
    if truth := _TRUTH_IN_CLAUSE.fullmatch(sentence):
        yield truth["rest"]
    if weekday := _only_weekday(sentence):
        yield weekday
    yield from _values(with_halves(sentence), without_unit)
    time = _TIME_WITH_POINT.search(sentence)
    if time and not _AGAINST_TIME.search(sentence) and not _DIGITS.search(_TIME_WITH_POINT.sub("", sentence, count=1)):
        yield f"{time['hour']}:{time['minute']}"
    languages = languages_of(sentence)
    plain = _TURKISH_COPULA.sub("", sentence.strip(" .")) if "tr" in languages else sentence
    if clock := spoken_clock(plain):
        if not _AGAINST_TIME.search(_STARTS.sub("", clock.rest, count=1)):
            yield clock.time
            if hours := _HOURS_AND_A_HALF.search(in_figures(plain, languages) or plain):
                yield f"{hours[1]}.5 h"
        return
    if figures := in_figures(plain, languages):
        yield from _values(figures, without_unit)


def _only_weekday(sentence: str) -> str | None:
    """The only day of the week in a sentence, if it ends it but for a verb and nothing is counted from it."""
    found = list(_WEEKDAY.finditer(sentence.casefold()))
    if len(found) != 1:
        return None
    lead, rest = sentence[: found[0].start()], sentence[found[0].end() :].strip(" .。।!")
    if (
        len(rest.split()) > 1
        or _AGAINST.search(f"{_STARTS.sub('', lead, count=1)} {rest} ")
        or _COUNTED_FROM.search(lead + rest)
    ):
        return None
    if _DIGITS.search(in_figures(lead, languages_of(sentence)) or lead):
        return None
    return WEEKDAYS[found[0].group()]


_WEEKDAY = lazy_compile(
    rf"(?<![^\W\d_])(?:{'|'.join(re.escape(word) for word in sorted(WEEKDAYS, key=len, reverse=True) if not re.match('[一-鿿]', word))})(?![^\W\d_])"
)
_COUNTED_FROM = lazy_compile(rf"(?<!{_IN_WORD})(?:{BEFORE_OR_AFTER}|da|{EXCEPT_OR_EVERY})(?!{_IN_WORD})", re.IGNORECASE)


def _values(sentence: str, without_unit: bool) -> Iterator[str]:
    """The value that ends a sentence, with the numbers as they stand."""
    sentence = _PAREN.sub("$", sentence.strip()).rstrip(" .。｡।!！．*").replace("**", "")
    start = _start(sentence)
    said = deque(_IS.finditer(sentence), maxlen=1)
    if start is None or (said and not _DIGITS.search(sentence, said[0].end())):
        yield from _words_at_end(sentence)
    elif clause := _LAST_CLAUSE.search(sentence):  # "Since 17 is odd, the statement is false."
        yield from _truth_at_end(clause[0])
    if start is None:
        return
    before = _LAST_WORD.search(sentence[:start])
    if before and unit_in_english(before[1]) and not _TIME.match(sentence, start):  # mililita 10
        start = before.start()
    lead, value = sentence[:start], sentence[start:]
    if NO_SOLUTION.fullmatch(value.replace("$", "").replace("=", " ")):  # only then
        return
    if _OPERATOR_AT_END.search(lead):
        return
    if _AGAINST.search(_STARTS.sub("", lead, count=1) + " ") or _DIGITS.search(_MATH_NAME.sub("", lead)):
        return
    if (calculated := _CALCULATED.match(value)) and re.search("[+\\-−×·*/÷:]|\\\\", calculated[0][1:-1].strip()):
        value = value[calculated.end() :]
    if in_english(value) is None and _QUALIFIED.search(value):
        return
    solutions = joined_in_english(value) if value.count("=") > 1 else None
    if solutions is not None or in_english(value):
        yield value
    if solutions is None and _AGAINST.search(_FORMULA.sub(" ", value)):
        return
    yield value
    if shorter := _COPULA.sub("", value):
        value = shorter if shorter != value else value
        yield shorter
    if _DAY_OF_MONTH.match(value):
        return
    for end in _ends(value):
        if without_unit or not _BARE.fullmatch(value[:end]):
            yield value[:end].rstrip(" ,")


def _words_at_end(sentence: str) -> Iterator[str]:
    """What a sentence says that something is, if that is no number: 甲 of 成绩更稳定的是甲; what follows 答."""
    if answered := _ANSWERED.match(sentence):
        words = sentence[answered.end() :].rstrip(" 。.")
        if truth_in_english(words) or not _AGAINST.search(words):
            yield words
    rest = _STARTS.sub("", sentence, count=1).strip(" ,，。.")
    if len(rest) < min(len(sentence) - 2, 40) and len(rest.split()) <= 3 and not _AGAINST.search(rest):
        yield rest
    yield from _truth_at_end(sentence)
    said = deque(_IS.finditer(sentence), maxlen=1)
    if not said or _AGAINST.search(_IN_DAYS.sub("", _STARTS.sub("", sentence[: said[0].start()], count=1)) + " "):
        return
    words = _ADVERB.sub("", sentence[said[0].end() :].strip(" :：")).strip()
    if _LETTERS.fullmatch(words):
        yield ", ".join(re.findall("[A-H]", words))
    if _SEVERAL.search(sentence, said[0].end()):
        return
    if _AGAINST.search(words) and not truth_in_english(words):
        return
    yield words
    if (shorter := _COPULA.sub("", words)) != words:
        yield shorter
    if (shorter := _ARTICLE.sub("", words)) != words:
        yield shorter


def _truth_at_end(sentence: str) -> Iterator[str]:
    """``false`` of a statement about a statement: "L'affirmation est donc fausse.", 所以该命题为假命题."""
    plain = _COPULA.sub("", sentence.strip(" .。")) if not sentence.isascii() else sentence.strip(" .")
    match = _STATEMENT.search(plain)
    if match is None or _AGAINST.search(_STARTS.sub("", plain[: match.start("truth")], count=1) + " "):
        return
    if truth := truth_in_english(match["truth"]):
        yield truth


def _start(sentence: str) -> int | None:
    """Where the value begins: the first formula that is no name, else the first number or relation."""
    for match in re.finditer(r"\$[^$]+\$", sentence):
        if not _MATH_NAME.fullmatch(match[0]):
            before = _START_OF_VALUE.search(sentence[: match.start()])
            return before.start() if before else match.start()
    first = _START_OF_VALUE.search(sentence)
    return first.start() if first else None


def _ends(value: str) -> Iterator[int]:
    """Where the value may end before other words: after its last digit, and after each word behind it."""
    last = max((match.end() for match in re.finditer(r"[\d$})\]%％°²³①-⑳]", value)), default=0)
    rest = value[last:]
    if not last or len(rest.split()) > 5:
        return
    spaces = [match.start() for match in re.finditer(r"\s|(?<=[\uac00-\ud7af])(?=[에으로의을를이가])", rest.rstrip())]
    for at in [*reversed(spaces), *range(min(3, len(rest)) if not rest.isascii() else 0)]:
        if at > 0:
            yield last + at
    if rest and not rest[0].isalnum():
        yield last


def _split(text: str) -> list[str]:
    """The sentences of a text; a formula in dollars is not split."""
    hidden = re.sub(r"\$[^$]*\$", lambda match: "x" * len(match[0]), text)
    edges = [0, *(match.end() for match in _SENTENCE_END.finditer(hidden)), len(text)]
    parts = [text[start:end].strip() for start, end in pairwise(edges)]
    return [part for part in parts if part.strip(" .*_#")]


def _latin_words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text) if len(word) == 1 or not word.isupper())


def _is_foreign(words: frozenset[str]) -> bool:
    accented = any(not word.isascii() for word in words)
    foreign = len(words & _FUNCTION_WORDS) + 2 * len(words & _SURE_WORDS) + accented
    return foreign > max(1, 2 * len(words & _ENGLISH))
