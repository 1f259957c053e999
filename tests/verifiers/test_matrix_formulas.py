"""Formulas of matrices: numpy decides on matrices with the shapes that the formulas are meant for."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement

import numpy as np
import pytest

from grpo_env.verifiers.answers.formulas.matrices import same

DRAW = np.random.default_rng(7)
X, y, w = DRAW.normal(size=(5, 3)), DRAW.normal(size=5), DRAW.normal(size=3)
A, B, P = DRAW.normal(size=(3, 3, 3))
inverse = np.linalg.inv

# Formulas of one shape each, with what they are worth.
TABLES: list[dict[str, Callable[[], np.ndarray]]] = [
    {
        r"(X^TX)^{-1}X^Ty": lambda: inverse(X.T @ X) @ X.T @ y,
        r"(X^TX)^{-1}(y^TX)^T": lambda: inverse(X.T @ X) @ (y @ X),
        r"(y^TX(X^TX)^{-1})^T": lambda: y @ X @ inverse(X.T @ X),
        r"(X^TX)^{-1}X^T(y-Xw)": lambda: inverse(X.T @ X) @ X.T @ (y - X @ w),
        r"(X^TX)^{-1}X^Ty-w": lambda: inverse(X.T @ X) @ X.T @ y - w,
        r"-(w-(X^TX)^{-1}X^Ty)": lambda: inverse(X.T @ X) @ X.T @ y - w,
        r"2(X^TX)^{-1}X^Ty": lambda: 2 * inverse(X.T @ X) @ X.T @ y,
    },
    {
        r"(X^TX+\frac{1}{2}I)^{-1}": lambda: inverse(X.T @ X + np.eye(3) / 2),
        r"2(2X^TX+I)^{-1}": lambda: 2 * inverse(2 * X.T @ X + np.eye(3)),
        r"(X^TX+0.5I)^{-T}": lambda: inverse(X.T @ X + np.eye(3) / 2).T,
        r"(X^TX+I)^{-1}": lambda: inverse(X.T @ X + np.eye(3)),
    },
    {
        r"(AB)^T": lambda: (A @ B).T,
        r"B^TA^T": lambda: B.T @ A.T,
        r"A^TB^T": lambda: A.T @ B.T,
        r"(B^{-1}A^{-1})^{-T}": lambda: inverse(inverse(B) @ inverse(A)).T,
        r"((AB)^{-1})^{-T}": lambda: (A @ B).T,
        r"(ABP-AB(P-I))^T": lambda: (A @ B).T,
    },
    {
        r"A^TP+PA-PB^2": lambda: A.T @ P + P @ A - P @ B @ B,
        r"P(A-BB)+A^TP": lambda: P @ (A - B @ B) + A.T @ P,
        r"(P^TA)^T+P(A-B^2)": lambda: A.T @ P + P @ (A - B @ B),
        r"A^TP+AP-PB^2": lambda: A.T @ P + A @ P - P @ B @ B,
    },
    {
        r"y^TXw": lambda: y @ X @ w,
        r"w^TX^Ty": lambda: w @ X.T @ y,
        r"w^TX^Ty+w^Tw": lambda: w @ X.T @ y + w @ w,
    },
]  # fmt: skip


@pytest.mark.parametrize("table", TABLES, ids=lambda table: next(iter(table)))
def test_formulas_are_equal_where_their_values_are(table: dict[str, Callable[[], np.ndarray]]) -> None:
    for one, other in combinations_with_replacement(table, 2):
        equal = bool(np.allclose(table[one](), table[other]()))
        verdicts = (True,) if equal else (False, None) if "y^T" in one else (False,)  # y may be a number
        assert same(one, other) in verdicts, (one, other)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("(AB)^T=B^TA^T", "(AB)^T=A^TB^T", False),
        ("A^TP+PA=-Q", "Q+PA+A^TP=0", True),
        ("A^TP+PA=-Q", "Q+PA+AP=0", False),
        ("w=(X^TX)^{-1}X^Ty", "(X^TX)^{-1}X^Ty", True),
        ("w^Tx+b", "x^Tw+b", True),
        ("x_{dot}=(A-BK)x", "x_{dot}=Ax-BKx", True),
        ("x_{dot}=(A-BK)x", "x_{dot}=(A-KB)x", False),
        ("P(1+r)^T", "(1+r)^TP", None),  # no matrices
        ("w^Tx", "w^Ty", None),  # w may be a number: computer algebra decides
        ("A^T+1", "1+A^T", None),  # of no shape
        ("A^TB=C=D", "A^TB=C", None),
        ("A^TP+PA=0", "0=0", None),
    ],
)
def test_equations_and_what_is_left_to_others(one: str, other: str, expected: bool | None) -> None:
    assert same(one, other) == expected
    assert same(other, one) == expected
