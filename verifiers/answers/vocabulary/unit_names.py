"""The words that ``units`` knows: spellings of units and of counted things, and words that are neither."""

from __future__ import annotations

from grpo_env.lazy_regex import lazy_compile

from .currencies import AMBIGUOUS as AMBIGUOUS_CURRENCIES
from .currencies import UNITS as CURRENCIES
from .foreign_words import MAGNITUDES

# One unit a line: the name that is used for it, then other spellings in lower case.
_MEASURES = """
rad radian radians
angstrom angstroms ångström
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
ms millisecond milliseconds
ns nanosecond nanoseconds
min minute minutes mins
h hour hours hr hrs
day days
week weeks wk wks
fortnight fortnights
month months
year years yr yrs
decade decades
century centuries
L l liter liters litre litres
ml milliliter milliliters millilitre millilitres
cl centiliter centiliters centilitre centilitres
dl deciliter deciliters decilitre decilitres
in inch inches
ft foot feet
mi mile miles
yd yard yards yds
lb lbs
oz ounce ounces
floz
cM centimorgan centimorgans
mag magnitude magnitudes
parsec parsecs
kpc kiloparsec kiloparsecs
Mpc megaparsec megaparsecs
AU au
arcsec arcsecond arcseconds arcsecs
arcmin arcminute arcminutes arcmins
mas milliarcsecond milliarcseconds
Msun
Lsun
Rsun
Da dalton daltons amu
kDa kilodalton kilodaltons
kib kibibyte kibibytes
mib mebibyte mebibytes
gib gibibyte gibibytes
tib tebibyte tebibytes
light-year light-years ly lightyear lightyears
nmi
lux lx
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
kn kilonewton kilonewtons
mJ millijoule millijoules
MJ megajoule megajoules
J joule joules
kj kilojoule kilojoules
W watt watts
kw kilowatt kilowatts
mW milliwatt milliwatts
MW megawatt megawatts
kwh
V volt volts
kv kilovolt kilovolts
mV millivolt millivolts
eV electronvolt electronvolts electron-volt electron-volts
mA milliampere milliamperes milliamp milliamps
A ampere amperes amp amps
ohm ohms
kohm kiloohm kiloohms kilohm kilohms
pa pascal pascals
kpa kilopascal kilopascals
MPa megapascal megapascals
hPa hectopascal hectopascals
bar
mbar millibar millibars
atm atmosphere atmospheres
hz hertz
khz kilohertz
mhz megahertz
ghz gigahertz
mol mole moles
cal calorie calories
kcal kilocalorie kilocalories
dB decibel decibels
kb kilobyte kilobytes
mb megabyte megabytes
gb gigabyte gigabytes
tb terabyte terabytes
bit bits
kbit kbits kilobit kilobits
mbit mbits megabit megabits
gbit gbits gigabit gigabits
tbit tbits terabit terabits
byte bytes
K kelvin kelvins
T tesla teslas
H henry henrys henries
Wb weber webers
Bq becquerel becquerels
Gy gray grays
Sv sievert sieverts
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
pc
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
tooth teeth
mouse mice
goose geese
knife knives
wife wives
life lives
leaf leaves
loaf loaves
shelf shelves
wolf wolves
calf calves
bus buses
lens lenses
gas gases
shoe shoes
toe toes
canoe canoes
"""


def _spellings(table: str) -> dict[str, str]:
    lines = [line.split() for line in table.strip().splitlines()]
    names = {word: names[0] for names in lines for word in names[1:]}
    return names | {names[0]: names[0] for names in lines if len(names[0]) > 1 or not names[0].isalpha()}


