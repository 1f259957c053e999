r"""The source ``boxed``: ``\boxed{18}``, ``\boxed 18``, ``\fbox{18}``."""

from __future__ import annotations

from grpo_env.lazy_regex import lazy_compile

from .extracted import MAX_ANSWERS, ExtractedAnswer, extracted, is_denied, unit_behind

NOT_CLOSED = "the box is not closed"
EMPTY = "the box is empty"

_SYMBOL = r"\\(?:pi|infty|emptyset|varnothing|theta|alpha|beta)(?![A-Za-z])"
_BOX = lazy_compile(
    r"\\(?:boxed|fbox)\s{0,9}(?:\{|(?P<bare>[-+]?[\d.][^\s${}\\]{0,40}|" + _SYMBOL + r"))|\\[\\{}]|[{}]"
)
_BLANK = lazy_compile(r"(?:\\(?:phantom|hspace)\{[^{}]*\}|\\q?quad|\\[,;: ]|[\s?_~$])*")


def boxed(text: str) -> ExtractedAnswer | None:
    """The contents of the outermost boxes that are not blank."""
    if "\\" not in text or ("\\boxed" not in text and "\\fbox" not in text):  # one sign is found faster
        return None
    start = min(at for at in (text.find("\\boxed"), text.find("\\fbox")) if at >= 0)
    while start and text[start - 1] == "\\":  # one before it may escape the backslash of the box
        start -= 1
    open_braces: list[tuple[int, int] | None] = []  # where the box and its content start, for those of a box
    answers: list[str] = []
    denied, depth, end = False, 0, 0
    for match in _BOX.finditer(text, start):
        token = match.group()
        if token == "{":
            open_braces.append(None)
        elif token == "}" and open_braces:
            box = open_braces.pop()
            depth -= box is not None
            content = text[box[1] : match.start()] if box is not None and depth == 0 else ""
            if box is not None and not _BLANK.fullmatch(content):
                end = match.end()
                answers.append(content)
                denied = denied or (len(answers) <= MAX_ANSWERS and is_denied(text, box[0]))
        elif match["bare"] and depth == 0:
            end = match.end()
            answers.append(match["bare"])
            denied = denied or (len(answers) <= MAX_ANSWERS and is_denied(text, match.start()))
        elif token[-1] == "{" and len(token) > 2:
            open_braces.append(match.span())
            depth += 1
    if depth:
        return ExtractedAnswer((), "boxed", NOT_CLOSED)
    unit = unit_behind(text, end) if len(answers) == 1 else ""
    return extracted(answers, "boxed", EMPTY, denied, end)._replace(unit=unit)
