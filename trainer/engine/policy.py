"""The model that is trained: loading it, where and in which precision it runs, and prompts as its tokens."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import disable_fsdp_ram_efficient_loading, patch_environment
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging as transformers_logging

from grpo_env.core import Example, Format
from grpo_env.errors import UsageError

from .attention import install_attention

BUNDLED = Path(__file__).parent.parent / "bundled"


@dataclass(frozen=True)
class Policy:
    """A causal language model with its tokenizer, on its device.

    ``name`` is what the user called it; ``autocast`` the type to compute in, ``None`` for the weights' own.
    Fast paths of the loss that this model has (see ``forward``): ``shares_prompts``, a group's prompt goes through
    the model once; ``has_head_apart``, the LM head is applied to a few tokens at a time; and of sampling: ``captures``,
    decoding steps are CUDA graphs (see ``captured``). ``paged`` samples are
    transformers' own (see ``paged``); ``engine`` is DeepSpeed's, where it trains the model (see ``sharding.zero``).
    """

    name: str
    model: Any
    tokenizer: Any
    accelerator: Accelerator
    autocast: torch.dtype | None = None
    shares_prompts: bool = False
    has_head_apart: bool = False
    captures: bool = False
    paged: bool = False
    engine: Any = None

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return torch.device(self.model.device)

    @property
    def parameters(self) -> int:
        """Number of weights; shared ones count once."""
        return size(self.model.parameters())

    @cached_property
    def end_ids(self) -> list[int]:
        """Ids that end a completion: the generation config's, which may be several, and the tokenizer's."""
        ends = self.model.generation_config.eos_token_id
        ends = ends if isinstance(ends, list) else [ends]
        return sorted({end for end in [*ends, self.tokenizer.eos_token_id] if end is not None})

    @property
    def vocabulary(self) -> int:
        """Number of logits."""
        return int(self.model.config.get_text_config(decoder=True).vocab_size)

    @cached_property
    def takes_positions(self) -> bool:
        """Whether the model wants position ids; others work positions out from the attention mask."""
        return "position_ids" in inspect.signature(self.model.forward).parameters

    @cached_property
    def max_positions(self) -> int | None:
        """Longest prompt and completion together, where the model has such a limit."""
        return getattr(self.model.config.get_text_config(decoder=True), "max_position_embeddings", None)

    @property
    def trained(self) -> dict[str, Tensor]:
        """The weights that training changes: all, or an adapter's. Weights that layers share come once."""
        return {name: weight for name, weight in self.model.named_parameters() if weight.requires_grad}

    def snapshot(self) -> dict[str, Tensor]:
        """A copy of the trained weights: all that a reference model or a checkpoint needs beside what was loaded."""
        return {name: held(weight).detach().clone() for name, weight in self.trained.items()}

    def restore(self, weights: Mapping[str, Tensor]) -> None:
        """Give the trained weights the values of a snapshot. Raises ``KeyError`` for one that is missing."""
        for name, weight in self.trained.items():
            held(weight).data.copy_(weights[name])

    @contextmanager
    def holding(self, weights: Mapping[str, Tensor]) -> Iterator[None]:
        """Compute with the values of a snapshot, then with one's own again; they are exchanged one by one."""
        try:
            self._exchange(weights)
            yield
        finally:
            self._exchange(weights)

    def _exchange(self, weights: Mapping[str, Tensor]) -> None:
        if self.engine is not None:
            self.engine.empty_partition_cache()  # what was gathered of the values that go
        for name, weight in self.trained.items():
            own = held(weight).detach().clone()
            held(weight).data.copy_(weights[name])
            weights[name].copy_(own)

    def computing(self) -> AbstractContextManager[Any]:
        """The context for every forward pass."""
        return torch.autocast(self.device.type, self.autocast, enabled=self.autocast is not None)

    def decode(self, ids: Any) -> str:
        """Text of token ids, without special tokens and with its spaces as they are."""
        return str(self.tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def prompt_text(self, example: Example, format: Format) -> str:
        """The prompt as text: a string verbatim, a chat through the model's template, then the format's prefill.

        Without a template the messages are joined by blank lines and the completion starts on a new line.
        """
        if isinstance(example.prompt, str):
            return example.prompt + format.prefill
        messages = [message._asdict() for message in example.prompt]
        if self.tokenizer.chat_template is None:
            text = "\n\n".join(message["content"] for message in messages) + "\n"
        else:
            text = self.tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        return text + format.prefill

    def prompt_ids(self, example: Example, format: Format) -> list[int]:
        """The prompt as token ids. A chat template writes its own special tokens; other text gets the tokenizer's."""
        templated = not isinstance(example.prompt, str) and self.tokenizer.chat_template is not None
        text = self.prompt_text(example, format)
        ids: list[int] = self.tokenizer(text, add_special_tokens=not templated)["input_ids"]
        if not ids:
            raise UsageError(f"example {example.id}: the prompt is empty, and {self.name} has no start token to add")
        return ids


def held(weight: Tensor) -> Tensor:
    """What this process keeps of a weight: all of it or, with DeepSpeed's stage 3, a flat share."""
    return getattr(weight, "ds_tensor", weight)


def size(weights: Iterable[Tensor]) -> int:
    """Number of weights in tensors, whole or in shares."""
    return sum(getattr(weight, "ds_numel", weight.numel()) for weight in weights)


def load_policy(
    name: str, *, device: str = "auto", precision: str = "auto", gradient_checkpointing: bool = False
) -> Policy:
    """Load a model: ``bundled``, a folder, or a hub id.

    Weights are float32 whatever the file holds, so that small updates are not rounded away. Dropout stays off (eval
    mode), or the ratio of the first update would not be 1. Raises ``UsageError`` for a model that does not load
    and for a device or precision that is not there.
    """
    with patch_environment(ACCELERATE_USE_DEEPSPEED="false"):  # see ``sharding.zero``
        accelerator = Accelerator(cpu=device == "cpu", mixed_precision="no")
    disable_fsdp_ram_efficient_loading()  # every process reads the file: transformers would give weights to one only
    found = accelerator.device.type
    if device not in ("auto", found):
        raise UsageError(f"device {device!r} is not available here; found {found!r}")
    if precision == "bf16" and found == "cuda" and not torch.cuda.is_bf16_supported():
        raise UsageError("precision 'bf16' is not supported by this GPU; use precision=fp32")
    use_bf16 = precision == "bf16" or (precision == "auto" and found == "cuda" and torch.cuda.is_bf16_supported())
    model, tokenizer = load_model(name)
    model.to(accelerator.device)
    install_attention(model)
    if gradient_checkpointing:
        model.activation_checkpointing_enable({"use_reentrant": False})
    model.eval()
    return Policy(name, model, tokenizer, accelerator, torch.bfloat16 if use_bf16 else None)


def load_model(name: str | Path) -> tuple[Any, Any]:
    """Model and tokenizer as transformers loads them, float32; an adapter's folder gives the model that it is for.

    Raises ``UsageError``.
    """
    transformers_logging.disable_progress_bar()
    place = BUNDLED if name == "bundled" else Path(name)
    if place.is_absolute() and not place.is_dir():
        raise UsageError(f"model {str(name)!r}: no such folder; give a hub id or a folder")
    place = place.resolve() if place.is_dir() else place  # it goes into the files of an adapter
    is_adapter = (place / "adapter_config.json").is_file()
    if is_adapter and find_spec("peft") is None:
        raise UsageError(f"model {str(name)!r} is an adapter, which needs peft: pip install 'grpo_env[lora]'")
    try:
        model = AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32)
        own = not is_adapter or (place / "tokenizer_config.json").is_file()
        tokenizer = AutoTokenizer.from_pretrained(place if own else model.name_or_path)
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        why = str(error).strip().split("\n")[0]
        raise UsageError(f"model {str(name)!r} cannot be loaded ({why}); give a hub id or a folder") from error
    return model, tokenizer
