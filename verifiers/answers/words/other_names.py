"""Other names of countries, cities, organizations and terms: ``Ivory Coast`` for ``Côte d'Ivoire``, ``UN``, ``LIFO``.

The tables hold names that are the name of nothing else. Initials are read by the gold answer: ``UCL`` is right for
University College London, whose gold answer says what the letters stand for, but not the other way round.
"""

from __future__ import annotations

import re
import unicodedata

from grpo_env.lazy_regex import lazy_compile

from ..vocabulary.elements import SYMBOLS

MAX_LENGTH = 100

_SAME = """
ivory coast|cote d'ivoire
czech republic|czechia
myanmar|burma
turkey|turkiye
eswatini|swaziland
cape verde|cabo verde
east timor|timor-leste
uae|united arab emirates
south korea|republic of korea
north korea|dprk|democratic people's republic of korea
china|people's republic of china|prc
russia|russian federation
vatican city|holy see
ussr|soviet union
drc|dr congo|democratic republic of the congo
north macedonia|republic of north macedonia
kyiv|kiev
mumbai|bombay
ho chi minh city|saigon
nyc|new york city
la|los angeles
sf|san francisco
washington dc|washington, d.c.|washington, dc|washington d.c.
un|united nations
eu|european union
nato|north atlantic treaty organization|north atlantic treaty organisation
who|world health organization|world health organisation
wto|world trade organization|world trade organisation
imf|international monetary fund
nasa|national aeronautics and space administration
esa|european space agency
fbi|federal bureau of investigation
cia|central intelligence agency
irs|internal revenue service
epa|environmental protection agency
fda|food and drug administration
cdc|centers for disease control and prevention
unicef|united nations children's fund
unesco|united nations educational, scientific and cultural organization
opec|organization of the petroleum exporting countries
iaea|international atomic energy agency
bbc|british broadcasting corporation
mit|massachusetts institute of technology
nba|national basketball association
nfl|national football league
js|javascript
ts|typescript
"""
_TERMS = """
lifo|last in, first out|last-in, first-out|last in first out|last-in-first-out|last-in first-out
fifo|first in, first out|first-in, first-out|first in first out|first-in-first-out|first-in first-out
dfs|depth-first search|depth first search
bfs|breadth-first search|breadth first search
dna|deoxyribonucleic acid
rna|ribonucleic acid
mrna|messenger rna
trna|transfer rna
rrna|ribosomal rna
atp|adenosine triphosphate
adp|adenosine diphosphate
pcr|polymerase chain reaction
gdp|gross domestic product
gnp|gross national product
cpi|consumer price index
npv|net present value
irr|internal rate of return
anova|analysis of variance
tcp|transmission control protocol
udp|user datagram protocol
http|hypertext transfer protocol
dns|domain name system
dhcp|dynamic host configuration protocol
cpu|central processing unit
sql|structured query language
vitamin c|ascorbic acid
propanone|acetone|propan-2-one|2-propanone
butanone|methyl ethyl ketone|mek|butan-2-one|2-butanone
ethanoic acid|acetic acid
methanoic acid|formic acid
ethanal|acetaldehyde
methanal|formaldehyde
ethene|ethylene
ethyne|acetylene
propene|propylene|prop-1-ene
ethanol|ethyl alcohol
methanol|methyl alcohol
propan-2-ol|2-propanol|isopropanol|isopropyl alcohol
2-methylpropan-2-ol|2-methyl-2-propanol|tert-butyl alcohol|tert-butanol|t-butanol
2-methylpropane|methylpropane|isobutane
toluene|methylbenzene
trichloromethane|chloroform
"""
_COUNTRIES = """
afghanistan albania algeria andorra angola argentina armenia australia austria azerbaijan bahamas bahrain bangladesh
barbados belarus belgium belize benin bhutan bolivia botswana brazil brunei bulgaria burundi cambodia cameroon canada
chad chile china colombia comoros croatia cuba cyprus czechia denmark djibouti dominica ecuador egypt eritrea estonia
eswatini ethiopia fiji finland france gabon gambia georgia germany ghana greece grenada guatemala guinea guyana haiti
honduras hungary iceland india indonesia iran iraq ireland israel italy jamaica japan jordan kazakhstan kenya kiribati
kosovo kuwait kyrgyzstan laos latvia lebanon lesotho liberia libya liechtenstein lithuania luxembourg madagascar malawi
malaysia maldives mali malta mauritania mauritius mexico micronesia moldova monaco mongolia montenegro morocco
mozambique myanmar namibia nauru nepal netherlands nicaragua niger nigeria norway oman pakistan palau panama paraguay
peru philippines poland portugal qatar romania russia rwanda samoa senegal serbia seychelles singapore slovakia slovenia
somalia spain sudan suriname sweden switzerland syria taiwan tajikistan tanzania thailand togo tonga tunisia turkey
turkmenistan tuvalu uganda ukraine uruguay uzbekistan vanuatu venezuela vietnam yemen zambia zimbabwe england scotland
wales
"""
_OF_WORDS = """
new zealand|south africa|south korea|north korea|saudi arabia|sri lanka|costa rica|el salvador|czech republic
ivory coast|burkina faso|sierra leone|united states|united kingdom|united arab emirates
north macedonia|dominican republic
"""


