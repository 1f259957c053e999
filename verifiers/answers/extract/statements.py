"""What a statement of an answer states: "The answer is 18 because ...", a formula, a block, or a sentence about it."""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from ..codes.chess import MOVE
from ..vocabulary.currencies import SIGNS
from ..vocabulary.doubts import UNSURE
from ..vocabulary.foreign_words import MONTHS
from .extracted import MAX_LENGTH, is_value

WINDOW = 400  # characters of a text in which a statement ends

_NEXT_SENTENCE = r"(?:The|It|This|That|These|So|In|We|He|She|They|But|And|As|If|Since|Because|I|A|An|Wait|No)\b"
NO_ABBREVIATION = (
    r"(?-i:(?!(?<=(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|ept|Oct|Nov|Dec)\.)\s\d)"
    r"(?!(?<=\b(?:Dr|Mr|Ms|Lt|St|Mt|vs)\.)\s[A-Z])(?!(?<=\b(?:Mrs|Col|Gen|Sen|Gov|Rev|Sgt)\.)\s[A-Z])"
    r"(?!(?<=\b(?:Prof|Capt)\.)\s[A-Z])(?!(?<=\b(?:No|pp|Ch)\.)\s\d)(?!(?<=\b(?:Apt|Ste|Fig|Vol|Sec|Art)\.)\s\d)(?!(?<=\bp\.)\s\d)"
    r"(?!(?<=\b(?:i\.e|e\.g)\.)\s)(?!(?<=\bapprox\.)\s[\d$~])"
    rf"(?!(?<=\b[A-Z]\.)\s[A-Z]\.)(?!(?<=\b[A-Z]\.[A-Z]\.)\s(?!{_NEXT_SENTENCE})[A-Z][a-z])"
    rf"(?!(?<=\b[A-Z]\.\s[A-Z]\.)\s(?!{_NEXT_SENTENCE})[A-Z][a-z]))"
)
"""Behind a period: "Sept. 5", "Mt. Everest", "p. 42" and "J. K. Rowling" are not the end of a sentence."""
_SENTENCE_END = lazy_compile(
    r"\n|[.!?](?=[*_]{0,3}(?:\s|$))"
    + NO_ABBREVIATION
    + r"|[\u3002\uff01\uff1f\uff1b\u0964\u061f\u06d4]|\uff0e(?=\s|$)|;(?:\s(?!\s{0,9}[-+$\\\d])|$)"
    r"|[,\uff0c]\s*(?=[\u4e00-\u9fff])"
    r"|,?\s+\(?(?=(?:because|since|and not|instead of|rather than)\b)"
    r"|(?:,\s+|\s+\()(?=(?:i\.e\.|e\.g\.|that is\b|namely\b|approx\b)"
    r"|(?:so|which|as|where|but|while|although|though|whereas|and (?:so|thus))\b"
    r"|not\b(?! (?:\w+ly )?(?:certain|sure|confident))"
    r"|(?-i:I)(?:['\u2019]m|\s[a-z]{2,}\b)|(?:we|you|it|he|she|they|this|that|there)\s[a-z])",
    re.IGNORECASE,
)
# What stands before and behind a period that ends no sentence.
_MOVES = rf"(?:{MOVE.pattern})(?:\s(?:\d{{1,3}}\.\s?)?(?:{MOVE.pattern})){{0,20}}"
_PERIOD = tuple(
    (lazy_compile(before), lazy_compile(after))
    for before, after in (
        (r"\A\W{0,3}[A-Z]\Z", r"\s(?!(?:so|as|because|but|since|and|or|not|if|while|though|is|are)\b)[a-z]{2}"),
        (
            r"(?<![\w'-])(?!(?:Option|Choice|Answer|Statement|Letter|Figure|Part|Type|Vitamin|Group|Plan)\b)"
            r"[A-Z][a-z]{1,20} [A-Z]\Z",
            rf"\s(?!{_NEXT_SENTENCE})[A-Z][\w'-]+(?=[.,;)*\n]|\s*\Z|\s[A-Z(])",
        ),
        (r"\b[A-Z][a-z]{1,4}\Z", r"\s\d{1,3}:\d"),
        (r"(?:\A|\s)\d{1,3}(?:\.\.)?\Z", rf"\s?{_MOVES}[.!]?[*_]{{0,2}}\s*(?:\n|\Z)"),  # 1. e4 e5
        (r"\b(?:Inc|Ltd|Corp|Co|Jr|Sr)\Z", r"\s\("),
    )
)
_MATH = {"$$": "$$", "\\[": "\\]", "\\(": "\\)", "$": "$"}
_FENCE = lazy_compile(r"```[a-z0-9+#]{0,12}[ \t]*\n\s*([^\n`]*?)[ \t]*(?:\n\s*)?```")
_BLOCK = lazy_compile(r"(?:\A|\n)[ \t]*(?:\$\$|\\\[)\s*([^\n]+?)\s*(?:\$\$|\\\])\Z")
_OPTION = lazy_compile(r"(?:option|choice|letter)\s+(?=[(\[]?[A-Za-z][)\].:])", re.IGNORECASE)
_CLAUSE = lazy_compile(
    r"\b(?:is|are|equals|will be|would be|makes?|has|have|had|earns?|costs?|needs?|gets?|takes?|pays?|spends?|saves?"
    r"|sells?|weighs?|gives?|reads?|eats?|buys?|contains?|becomes|totals?|made|earned|paid|spent|saved|sold|bought)"
    rf"\s+(?:exactly\s+|now\s+|therefore\s+|also\s+|a total of\s+|equal to\s+)?(?=[-+{SIGNS}\\\d.(\[])",
    re.IGNORECASE,
)
_CLOSING_TAG = lazy_compile(r"\s*</?(b|i|u|em|strong|mark|code|p|span|div|br|center|li|h[1-6])\s*/?>\s*", re.IGNORECASE)
_CLOSING_BOLD = lazy_compile(r"(?<=\S)\*\*(?=\s+[^\W\d_])")
_HTML = lazy_compile(r"<(b|i|u|em|strong|mark)>([^<>]+)</\1>", re.IGNORECASE)
_BOLD = lazy_compile(r"\*\*([^*\n]{1,80})\*\*")


