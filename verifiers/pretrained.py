"""Pretrained models that score texts: loaded once per process, in batches of similar length that do not affect results.

torch and transformers are imported when the first model is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from grpo_env.control_tokens import without_control_tokens
from grpo_env.core import Message
from grpo_env.errors import UsageError

if TYPE_CHECKING:
    import torch

Head: TypeAlias = Literal["sequence", "token", "causal"]
Dtype: TypeAlias = Literal["auto", "float32", "bfloat16", "float16"]

_KINDS = {"sequence": "ForSequenceClassification", "token": "ForTokenClassification", "causal": "ForCausalLM"}
_NOUNS = {
    "sequence": "a reward model of whole completions",
    "token": "a process reward model",
    "causal": "a language model",
}
_LABELS = {"sequence": (1,), "token": (1, 2)}  # how many outputs it may have
_WRITERS = {"sequence": "grpo_env reward-model train", "token": "grpo_env reward-model train --process"}
_READERS = {"sequence": "the verifier reward_model", "token": "the verifier process_reward_model"}
_ENDLESS = 10**9  # tokenizers without a known limit report a far larger one


class Encoded(NamedTuple):
    """A text as token ids, with the positions whose outputs are needed (none for a model with one output per text).

    ``types`` are the token type ids, which tell the second text of a pair from the first, for models that use them.
    """

    ids: list[int]
    positions: list[int] = []  # noqa: RUF012  # never mutated
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
        """The model's maximum number of tokens, if known."""
        limits = [
            getattr(self.model.config.get_text_config(), "max_position_embeddings", None),
            self.tokenizer.model_max_length,
        ]
        return min((limit for limit in limits if limit is not None and limit < _ENDLESS), default=None)

    @cached_property
    def _without_control_tokens(self) -> Callable[[str], str]:
        return without_control_tokens(self.tokenizer)

    def plain(self, text: str) -> str:
        """The text with every control token of this model broken up with a space, so that none can be forged."""
        return self._without_control_tokens(text.encode(errors="replace").decode())

    def encode(self, text: str, second: str | None = None, special: bool = True) -> Encoded:
        """A text or a pair of texts, with the tokenizer's start and end tokens if ``special``."""
        encoding = self.tokenizer(text, second, add_special_tokens=special, verbose=False)
        return Encoded(encoding["input_ids"], [], encoding.get("token_type_ids"))

    def chat(self, messages: Sequence[Message], generation_prompt: bool) -> str | None:
        """The messages in the chat template, or ``None`` without one. Raises ``UsageError`` if it rejects them."""
        from jinja2 import TemplateError

        if self.tokenizer.chat_template is None:
            return None
        rows = [message._asdict() for message in messages]
        try:
            text = self.tokenizer.apply_chat_template(rows, add_generation_prompt=generation_prompt, tokenize=False)
        except TemplateError as error:
            raise UsageError(f"the chat template of {self.name} rejects the prompt: {error}") from error
        return str(text)

    def outputs(
        self, texts: Sequence[Encoded], batch_tokens: int, columns: Sequence[int] | None = None
    ) -> list[list[list[float]]]:
        """The logits of each text at its positions (one row for a ``sequence`` head), limited to ``columns``."""
        import torch

        outputs: list[list[list[float]]] = [[] for _ in texts]
        with torch.inference_mode():
            for batch in _batches([len(text.ids) for text in texts], batch_tokens):
                rows = self.forward([texts[index] for index in batch])
                rows = (rows if columns is None else rows[:, list(columns)]).float().cpu()
                at = 0
                for index in batch:
                    count = 1 if self.head == "sequence" else len(texts[index].positions)
                    outputs[index] = rows[at : at + count].tolist()
                    at += count
        return outputs

    def forward(self, texts: Sequence[Encoded]) -> torch.Tensor:
        """The logits of a batch at the needed positions, text by text: (positions, labels)."""
        import torch

        width = max(len(text.ids) for text in texts)
        ids = torch.full((len(texts), width), self.pad_id)
        attended = torch.zeros((len(texts), width), dtype=torch.long)
        needed = torch.zeros((len(texts), width), dtype=torch.bool)
        types = torch.zeros((len(texts), width), dtype=torch.long)
        for row, text in enumerate(texts):
            ids[row, : len(text.ids)] = torch.tensor(text.ids)
            attended[row, : len(text.ids)] = 1
            needed[row, text.positions] = True
            if text.types is not None:
                types[row, : len(text.types)] = torch.tensor(text.types)
        inputs = {"input_ids": ids.to(self.device), "attention_mask": attended.to(self.device)}
        needed = needed.to(self.device)
        if texts[0].types is not None:
            inputs["token_type_ids"] = types.to(self.device)
        if self.head == "causal":  # logits only where needed: a vocabulary for each token takes gigabytes
            logits: torch.Tensor = self.model(**inputs, use_cache=False, logits_to_keep=needed).logits
            return logits
        logits = self.model(**inputs).logits
        return logits if self.head == "sequence" else logits[needed]


