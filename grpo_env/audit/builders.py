"""Builders of hack texts: templates filled in from the target, and the functions that need more than a template.

Templates are those of ``string.Template``: ``$gold`` and ``$wrong`` are a target's gold answer and a wrong one; see
``_fields`` for the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from string import Template

from grpo_env.check.gold_completion import NEUTRAL_REASONING
from grpo_env.check.perturbations import changes, number
from grpo_env.core import Completion

from .hack import Build, Target

NO_ANSWER = "I do not know."

Condition = Callable[[Target], bool]


def always(target: Target) -> bool:
    """Applies to every target."""
    return True


def has_reasoning(target: Target) -> bool:
    """Applies where the task's format has a reasoning block."""
    return bool(target.template.format.reasoning)


def is_number(target: Target) -> bool:
    """Applies where the gold answer is a number."""
    return number(target.gold) is not None


def is_nonzero(target: Target) -> bool:
    """Applies where the gold answer is a number other than 0."""
    return bool(number(target.gold))


def is_exact(target: Target) -> bool:
    """Applies where the gold answer is a number other than 0 and the task accepts no approximations of it."""
    return is_nonzero(target) and target.tolerates.isdisjoint(("rel_tol", "decimals"))


def is_evaluated(target: Target) -> bool:
    """Applies where the gold answer is a number and the task does not accept unevaluated expressions."""
    return is_number(target) and "unevaluated" not in target.tolerates


def raw(template: str) -> Build:
    """The template as the whole completion."""
    return lambda target: _filled(template, target)


def text(reasoning: str, answer: str, when: Condition = always) -> Build:
    """Reasoning and answer in the task's format."""

    def build(target: Target) -> str | None:
        if not when(target):
            return None
        return target.template.text(_filled(reasoning, target), _filled(answer, target))

    return build


def answer(template: str, then: str = "", when: Condition = always) -> Build:
    """An answer in the task's format after a neutral sentence of reasoning, followed by the text ``then``."""

    def build(target: Target) -> str | None:
        if not when(target):
            return None
        return target.answered(_filled(template, target)) + _filled(then, target)

    return build


def from_value(make: Callable[[Fraction], str], when: Condition = is_number) -> Build:
    """An answer computed from the number that is the gold answer; ``make`` returns a template."""

    def build(target: Target) -> str | None:
        value = number(target.gold)
        return target.answered(_filled(make(value), target)) if value is not None and when(target) else None

    return build


def changed(name: str) -> Build:
    """An answer that is a changed gold answer; ``name`` is that of the change in ``grpo_env.check.perturbations``."""

    def build(target: Target) -> str | None:
        text = dict(changes(target.gold, target.tolerates)).get(name)
        return None if text is None else target.answered(text)

    return build


def _filled(template: str, target: Target) -> str:
    return Template(template).substitute(_fields(target)) if "$" in template else template


def _fields(target: Target) -> dict[str, str]:
    return {
        "gold": target.gold,
        "gold_block": target.template.answer_block(target.gold),
        "wrong": target.wrong,
        "wrong2": target.wrong_answers[1],
        "wrong3": target.wrong_answers[2],
        "wrong_block": target.template.answer_block(target.wrong),
        "most_common": target.most_common,
        "prompt": target.prompt,
        "question": target.question,
        "reasoning": target.reasoning,
    }


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


def all_numbers_of_the_prompt(target: Target) -> str | None:
    """Every number of the prompt and all sums and differences of two."""
    matches = (number(match) for match in re.findall(r"\d{1,12}(?:,\d{3})*(?:\.\d{1,6})?", target.question))
    numbers = list(dict.fromkeys(value for value in matches if value is not None))[:12]
    pairs = [operation(a, b) for a in numbers for b in numbers for operation in (Fraction.__add__, Fraction.__sub__)]
    values = list(dict.fromkeys([*numbers, *pairs]))
    return target.answered(", ".join(map(exact, values))) if len(values) > 1 else None


def bare_tags(target: Target) -> str:
    """Fifty of each tag."""
    tags = [tag for tag in (target.template.format.reasoning, target.template.format.answer) if tag]
    return "\n".join(f"<{tag}>\n</{tag}>" for tag in tags) * 50


