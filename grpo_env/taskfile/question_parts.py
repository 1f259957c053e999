"""What belongs to a question besides its own column: options, a passage or a table, the unit of the answer.

Without them nobody can answer. Needed by MMLU, C-Eval and CMMLU (columns A to D), MedMCQA (opa to opd), AQuA, ARC and
simple-evals-ru (one column with a list or a mapping), TAT-QA (table and text), SVAMP (Body), DROP and SQuAD (passage,
context), and SciBench (unit).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grpo_env.rows.column_names import ANSWER, guess

Row = Mapping[str, Any]

LETTERS = "ABCDEFGHIJ"
SAMPLE = 200  # rows that are looked at
MOST = 0.9  # of the gold answers have to name an option
HOLDERS = ("options", "choices", "option", "choice", "endings", "选项")
PASSAGES = (
    *("passage", "context", "table", "text", "body", "paragraph", "article", "document", "story", "premise"),
    *("options", "choices"),  # as one text, as in MathQA
)
UNITS = ("unit", "units", "einheit")
_ONE_OF = re.compile(r"(|options?|choices?|opt?|answer|ending|sol|选项)[ _]?([a-j]|\d)", re.IGNORECASE)
_LABELED = re.compile(r"\s*\(?[A-J1-9][).:]")
_LETTER = re.compile(r"\(?([A-Ja-j])\)?[.:]?")


@dataclass(frozen=True)
class Options:
    """The options of a choice: their columns (one for each, or one that holds all), and what writes them in a prompt.

    ``base`` is the first number, if gold answers are numbers of options: 0 or 1; ``None`` if they are letters or texts.
    """

    columns: tuple[str, ...]
    template: str
    base: int | None = None

    def texts(self, row: Row) -> list[str]:
        """The options of a row, none if it has none."""
        return _texts([row.get(name) for name in self.columns])


def find_options(rows: Sequence[Row], answer: Sequence[str], taken: Collection[str] = ()) -> Options | None:
    """The options of which the gold answers (``answer``, by row) name one; ``None`` if there are none."""
    names = [name for name in rows[0] if name not in taken] if rows else []
    candidates = [_columns_of_options(names), *([name] for name in names if guess([name], HOLDERS))]
    for columns in filter(None, candidates):
        options = Options(tuple(columns), "")
        found = [(gold.strip(), options.texts(row)) for gold, row in zip(answer[:SAMPLE], rows, strict=False)]
        found = [(gold, texts) for gold, texts in found if len(texts) > 1]
        by_text = sum(gold in texts for gold, texts in found)
        by_letter = sum(_letter(gold) < len(texts) for gold, texts in found)
        numbers = [int(gold) for gold, texts in found if gold.isdecimal() and int(gold) <= len(texts)]
        by_number = 0 if set(LETTERS).issuperset(columns[0].upper()) else len(numbers)
        most = max(by_text, by_letter, by_number)
        if found and most >= MOST * len(found):
            template = _options_template(columns, rows, has_labels=most > by_text)
            base = (0 if 0 in numbers else 1) if most == by_number > max(by_text, by_letter) else None
            return Options(tuple(columns), template, base)
    return None


def find_passages(rows: Sequence[Row], taken: Collection[str] = ()) -> list[str]:
    """The columns that hold a passage or a table for the question, but no answer."""
    names = [name for name in (rows[0] if rows else ()) if name not in taken]
    return [
        name
        for name in names
        if guess([name], PASSAGES) and not guess([name], ANSWER) and _are_filled([row.get(name) for row in rows])
    ]


def find_unit(rows: Sequence[Row], taken: Collection[str] = ()) -> str | None:
    """The column with the units of the answers."""
    name = guess([name for name in (rows[0] if rows else ()) if name not in taken], UNITS)
    return name if name and any(_texts(row.get(name)) for row in rows) else None


def variable(column: str) -> str:
    """A column in a template: its name, or ``row['its name']``."""
    return column if column.isidentifier() and column not in ("row", "format") else f"row[{column!r}]"


def passage_template(column: str, rows: Sequence[Row]) -> str:
    """What writes a passage, a list of paragraphs, or a table of rows, each on a line."""
    value = next((row[column] for row in rows if row.get(column)), "")
    if not isinstance(value, list):
        return f"{{{{ {variable(column)} }}}}"
    cells = " | map('join', ' | ')" if any(isinstance(item, list) for item in value) else ""
    return f"{{{{ {variable(column)}{cells} | join('\\n') }}}}"


def shown(value: Any, prompt: str) -> bool:
    """Whether a prompt shows a value: each text in it, apart from spaces at its ends."""
    return all(text in prompt for text in _texts(value))


def _columns_of_options(names: Sequence[str]) -> list[str]:
    """The columns ``A``, ``B``, ``C``, …, or ``option_1``, ``option_2``, …: at least two, three if only letters."""
    groups: dict[str, dict[str, str]] = defaultdict(dict)
    for name in names:
        if (match := _ONE_OF.fullmatch(name)) and not (match[1] == "" and match[2].isdecimal()):
            groups[match[1].casefold()][match[2].casefold()] = name
    for prefix, found in groups.items():
        for first in "a10":
            ends = "".join(chr(ord(first) + step) for step in range(len(found)))
            if list(found) == list(ends) and len(found) >= (2 if prefix else 3):
                return list(found.values())
    return []


def _options_template(columns: Sequence[str], rows: Sequence[Row], has_labels: bool) -> str:
    """What writes the options, one on a line, with the letter or number of each if answers name them so."""
    if len(columns) > 1:
        labels = [f"{letter}) " if has_labels else "" for letter in LETTERS]
        return "\n".join(f"{label}{{{{ {variable(name)} }}}}" for label, name in zip(labels, columns, strict=False))
    name = variable(columns[0])
    value: Any = next((row[columns[0]] for row in rows if _texts(row.get(columns[0]))), [])
    if isinstance(value, dict) and {"text", "label"} <= value.keys():
        return f"{{% for option in {name}.text %}}{{{{ {name}.label[loop.index0] }}}}) {{{{ option }}}}\n{{% endfor %}}"
    if isinstance(value, dict):
        return f"{{% for letter, option in {name} | items %}}{{{{ letter }}}}) {{{{ option }}}}\n{{% endfor %}}"
    if not has_labels or all(_LABELED.match(str(option)) for option in value):
        return f"{{{{ {name} | join('\\n') }}}}"
    return f"{{% for option in {name} or [] %}}{{{{ '{LETTERS}'[loop.index0] }}}}) {{{{ option }}}}\n{{% endfor %}}"


def _letter(gold: str) -> int:
    """The number, from 0, of the option that a letter is; one that no option has if it is none."""
    match = _LETTER.fullmatch(gold)
    return LETTERS.index(match[1].upper()) if match else len(LETTERS)


def _texts(value: Any) -> list[str]:
    """The texts and numbers in a value, at any depth, without spaces at their ends; those of ``text`` beside labels."""
    if isinstance(value, dict):
        return _texts(value["text"]) if {"text", "label"} <= value.keys() else _texts(list(value.values()))
    if isinstance(value, list | tuple):
        return [text for item in value for text in _texts(item)]
    text = "" if value is None else str(value).strip()
    return [text] if text else []


def _are_filled(values: Sequence[Any]) -> bool:
    """Whether at least half of some values are texts, or lists of them."""
    texts = [value for value in values if isinstance(value, str | list) and _texts(value)]
    return bool(values) and 2 * len(texts) >= len(values)
