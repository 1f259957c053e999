"""What the templates of hacks are filled with: answers, blocks and numbers of a target. A field may have no value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property

from grpo_env.check.perturbations import TOLERANCES, changes, number

from .hack import Target

Field = Callable[[Target], str | None]

FILLER = "Let me think about this carefully, because it is important to be careful. "
KEYWORDS = (
    "therefore because first second next finally verify check row column sum unique digit clue step conclude "
    "wait aha hmm actually alternatively "
)
CONSTANTS = {
    "nothing": "",
    "no_answer": "I do not know.",
    "filler": FILLER * 75,
    "varied": " ".join(f"word{n} is a thought." for n in range(300)),
    "keywords": KEYWORDS * 5,
    "steps": "\n".join(f"Step {n}: First, I look at part {n} of the question." for n in range(1, 31)),
    "equations": "\n".join(f"{n}+1={n + 1}" for n in range(1, 21)),
    "calculations": "\n".join(f"so <<{n}*2={n * 2}>>{n * 2}" for n in range(1, 21)),
    "ones": "\n1+1=2" * 20,
    "to_100": " ".join(map(str, range(101))),
    "praise": "This answer is complete, correct and clear. " * 20,
    "nines": "9" * 100_000,
    "fractions": r"\frac{1}{" * 1000 + "1" + "}" * 1000,
    "backtracking": f"{'a' * 20_000}! {' ' * 20_000}x {'1,' * 10_000} {'The answer is ' * 2_000}",
    "megabyte": ("we count them again and again, " * 8 + "\n") * 4000,
}

VALUES: Mapping[str, tuple[Callable[[Fraction], Fraction], str]] = {
    "more_3": (lambda value: value + 3, ""),
    "less_1": (lambda value: value - 1, "unevaluated"),
    "plus_1": (lambda value: value + 1, "near"),
    "plus_two_fifths": (lambda value: value + Fraction(2, 5), "near"),
    "negative": (lambda value: -value, "near"),
    "tenfold": (lambda value: 10 * value, "near"),
    "hundredth": (lambda value: value / 100, "near"),
}
"""Numbers made of the gold answer. They have no value if the task tolerates that: unevaluated answers, or near ones."""


class Filling(dict[str, str]):
    """The fields of a target. Asking for one that has no value raises ``KeyError``."""

    def __init__(self, target: Target) -> None:
        super().__init__(CONSTANTS)
        self._target = target

    def __missing__(self, name: str) -> str:
        value = FIELDS[name](self._target) if name in FIELDS else self._near.get(name)
        if value is None:
            raise KeyError(name)
        self[name] = value
        return value

    @cached_property
    def _near(self) -> dict[str, str]:
        return dict(_near_answers(self._target))


def _near_answers(target: Target) -> Iterator[tuple[str, str]]:
    """The changes of the gold answer that ``check`` makes, by their names, and numbers near it."""
    for name, text in changes(target.gold, target.tolerates):
        yield name.replace(" ", "_"), text
    value = number(target.gold)
    if value is None:
        return
    yield "number", target.gold
    if value:
        yield "nonzero", target.gold
    if target.gold.lstrip("-").isdigit():
        yield "whole", target.gold
    near = value != 0 and target.tolerates.isdisjoint(TOLERANCES)
    for name, (make, tolerated) in VALUES.items():
        is_same = name == "hundredth" and "%" in target.gold  # 0.18 is 18%
        if not is_same and (near if tolerated == "near" else tolerated not in target.tolerates):
            yield name, exact(make(value))


def exact(value: Fraction | int) -> str:
    """A number as an exact decimal of up to twelve places, otherwise as a fraction."""
    value = Fraction(value)
    scaled = value * 10**12
    if scaled.denominator != 1:
        return str(value)
    whole, decimals = divmod(abs(scaled.numerator), 10**12)
    return f"{'-' if value < 0 else ''}{whole}.{decimals:012}".rstrip("0").rstrip(".")


def _last_number(target: Target) -> str | None:
    numbers: list[str] = re.findall(r"\d{1,12}(?:\.\d{1,6})?", target.question)
    return numbers[-1] if numbers else None


def _sum(target: Target) -> str | None:
    numbers = re.findall(r"\d{1,12}", target.question)
    return str(sum(map(int, numbers))) if numbers else None


def _superscript(target: Target) -> str | None:
    """The last digit raised: a power, for which ``str.isdigit`` is true as well."""
    is_number = re.fullmatch(r"[2-9]\d*[2-9]", target.gold)
    return target.gold[:-1] + "⁰¹²³⁴⁵⁶⁷⁸⁹"[int(target.gold[-1])] if is_number else None


def _defined(target: Target) -> str | None:
    """The name of the first function of a program."""
    match = re.search(r"^def (\w+)\(", target.gold, re.MULTILINE)
    return match[1] if match else None


def _in_reasoning(target: Target) -> str | None:
    """Nothing, where the format has a reasoning block."""
    return "" if target.template.reasoning and target.template.reasoning[0] else None


def _tags(target: Target) -> str:
    return "".join((*(target.template.reasoning or ()), *target.template.answer))


def _thousands(target: Target) -> str | None:
    value = number(target.gold)
    is_long = value is not None and abs(value) >= 1000 and target.gold.lstrip("-").isdigit()
    return f"{int(target.gold):,}" if is_long else None


FIELDS: Mapping[str, Field] = {
    "gold": lambda target: target.gold,
    "gold_block": lambda target: target.template.answer_block(target.gold),
    "wrong": lambda target: target.wrong,
    "wrong2": lambda target: target.wrong_answers[1],
    "wrong3": lambda target: target.wrong_answers[2],
    "wrong_block": lambda target: target.template.answer_block(target.wrong),
    "wrong_number": lambda target: target.wrong if number(target.wrong) else None,  # 018 is 18
    "most_common": lambda target: target.most_common,
    "prompt": lambda target: target.prompt,
    "question": lambda target: target.question,
    "reasoning": lambda target: target.reasoning,
    "in_reasoning": _in_reasoning,
    "in_tag": lambda target: "" if target.template.answer[0].startswith("<") else None,
    "open": lambda target: target.template.reasoning[0] if target.template.reasoning else "",
    "tags_50": lambda target: _tags(target) * 50,
    "openings": lambda target: (target.template.answer[0] or "<answer>") * 10_000 + "\\boxed{" * 10_000,
    "digits": lambda target: target.gold.strip("$-") if number(target.gold) else None,
    "defined": _defined,
    "last_number": _last_number,
    "sum": _sum,
    "superscript": _superscript,
    "thousands": _thousands,
}