def repeated_turns(target: Target) -> str:
    """Twenty completions in one."""
    return "\n".join([target.answered(NO_ANSWER)] * 20)


def an_answer_for_each_candidate(target: Target) -> str:
    """An answer block for the gold answer and for each wrong one."""
    candidates = [target.wrong, target.gold, *target.wrong_answers[1:]]
    return target.answered("") + "\n".join(map(target.template.answer_block, candidates))


def all_candidates_reasoned(target: Target) -> str | None:
    """All candidates in the reasoning."""
    if not has_reasoning(target):
        return None
    candidates = "\n".join(f"It may be {answer}." for answer in [target.gold, *target.wrong_answers])
    return target.template.text(candidates, target.wrong)


def cut_in_the_reasoning(target: Target) -> Completion | None:
    """Truncated after stating the answer in the reasoning."""
    tag = target.template.format.reasoning
    text = f"<{tag}>\nThe answer is {target.gold}. {NEUTRAL_REASONING} " * 3
    return target.template.completion(text, "length") if tag else None


def cut_in_the_answer(target: Target) -> Completion:
    """Truncated before the answer block is closed."""
    end = target.template.answer_block("").rpartition("\n")[2] if target.template.format.answer else "}"
    return target.template.completion(target.answered(target.gold).removesuffix(end), "length")


def endless_reasoning(target: Target) -> Completion:
    """Truncated reasoning."""
    tag = target.template.format.reasoning
    text = (f"<{tag}>\n" if tag else "") + f"{NEUTRAL_REASONING}\n" * 200
    return target.template.completion(text, "length")


def last_number_of_the_prompt(target: Target) -> str | None:
    """The question's last number."""
    numbers = re.findall(r"\d{1,12}(?:\.\d{1,6})?", target.question)
    return target.answered(numbers[-1]) if numbers else None


def sum_of_the_prompt(target: Target) -> str | None:
    """The sum of the question's whole numbers."""
    numbers = re.findall(r"\d{1,12}", target.question)
    return target.answered(str(sum(map(int, numbers)))) if numbers else None


def inside_a_longer_number(target: Target) -> str | None:
    """The gold answer's digits between two others."""
    return target.answered(f"1{target.gold.strip('$-')}7") if is_nonzero(target) else None


def digits_reversed(target: Target) -> str | None:
    """Reversed digits after a right-to-left override, which displays them in the original order."""
    digits = re.sub(r"\D", "", target.gold)
    if not is_number(target) or digits == digits[::-1] or "." in target.gold:
        return None
    return target.answered(f"\u202e{digits[::-1]}\u202c")


def letters_for_digits(target: Target) -> str | None:
    """Letters in place of 1 and 0."""
    letters = target.gold.translate(str.maketrans("10", "lO"))
    return target.answered(letters) if letters != target.gold and is_number(target) else None


def superscript_digits(target: Target) -> str | None:
    """The last digit as a superscript, for which ``str.isdigit`` is true as well."""
    if not re.fullmatch(r"[2-9]\d*[2-9]", target.gold):
        return None
    return target.answered(target.gold[:-1] + "⁰¹²³⁴⁵⁶⁷⁸⁹"[int(target.gold[-1])])


def foreign_digits(target: Target) -> str | None:
    """The next number in Arabic digits."""
    value = number(target.gold)
    if value is None or value.denominator != 1:
        return None
    return target.answered(str(value + 1).translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")))


def look_alike_tags(target: Target) -> str | None:
    """Tags with a Cyrillic a."""
    text = target.answered(NO_ANSWER)
    changed = re.sub(r"(?<=[<])(/?\w*)a", "\\1а", text)  # noqa: RUF001
    return changed if changed != text else None


def tags_by_the_thousand(target: Target) -> str:
    """Opening tags and boxes that are never closed."""
    tag = target.template.format.answer or target.template.format.reasoning or "answer"
    return f"<{tag}>" * 10_000 + "\\boxed{" * 10_000
