r"""Constants of physics that are written in two ways: ``k_B`` and k, ``\hbar`` and h, ``\epsilon_0`` and Coulomb's k.

A formula is rewritten in the constants of the other one, so that ``\frac{3k_BT}{2}`` equals ``\frac{3kT}{2}``.
"""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

_OTHER_COMMAND = lazy_compile(r"\\(?!(?:mu|epsilon|hbar)(?![A-Za-z]))[A-Za-z]+")
_K = lazy_compile(r"k(?!_)")
_H = lazy_compile(r"(?<!\\)h(?!_)")
_MU = lazy_compile(r"\\mu(?![A-Za-z_])")
_HBAR = lazy_compile(r"\\hbar(?![A-Za-z])")
_COULOMB = lazy_compile(r"k_(?:\{[eC]\}|[eC])")
# What one formula has, what the other one has instead, and what the former is in terms of the latter.
_SWAPS = (
    (lazy_compile(r"k_(?:\{ ?B\}|B)"), _K, "k"),
    (_HBAR, _H, r"(h/(2\\pi))"),
    (lazy_compile(r"\\epsilon_(?:\{0\}|0)"), _K, r"(4\\pi k)^{-1}"),
    (lazy_compile(r"\\mu_(?:\{[sk]\}|[sk])"), _MU, r"\\mu "),  # of friction
)


def in_same_constants(gold: str, answer: str) -> tuple[str, str] | None:
    """Two formulas in normal LaTeX, one of them rewritten in the constants of the other; ``None`` if neither can be."""
    one, other = (text if _K.search(text) else _COULOMB.sub("k", text) for text in (gold, answer))
    if rewritten := _rewritten(one, other):
        return rewritten, other
    if rewritten := _rewritten(other, one):
        return one, rewritten
    return None if (one, other) == (gold, answer) else (one, other)


def _rewritten(one: str, other: str) -> str | None:
    texts = _OTHER_COMMAND.sub(" ", one), _OTHER_COMMAND.sub(" ", other)
    for mark, letter, replacement in _SWAPS:
        marks = set(mark.findall(texts[0]))
        if len(marks) == 1 and not letter.search(texts[0]) and letter.search(texts[1]) and not mark.search(texts[1]):
            return re.sub(re.escape(marks.pop()), replacement, one)
    return None
