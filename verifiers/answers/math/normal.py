# ruff: noqa: RUF001  (replaces look-alike characters)
r"""One spelling for what is written in many: ``\dfrac12``, ``½`` and ``\frac{1}{2}`` become the same text.

The mathematical meaning stays the same. Inputs are answers, not whole completions: callers bound their length.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import TypeAlias

from grpo_env.lazy_regex import lazy_compile

from ...words import normalized
from ..quantities.unit_names import LETTERS

Replacement: TypeAlias = str | Callable[[re.Match[str]], str]

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_SYMBOLS = {
    **dict.fromkeys("−–—‐‑﹣-", "-"),
    **dict.fromkeys("×✕✖", r"\times "),
    **dict.fromkeys("·⋅∙", r"\cdot "),
    **dict.fromkeys("\u00a0\u2009\u202f\u200a\u3000", " "),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", ""),
    **dict.fromkeys("’‘", "'"),
    "÷": "/", "∕": "/", "⁄": "/", "／": "/", "±": r"\pm ", "√": r"\sqrt ", "π": r"\pi ", "∞": r"\infty ",
    **dict.fromkeys("“”", '"'),
    "≈": r"\approx ", "∓": r"\mp ", "∛": r"\sqrt[3]", "∜": r"\sqrt[4]", "⟨": r"\langle ", "⟩": r"\rangle ",
    "ℝ": r"\mathbb{R}", "∖": r"\setminus ", "∣": r"\mid ", "¬": r"\lnot ", "∨": r"\lor ", "∧": r"\land ",
    "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ", "∅": r"\emptyset ",
    **dict.fromkeys("\u212b\u00c5", r"\AA "),
    "∼": r"\sim ",
    "º": "°", "˚": "°", "℃": "°C", "℉": "°F", "′": "'", "″": "''", "µ": r"\mu ",
    **dict.fromkeys("\u2126\u03a9", r"\Omega "),
    "％": "%", "＄": "$", "，": ",", "．": ".", "（": "(", "）": ")", "＝": "=", "＋": "+",
    "٪": "%", "٫": ".", "٬": ",", "،": ",", "؛": ";",
    "…": r"\ldots ", "。": ".", "、": ",", "！": "!", "？": "?",
}  # fmt: skip
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ϵ": "epsilon", "ζ": "zeta", "η": "eta",
    "θ": "theta", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "ρ": "rho", "σ": "sigma", "τ": "tau",
    "φ": "phi", "ϕ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma", "Δ": "Delta", "Φ": "Phi", "Ψ": "Psi",
}  # fmt: skip
_VARIANTS = {"varepsilon": "epsilon", "varphi": "phi", "vartheta": "theta", "varrho": "rho", "varsigma": "sigma"}
_SQUARE_METERS = lazy_compile(r"(?<=\d)\s?m([²³])")
_GREEK_WORD = lazy_compile("[\u0370-\u03ff]{3}")
_UNICODE_ROOT = lazy_compile(r"([√∛∜])\s?(\d+(?:\.\d+)?)")
_ROOTS = {"√": r"\sqrt", "∛": r"\sqrt[3]", "∜": r"\sqrt[4]"}

_ABOUT = lazy_compile(r"~(?!0[xXbBoO])(?=\s?(?:[-+$]?\s?[\d.]|[A-Za-z]{3}))")  # elsewhere it is a space, or a negation
_COMMAND = lazy_compile(r"\\([A-Za-z]+)")
_VARIANT = lazy_compile(r"\\(var[a-z]{3,7})(?![A-Za-z])")
_NEW_NAMES = {
    "dfrac": r"\frac", "tfrac": r"\frac", "cfrac": r"\frac", "dbinom": r"\binom", "tbinom": r"\binom",
    "leq": r"\le", "geq": r"\ge", "leqslant": r"\le", "geqslant": r"\ge", "lt": "<", "gt": ">", "neq": r"\ne",
    "lvert": "|", "rvert": "|", "vert": "|",
    "backslash": r"\setminus", "smallsetminus": r"\setminus", "colon": ":", "R": r"\mathbb{R}",
    "degree": "°", "circ": "°", "lbrace": r"\{", "rbrace": r"\}", "lbrack": "[", "rbrack": "]", "dots": r"\ldots",
    "lg": r"\log_{10}", "tg": r"\tan", "ctg": r"\cot", "arctg": r"\arctan", "arcctg": r"\arccot",
    "pounds": "£", "textsterling": "£", "euro": "€", "yen": "¥", "textdollar": "$", "textdegree": "°", "degrees": "°",
    "celsius": "°C", "percent": "%",
    "cdots": r"\ldots", "varnothing": r"\emptyset", "overrightarrow": r"\vec",
    **dict.fromkeys(("mathrm", "textrm", "textbf", "mathbf", "textit", "mathit", "mbox", "hbox"), r"\text"),
    **dict.fromkeys(("textnormal", "emph", "boldsymbol", "mathsf", "textsf", "texttt", "mathtt"), r"\text"),
    **dict.fromkeys(("left", "right", "displaystyle", "middle", "textstyle", "limits", "operatorname"), ""),
    **dict.fromkeys((f"{big}{side}" for big in ("big", "bigg", "Big", "Bigg") for side in ("", "l", "r", "m")), ""),
}  # fmt: skip
_BOLD = lazy_compile(r"\\(?:mathbf|boldsymbol|bm|textbf)\s*\{?\s*(\\?[A-Za-z]+)\s*\}?")
_BOLD_FACTOR = lazy_compile(r"\\(?:times|cdot)\s*\\(?:mathbf|boldsymbol|bm|textbf)(?![A-Za-z])")
_ESCAPED_SIGN = lazy_compile(r"\\([%$&])")
_REALS = lazy_compile(r"\\mathbb R(?![A-Za-z])")
_COMPARISON = lazy_compile("<=|>=")
_SPACE_AT_END = lazy_compile(r" (?=\})")
_UNPRINTED = lazy_compile(r"\s?\\!\s*|\\[hv]?phantom\s?\{[^{}]*\}")
_SPACES = lazy_compile(r"(?:(?<!\\)\\[,;: ]|\\q?quad(?![A-Za-z])|~|\s)+")
_TEXT = lazy_compile(
    r"(?P<before>(?:[\d})\]]|\\pi)[ ~]{0,3}|[\d})\]]\\[,;: ])?\\text\s*\{(?P<text>(?:[^{}]|\^\{-?\d\})*)\}"
)
_AFTER_NAMES = ("_", "^", "'", "(")  # \mathbf{v}_1, \mathbf{r}(t)
_BARE_TEXT = lazy_compile(r"\\text\s+(?=[A-Za-z](?![A-Za-z]))")  # \mathbf r
_TRANSPOSE = lazy_compile(r"\^\s?(?:\\(?:top|intercal)(?![a-z])|\{\s?(-?)\s?\\(?:top|intercal)\s?\})")
_RAISED_DEGREE = lazy_compile(r"(?:\{\s*\})?\s*\^\s*(?:°|\{\s*°\s*\})")
_INLINE = lazy_compile(r"(?<!\\)\\\((.+?)\\\)")  # \(x = 5\)
_FUNCTION = lazy_compile(
    r"\\operatorname\s*\{\s*((?:arc)?(?:sin|cos|tan|cot|sec|csc|tg|ctg)|sinh|cosh|tanh|ln|lg|log|exp|max|min|gcd|lcm)\s*\}"
)
_BETWEEN_DOLLARS = lazy_compile(r"(?<=[-+*/=,])\s*\$\s+\$")  # a formula that goes on: x_0 +$ $v_0 t
_ROW_SPACE = lazy_compile(r"\\\\\[-?\d*\.?\d+ ?(?:pt|em|ex|mm|cm)\]")
_NO_BACKSLASH = lazy_compile(r"(?<![A-Za-z\\])(?:(?:sqrt|frac)(?=\{)|(?:Theta|Omega)(?=\())")
_NO_IMAGINARY = lazy_compile(r"(?<=\d)\s*[-+]\s*0(?:\.0+)?\s*i\Z")
_PREFIXED = lazy_compile(r"(?<![\w.])0(?:[xX][0-9A-Fa-f]{1,40}|[bB][01]{1,160}|[oO][0-7]{1,60})(?!\w)")
# A decimal comma, 0{,}75, unless it separates thousands, 1{,}234
_BRACED_COMMA = lazy_compile(
    r"(?<![\d}.])(?P<whole>\d+(?:(?:\\,|[.~ ])\d{3})*)\{,\}"
    r"(?:(?P<places>\d+)(?!\d|\{,\})|(?=\(\d|\\(?:overline|bar|dot)))"
)
_BRACED_SIGN = lazy_compile(r"\s?\{([,:])\}\s?")
_SPACE_IN_BRACES = lazy_compile(r"\{ ?([-+]?) ?")
_ROOT_OF_BRACKETS = lazy_compile(r"\\sqrt\s?\(([^()]*)\)")
# A power with digits is left alone: TeX reads 2^10 as 2^{1}0, but nobody means that.
_LATEX = lazy_compile(r"\\sqrt\s*\[[^\[\]]{0,20}\]|\\[A-Za-z]+|\\.|(?P<script>[\^_])(?=\s*\\[A-Za-z])|\s+|.", re.DOTALL)
_ARGUMENTS = {
    r"\frac": 2,
    r"\binom": 2,
    **dict.fromkeys((r"\sqrt", r"\vec", r"\dot", r"\ddot", r"\bar", r"\tilde", r"\hat"), 1),
}
_WRAPPERS = (
    ("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"), ("**", "**"), ("__", "__"), ("*", "*"), ("`", "`"),
    ('"', '"'),
)  # fmt: skip
_FIRST_OF_WRAPPERS = frozenset('$\\*_`"{')
_ENDINGS = ("p.m.", "a.m.", "..")  # where the period belongs to the answer
_BRACED = lazy_compile(r"(?:\\(?:boxed|fbox)\s*)?\{")
_ESCAPED = lazy_compile(r"\\\\(?=[A-Za-z])")
_DOLLARS = lazy_compile(r"(?<!\\)\$\$?")
_JOINED = lazy_compile(r"[\s,;]*(?:and|or)?\s*")  # what stands between currency signs: $5 and $6
_LINE_BREAK = lazy_compile(r"\s*\n\s*")
_BETWEEN = lazy_compile(r"(?<=\d) (?=[A-Za-z])")  # 2 k
_ORDER = lazy_compile(r"\\mathcal\s*(?:\{\s*O\s*\}|O)\s*(?=\()")  # of growth
_MAY_LACK_BRACES = lazy_compile(
    r"\\(?:frac|binom)(?!\{[^{}]*\}\{[^{}]*\})|\\(?:sqrt|vec|d?dot|bar|tilde|hat)(?![A-Za-z{])|[\^_]\s*\\"
)
_OUTER_SPACE = lazy_compile(r"(?<![A-Za-z0-9])\s+|\s+(?![A-Za-z0-9])")
_SHORT_SCRIPT = lazy_compile(r"([\^_])\{(\w)\}(?!\w)")


def _one_form(match: re.Match[str]) -> str:
    r"""``\epsilon`` for ``\varepsilon``, unless the text has both forms of the letter."""
    letter = _VARIANTS.get(match[1])
    return rf"\{letter}" if letter and not re.search(rf"\\{letter}(?![A-Za-z])", match.string) else match[0]


def _with_point(match: re.Match[str]) -> str:
    """``0.75`` of ``0{,}75``."""
    whole, places = match["whole"], match["places"] or ""
    if len(places) == 3 and len(whole) <= 3 and whole != "0":
        return match[0]
    return re.sub(r"\\,|[.~ ]", "", whole) + "." + places


def _plain_text(match: re.Match[str]) -> str:
    r"""The words of ``\text{…}``. One letter after a number stays text, to tell the unit m from a variable."""
    words = match["text"].strip(" ~")
    if match.string[: match.start()].endswith("_"):  # v_\text{max}
        return f"{{{words}}}"
    if match["before"] and words in LETTERS:
        return rf"{match['before']}\text{{{words}}}"
    is_name = len(words) == 1 and match.string[match.end() : match.end() + 1] in _AFTER_NAMES
    return f"{match['before'] or ''} {words}" if is_name else f"{match['before'] or ''} {match['text']} "


def _vector(match: re.Match[str]) -> str:
    """A bold letter of a cross or dot product, whose factors have an order."""
    return rf"\vec{{{match[1]}}}" if _BOLD_FACTOR.search(match.string) else match[0]


# Rewritings in this order; the first text of each is in every match of its pattern, and is found faster.
_COMMANDS: tuple[tuple[str, re.Pattern[str], Replacement], ...] = (
    *((unprinted, _UNPRINTED, "") for unprinted in ("\\!", "phantom")),
    ("\\operatorname", _FUNCTION, r"\\\1 "),
    *((product, _BOLD, _vector) for product in ("\\times", "\\cdot")),
    ("\\var", _VARIANT, _one_form),
    ("\\", _COMMAND, lambda match: _NEW_NAMES.get(match[1], match[0])),
    ("\\top", _TRANSPOSE, lambda match: "^{-T}" if match[1] else "^T "),
    ("°", _RAISED_DEGREE, "°"),
    ("\\mathcal", _ORDER, "O"),
    ("\\text", _TEXT, _plain_text),
    ("\\text", _BARE_TEXT, " "),
    *((root, _ROOT_OF_BRACKETS, r"\\sqrt{\1}") for root in ("\\sqrt(", "\\sqrt (")),
    ("\\mathbb R", _REALS, r"\\mathbb{R}"),
    *((sign, _ESCAPED_SIGN, r"\1") for sign in ("\\%", "\\$", "\\&")),
)
_ALL: tuple[tuple[str, re.Pattern[str], Replacement], ...] = (
    ("\\\\[", _ROW_SPACE, r"\\\\"),
    *((end, _NO_BACKSLASH, r"\\\g<0>") for end in ("rt{", "ac{", "Theta(", "Omega(")),
    *((zero, _NO_IMAGINARY, "") for zero in ("0i", "0 i")),
    ("0", _PREFIXED, lambda match: str(int(match[0], 0))),
    ("{,}", _BRACED_COMMA, _with_point),
    *((braced, _BRACED_SIGN, r"\1") for braced in ("{,}", "{:}")),
    ("=", _COMPARISON, lambda match: r"\le " if match[0] == "<=" else r"\ge "),
    *((space, _SPACES, " ") for space in (r"\,", r"\;", r"\:", "\\ ", "quad", "~")),
)
_BRACES = (*((brace, _SPACE_IN_BRACES, r"{\1") for brace in ("{ ", "{- ", "{+ ")), (" }", _SPACE_AT_END, ""))


def normal(text: str) -> str:
    """The normal spelling of an answer."""
    text = unwrapped(_ascii(text)).replace("+/-", r"\pm ")
    if text.isalnum() and text.isascii():
        return text
    if text.startswith("~") and _ABOUT.match(text):
        text = rf"\sim {text[1:]}"
    if "\\(" in text and "$" not in text:
        text = _INLINE.sub(r"\1", text)
    if text.count("$") > 1:
        text = _without_dollars(_BETWEEN_DOLLARS.sub(" ", text))
    if "\\" in text:
        if "\\\\" in text and "\\begin" not in text:  # escaped twice: \\\\frac{1}{2}
            text = _ESCAPED.sub(r"\\", text)
        text = _braced(_rewritten(text, _COMMANDS)).replace(r"\vec{0}", "0")
    text = " ".join(_rewritten(text, _ALL).split())
    if "{" in text:
        text = _rewritten(text, _BRACES)
    text = text.lstrip("=: ")
    while text.endswith((".", ",", ";", ":")) and not text.endswith(_ENDINGS):
        text = text[:-1].rstrip()
    return text


def _rewritten(text: str, rewritings: tuple[tuple[str, re.Pattern[str], Replacement], ...]) -> str:
    for hint, pattern, replacement in rewritings:
        if hint in text:
            text = pattern.sub(replacement, text)
    return text


def unwrapped(text: str) -> str:
    r"""The text without outer white space, ``$…$``, emphasis, quotes, braces, ``\boxed{…}`` and a period."""
    text = text.strip()
    for _ in range(8):
        before = text
        if text.endswith(".") and not text.endswith(_ENDINGS):
            text = text[:-1].rstrip()
        if text[:1] in _FIRST_OF_WRAPPERS:
            text = _without_wrappers(text)
        if text == before:
            break
    return text


def _without_wrappers(text: str) -> str:
    for opening, closing in _WRAPPERS:
        wrapped = text.startswith(opening) and text.endswith(closing) and len(text) > len(opening) + len(closing)
        if wrapped and text[-len(closing) - 1] != "\\":
            inner = text[len(opening) : -len(closing)]
            if opening not in inner.replace("\\$", ""):
                text = inner.strip()
    braced = _BRACED.match(text)
    if braced and text.endswith("}") and _closes_at_end(text, braced.end()):
        text = text[braced.end() : -1].strip()
    return text


def _without_dollars(text: str) -> str:
    """``$x=1$ or $x=2$`` without the dollars, unless they may be currency signs; a line break is a comma there."""
    edges = list(_DOLLARS.finditer(text))
    parts, at = [], 0
    for opening, closing in zip(edges[::2], edges[1::2], strict=False):
        inner = text[opening.end() : closing.start()]
        after = text[closing.end() : closing.end() + 1]
        joined = _JOINED.match(inner)
        cut = inner.rstrip()[-1:] in ",;-" and "\\" not in inner
        is_currency = after.isdecimal() or cut or (joined and joined.group().strip())
        if opening.group() != closing.group() or is_currency:
            return text
        between = text[at : opening.start()]
        parts += [", " if at and _LINE_BREAK.fullmatch(between) else between, " ", inner, " "]
        at = closing.end()
    return text if len(edges) % 2 else "".join([*parts, text[at:]])


def same_text(one: str, other: str) -> bool:
    r"""Whether two texts in normal spelling differ only in spaces and in braces around one letter or digit."""
    return one == other or (_characters(one) == _characters(other) and _bare(one) == _bare(other))


def _characters(text: str) -> str:
    """The text without spaces and braces, which tells most different texts apart."""
    return "".join(text.split()).replace("{", "").replace("}", "")


def _bare(text: str) -> str:
    return _BETWEEN.sub("", _SHORT_SCRIPT.sub(r"\1\2", squeezed(text)))


def squeezed(text: str) -> str:
    """The text without spaces, except between two letters or digits: for comparing texts."""
    has_inner_spaces = len(text.split(None, 1)) > 1
    return _OUTER_SPACE.sub("", text) if has_inner_spaces else text.strip()


def _braced(text: str) -> str:
    r"""Braces around every argument of a fraction, binomial or root: ``\frac\pi4`` becomes ``\frac{\pi}{4}``."""
    if not _MAY_LACK_BRACES.search(text):
        return text
    parts: list[str] = []
    missing, added = [0], [False]  # for each open group: arguments still to come, and whether its brace was added
    for match in _LATEX.finditer(text):
        token = match.group()
        name = token[:5] if token.startswith("\\sqrt[") else token
        arity = 1 if match["script"] else _ARGUMENTS.get(name, 0)
        if token.isspace() and missing[-1]:
            continue
        if token == "{" or (arity and missing[-1]):
            parts.append("{")
            missing.append(0)
            added.append(token != "{")
        if token == "}" and len(missing) > 1 and not added[-1]:
            missing.pop()
            added.pop()
        if arity:
            missing[-1] = arity
            parts.append(token)
        elif token == "{":
            continue
        else:
            parts.append(f"{{{token}}}" if missing[-1] and token != "}" else token)
            while missing[-1]:
                missing[-1] -= 1
                if missing[-1] or not added[-1]:
                    break
                parts.append("}")
                missing.pop()
                added.pop()
    return "".join(parts)


def _closes_at_end(text: str, start: int) -> bool:
    """Whether the brace before ``start`` is closed by the last one. Other brackets need no pair: ``{]1,2[}``."""
    depth = 1
    for match in re.finditer(r"\\.|[{}]", text[start:]):
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
        if depth == 0:
            return start + match.end() == len(text)
    return False


def _ascii(text: str) -> str:
    if text.isascii():
        return text
    text = normalized("NFC", text)
    text = _SQUARE_METERS.sub(r"\\text{m}\1", text)
    if _GREEK_WORD.search(text) is None:
        text = "".join(rf"\{_GREEK[character]} " if character in _GREEK else character for character in text)
    text = _UNICODE_ROOT.sub(lambda match: f"{_ROOTS[match[1]]}{{{match[2]}}}", text)
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+", lambda match: "^{" + match.group().translate(_SUPERSCRIPTS) + "}", text)
    text = re.sub("[₀₁₂₃₄₅₆₇₈₉]+", lambda match: "_{" + match.group().translate(_SUBSCRIPTS) + "}", text)
    return "".join(_ascii_character(character) for character in text)


def _ascii_character(character: str) -> str:
    if character.isascii():
        return character
    if character in _SYMBOLS:
        return _SYMBOLS[character]
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    plain = normalized("NFKC", character)
    if unicodedata.category(character) == "No" and "\u2044" in plain:  # a vulgar fraction such as ½
        top, bottom = plain.split("\u2044")
        return rf"\frac{{{top}}}{{{bottom}}}"
    return plain if len(plain) == 1 and plain.isascii() else character
