r"""Properties that all texts must have, whatever a model writes: the checks of both fuzzers.

Each check raises ``FindingError`` with the texts that break it. The correct verdict on an arbitrary pair is unknown,
but nothing may raise, the same call must give the same score, gold and answer may be swapped, a readable gold answer
accepts itself, ``$…$``, spaces, ``\dfrac`` and ``\tfrac`` change nothing, a second, different box is a second answer,
no text takes long, and (``truth``) spellings of known values are compared by their values.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import get_args

from grpo_env.core import COMPLETION_FAULTS, Completion, Example, Group, Score, Status, Verifier, score_groups
from grpo_env.registry import BUILT_IN, find
from grpo_env.taskfile.task import make_verifier
from grpo_env.verifiers.accuracy import Accuracy
from grpo_env.verifiers.answers.extract import answer_in
from grpo_env.verifiers.answers.extract.ending import before_new_question
from grpo_env.verifiers.answers.extract.result import ALL_SOURCES
from grpo_env.verifiers.answers.kinds.which_kind import Kind, kind_of
from grpo_env.verifiers.answers.math import algebra
from grpo_env.verifiers.answers.math.exact import decide
from grpo_env.verifiers.answers.math.normal import normal

TIMEOUT = 2.0  # seconds for algebra, on a busy machine
CPU = 0.5  # seconds of this thread for one score; the worker's time is not included
_PLACEHOLDER = re.compile(r"(?:[\s?_~]|\\[,;: ])*")  # a box with nothing else names no answer
_TRUTHS = frozenset(("yes", "no", "true", "false"))  # an answer, and only an answer, may give its reason
JUNK = "31415926"
_SENTENCE = re.compile(r"\b(?:is|are|was|were)\b|\*")  # its last word may be the answer; not the other way round
_BRACES = re.compile(r"\\(?:begin|end)\{[a-z]*\*?\}|\\.|[{}]", re.DOTALL)

# Models, servers and sandboxes are slow and have tests of their own.
TESTED_ELSEWHERE = {"reward_model", "process_reward_model", "llm_judge", "python_tests"}
INFO = {"labels": [1, 0], "steps": ["1+1=2"], "choices": ["1", "2", "3", "4"]}


class FindingError(AssertionError):
    """A check failed; ``texts`` are its arguments."""

    def __init__(self, check: str, detail: str, **texts: str) -> None:
        super().__init__(f"{check}: {detail}\n{json.dumps(texts)}")
        self.check, self.detail, self.texts = check, detail, texts


def catalogue() -> Iterator[tuple[str, Verifier]]:
    """Every verifier that scores text without a model or sandbox, with the options of its first documented case."""
    for name in sorted(BUILT_IN.keys() - TESTED_ELSEWHERE):
        cases = find(name).cases
        yield name, make_verifier(name, cases[0].options if cases else {}, "the fuzzers")


VERIFIERS = dict(catalogue())
LEAVES = {name: verifier for name, verifier in VERIFIERS.items() if not hasattr(verifier, "parts")}
ACCURACY = Accuracy(timeout=TIMEOUT)
SOURCES_READ = {source: Accuracy(sources=(source,), timeout=TIMEOUT) for source in ALL_SOURCES}
SOURCES_READ["all sources"] = Accuracy(sources=ALL_SOURCES, timeout=TIMEOUT)
SOURCES_READ["all sources, backwards"] = Accuracy(sources=ALL_SOURCES[::-1], timeout=TIMEOUT)
KINDS = {kind: Accuracy(kind=kind, timeout=TIMEOUT) for kind in get_args(Kind)}


def scored(name: str, verifier: Verifier, gold: str | None, text: str, prefill: str = "") -> Score:
    """One score, which is valid, in time, and the same the second time."""
    texts = {"gold": gold or "", "text": text, "prefill": prefill}
    example = Example("x", answer=gold, info=INFO)
    completion = Completion(text, prefill=prefill, num_tokens=len(text) // 3 + 1, finish="stop")
    start, wall = time.thread_time(), time.monotonic()
    try:
        score = verifier(example, completion)
    except Exception as error:
        raise FindingError("raises", f"{name}: {type(error).__name__}: {error}", **texts) from error
    cpu_seconds, wall_seconds = time.thread_time() - start, time.monotonic() - wall
    if cpu_seconds > CPU * max(1.0, len(text) / 100_000):
        raise FindingError("cpu", f"{name}: {cpu_seconds:.1f} s for {len(text)} characters", **texts)
    if wall_seconds > 6 * TIMEOUT + 6:  # gold and answer each have a deadline, and the worker may have to start
        raise FindingError("wall", f"{name}: {wall_seconds:.1f} s", **texts)
    if score.status not in get_args(Status) or score.status == "error":
        raise FindingError("status", f"{name}: {score.status}: {score.explanation}", **texts)
    if score.value is not None and not math.isfinite(score.value):
        raise FindingError("value", f"{name}: {score.value}", **texts)
    if score.value not in (None, 0.0, 1.0) and isinstance(verifier, Accuracy):
        raise FindingError("value", f"{name}: {score.value}", **texts)
    if score.value and name == "accuracy" and score.status in COMPLETION_FAULTS:
        raise FindingError("value", f"{name}: {score.value} with status {score.status}", **texts)
    if any(not 0 <= step.start <= step.end <= len(text) for step in score.steps):
        raise FindingError("steps", f"{name}: {score.steps}"[:300], **texts)
    if Score.from_dict(json.loads(json.dumps(score.to_dict()))) != score:
        raise FindingError("json", f"{name}: {score}"[:300], **texts)
    if not score.explanation and not score.parts:
        raise FindingError("explanation", f"{name}: none", **texts)
    second_score = verifier(example, completion)
    if "timeout" not in (score.status, second_score.status) and untimed(second_score) != untimed(score):
        raise FindingError("deterministic", f"{name}: {score} then {second_score}", **texts)
    return score


def untimed(score: Score) -> Score:
    return replace(score, seconds=0.0, parts=tuple(map(untimed, score.parts)))


def at_the_end(text: str) -> dict[str, Completion]:
    """Completions that end in more white space or in special tokens, which mean nothing."""
    ends = {"space": " \n", "token": "<|im_end|>", "tokens": "</s>\n<|endoftext|>"}
    return {name: Completion(text + end) for name, end in ends.items()}


def neutral(gold: str, text: str) -> None:
    """Neither the kind of line ends, nor what follows the end, nor passing the prefill separately matters."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    example = Example("x", answer=gold, info=INFO)
    completions = {"crlf": Completion(text.replace("\n", "\r\n")), **at_the_end(text)}
    if text.startswith("<think>"):
        completions["prefill"] = Completion(text[7:], prefill="<think>")
    for name, verifier in {"accuracy": ACCURACY, **LEAVES}.items():
        plain = verifier(example, Completion(text))
        for change, completion in completions.items():
            score = verifier(example, completion)
            if score.value != plain.value and "timeout" not in (score.status, plain.status):
                detail = f"{name}: {plain.value} {plain.explanation}; then {score.value} {score.explanation}"
                raise FindingError(f"neutral: {change}", detail[:300], gold=gold, text=text)


