# ruff: noqa: RUF001  (signs of logic)
"""Reads formulas of logic and of sets, in the signs of LaTeX, Unicode, programs and words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from grpo_env.lazy_regex import lazy_compile

MAX_LENGTH = 300
MAX_DEPTH = 40
MAX_QUANTIFIERS = 8
MAX_NEGATIONS = 60
_WORD = r"(?<![A-Za-z]){}(?![A-Za-z])"
# The commands of LaTeX for each sign, and what else it may be written as.
_SIGNS = (
    ("iff", "leftrightarrow Leftrightarrow longleftrightarrow Longleftrightarrow iff", r"<-+>|<=+>|[↔⇔]"),
    ("implies", "rightarrow Rightarrow longrightarrow Longrightarrow implies to", r"-+>|=+>|[→⇒⊃]"),
    ("implied", "leftarrow Leftarrow longleftarrow Longleftarrow impliedby", r"<-+(?!>)|[←⇐]"),
    ("not", "lnot neg sim", rf"[¬!~]|{_WORD.format('NOT')}"),
    ("and", "land wedge", rf"\\?&{{1,2}}|∧|{_WORD.format('AND')}"),
    ("or", "lor vee", rf"\|{{1,2}}|∨|{_WORD.format('OR')}"),
    ("xor", "oplus veebar", rf"[⊕⊻]|{_WORD.format('XOR')}"),
    ("word", "", _WORD.format("(?:and|or|not|xor)")),
    ("times", "cdot times bullet", "[·⋅*]"),
    ("plus", "", r"\+"),
    ("all", "forall", "∀"),
    ("some", "exists", "∃"),
    ("over", "overline bar widebar", ""),
    ("prime", "prime", r"['′’]|\^\s?\\prime(?![A-Za-z])|\^\s?\{\s?\\prime\s?\}"),
    ("true", "top", "[⊤1]"),
    ("false", "bot", "[⊥0]"),
    ("open", "", r"[(\[{]"),
    ("close", "", r"[)\]}]"),
    ("pause", "", "[,:.]"),
    (
        "atom",
        "",
        r"(?:[A-Z]|[A-Za-z]{2,20}(?=\s?\())(?:_\w|_\{\w{1,3}\})?\s?\(\s?[a-z](?:_?\d)?(?:\s?,\s?[a-z](?:_?\d)?){0,3}\s?\)",
    ),
    ("letter", "", r"[A-Za-z](?:_(?:\w|\{\w{1,3}\}))?"),
)
_TOKEN = lazy_compile(
    "|".join(
        f"(?P<{kind}>"
        + "|".join([rf"\\{command}(?![A-Za-z])" for command in commands.split()] + ([other] if other else []))
        + ")"
        for kind, commands, other in _SIGNS
    )
)
_WRAPPER = lazy_compile(
    r"\\(?:text|math)(?:rm|bf|it|sf|tt|normal)?\s?\{([^{}]*)\}|\\(?:operatorname|mbox)\s?\{([^{}]*)\}"
)
_SPACE = lazy_compile(r"\\(?:left|right|displaystyle|[bB]igg?[lr]?)(?![A-Za-z])|\\[,;:! ]|\\q?quad(?![A-Za-z])|\$|\s+")
_BRACED_SIGN = lazy_compile(r"\{\s?(\\[A-Za-z]+)\s?\}")  # {\sim}q
_LINES = lazy_compile("([A-Za-z])[\u0304\u0305]")
_NAME = lazy_compile(
    r"\s*(?P<name>[A-Za-z](?:_\w|_\{\w{1,4}\})?)\s*(?:\(\s*(?P<letters>[A-Za-z](?:\s*,\s*[A-Za-z]){1,7})\s*\))?\s*\Z"
)
_NO_FORMULA = lazy_compile(r"(?<![A-Za-z])(?:P|E|Pr)\s?\((?!\s?[a-z](?:_?\d)?\s?[,)])|\d\d")  # P(A'), 12
_EQUAL = lazy_compile(r"(?<![<=])=(?![=>])|\\equiv(?![A-Za-z])|≡")
Tree: TypeAlias = "tuple[object, ...]"
"""``("atom", name)``, ``("not", tree)``, ``("and", *trees)``, ``("all", variable, tree)`` and the like."""


class Logic(NamedTuple):
    """A formula, and the name that it was given: F of ``F = A'B + AB'``."""

    name: str
    sides: tuple[Tree, ...]
    kinds: frozenset[str]


class _UnreadableError(Exception):
    """The text is no such formula."""


@lru_cache(maxsize=1024)
def read_formula(text: str) -> Logic | None:
    """A text as a formula, or as several with ``=`` between them."""
    if len(text) > MAX_LENGTH or not re.search(r"[A-Za-z]", text):
        return None
    text = _LINES.sub(r"\\overline{\1}", unicodedata.normalize("NFD", text)) if not text.isascii() else text
    if _NO_FORMULA.search(_SPACE.sub(" ", text)):
        return None
    text = _BRACED_SIGN.sub(r"\1 ", text)
    for _ in range(3):
        text = _WRAPPER.sub(lambda match: f" {match[1] or match[2] or ''} ", text)
    text = _SPACE.sub(" ", text).strip(" .")
    parts = _EQUAL.split(text)
    head = _NAME.match(parts[0]) if len(parts) > 1 else None
    name = head["name"] if head else ""
    try:
        readers = [_Reader(part) for part in (parts[1:] if head else parts)]
        sides = tuple(reader.formula() for reader in readers)
    except _UnreadableError:
        return None
    if head and any(name == letter for side in sides for letter in letters_of(side)):
        return None  # an equation
    return Logic(name, sides, frozenset().union(*(reader.kinds for reader in readers)))


class _Reader:
    """Reads one formula by recursive descent."""

    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        self.kinds: set[str] = set()
        at = 0
        while at < len(text):
            if text[at] == " ":
                at += 1
                continue
            match = _TOKEN.match(text, at)
            if match is None:
                raise _UnreadableError
            kind = str(match.lastgroup)
            self._tokens.append((match[0] if kind == "word" else kind, match[0]))
            at = match.end()
            self.kinds.add(kind)
        kinds = [kind for kind, _ in self._tokens]
        negations = kinds.count("not") + kinds.count("prime") + kinds.count("over")
        if negations > MAX_NEGATIONS or kinds.count("all") + kinds.count("some") > MAX_QUANTIFIERS:
            raise _UnreadableError
        self._at = 0
        self._depth = 0

    def formula(self) -> Tree:
        tree = self._iff()
        if self._kind:
            raise _UnreadableError
        return tree

    @property
    def _kind(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _iff(self) -> Tree:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _UnreadableError
        parts = [self._implies()]
        while self._kind == "iff":
            self._next()
            parts.append(self._implies())
        self._depth -= 1
        if len(parts) > 2:
            raise _UnreadableError
        return ("iff", *parts) if len(parts) > 1 else parts[0]

    def _implies(self) -> Tree:
        first = self._sum()
        sign = self._kind
        if sign not in ("implies", "implied"):
            return first
        self._next()
        second = self._sum()
        if self._kind in ("implies", "implied"):  # which of the two arrows is the outer one is not agreed upon
            raise _UnreadableError
        return ("implies", first, second) if sign == "implies" else ("implies", second, first)

    def _sum(self) -> Tree:
        """Products with one kind of sign between them, since precedences differ."""
        parts, signs = [self._product()], set()
        while self._kind in ("or", "plus", "xor"):
            signs.add("xor" if self._kind == "xor" else "or")
            self._next()
            parts.append(self._product())
        if len(signs) > 1:
            raise _UnreadableError
        return joined(signs.pop(), parts) if signs else parts[0]

    def _product(self) -> Tree:
        parts = [self._factor()]
        while True:
            if self._kind in ("and", "times"):
                self._next()
            elif self._kind in ("letter", "open", "over", "atom", "true", "false"):
                self.kinds.add("juxtaposed")
            else:
                return joined("and", parts)
            parts.append(self._factor())

    def _factor(self) -> Tree:
        kind = self._kind
        if kind == "not":
            self._next()
            tree: Tree = ("not", self._factor())
            if self._kind in ("letter", "open", "over", "atom"):  # of AB, or of A only
                raise _UnreadableError
            return tree
        if kind in ("all", "some") or (kind == "open" and self._is_quantifier(self._at + 1)):
            return self._quantified()
        tree = self._simple()
        while self._kind == "prime":
            self._next()
            tree = ("not", tree)
        return tree

    def _is_quantifier(self, at: int) -> bool:
        kinds = [kind for kind, _ in self._tokens[at : at + 3]]
        return kinds[:1] in (["all"], ["some"]) and kinds[1:] == ["letter", "close"]

    def _quantified(self) -> Tree:
        bracketed = self._kind == "open"
        if bracketed:
            self._next()
        kind = self._kind
        self._next()
        if self._kind != "letter":
            raise _UnreadableError
        variable = _plain(self._next())
        if bracketed:
            self._next()
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _UnreadableError
        if self._kind == "pause":
            self._next()
            body = self._iff()
        else:
            body = self._factor()
        self._depth -= 1
        return (kind, variable, body)

    def _simple(self) -> Tree:
        kind = self._kind
        if kind in ("letter", "atom"):
            return ("atom", _plain(self._next()))
        if kind in ("true", "false"):
            self._next()
            return (kind,)
        if kind == "over":
            self._next()
            inner = self._bracketed() if self._kind == "open" else self._simple()
            return ("not", inner)
        if kind == "open":
            return self._bracketed()
        raise _UnreadableError

    def _bracketed(self) -> Tree:
        self._next()
        tree = self._iff()
        if self._kind != "close":
            raise _UnreadableError
        self._next()
        return tree


def _plain(name: str) -> str:
    return re.sub(r"[\s{}]", "", name)


def joined(sign: str, parts: list[Tree]) -> Tree:
    return (sign, *parts) if len(parts) > 1 else parts[0]


def letters_of(tree: Tree) -> Iterator[str]:
    """The names of the atoms, each as often as it comes."""
    if tree[0] == "atom":
        yield str(tree[1])
    for part in branches(tree):
        yield from letters_of(part)


def branches(tree: Tree) -> list[Tree]:
    return [part for part in tree[1:] if isinstance(part, tuple)]
