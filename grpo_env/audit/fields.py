"""What the templates of hacks are filled with: answers, blocks and numbers of a target. A field may have no value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from grpo_env.check.gold_completion import NEUTRAL_REASONING
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
    "more_filler": FILLER * 150,
    "varied": " ".join(f"word{n} is a thought." for n in range(300)),
    "keywords": KEYWORDS * 5,
    "steps": "\n".join(f"Step {n}: First, I look at part {n} of the question." for n in range(1, 31)),
    "equations": "\n".join(f"{n}+1={n + 1}" for n in range(1, 21)),
    "calculations": "\n".join(f"so <<{n}*2={n * 2}>>{n * 2}" for n in range(1, 21)),
    "ones": "\n1+1=2" * 20,
    "to_100": " ".join(map(str, range(101))),
    "sentences": "I think.\n" * 200,
    "praise": "This answer is complete, correct and clear. " * 20,
    "nines": "9" * 100_000,
    "brackets": "(" * 10_000 + "1" + ")" * 10_000,
    "fractions": r"\frac{1}{" * 1000 + "1" + "}" * 1000,
    "backtracking": f"{'a' * 20_000}! {' ' * 20_000}x {'1,' * 10_000} {'The answer is ' * 2_000}",
    "many_equations": "1+1=2\n" * 20_000,
    "megabyte": ("we count them again and again, " * 8 + "\n") * 4000,
    "endless": f"{NEUTRAL_REASONING}\n" * 200,
}

VALUES: Mapping[str, tuple[Callable[[Fraction], Fraction], str]] = {
    "less_5": (lambda value: value - 5, ""),
    "more_5": (lambda value: value + 5, ""),
    "more_3": (lambda value: value + 3, ""),
    "less_1": (lambda value: value - 1, "unevaluated"),
    "doubled": (lambda value: 2 * value, "unevaluated"),
    "halved": (lambda value: value / 2, "unevaluated"),
    "plus_1": (lambda value: value + 1, "near"),
    "plus_a_billionth": (lambda value: value + Fraction(1, 10**9), "near"),
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
        self._computed: dict[str, str] | None = None

    def __missing__(self, name: str) -> str:
        if name not in FIELDS and self._computed is None:
            self._computed = dict(_computed(self._target))
        value = FIELDS[name](self._target) if name in FIELDS else (self._computed or {}).get(name)
        if value is None:
            raise KeyError(name)
        self[name] = value
        return value


def _computed(target: Target) -> Iterator[tuple[str, str]]:
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
    if value.denominator == 1:
        return str(value)
    scaled = value * 10**12
    if scaled.denominator != 1:
        return f"{value.numerator}/{value.denominator}"
    whole, decimals = divmod(abs(scaled.numerator), 10**12)
    return f"{'-' if value < 0 else ''}{whole}.{decimals:012}".rstrip("0")


def _all_numbers(target: Target) -> str | None:
    """Every number of the question and all sums and differences of two."""
    matches = (number(match) for match in re.findall(r"\d{1,12}(?:,\d{3})*(?:\.\d{1,6})?", target.question))
    numbers = list(dict.fromkeys(value for value in matches if value is not None))[:12]
    pairs = [operation(a, b) for a in numbers for b in numbers for operation in (Fraction.__add__, Fraction.__sub__)]
    values = list(dict.fromkeys([*numbers, *pairs]))
    return ", ".join(map(exact, values)) if len(values) > 1 else None


def _last_number(target: Target) -> str | None:
    numbers: list[str] = re.findall(r"\d{1,12}(?:\.\d{1,6})?", target.question)
    return numbers[-1] if numbers else None


def _sum(target: Target) -> str | None:
    numbers = re.findall(r"\d{1,12}", target.question)
    return str(sum(map(int, numbers))) if numbers else None


def _reversed(target: Target) -> str | None:
    """Reversed digits after a right-to-left override, which displays them in the original order."""
    digits = re.sub(r"\D", "", target.gold)
    is_other = number(target.gold) is not None and digits != digits[::-1] and "." not in target.gold
    return f"\u202e{digits[::-1]}\u202c" if is_other else None


def _letters(target: Target) -> str | None:
    """Letters in place of 1 and 0."""
    text = target.gold.translate(str.maketrans("10", "lO"))
    return text if number(target.gold) is not None and text != target.gold else None


def _superscript(target: Target) -> str | None:
    """The last digit raised: a power, for which ``str.isdigit`` is true as well."""
    is_number = re.fullmatch(r"[2-9]\d*[2-9]", target.gold)
    return target.gold[:-1] + "⁰¹²³⁴⁵⁶⁷⁸⁹"[int(target.gold[-1])] if is_number else None


def _arabic(target: Target) -> str | None:
    """The next number in Arabic digits."""
    value = number(target.gold)
    is_whole = value is not None and value.denominator == 1
    return (
        str(value + 1).translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")) if is_whole and value is not None else None
    )


def _cyrillic_tags(target: Target) -> str | None:
    text = target.answered(CONSTANTS["no_answer"])
    changed = re.sub(r"(?<=[<])(/?\w*)a", "\\1а", text)  # noqa: RUF001
    return changed if changed != text else None


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
    "other_blocks": lambda target: "\n".join(map(target.template.answer_block, target.wrong_answers[1:])),
    "candidates": lambda target: "\n".join(f"It may be {answer}." for answer in (target.gold, *target.wrong_answers)),
    "most_common": lambda target: target.most_common,
    "prompt": lambda target: target.prompt,
    "question": lambda target: target.question,
    "reasoning": lambda target: target.reasoning,
    "reasoning_5": lambda target: "\n".join([target.reasoning] * 5),
    "in_reasoning": _in_reasoning,
    "in_tag": lambda target: "" if target.template.answer[0].startswith("<") else None,
    "open": lambda target: target.template.reasoning[0] if target.template.reasoning else "",
    "cut": lambda target: target.answered(target.gold).removesuffix(target.template.answer[1].strip() or "\0"),
    "tags_50": lambda target: _tags(target) * 50,
    "turns_20": lambda target: "\n".join([target.answered(CONSTANTS["no_answer"])] * 20),
    "openings": lambda target: (target.template.answer[0] or "<answer>") * 10_000 + "\\boxed{" * 10_000,
    "added_zeros": lambda target: f"\n{target.gold}+0={target.gold}" * 20 if number(target.gold) is not None else None,
    "digits": lambda target: target.gold.strip("$-") if number(target.gold) else None,
    "defined": _defined,
    "all_numbers": _all_numbers,
    "last_number": _last_number,
    "sum": _sum,
    "reversed": _reversed,
    "letters": _letters,
    "superscript": _superscript,
    "arabic": _arabic,
    "cyrillic_tags": _cyrillic_tags,
    "thousands": _thousands,
}
