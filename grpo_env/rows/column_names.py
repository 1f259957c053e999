"""Guesses what a column holds by its name, for advice that a person can follow or not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

QUESTION = (
    *("question", "problem", "prompt", "query", "instruction", "input", "exercise", "task", "text"),
    *("frage", "aufgabe", "pregunta", "问题", "题目"),
)
ANSWER = (
    *("reference answer", "ref answer", "gold answer"),  # LLMDrift has a model's "answer" beside it
    *("answer", "gold", "target", "expected", "reference", "truth", "solution", "label", "result", "output", "correct"),
    *("antwort", "lösung", "loesung", "ergebnis", "respuesta", "réponse", "reponse", "答案"),
)
"""The other languages are those of MGSM's prompts (Frage, Pregunta, Réponse, 答案) and of school books."""
_WHOLE_NAMES = frozenset(("correct",))  # AQuA's answers; is_correct is no answer
_OF_A_MODEL = frozenset(("predicted", "pred"))  # predicted_answer (MedAgents)
COMPLETION = (
    *("completions", "completion", "responses", "response", "generations", "generation", "generated", "outputs"),
    *("output", "predictions", "prediction", "samples", "candidates", "replies", "reply", "text", "texts"),
)


def guess(names: Iterable[str], words: Iterable[str]) -> str | None:
    """The column whose name is one of ``words`` or has it as a part (``gold_answer``); earlier words come first."""
    parts = {name: found for name in names if _OF_A_MODEL.isdisjoint(found := name_parts(name))}
    for word in words:
        for name, found in parts.items():
            if found == word.split():
                return name
    parts_of_names = [word for word in words if word not in _WHOLE_NAMES]
    return next((name for word in parts_of_names for name, found in parts.items() if word in found), None)


def name_parts(name: str) -> list[str]:
    """The words of a name in small letters: ``goldAnswer_2`` is ``gold`` and ``answer``."""
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return [part for part in re.split(r"[\W\d_]+", snake) if part]


def rows_below(row: Mapping[str, Any], file: str = "FILE") -> str:
    """What to do if the only row of a file has a list of rows in a column; empty if it has none."""
    lists = {name: value for name, value in row.items() if isinstance(value, list) and value}
    tables = {name: value for name, value in lists.items() if isinstance(value[0], dict)}
    if not tables:
        return ""
    name = max(tables, key=lambda name: (isinstance(tables[name][0].get("row"), dict), len(tables[name])))
    inner = ".row" if isinstance(tables[name][0].get("row"), dict) else ""  # as the viewer of the hub has them
    return f"; the rows are under {name!r}: jq -c '.{name}[]{inner}' {file} > rows.jsonl"
