"""Physics questions whose answers have units, and right answers in other forms, made with plain arithmetic."""

import random

UNITS = {  # a unit of the gold answer: another one, and how many of it are one of the first
    "m": ("cm", 100), "km": ("m", 1000), "kg": ("g", 1000), "s": ("ms", 1000), "J": ("kJ", 0.001), "W": ("kW", 0.001),
    "m/s": ("km/h", 3.6), "N": ("kN", 0.001), "V": ("mV", 1000), "Pa": ("kPa", 0.001),
}  # fmt: skip


def physics_rows(count):
    """Rows with a question and an answer of four digits and a unit."""
    source = random.Random(7)
    for number in range(count):
        unit = list(UNITS)[number % len(UNITS)]
        value = source.randint(1100, 9900) / 10 ** source.randint(1, 3)
        yield {"question": f"Case {number}: a body starts at {value / 3:.5f} and triples it. What is it?",
               "answer": f"{value:.4g} {unit}"}  # fmt: skip


def right_answers(row):
    """The answer as it is, in another unit, with three digits, and in scientific notation."""
    value, unit = row["answer"].split()
    other, factor = UNITS[unit]
    exponent = len(str(int(float(value)))) - 1
    return [
        row["answer"],
        f"{float(value) * factor:.6g} {other}",
        f"{float(value):.3g} {unit}",
        f"{float(value) / 10**exponent:.6g} \\times 10^{{{exponent}}} {unit}",
    ]
