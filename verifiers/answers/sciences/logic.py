# ruff: noqa: RUF001  (signs of logic)
r"""Formulas of logic and of Boolean algebra: ``p \land \lnot q``, ``A'B + AB'``, ``\forall x\,\exists y\,P(x,y)``.

What has neither arrows nor quantifiers is equal if its truth tables are, and if the answer is no longer than the gold
answer or cannot be made shorter by leaving something out: ``A + A'B`` is not worked out for ``A + B``. Arrows and
quantifiers have to be the same, up to the names of bound variables: ``p \to q`` is what was asked about its
contrapositive ``\lnot q \to \lnot p``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import permutations, product
from typing import NamedTuple, TypeAlias

from grpo_env.lazy_regex import lazy_compile

MAX_LENGTH = 300
MAX_ATOMS = 8  # in one truth table
MAX_DEPTH = 40
MAX_BOUND = 3  # variables of quantifiers of one kind in a row
MAX_QUANTIFIERS = 8
MAX_NEGATIONS = 60
MAX_LITERALS = 40  # of a sum of products

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
_SENTENCES = "pqrsPQRS"  # letters of sentences, between which an arrow is an implication
_FUNCTIONS = frozenset("FYZQf")  # usual names of a Boolean function
_PREDICATE = lazy_compile(r"\(.*\)")
_TRUTHS_IN_ONE = lazy_compile(r"[TF]{3,40}")
_BETWEEN_TRUTHS = lazy_compile(
    r"\s?[,;/|]\s?(?:and )?| and |\s?-\s?(?=[TFtf])|(?<=[A-Za-z]) (?=[TF(]|[1-9a-j][.):]|true|false)"
)
_TRUTH = lazy_compile(r"(?:\(?(?P<label>[1-9A-Ja-j])(?:[.):]| ?=) ?)?(?P<value>[TF]|(?i:true|false))")
_STRONG = frozenset(("not", "xor", "iff", "all", "some"))

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
def read_logic(text: str) -> Logic | None:
    """A gold answer that can be nothing else than a formula of logic; else ``None``."""
    formula = _read(text)
    if formula is None or len(formula.sides) != 1:
        return None
    kinds, letters = formula.kinds, set(_letters(formula.sides[0]))
    if "word" in kinds or len(letters) < (1 if kinds & {"all", "some", "not"} else 2):
        return None  # A or B may be a list
    if kinds & {"juxtaposed", "plus", "times"}:
        is_named = formula.name in _FUNCTIONS
        is_decided = kinds & {"xor", "not"} or (kinds & {"prime", "over"} and (kinds & {"plus", "or"} or is_named))
        return formula if is_decided and _is_algebra(formula, letters) else None
    if kinds & _STRONG or {"and", "or"} <= kinds or (kinds & {"and", "or", "implies"} and kinds & {"prime", "over"}):
        return formula
    only_arrow = (
        "implies" in kinds and not kinds & {"true", "false"} and all(letter[0] in _SENTENCES for letter in letters)
    )
    return formula if only_arrow else None


def same_logic(gold: Logic, answer: str) -> bool | None:
    """Whether an answer is the same formula, and worked out; ``None`` if it is none."""
    formula = _read(answer)
    if formula is None:
        return None
    if gold.name and formula.name and gold.name.casefold() != formula.name.casefold():
        return False
    own, sides = gold.sides[0], formula.sides
    own, sides = _in_one_case(own, sides)
    key = _key(own)
    return all(_key(side) == key for side in sides) and _is_worked_out(own, sides[-1])


def _is_algebra(formula: Logic, letters: set[str]) -> bool:
    """Whether letters are those of Boolean algebra rather than functions with their derivatives."""
    if all(letter[0].isupper() for letter in letters):
        return True
    return "over" in formula.kinds and "prime" not in formula.kinds and all(letter[0].islower() for letter in letters)


def _in_one_case(own: Tree, sides: tuple[Tree, ...]) -> tuple[Tree, tuple[Tree, ...]]:
    """Formulas in small letters, unless one has a letter in both cases or a predicate."""
    for tree in (own, *sides):
        names = set(_letters(tree))
        if len({name.lower() for name in names}) < len(names) or any(map(_PREDICATE.search, names)):
            return own, sides
    return _lower(own), tuple(map(_lower, sides))


def _lower(tree: Tree) -> Tree:
    if tree[0] == "atom":
        return ("atom", str(tree[1]).lower())
    return (tree[0], *(_lower(part) if isinstance(part, tuple) else part for part in tree[1:]))


# Reading


@lru_cache(maxsize=1024)
def _read(text: str) -> Logic | None:
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
    if head and any(name == letter for side in sides for letter in _letters(side)):
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
        return _joined(signs.pop(), parts) if signs else parts[0]

    def _product(self) -> Tree:
        parts = [self._factor()]
        while True:
            if self._kind in ("and", "times"):
                self._next()
            elif self._kind in ("letter", "open", "over", "atom", "true", "false"):
                self.kinds.add("juxtaposed")
            else:
                return _joined("and", parts)
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


def _joined(sign: str, parts: list[Tree]) -> Tree:
    return (sign, *parts) if len(parts) > 1 else parts[0]


def _letters(tree: Tree) -> Iterator[str]:
    """The names of the atoms, each as often as it comes."""
    if tree[0] == "atom":
        yield str(tree[1])
    for part in _branches(tree):
        yield from _letters(part)


def _branches(tree: Tree) -> list[Tree]:
    return [part for part in tree[1:] if isinstance(part, tuple)]


# Comparing


def _key(tree: Tree) -> object:
    """What two equal formulas have in common. Raises nothing: a formula of too many atoms is compared as it stands."""
    sign = tree[0]
    if sign in ("all", "some"):
        return _quantified_key(tree)
    if sign == "implies":
        return (sign, *map(_key, _branches(tree)))
    if not _has_structure(tree):
        atoms = sorted(set(_letters(tree)))
        return _table(tree, tuple(atoms)) if len(atoms) <= MAX_ATOMS else tree
    keys = [_key(part) for part in _branches(tree)]
    return (sign, *(keys if sign == "not" else sorted(keys, key=repr)))


def _has_structure(tree: Tree) -> bool:
    """Whether a formula has an arrow or a quantifier."""
    return tree[0] in ("all", "some", "implies") or any(map(_has_structure, _branches(tree)))


def _quantified_key(tree: Tree) -> object:
    """A formula with numbers for the variables of its quantifiers; those of one kind in a row are in any order."""
    kind, variables = tree[0], []
    while tree[0] == kind:
        variables.append(str(tree[1]))
        body = tree[2]
        assert isinstance(body, tuple)
        tree = body
    orders = permutations(variables) if len(variables) <= MAX_BOUND else [tuple(variables)]
    keys = [_key(_renamed(tree, dict(zip(order, range(len(order)), strict=True)))) for order in orders]
    return (kind, len(variables), min(keys, key=repr))


def _renamed(tree: Tree, numbers: dict[str, int]) -> Tree:
    """Each bound variable in the predicates as a number; those that were numbered before count on."""
    if tree[0] == "atom":
        name, bracket, arguments = str(tree[1]).partition("(")
        listed = [
            f"#{numbers[part]}" if part in numbers else re.sub(r"\A#", "##", part)
            for part in arguments.rstrip(")").split(",")
        ]
        return ("atom", f"{name}({','.join(listed)})") if bracket else tree
    inner = {name: number for name, number in numbers.items() if tree[0] not in ("all", "some") or name != tree[1]}
    return (tree[0], *(_renamed(part, inner) if isinstance(part, tuple) else part for part in tree[1:]))


def _table(tree: Tree, atoms: tuple[str, ...]) -> object:
    """The atoms on which a formula depends, and its values for all of theirs."""
    rows = list(product((False, True), repeat=len(atoms)))
    values = {row: _value(tree, dict(zip(atoms, row, strict=True))) for row in rows}
    needed = [
        at for at in range(len(atoms)) if any(values[row] != values[(*row[:at], True, *row[at + 1 :])] for row in rows)
    ]
    shown = [values[row] for row in rows if not any(row[at] for at in range(len(atoms)) if at not in needed)]
    return (*(atoms[at] for at in needed), "".join("01"[value] for value in shown))


def _value(tree: Tree, row: dict[str, bool]) -> bool:
    sign = tree[0]
    if sign == "atom":
        return row[str(tree[1])]
    values = [_value(part, row) for part in _branches(tree)]
    if sign == "not":
        return not values[0]
    if sign == "and":
        return all(values)
    if sign == "or":
        return any(values)
    if sign == "xor":
        return sum(values) % 2 == 1
    return values[0] == values[1] if sign == "iff" else sign == "true"


def _is_worked_out(gold: Tree, answer: Tree) -> bool:
    """Whether an answer is no longer than the gold answer, or a sum of products from which nothing can be left out."""
    return _size(answer) <= _size(gold) or _has_structure(gold) or _is_short(answer)


def _size(tree: Tree) -> int:
    """How many atoms a formula has, and how many negations of more than one of them; each side of xor counts twice."""
    if tree[0] == "atom":
        return 1
    sizes = list(map(_size, _branches(tree)))
    inner = tree[1] if tree[0] == "not" else ("atom",)
    of_more = isinstance(inner, tuple) and inner[0] != "atom"
    return sum(sizes) * (2 if tree[0] in ("xor", "iff") else 1) + of_more


def _is_short(tree: Tree) -> bool:
    """Whether a formula is a sum of products of atoms, from which no product and no atom can be left out."""
    terms = _parts(tree, "or")
    products = [_parts(term, "and") for term in terms]
    if not all(map(_is_literal, (literal for literals in products for literal in literals))):
        return False
    if sum(map(len, products)) > MAX_LITERALS:
        return False
    key = _key(tree)
    for at, literals in enumerate(products):
        rest = terms[:at] + terms[at + 1 :]
        if rest and _key(_joined("or", rest)) == key:
            return False
        for place in range(len(literals)):
            fewer = literals[:place] + literals[place + 1 :]
            if fewer and _key(_joined("or", [*rest, _joined("and", fewer)])) == key:
                return False
    return True


def _parts(tree: Tree, sign: str) -> list[Tree]:
    return _branches(tree) if tree[0] == sign else [tree]


def _is_literal(tree: Tree) -> bool:
    inner = tree[1] if tree[0] == "not" else tree
    return isinstance(inner, tuple) and inner[0] == "atom"


# Lists of truth values


def truth_values(text: str) -> str | None:
    """``TFTT`` of ``True, False, True, True``, ``T F T T`` and ``(a) T, (b) F, (c) T, (d) T``."""
    if len(text) > MAX_LENGTH:
        return None
    if _TRUTHS_IN_ONE.fullmatch(text):
        return text
    items = [_TRUTH.fullmatch(item) for item in _BETWEEN_TRUTHS.split(text.strip("()[] ."))]
    found = [item for item in items if item]
    if not 1 < len(found) == len(items):
        return None
    labels = [item["label"] or "" for item in found]
    if any(labels) and not any(
        labels == list(known[: len(labels)]) for known in ("abcdefghij", "ABCDEFGHIJ", "123456789")
    ):
        return None
    return "".join(item["value"][0].upper() for item in found)
