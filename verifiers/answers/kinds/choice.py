"""Which options of a multiple-choice question an answer names, and whether it gives anything else beside them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from ..extract.after import corrections
from ..extract.result import is_value
from ..math.normal import normal

LETTERS = "ABCDEFGHIJ"
MAX_ANSWER = 1000  # characters: enough for the text of an option

_INTRODUCED = (
    r"(?:(?:most |very )?likely\s)?"
    r"(?:(?:i(?:['\u2019]d| would| will)? (?:choose|chose|pick|select|say|go with)|it(?:['\u2019]s| is)|so"
    r"|therefore,?)\s)?"
    r"(?:(?:the|my)\s)?(?:(?:correct|right|best|final)\s)?(?:answer|option|choice|letter)?(?:\sis)?:?[\s;_\\]{0,3}"
    r"|(?:both|either)\s|(?:正确)?(?:答案|选项|选)(?:是|为)?[:：]?\s?"  # noqa: RUF001
)
_CONNECTED = frozenset(("or", "and", "both", "either", "或", "和"))
_LINE_END = lazy_compile(r"(?<=[\w.,)*])\s{0,9}\n\s{0,9}(?=[\w(*-])")
_BRACKETS = lazy_compile(r"\([^()]{2,}\)")
_REASON = lazy_compile(r"\b(?:because|since|(?<!well )as(?! well as)|explanation|reason)\b", re.IGNORECASE)
# Options as a part of a text: "Points A, B and D", "vitamins A or C", but not "perhaps A or C".
_LIST_IN_TEXT = lazy_compile(
    r"((?:[^\W\d_]+ )?[^\W\d_]{2,}) [A-Z](?:(?:,? (?:and|or|nor) |, ?| ?[/&] ?)[A-Z](?!\w)){1,9}", re.ASCII
)
_ITEM = r"(?:[A-Z](?!\w)|\([A-Za-z]\))"
_ALL_OF = lazy_compile(rf"\A(?:[Bb]oth\s)?{_ITEM}(?:, ?{_ITEM}){{0,9}},? and {_ITEM}")
_OR = r"(?:or|and|also|alternatively|otherwise|else|then|plus|versus|vs\.?|as well as|或|和)"
_MAYBE = (
    r"(?:(?:or )?(?:maybe|perhaps|possibly|probably|alternatively|otherwise|else)|(?:could|might|may)(?: also)? be"
    r"|hmm+|wait|actually|sorry|acceptable|backup|fallback|runner-up|second (?:choice|best))"
)
_OFFERS = lazy_compile(rf"(?:\S+ )?(?:{_OR}|{_MAYBE}|both|either|option|choice|answer|letter|is)", re.IGNORECASE)
_NAMING = (
    r"(?:[\s,:]{1,3}(?:it|that|is|be|could|might|may|also|the|correct|right|answer|option|choice|letter|or|maybe)\b)"
    r"{0,6}"
)
_FAVORED = (
    r"(?:is|works|fits|seems|looks|(?:could|may|might|would) be)(?: \w+)? "
    r"(?:also|possible|plausible|likely|right|correct|valid|close|better|too|the answer)\b"
)
_VERB = r"\s(?:is|are|was|were|has|does|did|can|could|would|gives?|says?|fails?|contradicts?)\b"
# Another answer right behind the letter that may be none of the options: "B or 42", "B, perhaps 42", "B / unsure".
_OTHER = lazy_compile(
    r"[\s,;(/-]*(?:(?:or|alternatively|otherwise)\b[\s,:]*\w|(?:maybe|perhaps|possibly|probably)\b[\s,:]*[-+\d\\$]"
    r"|(?:unsure|not sure|unknown|(?:i )?don['\u2019]t know)\b)",
    re.IGNORECASE,
)
_FORMULA = lazy_compile(r"[-+=<>→^\\]")
_INSTEAD = lazy_compile(r"\s(?:instead of|rather than)\b")
_QUOTED = lazy_compile(r"(?<!\w)['\u2018\u2019](\w)['\u2019](?!\w)")
_REPEATED = lazy_compile(r"\b([A-J])\1{3,}\b")  # AAAAA, as LiveBench asks for it
_YES_OR_NO = lazy_compile(r"\W*(?:yes|no)\b", re.IGNORECASE)

_STARTS_WITH_OPTION = lazy_compile(
    r"[\s$*_\"'`]*+(?:(?:most |very )?likely\s"
    r"|(?:the )?(?:correct |right |best )?(?:option|choice|answer|letter)(?:(?: is)?:?\s|\\?_))*+"
    r"(?:\\(?:text|textbf|mathrm|mathbf)\s?\{)?[\s$*_\"'`]*"
    r"(?:[(\[]\s?(?:[A-Z]|[a-e](?=\)\W*\Z))\s?[)\]]|[A-Z](?=$|[\s.,:;)}/\]*\"'`$—–-])(?!\s[a-z]+ing\b))"  # noqa: RUF001
)


def names_option(text: str) -> bool:
    """Whether a text begins with a capital on its own: ``B``, ``(B) 42``, ``B, because …``; or is only ``(b)``."""
    return _STARTS_WITH_OPTION.match(_REPEATED.sub(r"\1", text)) is not None


class Named(NamedTuple):
    """The options that an answer names, and whether it gives an answer beside them that is none of them."""

    letters: frozenset[str] = frozenset()
    more: bool = False


class _Patterns(NamedTuple):
    """Patterns of options: an answer that begins with one, and other options that are offered behind it."""

    spellings: dict[str, str]
    head: re.Pattern[str]
    any_letter: re.Pattern[str]
    labeled: re.Pattern[str]
    listed: re.Pattern[str]
    doubted: re.Pattern[str]
    doubted_in_reason: re.Pattern[str]
    favored: re.Pattern[str]


def named_options(answer: str, letters: str) -> Named:
    """The options among ``letters`` that an answer names as the final one: several for ``B or C``, none for "A cat".

    It has to begin with an option, perhaps after "the answer is". What follows is the option's text or an explanation,
    but for options that are offered there as well: in a list with the first one (``B, C``), with a label of their own
    (``B) 9, C) 12``), after "or", "perhaps" and the like, or in a correction.
    """
    text = normal(_LINE_END.sub("; ", answer)).replace("*", "") if len(answer) <= MAX_ANSWER else ""
    text = _REPEATED.sub(r"\1", _QUOTED.sub(r"\1", text))
    patterns = _patterns(letters)
    first = patterns.head.match(text)
    if first is None:
        return Named()
    name = next(filter(None, first.groups()))
    rest = text[first.end() :]
    has_label = first[0] != name and first[0].endswith((")", "]"))
    has_label = has_label or re.match(r"[).:]|\s[-\u2013]", rest) is not None
    taken_back = corrections(text, first.end(), (name.upper(),))
    instead = _INSTEAD.match(rest)
    if taken_back.rejected and not instead and first[0] == name and rest[:1].isspace():
        return Named()  # not "A) No, it is not", which is an option
    others = _offered(rest, has_label, patterns) if not (has_label and name.isdigit()) else []
    others += [next(filter(None, match.groups())) for match in patterns.labeled.finditer(_BRACKETS.sub("", rest))]
    more = not has_label and _OTHER.match(rest) is not None
    for later in taken_back.answers if not instead else ():
        if match := patterns.head.match(later):
            others.append(next(filter(None, match.groups())))
        else:
            more = more or _is_other_value(later, rest)
    return Named(frozenset(patterns.spellings[letter] for letter in (name, *others)), more)


def _is_other_value(later: str, rest: str) -> bool:
    """Whether a correction gives a value that is not the text of the option."""
    return not _YES_OR_NO.match(rest) and not rest.lstrip(" ).:-").startswith(later) and is_value(later)


def _offered(rest: str, has_label: bool, patterns: _Patterns) -> list[str]:
    """The letters that are offered as other answers in what follows the first one."""
    if has_label:
        rest = re.sub(r"\A[).:\s-]+", "", rest)
        rest = _ALL_OF.sub("", rest)
    words = re.findall(r"\w+", rest)
    found = [word for word in words if word.casefold() not in _CONNECTED]
    if all(patterns.any_letter.fullmatch(word) for word in found) and not (has_label and _FORMULA.search(rest)):
        return found
    rest = _LIST_IN_TEXT.sub(lambda match: match[0] if _OFFERS.fullmatch(match[1]) else match[1], rest)
    reason = _REASON.search(rest)
    claim, because = (rest[: reason.start()], rest[reason.start() :]) if reason else (rest, "")
    plain = ("" if has_label else ",") + _BRACKETS.sub("", claim)
    matches = [*patterns.listed.finditer(plain), *patterns.doubted.finditer(claim), *patterns.favored.finditer(plain)]
    matches += patterns.doubted_in_reason.finditer(because)
    letters = [letter for match in matches for letter in patterns.any_letter.findall(match[1])]
    return [letter for letter in letters if letter.isupper() or not has_label or not letter.isascii()]


@lru_cache(maxsize=16)
def _patterns(letters: str) -> _Patterns:
    spellings = {case: letter for letter in letters for case in (letter.swapcase(), letter) if len(case) == 1}
    letter = f"[{''.join(spellings)}]"
    bare = (
        rf"({letter})(?=$|[).:,;/&、，]|\s[-–/&]|\s(?:is|as|because|since|or|and|rather than|instead of|或|和)\b"  # noqa: RUF001
        rf"|\snot\s\(?{letter}\b|\s\([^()]*\)(?:$|[.,;:]|\sis\b))"
    )
    named = rf"(?:\((?:{letter})\)|\[(?:{letter})\]|(?<!\w)(?:{letter})(?!\w))"
    end = r"(?=\W*$|\s*[,;/|&.?!:)\]]|\s(?:or|and|或|和)\b|\s*\(|\s-\s)"
    run = rf"({named}(?:\s*(?:,|;|/|&|\bor\b|\band\b){{1,2}}\s*{named}){{0,30}}){end}"
    clause = rf"(?:[,;/|&?]|\s-\s|[.!]\s)\s*(?:(?:{_OR}|{_MAYBE})\b[\s,:]*){{0,3}}"
    the_option = r"(?:(?:the\s)?(?:option|choice|answer|letter)\s(?:is\s)?)?"
    the_answer = r"\b(?:the|my) (?:\w+ )?(?:answer|choice) (?:is|should be|must be)(?: actually)?"
    doubt = rf"(?i:{_NAMING}[\s,:(]{{1,3}}{the_option}){run}"
    return _Patterns(
        spellings,
        head=lazy_compile(rf"(?i:{_INTRODUCED})?(?:\(({letter})\)|\[({letter})\]|{bare})"),
        any_letter=lazy_compile(rf"(?<!\w){letter}(?!\w)"),
        labeled=lazy_compile(
            rf"(?<![\w(])(?<![A-Za-z] \()({letter})\)(?!{_VERB})|(?<=, )\(({letter})\)\s|\(({letter})\)\s(?=[A-Z\d$\\])"
        ),
        listed=lazy_compile(rf"(?i:{clause}{the_option}){run}"),
        doubted=lazy_compile(rf"(?i:{the_answer}|\b(?:or|plus|versus|vs|as well as|{_MAYBE})\b){doubt}"),
        doubted_in_reason=lazy_compile(rf"(?i:{the_answer}|\b{_MAYBE}\b|[,;]\s?or\b){doubt}"),
        favored=lazy_compile(
            rf"(?i:{clause}(?:(?:but|though|although|however|while|yet|so|no)\b[\s,:]*){{0,3}}{the_option})"
            rf"({named})\s(?i:{_FAVORED})"
        ),
    )
