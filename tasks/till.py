"""A till: the prices of a basket are looked up by a tool and added. The environment, its rows, and its own verifier."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grpo_env.core import Completion, Example, Score, Verifier
from grpo_env.tasks.draws import Draw, check_ranges, distinct

GOODS = ("bread", "corn", "eggs", "figs", "jam", "milk", "nuts", "oil", "rice", "salt", "soap", "tea")
QUESTIONS = ("What do {goods} cost together?", "How much is it for {goods}?", "I take {goods}. What is the total?")


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
    check_ranges("till", {"items": (items, 1, len(GOODS)), "prices": (prices, 1, 10**6)})

    def draw(rng: random.Random) -> Draw:
        stock = {item: rng.randint(*prices) for item in GOODS}
        basket = rng.sample(GOODS, rng.randint(*items))
        row = {"basket": basket, "prices": stock, "total": sum(stock[item] for item in basket)}
        return Draw(row, " ".join(f"{item} {stock[item]}" for item in sorted(basket)))

    for row, rng in distinct("till", split, size, seed, draw):
        *others, last = row["basket"]
        goods = f"{', '.join(others)} and {last}" if others else last
        yield {"question": rng.choice(QUESTIONS).format(goods=goods), **row}


def gold(row: Mapping[str, Any]) -> list[Any]:
    """The turns that solve a row: one look-up a turn, then the total."""
    calls = [[{"name": "price", "arguments": {"item": item}}] for item in row["basket"]]
    return [*calls, f"<answer>\n{row['total']}\n</answer>"]