_loading = Lock()


def load(name: str, head: Head, revision: str | None = None, device: str = "auto", dtype: Dtype = "auto") -> Pretrained:
    """The model with this head, loaded on the first call. ``device`` is ``auto`` or a torch device.

    Raises ``UsageError`` for an unknown model or device, and if the weights lack the head, or it has too many labels.
    """
    with _loading:
        return _load(name, head, revision, device, dtype)


@lru_cache(maxsize=8)
def _load(name: str, head: Head, revision: str | None, device: str, dtype: Dtype) -> Pretrained:
    loaded, missing = _read(name, head, revision, _device(device), dtype)
    if why := _another_kind(name, head, loaded.model.config.architectures):
        raise UsageError(why)
    if missing:  # transformers initialized them at random
        why = f"no weights for {missing[0]}: it is not a checkpoint for AutoModel{_KINDS[head]}"
        raise UsageError(f"model {name!r} has {why}")
    labels = loaded.model.config.num_labels
    if head in _LABELS and labels not in _LABELS[head]:
        numbers = " or ".join(map(str, _LABELS[head]))
        raise UsageError(f"model {name!r} has {labels} labels, {_NOUNS[head]} has {numbers}")
    loaded.model.eval()
    return loaded


def why_unusable(name: str, head: Head, revision: str | None = None) -> str | None:
    """Why there is no model of this name with this head, by its configuration alone; ``None`` if it may have one."""
    folder = Path(name)
    if folder.is_dir():
        file = folder / "config.json"
        if not file.is_file():
            is_adapter = (folder / "adapter_config.json").is_file()
            return None if is_adapter else f"model: {name} has no config.json; give the folder of a model, or a hub id"
    else:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import RemoteEntryNotFoundError

        try:
            file = Path(hf_hub_download(name, "config.json", revision=revision))
        except RemoteEntryNotFoundError:  # of an adapter, whose base model has it
            return None
        except (OSError, ValueError) as error:
            why = str(error).strip().split("\n")[0]
            return f"model: {name} is not a folder, and cannot be fetched from the hub ({why}); give either"
    try:
        architectures = json.loads(file.read_text(encoding="utf-8")).get("architectures")
    except (OSError, ValueError, AttributeError) as error:
        return f"model: {file} cannot be read ({error}); give the folder of a model, or a hub id"
    why = _another_kind(name, head, architectures)
    return f"model: {why}" if why else None


def _another_kind(name: str, head: Head, architectures: Sequence[str] | None) -> str:
    """What to say of a model whose architecture names another head and not this one; empty if it does not."""
    found = next(((kind, each) for each in architectures or () for kind in _KINDS if each.endswith(_KINDS[kind])), None)
    if found is None or any(_KINDS[head] in each for each in architectures or ()):
        return ""
    kind, architecture = found
    reader = f", for {_READERS[kind]}" if kind in _READERS else ""
    writer = f", such as {_WRITERS[head]} writes" if head in _WRITERS else ""
    return f"{name} is {_NOUNS[kind]} ({architecture}){reader}; give {_NOUNS[head]} (...{_KINDS[head]}){writer}"


