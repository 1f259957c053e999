"""Pretrained models that read texts: loaded once a process, fed in batches of like length, the same whatever the batch.

torch and transformers are imported when the first model is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from grpo_env.core import Message
from grpo_env.errors import UsageError

if TYPE_CHECKING:
    import torch

Head: TypeAlias = Literal["sequence", "token", "causal"]
Dtype: TypeAlias = Literal["auto", "float32", "bfloat16", "float16"]

_CLASSES = {
    "sequence": "AutoModelForSequenceClassification",
    "token": "AutoModelForTokenClassification",
    "causal": "AutoModelForCausalLM",
}
_ENDLESS = 10**9  # what tokenizers call their longest input where they know of none is far above


class Encoded(NamedTuple):
    """A text as token ids, with the positions whose outputs are wanted (none for a model that gives one).

    ``types`` tells the second text of a pair from the first, for the models that want to know.
    """

    ids: list[int]
    positions: list[int] = []  # noqa: RUF012  # never changed
    types: list[int] | None = None


@dataclass(frozen=True, eq=False)
class Pretrained:
    """A model with its tokenizer, on its device."""

    name: str
    head: Head
    model: Any
    tokenizer: Any
    device: torch.device
    pad_id: int

    @cached_property
    def longest(self) -> int | None:
        """The most tokens that the model reads, where it says so."""
        known = [
            getattr(self.model.config.get_text_config(), "max_position_embeddings", None),
            self.tokenizer.model_max_length,
        ]
        return min((limit for limit in known if limit is not None and limit < _ENDLESS), default=None)

    @cached_property
    def labels(self) -> int:
        """How many numbers the model gives for a text or a token."""
        return int(self.model.config.num_labels)

    @cached_property
    def _control_tokens(self) -> re.Pattern[str]:
        added = [token.content for token in self.tokenizer.added_tokens_decoder.values() if token.special]
        names = sorted({name for name in [*added, *self.tokenizer.all_special_tokens] if len(name) > 1})
        return re.compile("(?=" + "|".join(map(re.escape, names)) + ")(.)" if names else r"(?!)", re.DOTALL)

    def plain(self, text: str) -> str:
        """The text with every control token of this model broken by a space, so that none can be forged."""
        return self._control_tokens.sub(r"\1 ", text.encode(errors="replace").decode())

    def encode(self, text: str, second: str | None = None, special: bool = True) -> Encoded:
        """A text or a pair of them, with the tokenizer's own start and end tokens if ``special``."""
        found = self.tokenizer(text, second, add_special_tokens=special, verbose=False)
        return Encoded(found["input_ids"], [], found.get("token_type_ids"))

    def chat(self, messages: Sequence[Message], generation_prompt: bool) -> str | None:
        """Messages through the chat template, or ``None`` without one. Raises ``UsageError`` if it refuses them."""
        from jinja2 import TemplateError

        if self.tokenizer.chat_template is None:
            return None
        rows = [message._asdict() for message in messages]
        try:
            text = self.tokenizer.apply_chat_template(rows, add_generation_prompt=generation_prompt, tokenize=False)
        except TemplateError as error:
            raise UsageError(f"the chat template of {self.name} refuses the prompt: {error}") from error
        return str(text)

    def outputs(
        self, texts: Sequence[Encoded], batch_tokens: int, columns: Sequence[int] | None = None
    ) -> list[list[list[float]]]:
        """For each text the logits at its positions (one row of them for a ``sequence`` head), ``columns`` only."""
        import torch

        found: list[list[list[float]]] = [[] for _ in texts]
        with torch.inference_mode():
            for batch in _batches([len(text.ids) for text in texts], batch_tokens):
                rows = self._forward([texts[index] for index in batch])
                rows = (rows if columns is None else rows[:, list(columns)]).float().cpu()
                at = 0
                for index in batch:
                    count = 1 if self.head == "sequence" else len(texts[index].positions)
                    found[index] = rows[at : at + count].tolist()
                    at += count
        return found

    def _forward(self, texts: Sequence[Encoded]) -> torch.Tensor:
        """The wanted rows of logits of one batch, text by text, position by position."""
        import torch

        width = max(len(text.ids) for text in texts)
        ids = torch.full((len(texts), width), self.pad_id)
        real = torch.zeros((len(texts), width), dtype=torch.long)
        wanted = torch.zeros((len(texts), width), dtype=torch.bool)
        types = torch.zeros((len(texts), width), dtype=torch.long)
        for row, text in enumerate(texts):
            ids[row, : len(text.ids)] = torch.tensor(text.ids)
            real[row, : len(text.ids)] = 1
            wanted[row, text.positions] = True
            if text.types is not None:
                types[row, : len(text.types)] = torch.tensor(text.types)
        inputs = {"input_ids": ids.to(self.device), "attention_mask": real.to(self.device)}
        wanted = wanted.to(self.device)
        if texts[0].types is not None:
            inputs["token_type_ids"] = types.to(self.device)
        if self.head == "causal":  # the head sees the wanted positions only: a vocabulary for each token is gigabytes
            logits: torch.Tensor = self.model(**inputs, use_cache=False, logits_to_keep=wanted).logits
            return logits
        logits = self.model(**inputs).logits
        return logits if self.head == "sequence" else logits[wanted]


