"""Does the reasoning go in visible steps? A signal of form only: it says nothing about whether they are right."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from grpo_env.core import Completion, Example, Format, Score, Verifier
from grpo_env.errors import UsageError
from grpo_env.registry import verifier

from .blocks import reasoning_span, whole_turn

_NUMBERED = re.compile(r"[#*_ ]{0,9}(?:step\s{0,3}\d{1,3}\s?[:.)-]|\d{1,3}[.)](?=\s))[*_ ]{0,9}", re.IGNORECASE)
_BULLETED = re.compile(r"[-*+•]\s{1,9}")
_TRANSITION = re.compile(
    r"\b(?:first|firstly|first of all|second|secondly|third|thirdly|next|then|after that|afterwards|finally|lastly"
    r"|therefore|thus|hence|to begin with|to start)\b[,:]?\s{1,9}",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")


@verifier("reasoning_steps")
@dataclass(frozen=True)
class ReasoningSteps(Verifier):
    """``min(1, steps / target)``. The text is the reasoning block where there is one, else all of it.

    A step is a numbered line (``1.``, ``Step 1:``), a bulleted line, or a sentence that begins with a transition word
    ("Next, ..."), each with words or an equation of its own: a bare bullet, a rule (``---``) or "First, Second, Next,"
    is none. What is counted once as a line is not counted again as a sentence, and a repeated step counts once.
    """

    format: Format = field(default_factory=Format)
    target: int = 3

    def __post_init__(self) -> None:
        if self.target < 1:
            raise UsageError(f"reasoning_steps: target must be at least 1, not {self.target}")

    def __call__(self, example: Example, completion: Completion) -> Score:
        text = whole_turn(self.format, completion)[0]
        start, end = reasoning_span(text, self.format) or (0, len(text))
        steps: dict[str, set[str]] = {"numbered": set(), "bulleted": set(), "transitions": set()}
        for line in text[start:end].splitlines():
            if not line:
                continue
            kind, body = _kind(line.strip())
            if kind:
                steps[kind].add(body)
            else:
                steps["transitions"].update(_transitions(body))
        count = len(set().union(*steps.values()))
        shown = ", ".join(f"{len(found)} {kind}" for kind, found in steps.items())
        return Score(min(1.0, count / self.target), explanation=f"{count} steps: {shown}")


def _kind(line: str) -> tuple[str | None, str]:
    """What kind of step a line is, and its content without the marker."""
    for kind, marker in (("numbered", _NUMBERED), ("bulleted", _BULLETED)):
        match = marker.match(line)
        if match:
            body = line[match.end() :].strip()
            return (kind, _folded(body)) if _has_content(body) else (None, "")
    return None, line


def _transitions(line: str) -> set[str]:
    found = set()
    for sentence in _SENTENCE_END.split(line):
        sentence = sentence.strip("*_ \t.!?")
        transition = _TRANSITION.match(sentence)
        body = sentence[transition.end() :] if transition else ""
        if transition and len(_WORD.findall(_TRANSITION.sub("", f"{body} "))) > 1:
            found.add(_folded(body))
    return found


def _has_content(body: str) -> bool:
    return re.search(r"[^\W\d_]|\d\s?[-+*/=]", body) is not None


def _folded(body: str) -> str:
    return " ".join(body.casefold().split())