def extraction(gold: str, text: str) -> None:
    """Answers from each source and from all of them: valid scores, whatever follows the end of the text."""
    for name, verifier in SOURCES_READ.items():
        plain = scored(name, verifier, gold, text)
        for change, completion in at_the_end(text).items():
            score = verifier(Example("x", answer=gold), completion)
            if (score.value, score.answer) != (plain.value, plain.answer):
                detail = f"{name}: {plain.value} {plain.answer}; then {score.value} {score.answer}"
                raise FindingError(f"neutral: {change}", detail[:300], gold=gold, text=text)


def kinds(gold: str, answer: str) -> None:
    """Two answers as each kind of answer: the first accepts itself, and both may be swapped."""
    gold, answer = gold.strip(), answer.strip()
    if not (plain(gold) and plain(answer)):
        return
    for name, verifier in KINDS.items():
        readable = [verifier.problem(Example("x", answer=text)) is None for text in (gold, answer)]
        if not readable[0]:
            continue
        reflexive = scored(name, verifier, gold, boxed(gold))
        if not reflexive.value and reflexive.status != "timeout":
            raise FindingError(f"reflexive {name}", f"{reflexive.status}: {reflexive.explanation}", gold=gold)
        forward = scored(name, verifier, gold, boxed(answer))
        may_be_swapped = all(readable) and not _SENTENCE.search(gold + " " + answer)
        may_be_swapped = may_be_swapped and _TRUTHS.isdisjoint((gold.lower(), answer.lower()))
        if may_be_swapped and forward.status in ("scored", "over_limit"):
            backward = scored(name, verifier, answer, boxed(gold))
            if backward.status in ("scored", "over_limit") and forward.value != backward.value:
                detail = f"{forward.value} {forward.explanation}; back: {backward.value} {backward.explanation}"
                raise FindingError(f"symmetric {name}", detail, gold=gold, answer=answer)