def release() -> None:
    """Forget the models that ``load`` keeps."""
    with _loading:
        _load.cache_clear()


def load_to_train(name: str, head: Head, seed: int, revision: str | None = None, device: str = "auto") -> Pretrained:
    """The model in float32, shared with nobody; one without this head gets one with a single output, by ``seed``.

    Raises ``UsageError`` as ``load`` does, and if other weights than the head's are missing.
    """
    import torch
    import transformers

    config = _or_usage_error(
        name, lambda: transformers.AutoConfig.from_pretrained(name, revision=revision, trust_remote_code=False)
    )
    has_head = any(_KINDS[head] in architecture for architecture in config.architectures or ())
    new = {} if has_head else {"num_labels": 1}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        loaded, missing = _read(name, head, revision, _device(device), "float32", **new)
    body = f"{loaded.model.base_model_prefix}."
    absent = [key for key in missing if has_head or (key.startswith(body) and "pooler" not in key)]
    if absent:
        raise UsageError(f"model {name!r} has no weights for {absent[0]}")
    return loaded


def _read(
    name: str, head: Head, revision: str | None, device: torch.device, dtype: Dtype, **settings: Any
) -> tuple[Pretrained, list[str]]:
    """The model with tokenizer, and the names of weights that it does not have. Raises ``UsageError``."""
    import torch
    import transformers
    from transformers.utils import logging

    logging.disable_progress_bar()
    precision = dtype if dtype != "auto" or device.type != "cpu" else "float32"
    common: dict[str, Any] = {"revision": revision, "trust_remote_code": False}
    tokenizer = _or_usage_error(name, lambda: transformers.AutoTokenizer.from_pretrained(name, **common))
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # transformers reports missing weights; here they are an error, or a new head
    try:
        model, report = _or_usage_error(
            name,
            lambda: getattr(transformers, f"AutoModel{_KINDS[head]}").from_pretrained(
                name,
                **common,
                **settings,
                dtype="auto" if precision == "auto" else getattr(torch, precision),
                output_loading_info=True,
            ),
        )
    finally:
        logging.set_verbosity(verbosity)
    pad_id = _pad_id(model, tokenizer)
    if pad_id is None:
        raise UsageError(f"model {name!r} has neither a padding nor an end token, so it cannot be batched")
    model.config.get_text_config().pad_token_id = pad_id  # sequence classifiers need it to find the last token
    return Pretrained(name, head, model.to(device), tokenizer, device, pad_id), sorted(report["missing_keys"])


def _or_usage_error(name: str, read: Callable[[], Any]) -> Any:
    try:
        return read()
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        why = str(error).strip().split("\n")[0]
        raise UsageError(f"model {name!r} cannot be loaded ({why}); give a hub id or a folder") from error


def _device(name: str) -> torch.device:
    import torch

    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:
        why = str(error).strip().split("\n")[0]
        raise UsageError(f"device {name!r} is not available ({why}); use device: auto") from error


def _pad_id(model: Any, tokenizer: Any) -> int | None:
    ends = model.config.get_text_config().eos_token_id
    candidates = [
        model.config.get_text_config().pad_token_id,
        tokenizer.pad_token_id,
        tokenizer.eos_token_id,
        ends[0] if isinstance(ends, list) else ends,
    ]
    return next((int(token) for token in candidates if token is not None), None)


def _batches(lengths: Sequence[int], limit: int) -> Iterator[list[int]]:
    """Indices in batches of similar length, longest first, of at most ``limit`` tokens including padding."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        if batch and lengths[batch[0]] * (len(batch) + 1) > limit:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
