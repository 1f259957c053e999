"""Texts of others in which no control token of a model can be forged, such as the end of a turn."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any


def without_control_tokens(tokenizer: Any, *, of_template: bool = False) -> Callable[[str], str]:
    """A function that breaks up each control token in a text with a space: ``<|im_end|>`` becomes ``< |im_end|>``.

    Control tokens are those that the tokenizer calls special, and with ``of_template`` also other added tokens that its
    chat template writes (``<tool_call>`` in Qwen3's).
    """
    template = str(tokenizer.chat_template or "") if of_template else ""
    added = tokenizer.added_tokens_decoder.values()
    names = {token.content for token in added if token.special or token.content in template}
    names |= set(tokenizer.all_special_tokens)
    found = "|".join(re.escape(name) for name in sorted(names) if len(name.strip()) > 1)
    pattern = re.compile(rf"(?={found})(.)" if found else r"(?!)", re.DOTALL)
    return lambda text: pattern.sub(r"\1 ", text)