_US_AND_UK = (  # by case, since us is a word
    lazy_compile(r"(?:[Tt]he )?(?:U\. ?S\.?(?: ?A\.?)?|USA?|[Uu]nited [Ss]tates(?: of [Aa]merica)?)"),
    lazy_compile(r"(?:[Tt]he )?(?:U\. ?K\.?|UK|[Uu]nited [Kk]ingdom)"),
)


def _groups(table: str) -> dict[str, int]:
    return {name: number for number, line in enumerate(table.strip().splitlines()) for name in line.split("|")}


_GROUP_OF = _groups(_SAME.strip() + _TERMS)
_IN = frozenset(_COUNTRIES.split()) | frozenset(_OF_WORDS.replace("\n", "|").split("|")) | {"uk", "usa", "us", "uae"}
_INITIALS = lazy_compile(r"(?:[A-Z]\.? ?){3,6}")
_PHRASE = lazy_compile(r"[A-Z]?[a-z]+(?:[ -][a-z]+){2,5}")
_NAME = lazy_compile(r"(?:[Tt]he )?[A-Z][\w'\u2019-]*(?:,? (?:of|the|for|and|in|de|[A-Z][\w'\u2019-]*\.?)){1,9}")


def same_other_name(one: str, other: str) -> bool:
    """Whether two whole answers are names of the same country, city or organization, by a short table."""
    if max(len(one), len(other)) > MAX_LENGTH:
        return False
    first, second = _key(one), _key(other)
    if first in _GROUP_OF and second in _GROUP_OF:
        return first != second and _GROUP_OF[first] == _GROUP_OF[second]
    return any(name.fullmatch(one) and name.fullmatch(other) for name in _US_AND_UK)


def _key(name: str) -> str:
    name = unicodedata.normalize("NFD", name).casefold()
    name = "".join(letter for letter in name if not unicodedata.combining(letter))
    name = name.replace("\u2019", "'").strip(" .").removeprefix("the ")
    return name if "," in name or " " in name else name.replace(".", "")


def is_short_for(initials: str, name: str) -> bool:
    """Whether a text is the initials of a name of several words with capitals: ``NYC``, ``U.C.L.``"""
    if len(name) > MAX_LENGTH or not _INITIALS.fullmatch(initials):
        return False
    if _PHRASE.fullmatch(name):  # depth-first search
        return initials.replace(".", "") == "".join(word[0].upper() for word in re.split("[ -]", name))
    if not _NAME.fullmatch(name):
        return False
    words = name.removeprefix("The ").removeprefix("the ").replace("-", " ").split()
    capitals = [word[0] for word in words if word[0].isupper()]
    letters = initials.replace(".", "").replace(" ", "")
    if any(len(word.rstrip(".")) > 1 and word.isupper() for word in words):  # World War II
        return False
    return letters in ("".join(capitals), "".join(word[0].upper() for word in words))


def explains(words: str, short: str) -> bool:
    """Whether words are what a short form stands for: of TSH ``thyroid-stimulating hormone``, of Co ``cobalt``."""
    initials = "".join(word[0] for word in words.replace("-", " ").split() if word[0].isalpha())
    if len(short) > 2 and short.isupper() and words[0].upper() == short[0] and _follow(short, words.upper()):  # ATP
        return True
    return initials.upper() == short or SYMBOLS.get(short.lower()) == words or SYMBOLS.get(words.lower()) == short


def _follow(letters: str, word: str) -> bool:
    """Whether letters come in a word in this order."""
    found = iter(word)
    return all(letter in found for letter in letters)


def without_country(name: str) -> str | None:
    """``Paris`` of ``Paris, France``, for a gold answer without a country."""
    place, comma, country = name.rstrip(".").rpartition(", ")
    return place if comma and "," not in place and country.casefold().removeprefix("the ") in _IN else None
