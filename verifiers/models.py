"""Trained reward models: outcome models with one value per completion, process models with one per step."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from grpo_env.core import BatchVerifier, Completion, Example, Format, Message, Score, StepScore
from grpo_env.errors import UsageError
from grpo_env.plural import counted
from grpo_env.registry import verifier

from .blocks import whole_turn
from .pretrained import Dtype, Encoded, Head, Pretrained, load, load_to_train, release, why_unusable
from .steps import MAX_STEPS, Segmented

_LONGEST_TOKEN = 32  # characters; the mean of any legitimate text is far lower

_REDUCE: dict[str, Callable[[Sequence[float]], float]] = {
    "min": min,
    "mean": lambda values: math.fsum(values) / len(values),
    "last": lambda values: values[-1],
    "product": math.prod,
}


class ModelInput(NamedTuple):
    """The model's input for a completion, and the steps in it as characters of the completion's text."""

    encoded: Encoded
    steps: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class ModelVerifier(BatchVerifier):
    """The base of reward models: loading, batching and length limits.

    ``head`` is the kind of model. ``read`` gives what it reads of a completion, which is also what to train it on.
    """

    path_options: ClassVar[tuple[str, ...]] = ("model",)

    model: str
    """A folder, in that of the task file or else in the current one; or a hub id. Code in a model's repository is never
    run."""
    revision: str | None = None
    """Branch, tag or commit of a hub model."""
    device: str = "auto"
    """The device: ``auto`` (a GPU if there is one), ``cpu``, ``cuda:1``."""
    dtype: Dtype = "auto"
    """Precision of the weights; ``auto`` is that of the file on a GPU and float32 on the CPU."""
    batch_tokens: int = 16384
    """Tokens per forward pass, including padding; a longer text has its own pass."""
    max_tokens: int | None = None
    """Maximum length of the input, including the prompt; by default the model's limit. Inputs are never truncated."""
    format: Format = field(default_factory=Format)

    def __post_init__(self) -> None:
        path, (first, slash, _) = Path(self.model).expanduser(), self.model.partition("/")
        is_path = path.exists() or (slash and (first in ("", "~") or Path(first).is_dir()))
        if is_path and not path.is_dir():
            raise UsageError(f"model: {self.model} is not a folder; give the folder of a model, or a hub id")
        for name in ("batch_tokens", "max_tokens"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise UsageError(f"{name}: expected at least 1, got {value}")

    @property
    def needs_prompt(self) -> bool:
        return True

    @property
    def default_deadline(self) -> float:
        return 3600.0  # the first call may download the model

    def unusable(self) -> str | None:
        return why_unusable(self._source, self.head, self.revision)

    @property
    @abstractmethod
    def head(self) -> Head: ...

    def batch(self, pairs: Sequence[tuple[Example, Completion]]) -> list[Score]:
        loaded = self._load()
        drafts = [self.read(loaded, example, completion) for example, completion in pairs]
        inputs = [draft.encoded for draft in drafts if isinstance(draft, ModelInput)]
        outputs = iter(loaded.outputs(inputs, self.batch_tokens, self._columns(loaded)))
        return [self._score(draft, next(outputs)) if isinstance(draft, ModelInput) else draft for draft in drafts]

    @abstractmethod
    def _encode(self, loaded: Pretrained, example: Example, completion: Completion) -> ModelInput | Score: ...

    @abstractmethod
    def _score(self, model_input: ModelInput, logits: list[list[float]]) -> Score: ...

    @abstractmethod
    def _too_long(self, why: str) -> Score: ...

    def _columns(self, loaded: Pretrained) -> list[int] | None:
        return None

    def _load(self) -> Pretrained:
        return load(self._source, self.head, self.revision, self.device, self.dtype)

    def trainable(self, seed: int) -> Pretrained:
        """A copy of the model to train, on ``device``. Raises ``UsageError``, see ``load_to_train``."""
        return load_to_train(self._source, self.head, seed, self.revision, self.device)

    def release(self) -> None:
        """Let go of all models that are loaded in this process; those still needed are loaded again."""
        release()

    @property
    def _source(self) -> str:
        return str(Path(self.model).expanduser()) if self.model.startswith("~") else self.model

    def read(self, loaded: Pretrained, example: Example, completion: Completion) -> ModelInput | Score:
        """The model's input for a completion, or its score if there is none."""
        if not example.prompt:
            return Score(None, "not_applicable", explanation="the example has no prompt for the model")
        longest = min((limit for limit in (self.max_tokens, loaded.longest) if limit is not None), default=math.inf)
        if len(completion.text) > _LONGEST_TOKEN * longest:  # saves seconds of tokenizing
            return self._too_long(f"{len(completion.text)} characters, the model reads {longest} tokens")
        try:
            draft = self._encode(loaded, example, completion)
        except UsageError as error:
            return Score(None, "error", explanation=str(error))
        if isinstance(draft, ModelInput) and len(draft.encoded.ids) > longest:
            return self._too_long(f"{len(draft.encoded.ids)} tokens with the prompt, the model reads {longest}")
        return draft


@verifier("reward_model")
@dataclass(frozen=True)
class RewardModel(ModelVerifier):
    """The output of a trained outcome reward model for the whole completion: its logit, or the sigmoid of the logit.

    The model is a sequence classifier with one label, like those of TRL's ``RewardTrainer`` and most public reward
    models. Its input is the conversation in its own chat template; without a template, prompt and completion as a pair
    of texts; and for a plain prompt both as one text. Control tokens in a completion are broken up with a space, so
    that it cannot add messages. The model is loaded once in each process: score with ``--workers 1``.

    A completion that is too long is never truncated: with ``sigmoid`` it scores 0 (``over_limit``), otherwise it is
    unscored (``not_applicable``), because 0 may be better than its actual value. Weights without a reward head are an
    error, and so is an output that is not finite.

    Source: Stiennon et al. 2020 (arXiv:2009.01325), 2.3.
    """

    activation: Literal["none", "sigmoid"] = "none"
    """``none`` for the logit, which is unbounded; ``sigmoid`` for a value between 0 and 1."""

    @property
    def head(self) -> Head:
        return "sequence"

    def _encode(self, loaded: Pretrained, example: Example, completion: Completion) -> ModelInput | Score:
        turn = loaded.plain(whole_turn(self.format, completion)[0]).rstrip()
        text = turn.lstrip()
        if isinstance(example.prompt, str):
            encoded = loaded.encode(example.prompt + turn)
        else:
            chat = loaded.chat([*example.prompt, Message("assistant", text)], generation_prompt=False)
            if chat is None:
                encoded = loaded.encode(_joined(example.prompt), text)
            else:
                encoded = loaded.encode(chat, special=False)
        return ModelInput(encoded) if encoded.ids else Score(None, "not_applicable", explanation="the input is empty")

    def _score(self, model_input: ModelInput, logits: list[list[float]]) -> Score:
        ((logit,),) = logits
        if not math.isfinite(logit):
            return Score(None, "error", explanation=f"the model's value is {logit}")
        return Score(logit if self.activation == "none" else _sigmoid(logit), explanation=f"logit {logit:.4g}")

    def _too_long(self, why: str) -> Score:
        if self.activation == "sigmoid":
            return Score(0.0, "over_limit", explanation=why)
        return Score(None, "not_applicable", explanation=why)


@verifier("process_reward_model")
@dataclass(frozen=True)
class ProcessRewardModel(Segmented, ModelVerifier):
    """The minimum (mean, last, product) of a trained process reward model's values for the steps, each from 0 to 1.

    The steps are those of the reasoning block if there is one, else of the whole text, split by ``segments``. The
    model's input is the prompt and the steps, each followed by ``step_tag``; the value of a step is read at the last
    token of its tag:

    - without ``good_token`` the model is a token classifier, like those of TRL's ``PRMTrainer``; the value is the
      probability of label 1 of two, or the sigmoid of a single label. Prompt, steps and tags are tokenized separately.
    - with ``good_token`` and ``bad_token`` it is a language model, like Math-Shepherd's; the value is the probability
      of the good token relative to both. The text is tokenized as a whole, with one line per step.

    A step gains nothing by containing a tag or control tokens. Without steps the status is ``no_answer``; with more
    than 1,000 steps, or more tokens than the model's limit, it is ``over_limit``. Additional easy steps can raise the
    ``mean``, but never ``min`` or ``product``.

    Source: Lightman et al. 2023 (arXiv:2305.20050), product and minimum; Wang et al. 2024, Math-Shepherd
    (arXiv:2312.08935), tags and the minimum.
    """

    step_tag: str = "\n"
    """The text after each step in the model's input: the separator that the model was trained with."""
    good_token: str | None = None
    """The token with which a language model marks a good step (Math-Shepherd: ``+``)."""
    bad_token: str | None = None
    """The token with which it marks a bad step (Math-Shepherd: ``-``)."""
    reduce: Literal["min", "mean", "last", "product"] = "min"
    """How the values of the steps are combined."""

    def __post_init__(self) -> None:
        super().__post_init__()
        ModelVerifier.__post_init__(self)
        if not self.step_tag:
            raise UsageError("step_tag: must not be empty, because the model scores a step at its tag")
        if (self.good_token is None) != (self.bad_token is None):
            raise UsageError("good_token and bad_token belong together: give both or none")

    @property
    def head(self) -> Head:
        return "token" if self.good_token is None else "causal"

    def _columns(self, loaded: Pretrained) -> list[int] | None:
        if self.good_token is None or self.bad_token is None:
            return None
        bad, good = (loaded.encode(token, special=False).ids for token in (self.bad_token, self.good_token))
        if len(bad) != 1 or len(good) != 1 or bad == good:
            both = f"good_token {self.good_token!r} and bad_token {self.bad_token!r}"
            raise UsageError(f"{both} must be different single tokens of {self.model}")
        return [*bad, *good]

    def _encode(self, loaded: Pretrained, example: Example, completion: Completion) -> ModelInput | Score:
        text, step_spans, offset = self.steps_in(completion, MAX_STEPS)
        if not step_spans:
            return Score(0.0, "no_answer", explanation="no steps")
        if len(step_spans) > MAX_STEPS:
            return self._too_long(f"more than {MAX_STEPS} steps")
        steps = [loaded.plain(text[first:last]) for first, last in step_spans]
        prompt, special = self._prompt(loaded, example)
        encode = _encode_separately if self.good_token is None else _encode_as_one_text
        encoded = encode(loaded, prompt, special, steps, self.step_tag)
        return ModelInput(encoded, tuple((first - offset, last - offset) for first, last in step_spans))

    def _prompt(self, loaded: Pretrained, example: Example) -> tuple[str, bool]:
        """The text before the steps, and whether the tokenizer's start token is needed before it."""
        if isinstance(example.prompt, str):
            return example.prompt, True
        chat = loaded.chat(example.prompt, generation_prompt=True)
        return (_joined(example.prompt) + "\n", True) if chat is None else (chat, False)

    def _score(self, model_input: ModelInput, logits: list[list[float]]) -> Score:
        if not all(math.isfinite(logit) for row in logits for logit in row):
            return Score(None, "error", explanation="the model's values are not all finite")
        values = [_sigmoid(row[-1] - (row[0] if len(row) == 2 else 0.0)) for row in logits]
        steps = tuple(
            StepScore(first, last, value, f"good with probability {value:.3f}")
            for (first, last), value in zip(model_input.steps, values, strict=True)
        )
        value = _REDUCE[self.reduce](values)
        return Score(value, explanation=f"{self.reduce} of {counted(len(values), 'step')}", steps=steps)

    def _too_long(self, why: str) -> Score:
        return Score(0.0, "over_limit", explanation=why)


def _encode_separately(loaded: Pretrained, prompt: str, special: bool, steps: Sequence[str], tag: str) -> Encoded:
    """Prompt, steps and tags tokenized separately, after the tokenizer's start token if it has one."""
    start = loaded.tokenizer.bos_token_id
    ids = [start] if special and start is not None else []
    ids += loaded.encode(prompt, special=False).ids
    tag_ids = loaded.encode(tag, special=False).ids
    positions = []
    for step in steps:
        ids += loaded.encode(step, special=False).ids
        ids += tag_ids
        positions.append(len(ids) - 1)
    return Encoded(ids, positions)


def _encode_as_one_text(loaded: Pretrained, prompt: str, special: bool, steps: Sequence[str], tag: str) -> Encoded:
    """Prompt and steps with their tags, one per line, tokenized as one text; tags are located by their characters."""
    parts = [prompt, *("\n" * (number > 0) + step + tag for number, step in enumerate(steps))]
    ends = [length - 1 for length in accumulate(map(len, parts))][1:]
    encoding = loaded.tokenizer("".join(parts), add_special_tokens=special, return_offsets_mapping=True, verbose=False)
    by_character = {}
    for token, (first, last) in enumerate(encoding["offset_mapping"]):
        by_character.update(dict.fromkeys(range(first, last), token))  # a later token of the same character wins
    return Encoded(encoding["input_ids"], [by_character[end] for end in ends])


def _joined(messages: Sequence[Message]) -> str:
    """A chat as one text, for a model without a chat template."""
    return "\n\n".join(message.content for message in messages)


def _sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit >= 0 else 1 - 1 / (1 + math.exp(logit))