_loading = Lock()


def load(name: str, head: Head, revision: str | None = None, device: str = "auto", dtype: Dtype = "auto") -> Pretrained:
    """The model with this head, loaded at the first call. ``device`` is ``auto`` or what torch calls it.

    Raises ``UsageError`` if there is no such model or device, and if the weights have no such head.
    """
    with _loading:
        return _load(name, head, revision, device, dtype)


@lru_cache(maxsize=8)
def _load(name: str, head: Head, revision: str | None, device: str, dtype: Dtype) -> Pretrained:
    import torch
    import transformers
    from transformers.utils import logging

    logging.disable_progress_bar()
    place = _device(device)
    precision = dtype if dtype != "auto" or place.type != "cpu" else "float32"
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, revision=revision)
        model, report = getattr(transformers, _CLASSES[head]).from_pretrained(
            name,
            revision=revision,
            dtype="auto" if precision == "auto" else getattr(torch, precision),
            output_loading_info=True,
        )
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        why = str(error).strip().split("\n")[0]
        raise UsageError(f"model {name!r} cannot be loaded ({why}); give a hub id or a folder") from error
    if missing := sorted(report["missing_keys"]):
        # transformers would go on with random numbers in their place.
        raise UsageError(f"model {name!r} has no weights for {missing[0]}: it was not made for {_CLASSES[head]}")
    pad_id = _pad_id(model, tokenizer)
    if pad_id is None:
        raise UsageError(f"model {name!r} has neither a padding nor an end token, and so cannot read batches")
    model.config.get_text_config().pad_token_id = pad_id  # sequence classifiers find the last token by it
    return Pretrained(name, head, model.to(place).eval(), tokenizer, place, pad_id)


def _device(name: str) -> torch.device:
    import torch

    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:
        why = str(error).strip().split("\n")[0]
        raise UsageError(f"device {name!r} is not available here ({why}); use device: auto") from error


def _pad_id(model: Any, tokenizer: Any) -> int | None:
    ends = model.config.get_text_config().eos_token_id
    known = [
        model.config.get_text_config().pad_token_id,
        tokenizer.pad_token_id,
        tokenizer.eos_token_id,
        ends[0] if isinstance(ends, list) else ends,
    ]
    return next((int(one) for one in known if one is not None), None)


def _batches(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Indices in batches of like length, longest first: at most ``most`` tokens each, padding included."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        if batch and lengths[batch[0]] * (len(batch) + 1) > most:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
