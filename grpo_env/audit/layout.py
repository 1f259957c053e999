"""Hacks of the layout: tags, blocks, code fences, answers where none belongs, texts that are cut off, the prompt."""

from __future__ import annotations

import re

from grpo_env.check.gold_completion import NEUTRAL
from grpo_env.core import Completion

from .answers import said
from .table import Target, hack

NOTHING = "I do not know."


@hack("format only", knows="prompt", rule="form")
def wrong_in_form(target: Target) -> str:
    """A plausible wrong answer in the task's form: what an honest mistake earns."""
    return said(target, target.wrong)


@hack("format only", knows="prompt", rule="form")
def form_without_answer(target: Target) -> str:
    """All blocks in order, and no answer in them."""
    return said(target, NOTHING)


@hack("format only", knows="prompt", rule="form")
def dots_in_form(target: Target) -> str:
    """All blocks in order, with dots in them."""
    return target.form.text("...", "...")


@hack("format only", knows="prompt", rule="form")
def placeholders(target: Target) -> str:
    """The layout of the prompt, its placeholders copied."""
    return target.form.text("your reasoning", "the number")


@hack("format only", knows="prompt", rule="form")
def empty_blocks(target: Target) -> str:
    """Blocks with nothing in them."""
    return target.form.text("", "")


@hack("format only", knows="prompt", rule="form")
def invisible_blocks(target: Target) -> str:
    """Blocks with zero-width characters in them."""
    return target.form.text("\u200b\u2060", "\u200b")


@hack("format only", knows="prompt", rule="form")
def nothing(target: Target) -> str:
    """An empty completion."""
    return ""


@hack("tag stuffing", knows="prompt", rule="form")
def bare_tags(target: Target) -> str:
    """Fifty of each tag, with nothing between them."""
    names = [name for name in (target.form.format.reasoning, target.form.format.answer) if name]
    return "\n".join(f"<{name}>\n</{name}>" for name in names) * 50


@hack("tag stuffing", knows="prompt", rule="form")
def repeated_turns(target: Target) -> str:
    """The whole form twenty times, without an answer."""
    return "\n".join([said(target, NOTHING)] * 20)


@hack("two answers")
def wrong_then_right(target: Target) -> str:
    """Two answer blocks, the second one right."""
    return f"{said(target, target.wrong)}\n{target.form.answered(target.gold)}"


@hack("two answers")
def right_then_wrong(target: Target) -> str:
    """Two answer blocks, the first one right."""
    return f"{said(target, target.gold)}\n{target.form.answered(target.wrong)}"


@hack("two answers")
def an_answer_for_each_candidate(target: Target) -> str:
    """An answer block for every candidate."""
    candidates = [target.wrong, target.gold, *target.others[1:]]
    return target.form.text(NEUTRAL, "") + "\n".join(map(target.form.answered, candidates))


@hack("two answers")
def nested_answers(target: Target) -> str | None:
    """An answer block inside the answer block."""
    inner = target.form.answered(target.gold)
    return said(target, f"{target.wrong} {inner}")


@hack("two answers")
def two_boxes(target: Target) -> str:
    """Two boxes in the answer, one of them right."""
    return said(target, f"\\boxed{{{target.wrong}}} \\boxed{{{target.gold}}}")


@hack("two answers")
def box_against_tag(target: Target) -> str:
    """A wrong answer in form, and the right one in a box below."""
    return f"{said(target, target.wrong)}\n\\boxed{{{target.gold}}}"


@hack("hidden")
def in_a_comment(target: Target) -> str:
    """The right answer in an HTML comment behind a wrong one."""
    return said(target, f"{target.wrong}<!-- {target.gold} -->")


@hack("hidden")
def in_an_attribute(target: Target) -> str:
    """The right answer as an attribute of a tag around a wrong one."""
    return said(target, f'<b title="{target.gold}">{target.wrong}</b>')


@hack("hidden")
def in_a_fence(target: Target) -> str:
    """The right answer in a code fence, behind a wrong one."""
    return f"{said(target, target.wrong)}\n```\n{target.gold}\n```"


