"""The words that ``units`` knows: spellings of units and of counted things, and words that are neither."""

from __future__ import annotations

from grpo_env.lazy_regex import lazy_compile

from .currencies import UNITS as CURRENCIES
from .number_words import SMALL

# One unit a line: the name that is used for it, then other spellings in lower case.
_MEASURES = """
rad radian radians
m meter meters metre metres
dm decimeter decimeters decimetre decimetres
cm cms centimeter centimeters centimetre centimetres
mm millimeter millimeters millimetre millimetres
um micrometer micrometers micrometre micrometres micron microns
nm nanometer nanometers nanometre nanometres
km kms kilometer kilometers kilometre kilometres
g gram grams gramme grammes
mg milligram milligrams
ug mcg microgram micrograms
kg kgs kilogram kilograms kilogramme kilogrammes kilo kilos
ton tons
tonne tonnes
s second seconds sec secs
min minute minutes mins
h hour hours hr hrs
day days
week weeks wk wks
month months
year years yr yrs
decade decades
century centuries
L l liter liters litre litres
ml milliliter milliliters millilitre millilitres
in inch inches
ft foot feet
mi mile miles
yd yard yards yds
lb lbs
oz ounce ounces
light-year light-years ly lightyear lightyears
hp horsepower
pt pint pints
qt quart quarts
gal gallon gallons gals
cup cups
tsp teaspoon teaspoons
tbsp tablespoon tablespoons
ha hectare hectares
acre acres
N newton newtons
J joule joules
W watt watts
kwh
V volt volts
eV electronvolt electronvolts electron-volt electron-volts
A ampere amperes amp amps
ohm ohms
pa pascal pascals
bar
atm atmosphere atmospheres
hz hertz
mol mole moles
cal calorie calories
kcal kilocalorie kilocalories
kb kilobyte kilobytes
mb megabyte megabytes
gb gigabyte gigabytes
tb terabyte terabytes
bit bits
byte bytes
K kelvin kelvins
T tesla teslas
H henry henrys henries
"""
_OTHERS = """
¢ cent cents
% percent pct percentage
° degree degrees deg
C celsius centigrade coulomb coulombs
F fahrenheit farad farads
pound pounds
mmHg torr
piece pcs pieces
revolution rev revs revolutions
BC bc bce b.c b.c.e
AD ad ce a.d c.e
sq
cu
business working
person persons people
child children
man men
woman women
knife knives
wife wives
life lives
leaf leaves
loaf loaves
shelf shelves
bus buses
gas gases
shoe shoes
"""


def _spellings(table: str) -> dict[str, str]:
    lines = [line.split() for line in table.strip().splitlines()]
    names = {word: names[0] for names in lines for word in names[1:]}
    return names | {names[0]: names[0] for names in lines if len(names[0]) > 1 or not names[0].isalpha()}


_PREFIXES = {"pico": "p", "nano": "n", "micro": "u", "milli": "m", "kilo": "k", "mega": "M", "giga": "G"}
_PREFIXED = {
    "second": "s", "newton": "N", "joule": "J", "watt": "W", "volt": "V", "amp": "A", "ampere": "A", "farad": "F",
    "coulomb": "C", "tesla": "T", "henry": "H", "weber": "Wb", "pascal": "Pa", "mole": "mol", "electronvolt": "eV",
    "becquerel": "Bq", "gray": "Gy", "sievert": "Sv", "hertz": "Hz",
}  # fmt: skip
_IN_WORDS = {
    f"{prefix}{name}{plural}": f"{letter}{symbol}"
    for prefix, letter in _PREFIXES.items()
    for name, symbol in _PREFIXED.items()
    for plural in ("", "s")
}
_IN_LOWER_CASE = {symbol.lower(): symbol for symbol in ("ms", "ns", "kN", "kJ", "kW", "kV", "kPa", "kHz", "MHz", "GHz")}
MEASURES = frozenset([*_spellings(_MEASURES).values(), *_IN_WORDS.values()])
NAMES = CURRENCIES | _IN_WORDS | _IN_LOWER_CASE | _spellings(_MEASURES) | _spellings(_OTHERS)
"""The name of a unit by each of its spellings, except for single letters. Only codes of currencies are in capitals."""
del NAMES["l"]
LETTERS = {**{letter: letter for letter in "mgshLNJWVKCFATH"}, "l": "L"}
"""Units of one letter. Any other letter after a number is a variable."""
SYMBOLS = frozenset(
    prefix + unit
    for prefix in ("n", "u", "m", "k", "M", "G")
    for unit in ("s", "N", "J", "W", "V", "A", "F", "C", "T", "H", "Pa", "Hz", "eV", "mol", "K", "ohm")
) | {"um", "ug", "uL", "cM", "Gb", "Mb", "Kb", "eV", "ppm", "Mg", "Mm", "Wh", "mmHg"}
"""Units that upper and lower case tell apart: 5 mW, 5 MW."""
COMPOUNDS = {
    "rpm": {"revolution": 1, "min": -1},
    "mph": {"mi": 1, "h": -1},
    "kph": {"km": 1, "h": -1},
    "kmh": {"km": 1, "h": -1},
    "fps": {"ft": 1, "s": -1},
    "psi": {"lb": 1, "in": -2},
    "mpg": {"mi": 1, "gal": -1},
    "cc": {"cm": 3},
    "Nm": {"N": 1, "m": 1},
}
"""Units that are a product of others."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION = lazy_compile(r"(?:arc|a?sin|a?cos|a?tan|cot|sec|csc|log|exp)h?[a-z]{0,2}|sqrt[a-z]*|frac[a-z]*")
"""What is no word but a function, with its argument: 5sinx."""
PRODUCT = lazy_compile(r"[xyz]+|[abc]+|[abcd]+|[pqr]+|[mn]+|[uvw]+")
"""Letters in a row that are a product."""
ORDINALS = _words("third fourth fifth sixth seventh eighth ninth tenth")
"""Words that are a fraction, unless another one follows: 20 third graders."""
NUMBER_WORDS = SMALL.keys() | _words("""
    hundred thousand million billion trillion lakh crore millones millón millionen tausend milioni milhões milhão mille
    тысячи тысяч миллион миллиона миллионов
    half halves third thirds fourth fourths fifth fifths sixth sixths seventh sevenths eighth eighths ninth ninths
    tenth tenths hundredth hundredths thousandth thousandths
    """)
"""4 million, 4 thirds and 4 point five are not 4 with a unit."""
LINKS = _words("and to from by into is are was were be been has have than through over with without")
"""Words that may only stand inside of a longer description: 18 students from the village."""
NO_UNITS = LINKS | _words("""
    or not pi sqrt e i x log ln sin cos tan cot sec csc exp mod det gcd lcm inf infinity plus minus equals
    between either maybe perhaps but if frac cdot divided approximately roughly probably possibly nearly almost about
    around factorial choose base wait wrong false instead sorry nope negative unless except versus least most below
    falsch faux falso неверно ish approx estimate estimated guess unsure likely unlikely undefined none no never nor
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega
    """) - {"psi", "sec", "without", "with"}
"""Functions, numbers and connectives; and words that say that a number is not the answer."""
