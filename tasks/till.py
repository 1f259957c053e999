"""A till: the prices of a basket are looked up by a tool and added. The environment, its rows, and its own verifier."""

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grpo_env.core import Completion, Example, Score, Verifier
from grpo_env.errors import UsageError

GOODS = ("bread", "corn", "eggs", "figs", "jam", "milk", "nuts", "oil", "rice", "salt", "soap", "tea")
QUESTIONS = ("What do {goods} cost together?", "How much is it for {goods}?", "I take {goods}. What is the total?")
HELD_OUT = 10  # one basket with its prices in this many belongs to the eval split
MAX_DRAWS = 300


class Till:
    """One object for each completion. ``seen`` is the recorded state: the items that were looked up."""

    def reset(self, prices: dict[str, int], **row: Any) -> None:
        """Begin an episode with the columns of a row."""
        self._prices = prices
        self.seen: list[str] = []

    def price(self, item: str) -> int:
        """Price of one item.

        Args:
            item: its name, such as tea.
        """
        if item not in self._prices:
            raise ValueError("there is no such item")
        if item not in self.seen:
            self.seen.append(item)
        return self._prices[item]


@dataclass(frozen=True)
class LookedUp(Verifier):
    """The fraction of the basket that has been looked up, from the environment's state (``on: state``)."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        basket = example.info["basket"]
        found = set(json.loads(completion.text)["seen"]) & set(basket)
        return Score(len(found) / len(basket), explanation=f"{len(found)} of {len(basket)} items")


def problems(
    split: str, size: int, seed: int, items: Sequence[int] = (2, 3), prices: Sequence[int] = (2, 20)
) -> Iterator[dict[str, Any]]:
    """Yield ``size`` rows ``{question, basket, prices, total}``, fixed by ``seed`` and ``split``, no two alike.

    ``items``, how many a basket has, and ``prices`` are inclusive ranges. Every row has new prices for all goods.
    Whether a row is held out (``eval``) is decided by a hash of the basket and its prices. Raises ``UsageError`` for a
    split other than ``train`` and ``eval``, and for ranges that are empty or too narrow for ``size``.
    """
    if split not in ("train", "eval"):
        raise UsageError(f"till: unknown split {split!r}; use 'train' or 'eval'")
    for name, (low, high), most in (("items", items, len(GOODS)), ("prices", prices, 10**6)):
        if not 1 <= low <= high <= most:
            raise UsageError(f"till: {name} is [{low}, {high}]; it needs 1 <= first <= last <= {most}")
    seen: set[str] = set()
    for index in range(size):
        rng = random.Random(f"{seed}/{split}/{index}")
        for _ in range(MAX_DRAWS):
            stock = {item: rng.randint(*prices) for item in GOODS}
            basket = rng.sample(GOODS, rng.randint(*items))
            key = " ".join(f"{item} {stock[item]}" for item in sorted(basket))
            if key not in seen and _held_out(key) == (split == "eval"):
                break
        else:
            raise UsageError(f"till: found only {index} different {split} problems; widen the ranges")
        seen.add(key)
        goods = f"{', '.join(basket[:-1])} and {basket[-1]}" if basket[1:] else basket[0]
        question = rng.choice(QUESTIONS).format(goods=goods)
        yield {"question": question, "basket": basket, "prices": stock, "total": sum(stock[item] for item in basket)}


def _held_out(key: str) -> bool:
    digest = hashlib.sha256(key.encode()).digest()
    return int.from_bytes(digest[:4], "big") % HELD_OUT == 0


def gold(row: Mapping[str, Any]) -> list[Any]:
    """The turns that solve a row: one look-up a turn, then the total."""
    calls = [[{"name": "price", "arguments": {"item": item}}] for item in row["basket"]]
    return [*calls, f"<answer>\n{row['total']}\n</answer>"]
