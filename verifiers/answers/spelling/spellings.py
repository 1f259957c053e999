# ruff: noqa: RUF001  (quotation marks and Cyrillic letters)
"""Names and phrases that are written in several ways: ``World War II``, ``Mt. Everest``, ``Smith & Co.``, ``metres``.

Two spellings are compared word by word, so that a Roman numeral is a number only where the other text has one.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from grpo_env.lazy_regex import lazy_compile

from ..vocabulary.number_words import number_at, roman_value

ARROW = r"\u2192|->|\\(?:to|rightarrow)(?![a-z])"
"""An arrow between two parts as it may be written. The texts of ``codes.plain`` have it as ``->``."""
_QUOTES = lazy_compile('["«»„“”‟‹›「」『』《》〈〉]')
_AND = lazy_compile(r"\s*&\s*")
_THOUSANDS = lazy_compile(r"(?<=\d),(?=\d{3}(?!\d))")
_BEFORE_SUFFIX = lazy_compile(r",\s*(?=(?:jr|sr|junior|senior|inc|llc|ltd|corp|co)(?![^\W_]))", re.IGNORECASE)
_INITIALS = lazy_compile(r"(?<!\w)([^\W\d_])\.\s+(?=[^\W\d_]\.)")
_ABBREVIATION = lazy_compile(r"(?<!\w)(?:[^\W\d_]\.){2,}|(?<!\w)[^\W\d_]{1,4}\.(?=[\s,;:)]|$)")
_HYPHEN = lazy_compile(r"(?<=[^\s(,\[{])-|-(?!\d)")  # a minus sign stays
_RANGE = lazy_compile(r"(?<=\d)-(?=\d)")  # ages 5-12
_OF_YEAR = lazy_compile(r"(?<!\w)(spring|summer|fall|autumn|winter) of (?=\d{4}(?!\d))", re.IGNORECASE)
_COMPASS = lazy_compile(r"(?<!\w)(north|south)[ -](?=(?:east|west)(?:ern)?(?!\w))", re.IGNORECASE)
_BRITISH = lazy_compile(r"(?<=met)re(?=s?(?!\w))|(?<=lit)re(?=s?(?!\w))|(?<=gram)me(?=s?(?!\w))", re.IGNORECASE)
_DOUBLED = (
    "cance|trave|labe|mode|signa|fue|leve|marve|channe|counse|quarre|tunne|tota|equa|dia|initia|riva|pane|parce|peda"
    "|meda|spira|unrave|jewe|libe|due|disheve|ename|funne|shove|snive|shrive|swive|yode|beve|chise|towe|stenci"
)
_AMERICAN = tuple(
    (lazy_compile(british, re.IGNORECASE), american)
    for british, american in (
        (r"(?<=\w{3})our(?=(?:s|ed|ing|ful|able|ite|ites)?$)", "or"),
        (r"(?<=^practi)s(?=(?:e|ed|es|ing)$)", "c"),
        (r"(?<=\w{4})is(?=(?:e|es|ed|ing|ation|ations)$)", "iz"),
        (r"(?<=\w{2}t)re(?=s?$)|(?<=^fib)re(?=s?$)", "er"),
        (r"(?<=cent)re(?=d$)", "ere"),
        (r"(?<=^gr)e(?=y$)", "a"),
        (r"(?<=^alumin)i(?=um$)", ""),
        (r"(?<=\wlog)ue(?=s?$)", ""),
        (r"(?<=^progra)mme(?=s?$)", "m"),
        (rf"^((?:un)?(?:{_DOUBLED})l)l(?=(?:ed|ing|er|ers|or|ors)$)", r"\1"),
        (r"^(jewel)le(?=ry$)", r"\1"),
        (r"^(enrol|fulfil|instal)(?=(?:s|ment|ments)?$)|^(skil|wil)(?=ful$)", r"\1\2l"),
        (r"(?<=^defen)ce(?=s?$)|(?<=^offen)ce(?=s?$)|(?<=^licen)ce(?=s?$)|(?<=^preten)ce(?=s?$)", "se"),
        (r"(?<=^analy)s(?=(?:e|ed|ing)$)|(?<=^paraly)s(?=(?:e|ed|es|ing)$)|(?<=^cataly)s(?=(?:e|ed|es|ing)$)", "z"),
        (r"(?<=^s)c(?=eptic(?:s|al|ism)?$)", "k"),
        (r"(?<=^encyclop)ae|(?<=^p)ae(?=diatr)|(?<=^h)ae(?=mo)|(?<=^an)ae(?=mi)|(?<=^arch)ae(?=olog)", "e"),
        (r"(?<=^man)oeuvre", "euver"),
        (r"(?<=^f)oe(?=tus)|^oe(?=strogen|dema|sophag)", "e"),
        (r"(?<=^judg)e(?=ments?$)|(?<=^acknowledg)e(?=ments?$)|(?<=^ag)e(?=ing$)", ""),
        (r"(?<=^sul)ph", "f"),
        (r"(?<=^homos)c(?=edastic)|(?<=^heteros)c(?=edastic)", "k"),
        (r"(?<=\w)aem(?=ia|ic)", "em"),
        (r"(?<=^an)ae(?=sth)|(?<=^gyn)ae(?=c)|(?<=^orthop)ae(?=d)|(?<=^c)ae(?=si|sar)|(?<=^f)ae(?=c)", "e"),
        (
            r"^ae(?=tiolog)|(?<=^h)ae(?=mat)|(?<=rrh)oe(?=a)|(?<=pn)oe(?=a)|(?<=^c)oe(?=l(?:iac|om))|(?<=^am)oe(?=b)",
            "e",
        ),
        (r"(?<=^art)e(?=facts?$)", "i"),
        (r"^aero(?=planes?$)", "air"),
        (r"(?<=^p)y(?=jamas?$)", "a"),
        (r"(?<=^m)o(?=ustaches?$)", ""),
        (r"^tyre(?=s?$)", "tire"),
        (r"(?<=[a-z]some)s$|(?<=[a-z]cyte)s$|(?<=plast)s$|(?<=[a-z]phage)s$|(?<=enzyme)s$", ""),
        (r"(?<=hedr)on$|(?<=pyramid)$", "al"),
        (r"(?<=^mitochondri)on$|(?<=^bacteri)um$|(?<=^phenomen)on$", "a"),
        (r"(?<=^nucle)us$|(?<=^alveol)us$|(?<=^stimul)us$|(?<=^fung)us$", "i"),
        (r"(?<=^cali)bre(?=s?$)|(?<=^sa)bre(?=s?$)|(?<=^som)bre$", "ber"),
        (r"(?<=^plo)ugh(?=(?:s|ed|ing)?$)", "w"),
        (r"(?<=^m)ou(?=ld(?:s|y|ed)?$)", "o"),
        (r"(?<=^co)s(?=(?:y|ier|iest)$)", "z"),
    )
)
_APOSTROPHE = lazy_compile("['\u2019]")
_NOT = lazy_compile(r"(?<!\w)(?:(can)(?:'t| not)|(\w{2,6})n't)(?!\w)", re.IGNORECASE)
_IS = lazy_compile(r"(?<!\w)(it|he|she|who|what|that|here|there|where|how)'s(?!\w)", re.IGNORECASE)
_VERB = lazy_compile(r"(?<=\w)'(re|ve|ll|m)(?!\w)", re.IGNORECASE)
_VERBS = {"re": "are", "ve": "have", "ll": "will", "m": "am"}
_TO_SIDE = lazy_compile(r"(?<=\w )to the (?=(?:left|right)\Z)", re.IGNORECASE)
_WORLD_WAR = lazy_compile(r"(?<!\w)(?:([12])th world war|ww ?(i{1,2}|[12]))(?!\w)", re.IGNORECASE)
_FROM = lazy_compile(r"from (?=.* to )", re.IGNORECASE)
_REPEATED = lazy_compile(r"(?<!\S)(\d+) \( \1 \)")  # thirty (30)
_PUNCTUATION = lazy_compile(r"([,;:!?()])")
_ROMAN = lazy_compile(r"(?=..)m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})", re.IGNORECASE)


def _groups(table: str) -> dict[str, frozenset[str]]:
    lines = [line.split() for line in table.strip().splitlines()]
    return {line[0]: frozenset(line[1:]) for line in lines}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NUMBERED = _words("""
    act amendment appendix article book chapter charles class grade hypothesis leo level louis part phase pius round
    section stage table title type volume war
    """)
"""What X is the number ten after; elsewhere it is a letter (Malcolm X)."""
_NAMESAKES = (
    ("river", _words("danube elbe euphrates ganges loire nile rhine rhone seine thames tiber tigris volga")),
    ("mount", _words("elbrus etna everest fuji kilimanjaro matterhorn rainier vesuvius")),
)
"""Names of rivers and mountains that are the name of nothing else. ``Colorado`` is not the Colorado River."""
# One abbreviation a line, with the words that it may stand for.
_SHORT = _groups("""
    mt mount
    st saint street
    ste sainte
    ft fort
    dr doctor drive
    prof professor
    art article
    para paragraph
    jr junior
    sr senior
    inc incorporated
    ltd limited
    corp corporation
    co company
    ave avenue
    rd road
    blvd boulevard
    v vs versus
    vs versus
    jan january
    feb february
    mar march
    apr april
    jun june
    jul july
    aug august
    sep september sept
    sept september
    oct october
    nov november
    dec december
    mon monday
    tue tuesday tues
    tues tuesday
    wed wednesday
    thu thursday thur thurs
    thur thursday thurs
    thurs thursday
    fri friday
    sat saturday
    capt captain
    lt lieutenant
    sgt sergeant
    col colonel
    sen senator
    gov governor
    rep representative
    rev reverend
