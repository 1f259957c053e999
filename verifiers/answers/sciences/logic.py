r"""Formulas of logic and of Boolean algebra: ``p \land \lnot q``, ``A'B + AB'``, ``\forall x\,\exists y\,P(x,y)``.

What has neither arrows nor quantifiers is equal if its truth tables are, and if the answer is no longer than the gold
answer or cannot be made shorter by leaving something out: ``A + A'B`` is not worked out for ``A + B``. Arrows and
quantifiers have to be the same, up to the names of bound variables: ``p \to q`` is what was asked about its
contrapositive ``\lnot q \to \lnot p``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import permutations, product

from grpo_env.lazy_regex import lazy_compile

from .logic_reader import MAX_LENGTH, Logic, Tree, branches, joined, letters_of, read_formula

MAX_ATOMS = 8  # in one truth table
MAX_BOUND = 3  # variables of quantifiers of one kind in a row
MAX_LITERALS = 40  # of a sum of products
_SENTENCES = "pqrsPQRS"  # letters of sentences, between which an arrow is an implication
_FUNCTIONS = frozenset("FYZQf")  # usual names of a Boolean function
_PREDICATE = lazy_compile(r"\(.*\)")
_TRUTHS_IN_ONE = lazy_compile(r"[TF]{3,40}")
_BETWEEN_TRUTHS = lazy_compile(
    r"\s?[,;/|]\s?(?:and )?| and |\s?-\s?(?=[TFtf])|(?<=[A-Za-z]) (?=[TF(]|[1-9a-j][.):]|true|false)"
)
_TRUTH = lazy_compile(r"(?:\(?(?P<label>[1-9A-Ja-j])(?:[.):]| ?=) ?)?(?P<value>[TF]|(?i:true|false))")
_STRONG = frozenset(("not", "xor", "iff", "all", "some"))


@lru_cache(maxsize=1024)
def read_logic(text: str) -> Logic | None:
    """A gold answer that can be nothing else than a formula of logic; else ``None``."""
    formula = read_formula(text)
    if formula is None or len(formula.sides) != 1:
        return None
    kinds, letters = formula.kinds, set(letters_of(formula.sides[0]))
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
    formula = read_formula(answer)
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
        names = set(letters_of(tree))
        if len({name.lower() for name in names}) < len(names) or any(map(_PREDICATE.search, names)):
            return own, sides
    return _lower(own), tuple(map(_lower, sides))


def _lower(tree: Tree) -> Tree:
    if tree[0] == "atom":
        return ("atom", str(tree[1]).lower())
    return (tree[0], *(_lower(part) if isinstance(part, tuple) else part for part in tree[1:]))


# Comparing


def _key(tree: Tree) -> object:
    """What two equal formulas have in common. Raises nothing: a formula of too many atoms is compared as it stands."""
    sign = tree[0]
    if sign in ("all", "some"):
        return _quantified_key(tree)
    if sign == "implies":
        return (sign, *map(_key, branches(tree)))
    if not _has_structure(tree):
        atoms = sorted(set(letters_of(tree)))
        return _table(tree, tuple(atoms)) if len(atoms) <= MAX_ATOMS else tree
    keys = [_key(part) for part in branches(tree)]
    return (sign, *(keys if sign == "not" else sorted(keys, key=repr)))


def _has_structure(tree: Tree) -> bool:
    """Whether a formula has an arrow or a quantifier."""
    return tree[0] in ("all", "some", "implies") or any(map(_has_structure, branches(tree)))


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
    values = [_value(part, row) for part in branches(tree)]
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
    sizes = list(map(_size, branches(tree)))
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
        if rest and _key(joined("or", rest)) == key:
            return False
        for place in range(len(literals)):
            fewer = literals[:place] + literals[place + 1 :]
            if fewer and _key(joined("or", [*rest, joined("and", fewer)])) == key:
                return False
    return True


def _parts(tree: Tree, sign: str) -> list[Tree]:
    return branches(tree) if tree[0] == sign else [tree]


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
