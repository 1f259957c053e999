"""Other readings of an answer that is not right as it stands: without a label, a gloss or a sentence around it.

Each is only a further text to compare, so it is right only if what remains equals the gold answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from grpo_env.lazy_regex import lazy_compile

from .amounts import bare_range
from .arrangements import numbered_items
from .clock import in_figures, read_time
from .codes import plain
from .currencies import SIGN
from .dates import read_date
from .everyday import everyday, names_another
from .extract.statements import UNSURE
from .other_names import explains
from .quantities import in_full
from .sentences import is_against
from .spellings import spelled
from .unit_names import NAMES
from .units import is_measure

MAX_LENGTH = 200
MAX_GLOSS = 40
MAX_WRAPPED = 1500  # characters of an answer in \text{…}
MAX_NESTING = 4

_LABEL = lazy_compile(
    r"[*_]{0,2}(?P<label>[A-Za-z][A-Za-z-]+(?: (?:[a-z][a-z-]*|[A-Z]{2,})){0,2})[*_]{0,2}\s?:[*_]{0,2}\s{1,3}(?=\S)"
)
_LABELLED_VALUE = lazy_compile(r"(?P<label>[A-Za-z][A-Za-z /-]{2,30}): {1,3}(?P<value>(?=[^A-Za-z]{0,5}\d)\S.{0,40})")
_RATIO_VALUE = r"(?P<value>\d+(?:\.\d+)?(?::\d+(?:,\d{3})*(?:\.\d+)?){1,3})"
_LABELLED_RATIO = lazy_compile(rf"(?P<label>(?:aspect )?ratio|odds|scale)(?: of)? {_RATIO_VALUE}")
_RATIO_BEFORE_LABEL = lazy_compile(rf"{_RATIO_VALUE} (?P<label>(?:aspect )?ratio|odds|scale)")
_QUOTED_LIST = lazy_compile(r"\['[^'\",\[\]]+'(?:, ?'[^'\",\[\]]+'){1,20}\]")
_CHOICE_TEXT = lazy_compile(r"\(?[A-J][).:] ?(\S.*)")
_NAMES_CHOICE = lazy_compile(r"\W*(?:\\text\w*\W*)?[A-J]\b")
_WORDS = lazy_compile("[A-Za-z]+")
_ADDRESS_NAMED = lazy_compile(
    r"(?:the )?(?:URL|link|web ?site|web address|address)(?: is)?:? (?=\w+://)", re.IGNORECASE
)
_VERSION_OF = lazy_compile(r"([A-Za-z][\w .+#-]{0,40}) version (\d+(?:\.\d+){0,4})", re.IGNORECASE)
_VERSION_SIGN = lazy_compile(r"(?<=\w )v(?=\d+\.\d)")  # Python v3.10
_NO_LABEL = lazy_compile(
    r"\b(?:not|no|nor|none|never|wrong\w*|incorrect\w*|false\w*|invalid|except\w*|without|avoid\w*|unlikely|if|unless|or"
    r"|eliminat\w*|exclud\w*|reject\w*|discard\w*|ruled|previous\w*|former\w*|old|initial\w*|original\w*|earlier|before"
    r"|guess\w*|maybe|perhaps|possib\w*|probab\w*|distract\w*|alternativ\w*|instead|rather|than|opposite|antonym|contrast"
    r"|errors?|mistakes?|question|questions|example|examples|e\.g|unlike|versus|vs|other|others|also|but|wait|actually"
    r"|correction|sorry|hmm|misconception|myth|trap|step|given|input|start|yes|against)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_GLOSS = lazy_compile(r"(?P<words>[^()]*[^\W\d_]{2}[^()]*?)\s\((?P<gloss>[^()]{1,80})\)")
_NO_GLOSS = lazy_compile(
    rf"{UNSURE.pattern}|\b(?:and|also|formerly|previously|instead|rather|actually|yes|true|correct|right|sorry|wait"
    r"|guess|unsure|unclear|uncertain|unknown|likely|doubt\w*|invalid|rejected|misspel\w*|typo|vs|versus|almost|nearly)\b"
    r"|[/|,;]",
    re.IGNORECASE,
)
_ACRONYM = lazy_compile(r"[A-Z][A-Z0-9]{1,5}")
_MARKED = lazy_compile(r"(\*\*|`)([^*`\n]{1,80})\1")
_SENTENCE = lazy_compile(r"[A-Z][\w'\u2019, -]*\s(?:\*\*|`)[^*`\n]{1,80}(?:\*\*|`)(?:\s[\w'\u2019, -]*)?[.!]?")
_BOLD = lazy_compile(r"(?<![\w)*])\*\*(?=[^\s*])([^*\n]{1,80})(?<!\s)\*\*(?![\w(*])")
_ITALIC = lazy_compile(r"(?<![\w)*])\*(?=[^\s*])([^*\n]{1,80})(?<!\s)\*(?![\w(*])")
_NOT_BUT = lazy_compile(r"not [^\s,][^,]{0,40},? but (?:rather )?([^,]{1,60}?)\.?", re.IGNORECASE)
_SIZE_AND_NAME = lazy_compile(r"(S|M|L) \((?:small|medium|large)\)|(?:small|medium|large) \((S|M|L)\)", re.IGNORECASE)
_OPTIONS = lazy_compile(r"(?:the )?(?:options|choices|answers|letters|statements) (?=\(?[A-J]\b)", re.IGNORECASE)
_ARROW = lazy_compile(r"\s?(?:\u2192|->|\\(?:to|rightarrow)(?![a-z]))\s?")
_SUM_OF_NAMES = lazy_compile(  # m+n = 204, |a+b| = 1+4 = 5
    r"\$?(?:[a-z](?: ?\+ ?[a-z]){1,3}|\|[^|=<>\d]{1,20}\|)(?: ?=[\d +-]{3,40})? ?= ?(\S{1,20}?)\$?"
)
_COMPOUND = lazy_compile(
    r"an? ([a-z]+|\d[\d,.]*)-((?:year|month|week|day|hour|minute|second|foot|inch|mile|met(?:er|re)|gallon|pound"
    r"|degree|page)(?: [a-z]+)?)\.?",
    re.IGNORECASE,
)  # a two-year warranty
_OUT_OF = lazy_compile(r"(?<=\d) out of (?=\d)")
_EVERY = lazy_compile(r"every (?=[a-z]*day\b)", re.IGNORECASE)
_DAY = lazy_compile(r"(?<=day)\b(?!s)")
_ITEM = lazy_compile(r"(?:[-*\u2022]|(\d{1,2})[.)])\s{1,3}(\S.{0,80})")
_SUBJECT = lazy_compile(r"the (?:[a-z][a-z-]{1,19} ){1,4}(?:is|are|was|were):? ", re.IGNORECASE)
_NO_SUBJECT = lazy_compile(
    r"\b(?:bounds?|limits?|estimates?|approximations?|candidates?|others?|rest|next|last|closest|nearest|second|runner-up"
    r"|statements?|claims?|worst|least|reciprocal|inverse|negation|complement|answers?)\b",
    re.IGNORECASE,
)
_STATEMENT = lazy_compile(
    r"(?:the|this|that) (?:given )?"
    r"(?:statement|claim|assertion|sentence|proposition|conclusion|hypothesis|argument|expression)"
    r" (?:is|evaluates to) ",
    re.IGNORECASE,
)
_MATHEMATICS = frozenset(("number", "formula", "set", "tuple"))
_IS = lazy_compile(r"(?:it|there|this|that|he|she|they) (?:is|are|was|were) (?:called |named )?", re.IGNORECASE)
_IMPERATIVE = lazy_compile(
    r"(?:use|enter|type|press|dial|call|run|visit|go to|play|send)(?: the)?(?: [a-z]{2,12})? (?=\S*$)", re.IGNORECASE
)
_DECREASE = lazy_compile(
    rf"(?:(?:an?|the) )?(?:decrease|decline|drop|fall|reduction|loss) (?:of|by) (?={SIGN}?\.?\d)"
    rf"|down (?:by )?(?={SIGN}?\.?\d)",
    re.IGNORECASE,
)
_NUMBERED = lazy_compile(r"(?:number|no\.|nr\.|#|\u2116) ?(\d{1,9})\.?", re.IGNORECASE)
_BELOW_ZERO = lazy_compile(r"(\d[^-]{0,20}?)\sbelow\szero(\s[a-z]{1,10})?", re.IGNORECASE)
_IN_BOOKKEEPING = lazy_compile(rf"\(({SIGN}\d[\d.,]*)\)")  # ($40.00)
_IN_TWO_UNITS = lazy_compile(
    r"[a-z -]{3,40} (?:feet|foot|hours?|minutes?|pounds?|years?|weeks?),?(?: and)? [a-z -]{3,40}"
    r" (?:inch(?:es)?|minutes?|seconds?|ounces?|months?|days?)\.?",
    re.IGNORECASE,
)
_LETTERS = lazy_compile(r"\(?[A-J]\)?(?:(?:, ?(?:and )?|; ?| and )\(?[A-J]\)?){1,9}")
_JOINED = lazy_compile("[A-J]{2,6}")
_LETTERS_JOINED = lazy_compile(r"[A-J](?:(?: | ?& ?|)[A-J]){1,9}\.?")
_SCORE = lazy_compile(r"(\d{1,3}) ?[-\u2013] ?(\d{1,3})")
_SCORE_WITH_COLON = lazy_compile(r"(\d{1,3}) ?: ?(\d{1,3})(?: \((?:the )?(?:final |full-time )?(?:score|result)\))?\.?")
_TIMES = lazy_compile(r"(?<=\d)\s?\u00d7\s?(?=\d)")
_OF_MEASURE = lazy_compile(
    r"(?:an? |the )?(?:rating|height|length|width|depth|weight|mass|price|cost|value|area|volume|speed|temperature"
    r"|distance|score|capacity|duration|population|radius|diameter|age|size) of (?=\d)",
    re.IGNORECASE,
)
_DIMENSION = lazy_compile(r"(?<=[a-z\"'] )(?:tall|long|wide|high|deep|thick|in (?:height|length|width|depth))\.?\Z")
_NAMED_IS = lazy_compile(r"(?:the |its |my |your )?([A-Za-z][\w ]{0,20}?) (?:is|was) (\S{1,20}?)\.?")
_CAUSE = lazy_compile(r"because of |due to |owing to ", re.IGNORECASE)
_BECAUSE = lazy_compile(r"because (?!of )", re.IGNORECASE)
_REASON = lazy_compile(r"(?:because|since|as) (?!of )", re.IGNORECASE)
_PURPOSE = lazy_compile(r"(?:in order )?to (?=[a-z])", re.IGNORECASE)
_ONE = lazy_compile(
    r"the (?P<which>(?!(?:only|wrong|other|same|number|no|any|last but)\b)[a-z]{3,12}(?: [a-z]{3,12})?"
    r"|\d{1,2}(?:st|nd|rd|th)) one\.?"
)
_ONE_AT = lazy_compile(
    r"(?:the one )?(?:on|at|in) the (left|right|top|bottom|front|back|middle|center|centre)(?:[- ]hand)?(?: side)?\.?",
    re.IGNORECASE,
)
_ITS_VERB = lazy_compile(
    r"(?:it|this|that) (?=(?:can(?:not)?|could|will|would|does|did|has|had)\b|(?:can|won|does|did)n?['\u2019]?t)",
    re.IGNORECASE,
)
_TEXT = lazy_compile(r"\$?\\(?:text(?:bf|it|rm)?|mathrm|mbox)\s?\{(.*)\}\$?", re.DOTALL)
_WORD = lazy_compile(r"[^\W\d]*")
_LINK = lazy_compile(r"\[([^\[\]\n]{1,150})\]\((?:(?:https?://)([^()\s]{1,300})|mailto:([^()\s]{1,100}))\)")
_ADDRESS = lazy_compile(r"(?:https?://)?([\w-]{1,63}(?:\.[\w-]{1,63}){1,8}(?:[/?#]\S*)?)|(\S+@\S+)")
_TIMER = lazy_compile(r"(\d{1,3}):([0-5]\d):([0-5]\d)")
_DECIMAL_COMMA = lazy_compile(r"(?=.*[^\d\s.,-])[^\d.,]*(\d{1,9}),(\d\d?)[^\d.,]*\.?")  # 12,5 kg
_WITH_UNIT = lazy_compile(r"[^\d\s.,-]\s?\d|\d\s?[^\d\s.,]")
_DOMAIN = lazy_compile(
    r"[\s,]*(?:\\(?:quad|qquad|,|;| ))*\s*(?:\(\s*(?P<bare>[a-z])\s*\\in\s*SET\s*\)"
    r"|(?:\\text\{[\s,]*for (?:all|every|any)\s*\}|\\forall|for (?:all|every|any))\s*\$?(?P<all>[a-z])\s*\\in\s*SET\$?"
    r"|(?:\\text\{\s*)?for (?:all|every|any)(?: (?:real|positive|natural|nonnegative|numbers?|integers?|reals))* ?\}?"
    r"\s*\$?(?P<word>[a-z])(?![a-z])\$?\}?)".replace(
        "SET", r"\\math(?:bb|bf)\s?\{?\s?[NZQR]\s?\}?(?:[\^_](?:[*+]|\{[^{}]{1,6}\}))?"
    )
)
"""Where a formula holds: ``f(x) = x + 1 \\text{ for all } x \\in \\mathbb{R}``."""
_LETTER_AND_FORMULA = lazy_compile(
    r"(?:\\text(?:bf|rm)?\{\s?)?\((?P<letter>[A-J])\)\s?\}?(?:\\[ ,;]|~|\\q?quad|\s){1,9}"
    r"\$?(?P<formula>(?=[\\\w(-])(?!\\(?:lor|div|cup|cap|neq?|pm|mp|times|cdot|[lg]eq?|vee|wedge|land|setminus|approx)(?![a-z]))"
    r"(?=[^$]*[\\\d])[^$]{1,80})\$?\.?"
)
_TEXT_LABEL = lazy_compile(r"\\text(?:bf|it|rm)?\{([A-Za-z][A-Za-z ]{2,30})(?::\s?\}|\}\s?:)\s*")
_SOME_CONSTANT = lazy_compile(
    r"[\s,;]*(?:\\text\{)?[\s,]*(?:for|with|where) (?:some|any|all|an?) (?:arbitrary |real |fixed )?constants?"
    r"\s?\}?\s*\$?(?P<name>[a-zA-Z])\$?\.?\}?\s*\Z"
)
_NAMED_POINT = lazy_compile(r"[A-Z]'?\s?(?=\(.*,.*\)\Z)")  # P(0, 3)
_TWO_CHOICES = lazy_compile(r"\([A-J]\)|\b(?:or|and|not)\b")
_OTHER_SCRIPT = lazy_compile(r"(?P<words>[^()\uff08\uff09]+?)\s?[(\uff08](?P<gloss>[^()\uff08\uff09]+)[)\uff09]")
_HAN = lazy_compile(r"[\u4e00-\u9fff]")
_SIZE = lazy_compile(r"(?:the )?size (?=[SML]$)", re.IGNORECASE)
_PLACE = lazy_compile(r"([A-Z][\w' -]{1,40}) \(([A-Z][\w' -]{1,40})\)")
_LISTED_PLACE = lazy_compile(r"([A-Z][\w' -]{1,40}), ([A-Z][\w' -]{1,40})")
_OTHER_FORM = lazy_compile(
    r": | (?:is|are|was|were) |\]\(|\\(?:text|mathrm|mbox)|\A\W{0,3}[MDCLXVI]{2,}\W{0,3}\Z"
    r"|\A\d[\d.]*(?:k|K|M|B|mil|mn|bn)\Z|\A(?:#|[Nn](?:o|r|umber)\b)|\A[A-Z]{3,} \d"
    r"|\A\$?(?:[a-z](?: ?\+ ?[a-z])+|\|[^|\d]+\|) ?=|\A\([A-J]\)"
)
_TIME_GLOSS = lazy_compile(
    r"h{1,2}:mm(?::ss)?|mm?:ss|24[- ]hour(?: clock)?|local(?: time)?|noon|midday|midnight", re.IGNORECASE
)
_DATE_WORD = lazy_compile(r"mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", re.IGNORECASE)
_HOURS_AND_MINUTES = lazy_compile(r"([01]\d|2[0-3])([0-5]\d)")
_OF_RATIO = lazy_compile(r"(?:(?:the|an?) )?(?:aspect ratio|ratio|scale|odds)(?: of| is)? (?=\d)", re.IGNORECASE)
_THOUSANDS = lazy_compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ROMAN = lazy_compile(r"(?=..)M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_NO_NUMERALS = frozenset("CC CD CM CV DC DM MC MD MI MIX MM XL".split())  # noqa: SIM905
_TRUTHS = frozenset(("yes", "no", "true", "false"))
_RATIO = lazy_compile(r"\d+(?:\.\d+)?(?: to \d+(?:\.\d+)?){1,3}")


def rewordings(gold: str, kind: str, answer: str) -> Iterator[str]:
    """Further readings of an answer in view of the gold answer, both as they were written."""
    answer = answer.strip()
    if len(answer) > MAX_LENGTH:
        return
    if (marked := _only_mark(answer)) is not None:
        yield marked
    if "**" in answer and (unmarked := _BOLD.sub(r"\1", answer)) != answer:
        yield unmarked
    if "\n" in answer and (items := _items(answer)):
        yield ("; " if ";" in gold else ", ").join(items)
    if kind not in _MATHEMATICS and answer.count("*") == 2 and (upright := _ITALIC.sub(r"\1", answer)) != answer:
        yield upright
    if answer.lstrip(" (").startswith("1") and (listed := numbered_items(answer)):
        yield ("; " if ";" in gold else ", ").join(listed)
    if kind in ("set", "words") and _ARROW.search(answer):
        parts, own = _ARROW.split(answer.strip(" $.")), re.split(r"\s?,\s(?:and |then )?", gold)
        yield from [gold] if [part.lower() for part in parts] == [part.lower() for part in own] else []
    if kind == "code" and "," in answer and _ARROW.search(gold):
        parts, own = re.split(r"\s?,\s(?:and )?", answer.rstrip(".")), _ARROW.split(gold)
        yield from [gold] if [part.lower() for part in parts] == [part.lower() for part in own] else []
    if kind in ("words", "code") and " to " in gold and _ARROW.search(answer):
        yield _ARROW.sub(" to ", answer)
    if " but " in answer and (not_but := _NOT_BUT.fullmatch(answer)):
        yield not_but[1]
    if "](" in answer and (linked := _without_links(answer)):
        yield linked
    if kind in _MATHEMATICS and ("\\in" in answer or "for " in answer):
        shorter = _DOMAIN.sub("", answer).strip(" ,$")
        yield from [shorter] if shorter and "\\in" not in gold else []
    if kind in _MATHEMATICS and (value := _value_of_choice(answer)):
        yield value
    if kind in _MATHEMATICS and "\\text" in answer and (label := _TEXT_LABEL.match(answer)):
        yield from [] if _NO_LABEL.search(label[1]) else [answer[label.end() :]]
    if kind in _MATHEMATICS and "constant" in answer:
        yield from _with_constant(gold, answer)
    if kind == "tuple" and (point := _NAMED_POINT.match(answer)):
        yield answer[point.end() :]
    if kind == "choice":
        yield from everyday(gold, kind, answer)
        chosen = _LETTER_AND_FORMULA.fullmatch(answer) if len(gold.strip("().")) == 1 else None
        if chosen and not _TWO_CHOICES.search(chosen["formula"]):
            yield f"({chosen['letter']})"
        if size := _SIZE.match(answer):
            yield answer[size.end() :]
        if sized := _SIZE_AND_NAME.fullmatch(answer):
            letter = sized[1] or sized[2]
            yield from [letter] if _is_size(letter, answer) else []
        return
    if kind == "number":
        yield from _number(gold, answer)
        if measure := _OF_MEASURE.match(answer):
            yield answer[measure.end() :]
        if (dimension := _DIMENSION.search(answer)) and not _DIMENSION.search(gold):
            yield answer[: dimension.start()].rstrip()
    if kind == "code" and (bare := bare_range(gold, answer)):
        yield bare
    if kind == "code" and (named := _NAMED_IS.fullmatch(answer)):
        yield f"{named[1]} {named[2]}"
    if kind in ("words", "code") and "\u00d7" in answer:
        yield _TIMES.sub(" x ", answer)
    if kind == "set" and _LETTERS.fullmatch(gold) and (options := _OPTIONS.match(answer)):
        yield answer[options.end() :]
    if kind == "set" and (letters := _LETTERS_JOINED.fullmatch(_plain_text(answer))) and _LETTERS.fullmatch(gold):
        yield from _listed_letters(letters[0])
    if kind == "code" and (score := _SCORE_WITH_COLON.fullmatch(answer)) and _is_score(gold):
        yield f"{score[1]}-{score[2]}"
    if kind == "time" and (digits := _HOURS_AND_MINUTES.fullmatch(answer.rstrip("."))):
        yield f"{digits[1]}:{digits[2]}"
    if kind == "time" and (figures := in_figures(answer.rstrip("."))):
        yield figures
    if ": " in answer and ": " not in gold and (label := _LABEL.match(answer)):
        yield from [] if _NO_LABEL.search(label["label"]) or names_another(gold, answer) else [answer[label.end() :]]
    if kind == "code" and "://" in gold and (named := _ADDRESS_NAMED.match(answer)):
        yield answer[named.end() :]
    if kind == "words" and _VERSION_SIGN.search(answer):
        yield _VERSION_SIGN.sub("", answer)
    if kind == "words" and " version " in answer and (version := _VERSION_OF.fullmatch(answer)):
        yield f"{version[1]} {version[2]}"
    yield from everyday(gold, kind, answer)
    yield from _without_lead(gold, kind, answer)
    if kind in ("date", "time"):
        yield from filter(None, [without_gloss(answer, kind)])
    if kind in ("words", "code") and gold.lower() not in _TRUTHS:
        yield from _without_gloss(gold, answer)
        if (match := _IS.match(answer)) and not UNSURE.search(answer[: match.end()]):
            yield answer[match.end() :]
    if kind in ("words", "code") and _JOINED.fullmatch(gold) and _LETTERS.fullmatch(answer):
        yield "".join(letter for letter in answer if "A" <= letter <= "J")
    if kind == "code" and answer.count("`") == 2:
        yield answer.replace("`", "")
    if kind == "code" and (match := _IMPERATIVE.match(answer)):
        yield answer[match.end() :]
    if kind == "words":
        yield from _words(gold, answer)


def may_have_other_form(answer: str) -> bool:
    """Whether an answer that is not a gold answer of digits may be it in another form."""
    return not answer.isdecimal() and _OTHER_FORM.search(answer) is not None


def same_numeral(one: str, other: str) -> bool:
    """Whether one of two texts is the Roman numeral, in capitals, of the number that the other one is."""
    roman, digits = (one, other) if one[:1] in _ROMAN_DIGITS else (other, one)
    if roman[:1] not in _ROMAN_DIGITS:
        return False
    roman, digits = roman.strip(" .\n"), digits.strip(" .\n")
    if not (digits.isdecimal() and digits.isascii() and len(digits) < 5 and _ROMAN.fullmatch(roman)):
        return False
    values = [_ROMAN_DIGITS[letter] for letter in roman]
    value = sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0], strict=True))
    return roman not in _NO_NUMERALS and digits == str(value)


def without_gloss(text: str, kind: str) -> str | None:
    """``1:23:45`` of ``1:23:45 (h:mm:ss)``; ``None`` if what is in brackets may change or doubt the date or time."""
    core, bracket, gloss = text.strip().rstrip(".").partition(" (")
    if not bracket or not gloss.endswith(")") or "(" in gloss or len(gloss) > MAX_GLOSS:
        return None
    if kind == "time":
        return core if _TIME_GLOSS.fullmatch(gloss[:-1]) else None
    return None if _NO_GLOSS.search(gloss) or _DATE_WORD.search(gloss) or re.search(r"\d", gloss) else core


def _without_lead(gold: str, kind: str, answer: str) -> Iterator[str]:
    """``90210`` of "The ZIP code is 90210.", unless the subject or what it is said to be is denied or doubted."""
    if not (" is " in answer or " are " in answer or " was " in answer or " were " in answer or " to " in answer):
        return
    if gold.lower() in _TRUTHS:
        if statement := _STATEMENT.match(answer):
            yield answer[statement.end() :]
        return
    match = _SUBJECT.match(answer)
    if match is None or UNSURE.search(match[0]) or _NO_LABEL.search(match[0]):
        return
    if kind not in ("words", "code") and _NO_SUBJECT.search(match[0]):
        return
    rest = answer[match.end() :]
    if kind not in _MATHEMATICS or not UNSURE.search(rest) or UNSURE.search(gold):
        yield rest.rstrip(".")


def _without_links(answer: str) -> str | None:
    """A text with the text of each link in its place; ``None`` if the text of one is another address."""
    for link in _LINK.finditer(answer):
        address = _ADDRESS.fullmatch(link[1])
        target = (link[2] or link[3]).rstrip("/").lower()
        if address and (address[1] or address[2]).rstrip("/").lower() not in (target, target.removeprefix("www.")):
            return None
    text = _LINK.sub(r"\1", answer)
    return text if text != answer else None


def _in_commas(gold: str, answer: str) -> str | None:
    """``Portland, Oregon`` for ``Portland (Oregon)``."""
    match = _PLACE.fullmatch(answer.rstrip(".")) if "(" in answer and _LISTED_PLACE.fullmatch(gold) else None
    return f"{match[1]}, {match[2]}" if match and not _NO_GLOSS.search(match[2]) else None


def in_text(answer: str) -> str | None:
    r"""``**Paris**`` of ``\text{**Paris**}``; ``None`` for other answers, also for a single word in it."""
    match = _TEXT.fullmatch(answer.strip()) if len(answer) <= MAX_WRAPPED else None
    inner = match[1] if match else ""
    for _ in range(MAX_NESTING):
        match = _TEXT.fullmatch(inner)
        inner = match[1] if match else inner
    if inner.find("}") < inner.find("{") and "}" in inner:  # \\textbf{(A)} \\frac{1}{2}
        return None
    return None if _WORD.fullmatch(inner) or _TEXT.fullmatch(inner) else inner


def shorter_gold(gold: str, answer: str) -> str | None:
    """``Apple Inc.`` for a gold answer ``Apple Inc. (AAPL)``, ``Portland, Oregon`` for ``Portland (Oregon)``."""
    if gold.endswith(")") and (place := _in_commas(answer, gold)):
        return place
    if gold.endswith((")", "\uff09")) and (named := _OTHER_SCRIPT.fullmatch(gold)):
        one, other = (_HAN.search(named[part]) is not None for part in ("words", "gloss"))
        if one and not other and re.search(r"[^\W\d_]{2}", named["gloss"]):  # 北京 (Beijing)
            return named["words"]
    match = _GLOSS.fullmatch(gold) if gold.endswith(")") and "(" not in answer else None
    if match and explains(match["words"], match["gloss"]):
        return match["gloss"] if answer.rstrip(".").casefold() == match["gloss"].casefold() else match["words"]
    return match["words"] if match and _ACRONYM.fullmatch(match["gloss"]) else None


def text_of_choice(gold: str, answer: str) -> str | None:
    """``15`` of a gold answer ``(C) 15``, for an answer that names no choice and is no text alone."""
    match = _CHOICE_TEXT.fullmatch(plain(gold))
    return match[1] if match and not _NAMES_CHOICE.match(answer) and re.search(r"[\d\\$]", answer) else None


def value_of_label(gold: str, answer: str) -> str | None:
    """``£62.5`` of a gold answer ``Total: £62.5``, ``2:3`` of ``ratio 2:3``, for an answer without a label.

    Also ``cat, dog`` of ``['cat', 'dog']``, for an answer without brackets.
    """
    if _QUOTED_LIST.fullmatch(gold) and "[" not in answer:
        return ", ".join(re.split("', ?'", gold[2:-2]))
    match = _LABELLED_VALUE.fullmatch(gold) or _LABELLED_RATIO.fullmatch(gold) or _RATIO_BEFORE_LABEL.fullmatch(gold)
    if match is None or _NO_LABEL.search(match["label"]):
        return None
    if read_date(plain(answer)) or read_time(plain(answer)):
        return match["value"]
    is_bare = all(word in ("to", "by") or is_measure(NAMES.get(word.lower(), word)) for word in _WORDS.findall(answer))
    return match["value"] if is_bare and not answer[:1].isalpha() else None


def _words(gold: str, answer: str) -> Iterator[str]:
    """``Portland, Oregon`` for ``Portland (Oregon)``, ``it rained`` for because it rained, left for the left one."""
    if place := _in_commas(gold, answer):
        yield place
    for lead, leads in ((_CAUSE, _CAUSE), (_BECAUSE, _REASON), (_PURPOSE, _PURPOSE)):
        if of_gold := lead.match(gold):
            of_answer = leads.match(answer)
            rest = answer[of_answer.end() :] if of_answer else answer
            yield from [] if UNSURE.match(rest) else [gold[: of_gold.end()] + rest]
        elif lead is not _PURPOSE and (of_answer := lead.match(answer)):
            yield answer[of_answer.end() :]
    if of_gold := _ONE.fullmatch(gold):
        yield f"the {answer.removeprefix('the ').rstrip('.')} one"
    if of_answer := _ONE.fullmatch(answer):
        yield of_answer["which"]
    if place_of_one := _ONE_AT.fullmatch(answer):
        yield from (place_of_one[1], f"the {place_of_one[1]} one")
    if every := _EVERY.match(answer):  # Every Tuesday and Thursday
        yield _DAY.sub("s", answer[every.end() :])
    if _EVERY.match(gold) and "days" in answer:
        yield "every " + answer.replace("days", "day")
    if verb := _ITS_VERB.match(answer):
        yield answer[verb.end() :]
    if _SIZE.match(gold) and len(answer.rstrip(".")) == 1:
        yield f"size {answer}"


def _with_constant(gold: str, answer: str) -> Iterator[str]:
    """``f(x) = cx`` for ``f(x) = kx for some constant k``, where the gold answer has a c."""
    match = _SOME_CONSTANT.search(answer)
    if match is None:
        return
    rest, old = answer[: match.start()], match["name"]
    if old in gold:
        yield rest
    letters = re.compile(rf"\\[A-Za-z]+|{old}")
    for new in "cCkKaA":
        if new in gold and new not in rest:
            yield letters.sub(partial(_renamed, old, new), rest)


def _renamed(old: str, new: str, match: re.Match[str]) -> str:
    return new if match[0] == old else match[0]


def _plain_text(answer: str) -> str:
    r"""``ACD`` of ``\text{ACD}``."""
    match = _TEXT.fullmatch(answer)
    return match[1] if match else answer


def _value_of_choice(answer: str) -> str | None:
    r"""``16`` of ``\textbf{(D)}\ 16``."""
    match = _LETTER_AND_FORMULA.fullmatch(answer)
    return match["formula"] if match and not _TWO_CHOICES.search(match["formula"]) else None


def _is_size(letter: str, answer: str) -> bool:
    """Whether the name of a size in an answer is that of the letter: ``M (medium)``."""
    return {"s": "small", "m": "medium", "l": "large"}[letter.lower()] in answer.lower()


def _listed_letters(text: str) -> Iterator[str]:
    """``A, C, D`` of ``ACD``."""
    letters = [letter for letter in text if letter.isalpha()]
    if len(set(letters)) == len(letters):
        yield ", ".join(letters)


def _is_score(gold: str) -> bool:
    """Whether ``3-1`` is no range, which would have its smaller number first."""
    match = _SCORE.fullmatch(gold)
    return match is not None and (int(match[1]) >= int(match[2]) or match[1] == "0")


def _number(gold: str, answer: str) -> Iterator[str]:
    """``2:3`` for ``2 to 3``, ``-3.2%`` for ``a decrease of 3.2%``, 2.5 kg for ``2,5 kg``."""
    yield from in_full(gold, answer)
    if "=" in answer and gold[-1:].isdigit() and (total := _SUM_OF_NAMES.fullmatch(answer)):
        yield total[1]
    if answer[:1] in "aA" and (compound := _COMPOUND.fullmatch(answer)):
        yield f"{compound[1]} {compound[2]}"
    if " out of " in answer and "/" in gold:
        yield _OUT_OF.sub("/", answer)
    if ":" in gold:
        ratio = _THOUSANDS.sub("", _OF_RATIO.sub("", answer))
        yield from [ratio] if ratio != answer else []
    if (numbered := _NUMBERED.fullmatch(answer)) and gold.isdecimal():
        yield numbered[1]
    if answer.count(":") == 2 and gold[-1:].isalpha() and (timer := _TIMER.fullmatch(answer.rstrip("."))):
        yield f"{timer[1]} h {timer[2]} min {timer[3]} s"
    if "," in answer and _DECIMAL_COMMA.fullmatch(answer) and _WITH_UNIT.search(gold):
        yield answer.replace(",", ".")
    if answer[:1].isalpha() and _IN_TWO_UNITS.fullmatch(answer):
        yield spelled(answer)
    if ":" in gold and ":" not in answer and " to" in answer and _RATIO.fullmatch(ratio := plain(answer)):
        yield ratio.replace(" to ", ":")
    if gold.lstrip("$ \\").startswith(("-", "\u2212", "\u2013", "minus")):
        if match := _DECREASE.match(answer):
            yield f"-{answer[match.end() :]}"
        if match := _BELOW_ZERO.fullmatch(answer.rstrip(".")):
            yield f"-{match[1]}{match[2] or ''}"
        if match := _IN_BOOKKEEPING.fullmatch(answer):
            yield f"-{match[1]}"


def _without_gloss(gold: str, answer: str) -> Iterator[str]:
    """``Usain Bolt`` of ``Usain Bolt (Jamaica)``; ``AAPL`` of ``Apple Inc. (AAPL)``."""
    match = _GLOSS.fullmatch(answer.rstrip(".")) if "(" in answer and "(" not in gold else None
    if match is None or _NO_GLOSS.search(match["gloss"]):
        return
    yield match["words"]
    words = match["words"]
    is_name = words[:1].isupper() or explains(words, gold)
    if _ACRONYM.fullmatch(gold) and match["gloss"] == gold and is_name and not UNSURE.search(words):
        yield match["gloss"]


def _items(answer: str) -> list[str] | None:
    """The items of a list with one item on each line, numbered from 1 or marked by a sign."""
    matches = [_ITEM.fullmatch(line.strip()) for line in answer.split("\n") if line.strip()]
    items = [
        match[2].rstrip(",;. ") for place, match in enumerate(matches, 1) if match and match[1] in (None, str(place))
    ]
    return items if len(items) == len(matches) > 1 else None


def _only_mark(answer: str) -> str | None:
    """The only bold text or code in a sentence that denies, doubts and compares nothing."""
    if "**" not in answer and "`" not in answer:
        return None
    marks = _MARKED.findall(answer)
    if len(marks) != 1 or not _SENTENCE.fullmatch(answer):
        return None
    around = _MARKED.sub("", answer)
    return None if is_against(around) or _NO_LABEL.search(around) else marks[0][1]