def statement(text: str, start: int) -> tuple[str, int]:
    """What is stated from ``start`` on, and where it ends: the block or formula there, else the rest of the sentence.

    A question states nothing: "The answer is 18? No, ...".
    """
    window = text[start : start + WINDOW]
    if window.startswith("```"):
        fence = _FENCE.match(window)
        return (fence[1], start + fence.end()) if fence else ("", start)
    for opening, closing in _MATH.items():
        if window.startswith(opening):
            end = window.find(closing, len(opening))
            if end > 0 and (opening != "$" or "\n" not in window[:end]):
                end += len(closing)
                tail = _SENTENCE_END.split(window[end:], maxsplit=1)[0]
                after = tail.lstrip("*_") if tail.startswith(("**", "__")) else tail
                return (window[:end] + after).rstrip("*_"), start + end + len(tail)
    stop = _SENTENCE_END.search(window)
    while stop and stop.group() == "." and _goes_on(window[: stop.start()], window[stop.end() :]):
        stop = _SENTENCE_END.search(window, stop.end())
    if stop and stop.group() in "?\uff1f\u061f":
        return "", start
    stated = window[: stop.start() if stop else None]
    return _without_marks(text, start, stated), start + len(stated)


def _goes_on(before: str, after: str) -> bool:
    """Whether a period between two texts ends no sentence: ``B. photosynthesis``, ``John F. Kennedy``, ``Gen. 1:1``."""
    if any(start.search(before) and rest.match(after) for start, rest in _PERIOD):
        return True
    day = before[-3:].split()[-1:]  # 3. Oktober 1990
    words = after[:40].split() if day and day[0].isdigit() and len(day[0]) < 3 else []
    return len(words) > 1 and words[0].lower() in MONTHS and words[1].strip(".,*").isdigit()


def _without_marks(text: str, start: int, stated: str) -> str:
    """What is stated without the marks of emphasis that begin in it or right before it, and without HTML's tags."""
    plain = stated.strip()
    if "*" in plain:
        mark = "**" if plain.startswith("**") or text[max(0, start - 2) : start] == "**" else "*"
        begins = plain.startswith(mark)
        if begins or text[start - 1 : start] == "*":
            plain = plain.removeprefix(mark).replace(mark, "", 1)
        elif plain.count("**") == 1:  # "**The answer is 18** dollars."
            plain = _CLOSING_BOLD.sub("", plain)
    if plain.endswith(">") or plain.startswith("</"):
        plain = _without_closing_tags(plain)
    elif "</" in plain:
        plain = _HTML.sub(r"\2", plain)
    stripped = plain.strip("*_")
    return plain.lstrip("*_") if plain.endswith("**") and stripped.count("**") % 2 else stripped


def _without_closing_tags(text: str) -> str:
    """The text without line breaks and closing tags of HTML at its edges whose opening tags are not in it."""
    if (match := _CLOSING_TAG.match(text)) and match.end() < len(text):
        text = text[match.end() :]
    while text.endswith(">") and (match := _CLOSING_TAG.fullmatch(text, max(0, text.rfind("<")))):
        if match.start() == 0 or (match[1].lower() != "br" and f"<{match[1].lower()}>" in text.lower()):
            break
        text = text[: match.start()].rstrip()
    return text


def value_of(sentence: str) -> str:
    """The value that a sentence gives ("The largest n is 34"), if it is about nothing else; else the sentence."""
    if option := _OPTION.match(sentence):
        return sentence[option.end() :]
    if len(sentence) > WINDOW or not sentence[:1].isalpha() or UNSURE.search(sentence):
        return sentence
    bold: set[str] = set(_BOLD.findall(sentence))
    clause = _CLAUSE.search(sentence)
    values = [*bold] if len(bold) == 1 else [sentence[clause.end() :]] if clause else []
    return next(filter(is_value, values), sentence)


def block_at_end(text: str) -> str | None:
    """The one line in a fence or display block that ends the text; "" if there are several, ``None`` for no block."""
    tail = text[-MAX_LENGTH - 40 :]
    if text.endswith("```"):
        opening = tail.rfind("```", 0, -3)
        fence = _FENCE.fullmatch(tail, opening) if opening >= 0 else None
        return fence[1] if fence else ""
    if text.endswith(("\n$$", "\n\\]")):
        block = _BLOCK.search(tail)
        return block[1] if block else ""
    return None
