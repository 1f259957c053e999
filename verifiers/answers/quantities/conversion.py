"""Quantities in other units of the same dimension: 1.5 days is 36 hours, 108 km/h is 30 m/s, 0 °C is 32 °F.

The factors are exact, and only units with one meaning have one: a ton, a fluid ounce or a kilobyte has not, and a month
is no number of days. Sources: the SI brochure (9th edition) and, for inch, pound, acre and gallon, NIST Handbook 44.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from ..vocabulary.unit_names import AMBIGUOUS, MEASURES, SYMBOLS
from .number import Number, read_number
from .units import Unit

_PREFIXES = {"p": -12, "n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12}
# A unit, how large it is, and the units that it is a multiple of, with their exponents.
_TABLE = """
m 1 m
dm 1/10 m
cm 1/100 m
mm 1/1000 m
um 1/1000000 m
nm 1/1000000000 m
angstrom 1e-10 m
km 1000 m
in 0.0254 m
ft 0.3048 m
yd 0.9144 m
mi 1609.344 m
ha 10000 m 2
acre 4046.8564224 m 2
L 1/1000 m 3
dl 1/10000 m 3
cl 1/100000 m 3
ml 1/1000000 m 3
uL 1/1000000000 m 3
gal 768 tsp
qt 192 tsp
pt 96 tsp
cup 48 tsp
tbsp 3 tsp
g 1 g
mg 1/1000 g
ug 1/1000000 g
kg 1000 g
tonne 1000000 g
lb 453.59237 g
oz 28.349523125 g
s 1 s
ms 1/1000 s
ns 1/1000000000 s
min 60 s
h 3600 s
day 86400 s
week 604800 s
fortnight 1209600 s
year 12 month
decade 120 month
century 1200 month
N 1000 g m s -2
kn 1000000 g m s -2
J 1000 g m 2 s -2
kj 1000000 g m 2 s -2
MJ 1000000000 g m 2 s -2
Wh 3600000 g m 2 s -2
kwh 3600000000 g m 2 s -2
kcal 1000 cal
W 1000 g m 2 s -3
kw 1000000 g m 2 s -3
eV 1.602176634e-16 g m 2 s -2
A 1 A
C 1 A s
F 1/1000 g -1 m -2 s 4 A 2
T 1000 g s -2 A -1
H 1000 g m 2 s -2 A -2
Wb 1000 g m 2 s -2 A -1
V 1000 g m 2 s -3 A -1
kv 1000000 g m 2 s -3 A -1
ohm 1000 g m 2 s -3 A -2
Pa 1000 g m -1 s -2
pa 1000 g m -1 s -2
kpa 1000000 g m -1 s -2
MPa 1000000000 g m -1 s -2
hPa 100000 g m -1 s -2
bar 100000000 g m -1 s -2
mbar 100000 g m -1 s -2
atm 101325000 g m -1 s -2
Hz 1 s -1
hz 1 s -1
khz 1000 s -1
mhz 1000000 s -1
ghz 1000000000 s -1
mol 1 mol
mM 1 mol m -3
uM 1/1000 mol m -3
nM 1/1000000 mol m -3
byte 8 bit
kib 8192 bit
mib 8388608 bit
gib 8589934592 bit
tib 8796093022208 bit
kpc 1000 parsec
Mpc 1000000 parsec
arcmin 60 arcsec
mas 1/1000 arcsec
kDa 1000 Da
mmHg 2533125/19 g m -1 s -2
ppm 1000 ppb
Bq 1 s -1
$ 100 $cent
€ 100 €cent
"""
_MOLAR = lazy_compile(
    r"(?P<value>(?:[^A-Za-z\\]|\\times|\\cdot){1,40}?)\s?(?:\\text\{)?M\}?"
    r"(?:\s?/\s?(?P<per>s|min|h)|\s(?:\\cdot\s)?(?P<unit>s|min|h)\s?\^\s?\{?-1\}?)?"
)
_SURELY_MOLAR = lazy_compile(r"(?:0?\.\d|.*\\times).*\sM")  # 0.25 M, but 2.5 M may be millions
MOLAR = (("L", -1), ("mol", 1))
_KELVIN = {
    "C": (Fraction(1), Fraction("273.15")),
    "F": (Fraction(5, 9), Fraction("459.67")),
    "K": (Fraction(1), Fraction(0)),
}


class Size(NamedTuple):
    """How large a unit is, in others that no exact factor divides further, each with its exponent."""

    factor: Fraction
    dimensions: tuple[tuple[str, int], ...]


def _sizes(table: str) -> dict[str, Size]:
    sizes = {}
    for line in table.strip().splitlines():
        name, factor, *parts = line.split()
        exponents: dict[str, int] = {}
        for part in parts:
            if part.lstrip("-").isdecimal():
                exponents[next(reversed(exponents))] = int(part)
            else:
                exponents[part] = 1
        sizes[name] = Size(Fraction(factor), tuple(exponents.items()))
    return sizes


_SIZES = _sizes(_TABLE)


def converted(number: Number, unit: Unit) -> Number | None:
    """A number in another unit of the same dimension; ``None`` for units that measure different things."""
    if not number.unit or not unit:
        return None
    scales = _scale(number.unit), _scale(unit)
    if scales[0] and scales[1]:
        kelvin = (number.value + scales[0][1]) * scales[0][0]
        return replace(number, value=kelvin / scales[1][0] - scales[1][1], unit=unit, also=())
    units = _measures(number.unit), _measures(unit)
    words = units[0][1], units[1][1]
    if (all(words) or ("business", 1) in words[0] + words[1]) and words[0] != words[1]:  # apples and pears
        return None
    one, other = _size(_decided(units[0][0], unit)), _size(_decided(units[1][0], number.unit))
    if one is None or other is None or one.dimensions != other.dimensions:
        return None
    return replace(number, value=number.value * one.factor / other.factor, unit=unit, also=())


def are_whole_degrees(one: Number, other: Number) -> bool:
    """Whether two temperatures are whole degrees that round to each other: 298 K and 25 °C."""
    letters = {name for number in (one, other) for name, power in number.unit if (name, power) != ("°", 1)}
    if letters != {"K", "C"} or not (_scale(one.unit) and _scale(other.unit)):
        return False
    kelvin, celsius = (one.value, other.value) if ("K", 1) in one.unit else (other.value, one.value)
    return celsius.denominator == 1 and kelvin == celsius + 273


def in_moles(text: str) -> Number | None:
    """``0.25 M`` as 0.25 mol/L, ``0.25 M/s`` as 0.25 mol/(L s); ``None`` for other texts."""
    match = _MOLAR.fullmatch(text) if len(text) <= 60 else None
    number = read_number(match["value"].strip()) if match else None
    if match is None or number is None or number.unit:
        return None
    time = match["per"] or match["unit"]
    is_sure = _SURELY_MOLAR.match(text) is not None
    return Number(number.value, (*MOLAR, (time, -1)) if time else MOLAR, bare=is_sure)


def _measures(unit: Unit) -> tuple[Unit, Unit]:
    """A unit without the words of what is measured, and these: the water of 12 kg of water."""
    words = tuple(pair for pair in unit if pair[1] > 0 and pair[0].isalpha() and not _is_measure(pair[0]))
    return (tuple(pair for pair in unit if pair not in words), words) if len(words) < len(unit) else (unit, ())


def _is_measure(name: str) -> bool:
    return len(name) == 1 or name in MEASURES or name in SYMBOLS or name in AMBIGUOUS


def _scale(unit: Unit) -> tuple[Fraction, Fraction] | None:
    """The size of a degree of a temperature scale, and what is added so that it starts at absolute zero."""
    letters = [name for name, power in unit if (name, power) != ("°", 1)]
    return _KELVIN.get(letters[0]) if len(letters) == 1 and (letters[0], 1) in unit else None


def _decided(unit: Unit, other: Unit) -> Unit:
    """The unit as the other one needs it: pounds as money or a weight, cents of its currency, and 1/°C as 1/K."""
    names = {name for name, _ in other}
    if "K" in names and len(unit) > 1:
        unit = tuple(("K" if name == "C" else name, power) for name, power in unit if name != "°")
    money = next((sign for sign in ("$", "€") if sign in names), "$")
    is_weight = not names & {"£", "pound"}
    spelled = {"¢": f"{money}cent", "pound": "lb" if is_weight else "pound", "pc": "parsec"}
    return tuple((spelled.get(name, name), power) for name, power in unit)


@lru_cache(maxsize=1024)
def _size(unit: Unit) -> Size | None:
    factor = Fraction(1)
    exponents: dict[str, int] = {}
    for name, power in unit:
        if abs(power) > 9:
            return None
        size = _size_of(name)
        factor *= size.factor**power
        for base, exponent in size.dimensions:
            exponents[base] = exponents.get(base, 0) + power * exponent
    return Size(factor, _sorted(exponents))


def _size_of(name: str) -> Size:
    if size := _SIZES.get(name):
        return size
    if name in SYMBOLS and name[:1] in _PREFIXES and (size := _SIZES.get(name[1:])):
        return Size(size.factor * Fraction(10) ** _PREFIXES[name[0]], size.dimensions)
    return Size(Fraction(1), ((name, 1),))


def _sorted(exponents: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((name, power) for name, power in exponents.items() if power))