""")
ABBREVIATIONS = frozenset(_SHORT) | {"no", "vol", "pp"}
"""Abbreviations that stand for nothing else."""
_TIMES = _words("jan feb mar apr jun jul aug sep oct nov dec mon tue wed thu fri sat")
STATES = dict(
    line.split(None, 1)
    for line in """
    AL Alabama;AK Alaska;AZ Arizona;AR Arkansas;CA California;CO Colorado;CT Connecticut;DE Delaware;FL Florida
    GA Georgia;HI Hawaii;ID Idaho;IL Illinois;IN Indiana;IA Iowa;KS Kansas;KY Kentucky;LA Louisiana;ME Maine;MD Maryland
    MA Massachusetts;MI Michigan;MN Minnesota;MS Mississippi;MO Missouri;MT Montana;NE Nebraska;NV Nevada
    NH New Hampshire;NJ New Jersey;NM New Mexico;NY New York;NC North Carolina;ND North Dakota;OH Ohio;OK Oklahoma
    OR Oregon;PA Pennsylvania;RI Rhode Island;SC South Carolina;SD South Dakota;TN Tennessee;TX Texas;UT Utah;VT Vermont
    VA Virginia;WA Washington;WV West Virginia;WI Wisconsin;WY Wyoming
    """.strip()
    .replace("\n", ";")
    .split(";")
)
"""The states of the United States by their postal codes, which are read after a comma only: ``Austin, TX``."""
_GREEK = lazy_compile(
    r"\\(alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|rho|sigma|tau|upsilon|phi|chi|psi"
    r"|omega)(?![A-Za-z])",
    re.IGNORECASE,
)
_SMALL_GREEK = lazy_compile(
    r"\\(alpha|beta|gamma|delta|epsilon|kappa|lambda|mu|omega|pi|sigma|theta)(?![A-Za-z]) ?(?=[ -]|\\text)"
)
_GREEK_LETTER = lazy_compile("[αβγδεζηθκλμπστφχψω](?=[ -])")
_LATIN_WORD = lazy_compile("(?<![A-Za-z\\\\])[A-Za-z][a-z]{3}")
_BRACES = lazy_compile(r"\{(\w+)\}")
_ORDINAL = lazy_compile(r"\d{1,4}(?:st|nd|rd|th)(?: [A-Za-z]+){1,6}")


@lru_cache(maxsize=4096)
def spelled(text: str) -> str:
    """A text of several words in one spelling, as far as that does not depend on the other text."""
    text = _AND.sub(" and ", _QUOTES.sub("", text)).replace("ё", "е").replace("Ё", "Е")
    text = _BEFORE_SUFFIX.sub(" ", _THOUSANDS.sub("", text))
    if "'" in text or "\u2019" in text or "can not" in text.lower():
        text = _in_two_words(text)
    if "." in text:
        text = _ABBREVIATION.sub(lambda match: match.group().replace(".", ""), _INITIALS.sub(r"\1.", text) + ".")
    text = _HYPHEN.sub(" ", _RANGE.sub(" to ", _COMPASS.sub(r"\1", text)))
    text = _OF_YEAR.sub(r"\1 ", text) if " of " in text else text
    text = _TO_SIDE.sub("", text) if " to the " in text else text
    if "re" in text or "mme" in text:
        text = _BRITISH.sub(lambda match: "er" if match.group().lower() == "re" else "", text)
    words = _in_digits(_PUNCTUATION.sub(r" \1 ", text).split())
    text = _FROM.sub("", _REPEATED.sub(r"\1", " ".join(words)), count=1)
    return _WORLD_WAR.sub(lambda match: f"world war {match[1] or match[2]}", text) if "w" in text.lower() else text


def _in_two_words(text: str) -> str:
    """``it is not`` for ``it isn't``, ``cannot`` for ``can't`` and ``can not``. A possessive stays."""
    text = _NOT.sub(_negated, _APOSTROPHE.sub("'", text))
    return _VERB.sub(lambda match: f" {_VERBS[match[1].lower()]}", _IS.sub(r"\1 is", text))


def _negated(match: re.Match[str]) -> str:
    irregular = {"can": "cannot", "wo": "will not", "sha": "shall not"}
    verb = match[1] or match[2]
    return irregular.get(verb.lower(), f"{verb} not")


def _in_digits(words: list[str]) -> list[str]:
    """The words with numbers in digits: 8 for eight, 8th for eighth and 8th. Of ``no one`` and ``the one`` nothing."""
    result: list[str] = []
    at = 0
    while at < len(words):
        number, count = number_at([word.lower() for word in words[at : at + 20]])
        pronoun = number == "1" and result and result[-1].lower() in ("no", "any", "every", "some", "the", "which")
        result.append(words[at] if pronoun or not count else number)
        at += count or 1
    return result


def same_spelling(one: str, other: str) -> bool:
    """Whether two texts in the spelling of ``spelled`` are the same words, some of them abbreviated or in numerals."""
    first, second = _without_namesake(one.split()), _without_namesake(other.split())
    if len(first) != len(second) or len(first) > 100:
        return False
    if len(first) == 1 and first[0][:3].casefold() not in _TIMES:  # Sr, alone, is strontium
        return first == second or _american(first[0]) == _american(second[0])
    return all(map(_same_word, first, second, ("", *first[:-1])))


def _same_word(one: str, other: str, before: str) -> bool:
    """Whether two words after a word are the same."""
    if one == other or _is_short_for(one, other) or _is_short_for(other, one):
        return True
    if _same_numeral(one, other, before) or _same_numeral(other, one, before):
        return True
    may_be_spelling = one[:1] == other[:1] or one[:1] in "aoAO" or other[:1] in "aoAO"  # oedema, edema
    return may_be_spelling and _american(one) == _american(other)


@lru_cache(maxsize=1024)
def _american(word: str) -> str:
    """``color`` of ``colour``, ``organize`` of ``organise``, ``theater`` of ``theatre``."""
    for british, american in _AMERICAN:
        word = british.sub(american, word)
    return word


def _without_namesake(words: list[str]) -> list[str]:
    """``Nile`` of ``River Nile`` and ``Nile River``, ``Everest`` of ``Mount Everest``."""
    if len(words) != 2:
        return words
    for noun, names in _NAMESAKES:
        before, after = words[0].casefold(), words[1].casefold()
        if before in (noun, "mt" if noun == "mount" else noun) and after in names:
            return words[1:]
        if noun == "river" and after == noun and before in names:
            return words[:1]
    return words


def _is_short_for(short: str, word: str) -> bool:
    return word.casefold() in _SHORT.get(short.casefold(), ())


def _same_numeral(roman: str, number: str, before: str) -> bool:
    """Whether a word is the Roman numeral of a number. One letter needs a word before it."""
    if not number[:1].isdecimal() or before.casefold() == "size":  # XL
        return False
    letter = roman.casefold()
    is_letter = (letter in ("i", "v") and before) or (letter == "x" and before.casefold() in _NUMBERED)
    if not (is_letter or _ROMAN.fullmatch(roman)):
        return False
    value = roman_value(letter.upper())
    return number in (str(value), f"{value}th")


def greek_in_words(text: str) -> str | None:
    r"""``theta_1`` for ``\theta_{1}``; ``None`` for texts without such letters."""
    words, count = _GREEK.subn(r"\1", text)
    return _BRACES.sub(r"\1", words).replace(" ", "") if count else None


def without_greek(text: str) -> str:
    r"""``alpha-helix`` for ``\alpha-helix``, with the command or the letter: small Greek letters in words."""
    if not _LATIN_WORD.search(text):
        return text
    return _GREEK_LETTER.sub(
        lambda match: unicodedata.name(match[0]).split()[-1].lower(), _SMALL_GREEK.sub(r"\1", text)
    )


def is_ordinal_name(text: str) -> bool:
    """Whether a text is an ordinal number of something: ``4th Amendment``."""
    return _ORDINAL.fullmatch(text) is not None