_PREFIXES = {"pico": "p", "nano": "n", "micro": "u", "milli": "m", "kilo": "k", "mega": "M", "giga": "G"}
_PREFIXED = {
    "second": "s", "newton": "N", "joule": "J", "watt": "W", "volt": "V", "amp": "A", "ampere": "A", "farad": "F",
    "coulomb": "C", "tesla": "T", "henry": "H", "weber": "Wb", "pascal": "Pa", "mole": "mol", "electronvolt": "eV",
    "becquerel": "Bq", "gray": "Gy", "sievert": "Sv",
}  # fmt: skip
_IN_WORDS = {
    f"{prefix}{name}{plural}": f"{letter}{symbol}"
    for prefix, letter in _PREFIXES.items()
    for name, symbol in _PREFIXED.items()
    for plural in ("", "s")
}
MEASURES = frozenset(_spellings(_MEASURES).values())
NAMES = CURRENCIES | _IN_WORDS | _spellings(_MEASURES) | _spellings(_OTHERS)
"""The name of a unit by each of its spellings, except for single letters. Only codes of currencies are in capitals."""
del NAMES["l"]
LETTERS = {**{letter: letter for letter in "mgshLNJWVKCFATH"}, "l": "L"}
"""Units of one letter. Any other letter after a number is a variable."""
SYMBOLS = frozenset(
    prefix + unit
    for prefix in ("p", "n", "u", "m", "k", "M", "G", "T")
    for unit in (
        "s",
        "N",
        "J",
        "W",
        "V",
        "A",
        "F",
        "C",
        "T",
        "H",
        "Pa",
        "Hz",
        "eV",
        "mol",
        "K",
        "ohm",
        "Wb",
        "Bq",
        "Gy",
        "Sv",
    )
) | {"um", "ug", "uL", "mM", "nM", "uM", "eV", "ppm", "ppb", "dB", "Mg", "Mm", "Wh", "Ah", "AU", "fC", "mmHg"}
"""Units that upper and lower case tell apart: 5 mW, 5 MW."""
COMPOUNDS = {
    "bpm": {"beat": 1, "min": -1},
    "rpm": {"revolution": 1, "min": -1},
    "wpm": {"word": 1, "min": -1},
    "dpi": {"dot": 1, "in": -1},
    "ppi": {"pixel": 1, "in": -1},
    "mph": {"mi": 1, "h": -1},
    "kph": {"km": 1, "h": -1},
    "kmh": {"km": 1, "h": -1},
    "kmph": {"km": 1, "h": -1},
    "fps": {"ft": 1, "s": -1},
    "psi": {"lb": 1, "in": -2},
    "mpg": {"mi": 1, "gal": -1},
    "cc": {"cm": 3},
    "sqm": {"m": 2},
    "sqft": {"ft": 2},
    "sqkm": {"km": 2},
    "Nm": {"N": 1, "m": 1},
    "Js": {"J": 1, "s": 1},
    "Ns": {"N": 1, "s": 1},
    "JK": {"J": 1, "K": 1},
    "bps": {"bit": 1, "s": -1},
    "molar": {"mol": 1, "L": -1},
    "molal": {"mol": 1, "kg": -1},
    **{f"{prefix.upper()}b": {f"{prefix}bit": 1} for prefix in "kmgt"},
    **{f"{prefix}bps": {f"{prefix}bit": 1, "s": -1} for prefix in "kmgt"},
    **{f"{prefix}Bps": {f"{prefix.lower()}b": 1, "s": -1} for prefix in "kKMGT"},
}
"""Units that are a product of others, and those of bits: Gb is a gigabit, gb and GB are gigabytes."""
AMBIGUOUS = AMBIGUOUS_CURRENCIES | {"pound": ("lb", "£"), "pc": ("piece", "parsec")}
"""Words and signs of several units, which the other answer may decide."""
DIRECTIONS = {
    "more": ("more", 1), "extra": ("more", 1), "additional": ("more", 1), "less": ("more", -1), "fewer": ("more", -1),
    "off": ("more", -1), "discount": ("more", -1),
    "above": ("above", 1), "below": ("above", -1), "ahead": ("ahead", 1), "behind": ("ahead", -1),
    "ago": ("later", -1), "earlier": ("later", -1), "later": ("later", 1),
    "left": ("left", 1), "right": ("left", -1), "up": ("up", 1), "down": ("up", -1),
    "clockwise": ("turn", 1), "cw": ("turn", 1), "ccw": ("turn", -1),
    **{f"{start}{hyphen}clockwise": ("turn", -1) for start in ("anti", "counter") for hyphen in ("", "-")},
    "east": ("east", 1), "west": ("east", -1), "north": ("north", 1), "south": ("north", -1),
    **{
        f"{word}ward{plural}": (axis, sign)
        for plural in ("", "s")
        for word, axis, sign in (
            ("left", "left", 1), ("right", "left", -1), ("up", "up", 1), ("down", "up", -1), ("east", "east", 1),
            ("west", "east", -1), ("north", "north", 1), ("south", "north", -1),
            ("in", "inward", 1), ("out", "inward", -1),
        )
    },
}  # fmt: skip
"""Words that may be left out but not exchanged: an axis, and the direction on it."""
FACTORS = {
    ("°", "'"): 60, ("'", '"'): 60, ("°", "min"): 60,
    ("week", "day"): 7, ("day", "h"): 24, ("h", "min"): 60, ("min", "s"): 60, ("year", "month"): 12,
    ("ft", "in"): 12, ("yd", "ft"): 3, ("lb", "oz"): 16, ("pound", "oz"): 16, ("gal", "qt"): 4, ("mi", "ft"): 5280,
    ("m", "cm"): 100, ("km", "m"): 1000, ("cm", "mm"): 10, ("kg", "g"): 1000, ("g", "mg"): 1000, ("L", "ml"): 1000,
    ("$", "¢"): 100, ("€", "¢"): 100,
}  # fmt: skip
"""How many of a smaller unit are one of a larger one, for quantities in two units: 5 ft 6 in."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION = lazy_compile(r"(?:arc|a?sin|a?cos|a?tan|cot|sec|csc|log|exp)h?[a-z]{0,2}|sqrt[a-z]*|frac[a-z]*")
"""What is no word but a function, with its argument: 5sinx."""
PRODUCT = lazy_compile(r"[xyz]+|[abc]+|[abcd]+|[pqr]+|[mn]+|[uvw]+")
"""Letters in a row that are a product."""
ORDINALS = _words("third fourth fifth sixth seventh eighth ninth tenth")
"""Words that are a fraction, unless another one follows: 20 third graders."""
NUMBER_WORDS = _words("""
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion
    lakh crore
    half halves third thirds fourth fourths fifth fifths sixth sixths seventh sevenths eighth eighths ninth ninths
    tenth tenths hundredth hundredths thousandth thousandths
    """) | {word for word in MAGNITUDES if word.isalpha() and len(word) > 3}
"""4 million, 4 thirds and 4 point five are not 4 with a unit."""
LINKS = _words("and to from by into is are was were be been has have than through over with without")
"""Words that may only stand inside of a longer description: 18 students from the village."""
NO_UNITS = LINKS | _words("""
    or not pi sqrt e i x log ln sin cos tan cot sec csc exp mod det gcd lcm inf infinity plus minus equals
    between either maybe perhaps but if frac cdot divided approximately roughly probably possibly nearly almost about
    around factorial choose base wait wrong false instead sorry nope negative unless except versus least most below
    или або не нет неверно неправильно возможно może błędne
    demi demie media medio meia meio mezza mezzo halb halbe halbes półtora pół rưỡi yarım
    ish approx estimate estimated guess unsure likely unlikely undefined none no never nor
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega
    """) - {"psi", "sec", "without", "with"}  # noqa: RUF001
"""Functions, numbers and connectives; and words that say that a number is not the answer."""
