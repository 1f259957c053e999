"""Where a statement ends: "The answer is 18 because ...", a formula, a block, or the rest of a sentence."""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from .result import MAX_LENGTH

WINDOW = 400  # characters of a text in which a statement ends

_SENTENCE_END = lazy_compile(
    r"\n|(?<!\b[A-Z])(?<!\b(?:Dr|Mr|Ms|St|Mt|vs|Jr|Sr))(?<!\b(?:Mrs|Gen|Inc|Vol|i\.e|e\.g))[.!?](?!(?<=\bNo\.)\s?\d)(?=[*_\"']{0,3}(?:\s|$))"
    r"|(?<=\b[A-Z])\.(?=\s*$|\s+(?:The|It|This|That|So|In|We|He|She|They|But|And|As|If|Since|Because|I|Wait|No|Therefore)\b)"
    r"|[\u3002\uff01\uff1f\uff1b\u0964\u061f\u06d4]|\uff0e(?=\s|$)|;(?:\s(?!\s{0,9}[-+$\\\d])|$)"
    r"|[,\uff0c]\s*(?=[\u4e00-\u9fff])"
    r"|,?\s+\(?(?=(?:because|since|and not|instead of|rather than)\b)"
    r"|(?:,\s+|\s+\()(?=(?:i\.e\.|e\.g\.|that is\b|namely\b|approx\b)"
    r"|(?:so|which|as|where|but|while|although|though|whereas|and (?:so|thus))\b"
    r"|not\b(?! (?:\w+ly )?(?:certain|sure|confident))"
    r"|(?-i:I)(?:['\u2019]m|\s[a-z]{2,}\b)|(?:we|you|it|he|she|they|this|that|there)\s[a-z])",
    re.IGNORECASE,
)
_MATH = {"$$": "$$", "\\[": "\\]", "\\(": "\\)", "$": "$"}
_FENCE = lazy_compile(r"(```|\"\"\")[a-z0-9+#]{0,12}[ \t]*\n\s*([^\n`]*?)[ \t]*(?:\n\s*)?\1")
_BLOCK = lazy_compile(r"(?:\A|\n)[ \t]*(?:\$\$|\\\[)\s*([^\n]+?)\s*(?:\$\$|\\\])\Z")
_IN_COMMAND = lazy_compile(r"\\(?:text|textbf|mathrm)\{[^{}]*\Z")
_TAG = lazy_compile(
    r"\A\s*</?(?:b|i|u|em|strong|mark|p|span|div|br)\s*/?>\s*|\s*</?(?:b|i|u|em|strong|mark|p|span|div|br)\s*/?>\s*\Z",
    re.IGNORECASE,
)


def statement(text: str, start: int) -> tuple[str, int]:
    """What is stated from ``start`` on, and where it ends: the block or formula there, else the rest of the sentence.

    A question states nothing: "The answer is 18? No, ...".
    """
    window = text[start : start + WINDOW]
    if window.startswith(("```", '"""')):
        fence = _FENCE.match(window)
        return (fence[2], start + fence.end()) if fence else ("", start)
    for opening, closing in _MATH.items():
        if window.startswith(opening):
            end = window.find(closing, len(opening))
            if end > 0 and (opening != "$" or "\n" not in window[:end]):
                end += len(closing)
                tail = _SENTENCE_END.split(window[end:], maxsplit=1)[0]
                after = tail.lstrip("*_") if tail.startswith(("**", "__")) else tail
                return (window[:end] + after).rstrip("*_"), start + end + len(tail)
    stop = _SENTENCE_END.search(window)
    if stop and stop.group() in "?\uff1f\u061f":
        return "", start
    stated = window[: stop.start() if stop else None]
    return _without_marks(text, start, stated), start + len(stated)


def _without_marks(text: str, start: int, stated: str) -> str:
    """What is stated without the marks of emphasis that begin in it or right before it, and without HTML's tags."""
    plain = stated.strip()
    if "}" in plain and _IN_COMMAND.search(text, max(0, start - 80), start):  # \\text{Answer: A}
        plain = plain.partition("}")[0].rstrip()
    if "*" in plain:
        mark = "**" if plain.startswith("**") or text[max(0, start - 2) : start] == "**" else "*"
        begins = plain.startswith(mark)
        if begins or text[start - 1 : start] == "*":
            plain = plain.removeprefix(mark).replace(mark, "", 1)
        elif plain.count("**") == 1:  # "**The answer is 18** dollars."
            plain = plain.replace("**", "")
    if "<" in plain and ">" in plain:
        plain = _TAG.sub("", plain) or plain
    stripped = plain.strip("*_")
    return plain.lstrip("*_") if plain.endswith("**") and stripped.count("**") % 2 else stripped


def block_at_end(text: str) -> str | None:
    """The one line in a fence or display block that ends the text; "" if there are several, ``None`` for no block."""
    tail = text[-MAX_LENGTH - 40 :]
    if text.endswith(("```", '"""')):
        opening = tail.rfind(text[-3:], 0, -3)
        fence = _FENCE.fullmatch(tail, opening) if opening >= 0 else None
        return fence[2] if fence else ""
    if text.endswith(("\n$$", "\n\\]")):
        block = _BLOCK.search(tail)
        return block[1] if block else ""
    return None
