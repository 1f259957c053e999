"""Does a reply follow its instructions? Sixteen kinds that IFEval uses most, by the names and arguments of its data.

IFEval: Zhou et al. 2023, arXiv:2311.07911; the columns ``instruction_id_list`` and ``kwargs`` of google/IFEval. Its own
checker downloads models to split sentences and to tell languages; these need neither. A row with another kind is
unscored, not guessed.
"""

import json
import re
from dataclasses import dataclass, field

from grpo_env import Case, Completion, Example, Format, Score, Verifier, verifier
from grpo_env.verifiers.answer_text import read_text

MAX_LENGTH = 200_000  # characters


def _compared(count, number, relation):
    return count < number if relation == "less than" else count >= number


def _words(text):
    return re.findall(r"\w+(?:['\u2019-]\w+)*", text)


def _count(text, word):
    return len(re.findall(rf"(?<!\w){re.escape(word.lower())}(?!\w)", text.lower()))


def _is_json(text):
    try:
        json.loads(re.sub(r"^```(?:json)?\s*|\s*```$", "", text.strip()))
    except ValueError:
        return False
    return True


KINDS = {
    "punctuation:no_comma": lambda text, _: "," not in text,
    "length_constraints:number_words": lambda text, a: _compared(len(_words(text)), a["num_words"], a["relation"]),
    "length_constraints:number_sentences": lambda text, a: _compared(
        len([part for part in re.split(r"[.!?]+(?:\s|$)", text) if part.strip()]), a["num_sentences"], a["relation"]
    ),
    "length_constraints:number_paragraphs": lambda text, a: (
        len([part for part in text.split("***") if part.strip()]) == a["num_paragraphs"]
    ),
    "detectable_format:number_bullet_lists": lambda text, a: (
        len(re.findall(r"^[ \t]{0,9}[*-][ \t]", text, re.MULTILINE)) == a["num_bullets"]
    ),
    "detectable_format:number_highlighted_sections": lambda text, a: (
        len(re.findall(r"\*[^\n*]{1,999}\*", text)) >= a["num_highlights"]
    ),
    "detectable_format:title": lambda text, _: bool(re.search(r"<<[^\n<>]{1,999}>>", text)),
    "detectable_format:json_format": lambda text, _: _is_json(text),
    "detectable_content:number_placeholders": lambda text, a: (
        len(re.findall(r"\[[^\[\]\n]{1,999}\]", text)) >= a["num_placeholders"]
    ),
    "keywords:existence": lambda text, a: all(_count(text, word) for word in a["keywords"]),
    "keywords:forbidden_words": lambda text, a: not any(_count(text, word) for word in a["forbidden_words"]),
    "keywords:frequency": lambda text, a: _compared(_count(text, a["keyword"]), a["frequency"], a["relation"]),
    "change_case:english_lowercase": lambda text, _: text == text.lower() and any(map(str.isalpha, text)),
    "change_case:english_capital": lambda text, _: text == text.upper() and any(map(str.isalpha, text)),
    "startend:end_checker": lambda text, a: text.strip().strip('"').lower().endswith(a["end_phrase"].strip().lower()),
    "startend:quotation": lambda text, _: len(text.strip()) > 1 and text.strip()[0] == text.strip()[-1] == '"',
}


@verifier("instructions")
@dataclass(frozen=True)
class Instructions(Verifier):
    """The fraction of a row's instructions that the text after the reasoning follows, or 1 only for all of them.

    An empty reply follows none: most instructions that forbid something would else be kept by saying nothing.
    """

    format: Format = field(default_factory=Format)
    all: bool = True
    """IFEval's strict accuracy of prompts; without it, that of instructions."""

    cases = (
        Case("red and blue", 1.0, "no comma", info={"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}),
        Case("red, blue", 0.0, "a comma", info={"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}),
        Case("", 0.0, "says nothing", info={"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}),
        Case("hm", None, "unknown", info={"instruction_id_list": ["language:response_language"], "kwargs": [{}]}),
    )

    def __call__(self, example: Example, completion: Completion) -> Score:
        if problem := self.problem(example):
            return Score(None, "not_applicable", explanation=problem)
        final = read_text(self.format, completion)
        if not final.answers or len(final.answers[-1]) > MAX_LENGTH:
            return Score(0.0, "over_limit" if final.answers else "no_answer", explanation=final.reason)
        text, names = final.answers[-1], example.info["instruction_id_list"]
        pairs = zip(names, example.info["kwargs"], strict=True)
        broken = [name for name, arguments in pairs if not KINDS[name](text, arguments)]
        value = float(not broken) if self.all else 1 - len(broken) / len(names)
        why = f"not followed: {', '.join(broken)}" if broken else "all followed"
        return Score(value, answer=text[:300], explanation=why)

    def problem(self, example: Example) -> str | None:
        unknown = [name for name in example.info.get("instruction_id_list", ()) if name not in KINDS]
        return f"no check for {', '.join(unknown)}" if unknown else None
