r"""Products of matrices with inverses or transposes, whose factors keep their order: ``(AB)^{-1} = B^{-1}A^{-1}``."""

from __future__ import annotations

from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

MAX_LENGTH = 80

_TOKEN = lazy_compile(
    r"\s*(?:(?P<letter>[A-Z])|(?P<open>\()|(?P<close>\))"
    r"|\^\s*(?:\{\s*)?(?P<power>-1|-\s?T|T|\\top|\\intercal|\\mathsf\s?\{?T\}?)\s*\}?)"
)


class _Factor(NamedTuple):
    letter: str
    is_inverse: bool = False
    is_transposed: bool = False


def same_product(one: str, other: str) -> bool | None:
    """Whether two products are equal for all invertible matrices; ``None`` if these are no such products.

    Letters without any inverse or transpose may be numbers, whose order means nothing.
    """
    if "^" not in one + other or max(len(one), len(other)) > MAX_LENGTH:
        return None
    first, second = _read(one), _read(other)
    if first is None or second is None or len({factor.letter for factor in first + second}) < 2:
        return None
    return first == second


def _read(text: str) -> list[_Factor] | None:
    """The factors of a product, of which none stands beside its own inverse."""
    open_products: list[list[list[_Factor]]] = [[]]  # each a list of parts, to which a power applies
    at = 0
    text = text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            return None
        at = match.end()
        if match["letter"]:
            open_products[-1].append([_Factor(match["letter"])])
        elif match["open"]:
            open_products.append([])
        elif match["close"]:
            if len(open_products) < 2:
                return None
            parts = open_products.pop()
            open_products[-1].append([factor for part in parts for factor in part])
        elif not open_products[-1]:
            return None
        else:
            open_products[-1][-1] = _powered(open_products[-1][-1], match["power"])
    return _reduced([factor for part in open_products[0] for factor in part]) if len(open_products) == 1 else None


def _powered(factors: list[_Factor], power: str) -> list[_Factor]:
    inverts, transposes = power.startswith("-"), not power.endswith("1")
    return [
        _Factor(letter, is_inverse != inverts, is_transposed != transposes)
        for letter, is_inverse, is_transposed in reversed(factors)
    ]


def _reduced(factors: list[_Factor]) -> list[_Factor]:
    result: list[_Factor] = []
    for factor in factors:
        if result and result[-1] == factor._replace(is_inverse=not factor.is_inverse):
            result.pop()
        else:
            result.append(factor)
    return result