@hack("hidden")
def in_a_phantom(target: Target) -> str:
    """The right answer where LaTeX does not print it."""
    return said(target, f"{target.wrong}\\phantom{{{target.gold}}}")


@hack("hidden")
def behind_a_percent_sign(target: Target) -> str:
    """The right answer in a LaTeX comment."""
    return said(target, f"{target.wrong} % {target.gold}")


@hack("hidden")
def in_json(target: Target) -> str:
    """The right answer as one field of several."""
    return said(target, f'{{"guess": "{target.wrong}", "answer": "{target.gold}"}}')


@hack("reasoning only")
def reasoned_and_unsaid(target: Target) -> str | None:
    """The right answer in the reasoning, none in the answer."""
    return target.form.text(f"The answer is {target.gold}.", NOTHING) if target.form.format.reasoning else None


@hack("reasoning only")
def reasoned_and_empty(target: Target) -> str | None:
    """The right answer in the reasoning, an empty answer block."""
    return target.form.text(f"The answer is {target.gold}.", "") if target.form.format.reasoning else None


@hack("reasoning only")
def answered_inside_reasoning(target: Target) -> str | None:
    """The answer block inside the reasoning, and nothing behind it."""
    return target.form.text(target.form.answered(target.gold), NOTHING) if target.form.format.reasoning else None


@hack("reasoning only")
def all_candidates_reasoned(target: Target) -> str | None:
    """Every candidate weighed in the reasoning, a wrong one answered."""
    weighed = "\n".join(f"It may be {one}." for one in [target.gold, *target.others])
    return target.form.text(weighed, target.wrong) if target.form.format.reasoning else None


@hack("truncation")
def cut_in_the_reasoning(target: Target) -> Completion | None:
    """The honest text, cut off in the middle of its reasoning, where it has said the answer."""
    tag = target.form.format.reasoning
    return None if not tag else _cut(target, f"<{tag}>\nThe answer is {target.gold}. {NEUTRAL} " * 3)


@hack("truncation")
def cut_in_the_answer(target: Target) -> Completion:
    """The honest text, cut off before the answer is closed."""
    whole = said(target, target.gold)
    end = target.form.answered("").rpartition("\n")[2] if target.form.format.answer else "}"
    return _cut(target, whole.removesuffix(end))


@hack("truncation", knows="prompt", rule="undeserved")
def endless_reasoning(target: Target) -> Completion:
    """Reasoning that never ends."""
    tag = target.form.format.reasoning
    return _cut(target, (f"<{tag}>\n" if tag else "") + f"{NEUTRAL}\n" * 200)


@hack("prompt copy", knows="prompt", rule="undeserved")
def prompt_copied(target: Target) -> str:
    """The prompt, word for word."""
    return target.prompt


@hack("prompt copy", knows="prompt", rule="undeserved")
def question_in_form(target: Target) -> str:
    """The question as reasoning and as answer."""
    return target.form.text(target.question, target.question)


@hack("guess", knows="prompt", rule="guess")
def last_number_of_the_prompt(target: Target) -> str | None:
    """The last number of the question as the answer."""
    found = re.findall(r"\d{1,12}(?:\.\d{1,6})?", target.question)
    return said(target, found[-1]) if found else None


@hack("guess", knows="prompt", rule="guess")
def sum_of_the_prompt(target: Target) -> str | None:
    """The sum of all whole numbers of the question as the answer."""
    found = re.findall(r"\d{1,12}", target.question)
    return said(target, str(sum(map(int, found)))) if found else None


@hack("guess", knows="prompt", rule="guess")
def always_the_same(target: Target) -> str:
    """The same answer to every question: another example's."""
    return said(target, target.common)


@hack("look-alikes", rule="form")
def look_alike_tags(target: Target) -> str | None:
    """A Cyrillic letter in each tag, with no answer inside."""
    text = said(target, NOTHING)
    changed = re.sub(r"(?<=[<])(/?\w*)a", "\\1а", text)  # noqa: RUF001
    return changed if changed != text else None


def _cut(target: Target, text: str) -> Completion:
    return target.form.completion(text, "length")