def scored_as_a_group(text: str, gold: str | None) -> None:
    """All verifiers, composites included, give valid scores to a group of completions that are nearly the same."""
    texts = [
        Completion(variant, num_tokens=len(variant)) for variant in (text, text + " ", text[: len(text) // 2], "5", "")
    ]
    for name, verifier in VERIFIERS.items():
        (scores,) = score_groups(verifier, [Group(Example("x", answer=gold, info=INFO), texts)], name)
        if len(scores) != len(texts) or any(score.status == "error" for score in scores):
            raise FindingError("group", f"{name}: {scores}"[:300], text=text, gold=gold or "")


def everything(gold: str | None, text: str, prefill: str = "") -> None:
    """All verifiers on any gold answer and any completion."""
    whole_chain(gold, text, prefill)
    all_but_accuracy(gold, text, prefill)
    scored_as_a_group(text, gold)


def all_but_accuracy(gold: str | None, text: str, prefill: str = "") -> None:
    """All verifiers but accuracy; strict format implies full credit for format, which text after it takes away."""
    values = {name: scored(name, verifier, gold, text, prefill).value for name, verifier in LEAVES.items()}
    if values["strict_format"] == 1:
        more = scored("strict_format", VERIFIERS["strict_format"], gold, f"{text} {JUNK}", prefill)
        if (values["soft_format"], values["tag_count"], more.value) != (1, 1, 0):
            raise FindingError("format", f"{values}, with more text {more}"[:300], gold=gold or "", text=text)


def whole_chain(gold: str | None, text: str, prefill: str = "") -> None:
    """Accuracy on any gold answer and completion; a correct completion with one more box is wrong.

    Unless it goes on with a question of its own, where what follows does not count. Beside a letter only letters count.
    """
    score = scored("accuracy", ACCURACY, gold, text, prefill)
    if score.value and JUNK not in (gold or "") and before_new_question(text) == text:
        other = JUNK if score.kind != "choice" else "I" if "J" in (gold or "") else "J"
        more = f"{text}\n\nNo: \\boxed{{{other}}}"
        changed = scored("accuracy", ACCURACY, gold, more, prefill)
        if changed.value:
            raise FindingError(
                "second box", f"{score.explanation}; then {changed.explanation}", gold=gold or "", text=more
            )


def boxed(answer: str) -> str:
    return rf"So \boxed{{{answer}}}"


def plain(answer: str) -> bool:
    """Whether a text is one answer by itself, whose braces and dollars cannot reach out of a box."""
    depth = 0
    if any(tag in answer for tag in ("<answer", "</answer", "<think", "</think", "####", "答案")):
        return False
    for token in re.findall(r"\\.|[{}]", answer, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth < 0:
            return False
    if depth or answer.endswith("\\") or _PLACEHOLDER.fullmatch(answer):
        return False
    extracted = answer_in(answer)
    return not extracted.denied and extracted.answers == (answer,)


def readable(gold: str) -> bool:
    return plain(gold) and ACCURACY.problem(Example("x", answer=gold)) is None


def kind_of_text(gold: str) -> str:
    """The kind of a gold answer that is not compared as mathematics, else nothing."""
    kind = kind_of(gold)
    return kind if kind in ("text", "truth", "date", "literal") else ""


def spaced(text: str) -> str:
    """The text with spaces inside of all braces, the escaped ones excepted."""
    braces = {"{": "{ ", "}": " }"}
    return text if "{,}" in text else _BRACES.sub(lambda match: braces.get(match[0], match[0]), text)


RESPELLED: dict[str, Callable[[str], str]] = {
    "dollars": lambda text: text if "$" in text or "`" in text else f"${text}$",
    "outer space": lambda text: f"  {text}\n",
    "dfrac": lambda text: text.replace("\\frac", "\\dfrac"),
    "tfrac": lambda text: text.replace("\\frac", "\\tfrac"),
    "inner space": spaced,
    "boxed twice": lambda text: text if "`" in text else f"\\boxed{{{text}}}",
}


def pair(first: str, second: str) -> None:
    """Two answers: the first accepts itself, the verdict is symmetric and does not depend on neutral spelling."""
    first, second = first.strip(), second.strip()
    if not (readable(first) and plain(second)):
        return
    reflexive = scored("accuracy", ACCURACY, first, boxed(first))
    if not reflexive.value and reflexive.status != "timeout":
        raise FindingError("reflexive", f"{reflexive.status}: {reflexive.explanation}", first=first, second=first)
    forward = scored("accuracy", ACCURACY, first, boxed(second))
    if forward.status == "timeout":
        return
    for name, respell in RESPELLED.items():
        if first.lower() in _TRUTHS and name in ("dollars", "boxed twice"):
            continue  # "No, it is not." in dollars is no sentence with a reason
        respelled = respell(second)
        score = scored("accuracy", ACCURACY, first, boxed(respelled)) if respelled != second else forward
        if score.value != forward.value and score.status != "timeout":
            raise FindingError(
                f"respelled: {name}", f"{forward.explanation}; then {score.explanation}", first=first, second=second
            )
    # The gold answer decides how both are compared: 7 accepts 007, but not the other way around.
    if (
        readable(second)
        and kind_of_text(first) == kind_of_text(second)
        and _TRUTHS.isdisjoint((first.lower(), second.lower()))
    ):
        backward = scored("accuracy", ACCURACY, second, boxed(first))
        # What cannot be read as mathematics is equal to the same text; as a gold it does not decide about others.
        only_texts = "bad_gold" in (forward.status, backward.status)
        if backward.value != forward.value and backward.status != "timeout" and not only_texts:
            raise FindingError(
                "symmetric", f"{forward.explanation}; back: {backward.explanation}", first=first, second=second
            )


def truth(gold: str, answer: str, same: bool) -> None:
    """Two spellings of known values: the verdict is whether the values are the same."""
    score = scored("accuracy", ACCURACY, gold, boxed(answer))
    if score.value != float(same) and score.status != "timeout":
        raise FindingError("truth", f"should be {same}: {score.status}: {score.explanation}", gold=gold, answer=answer)


# Pairwise different in value.
DIFFERENT = [
    "5",
    "0",
    r"\sqrt{2}",
    r"\frac{\pi}{4}",
    r"\ln 2",
    "2x+1",
    r"\frac{1}{x}",
    "(1,2)",
    r"\{3,4\}",
    "x<2",
    "i",
    "even",
]


def universal(answer: str) -> None:
    """No answer is correct for two gold answers with different values."""
    accepting = [gold for gold in DIFFERENT if scored("accuracy", ACCURACY, gold, boxed(answer)).value]
    if len(accepting) > 1:
        raise FindingError("universal", f"correct for {accepting}", answer=answer)


HACKS = [
    "%s or @", "@ or %s", "%s, @", "either %s or @", "not %s", "\\neq %s", "%s = @", "@ = %s", "%s < x < @", "(%s, @)",
    "[%s, @]", "\\{%s, @\\}", "%s \\pm @", "between %s and @", "%s to @", "%s; @", "%s and @", "< %s", "> %s",
    "%s \\text{ or } @", "%s \\cup @",
    "x \\in \\{%s, @\\}", "%s, or @", "%s (or @)", "%s / @", "\\frac{%s}{@}", "%s | @",
    "about %s, maybe @", "at least %s", "%s @", "%s@", "@%s", "%s\\ @", "%s \\text{not}",
    "%s\\\\@", "\\sqrt{%s} @",
]  # fmt: skip
ANSWER_TEMPLATES = [
    r"\boxed{%s}",
    "<answer>%s</answer>",
    "The answer is %s.",
    "#### %s",
    "A: %s",
    r"$\boxed{%s}$",
    "<answer>$%s$</answer>",
]


def hack(gold: str, template: str, answer_template: str) -> None:
    """A value (not 0) with a hedge, a denial or a second number around it is not that value."""
    text = answer_template.replace("%s", template.replace("%s", gold).replace("@", JUNK))
    score = scored("accuracy", ACCURACY, gold, text)
    if score.value:
        raise FindingError("hack", f"{score.explanation} ({score.answer})", gold=gold, text=text)


def paths(first: str, second: str, same: bool | None) -> None:
    """Two formulas, known to be equal or not, or unknown (``None``): neither path may decide otherwise."""
    texts = {"first": first, "second": second}
    start = time.thread_time()
    exact = decide(normal(first), normal(second))
    spent = time.thread_time() - start
    if spent > CPU:
        raise FindingError("cpu", f"decide: {spent:.1f} s", **texts)
    if same is not None and exact not in (None, same):
        raise FindingError("exact path", f"should be {same}", **texts)
    if exact is None and same is None:
        return
    request = {"gold": normal(first), "answer": normal(second), "rel_tol": None, "decimals": None}
    try:
        algebra_verdict = algebra.ALGEBRA.ask(request, algebra.TimeLimit(TIMEOUT))["same"]
    except (algebra.DeadlineError, algebra.UnreadableError, algebra.OverLimitError):
        return
    if algebra_verdict != (exact if same is None else same):
        raise FindingError("algebra path", f"should be {same}, exactly it is {exact}", **texts)
