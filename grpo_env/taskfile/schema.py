"""The schema of a task file. The text under each field is its documentation (docs/settings.md)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from grpo_env.core import Format

Split = Literal["train", "eval"]
AnySplit = Literal["train", "eval", "all"]


class Section(BaseModel):
    """A mapping with these keys and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class DatasetSpec(Section):
    """Where examples come from: a hub id or local file (``path``), or a ``generator``."""

    path: str | None = None
    """A ``.jsonl``, ``.json``, ``.csv``, ``.tsv`` or ``.parquet`` file, also ``.gz``, ``.zst`` or in a ``.zip``;
    several by a pattern (``shards/*.parquet``); a folder that ``save_to_disk`` wrote, or that is laid out as on the
    hub; or a hub id. Local paths are relative to the task file, and ``{split}`` in them is replaced by the source's
    name of the split."""
    name: str | None = None
    """The configuration of a dataset on the hub, or in a folder laid out as there."""
    revision: str | None = None
    """The commit, tag or branch of a hub dataset."""
    data_files: str | list[str] | dict[str, str | list[str]] | None = None
    """Files or patterns in the hub dataset or folder, in place of all: of the split ``train``, or by the source's name
    of each split (``{train: data/a.parquet, test: data/b.parquet}``)."""
    streaming: bool = False
    """Read the rows of a hub dataset as they arrive, up to ``limit``, without downloading all of it first."""
    generator: str | None = None
    """``FILE.py:function``, relative to the task file, or ``module:function``, that yields rows, instead of ``path``;
    called with split, size, seed and ``arguments``."""
    arguments: dict[str, Any] = {}
    """Further arguments of the generator."""
    split: dict[Split, str | float] = {"train": "train", "eval": "eval"}
    """The source's names of ``train`` and ``eval``; or, for local files without splits, fractions (``{train: 0.9,
    eval: 0.1}``). A row's split is chosen by a hash of its content, so it stays the same when the file grows or is
    shuffled."""
    limit: dict[Split, Annotated[int, Field(ge=0)]] = {}
    """The maximum number of rows of each split that are used: rows that ``filter`` or ``bad_gold`` leave out are not
    counted. For a generator, the number to generate."""
    seed: int = 0
    """The seed that is passed to the generator."""
    id: str | None = None
    """Template of an example's id; by default ``split/number``."""
    answer: str | None = None
    """Template of the gold answer."""
    filter: str | None = None
    """Template that says whether a row is kept: ``true`` or ``1``, or ``false``, ``0``, ``none`` or nothing, in any
    case (``{{ level == 5 }}``)."""
    bad_gold: Literal["error", "skip"] = "error"
    """Whether to stop at the first gold answer that cannot be parsed, or to skip such rows."""

    @model_validator(mode="after")
    def _one_source(self) -> DatasetSpec:
        if (self.path is None) == (self.generator is None):
            raise ValueError("give exactly one of 'path' (hub id or local file) and 'generator' (module:function)")
        if self.generator is not None and not self.limit:
            raise ValueError("a generator needs 'limit': the number of rows to generate for each split")
        for key in ("name", "revision", "data_files", "streaming"):
            if self.generator is not None and getattr(self, key):
                raise ValueError(f"{key!r} goes with a 'path', not with a generator")
        fractions = [fraction for fraction in self.split.values() if isinstance(fraction, float)]
        if fractions and (len(fractions) != len(self.split) or min(fractions) <= 0 or sum(fractions) > 1):
            raise ValueError("fractions in 'split' must all be numbers above 0 that add up to at most 1")
        return self


class Shot(Section):
    """A worked example before the question."""

    user: str
    """Template of the question."""
    assistant: str
    """Template of the reply."""


# Parameters of transformers' ``apply_chat_template`` that are not variables of a template, and the prompt itself.
TEMPLATE_ARGUMENTS = frozenset(
    {"conversation", "messages", "chat_template", "add_generation_prompt", "continue_final_message", "tokenize"}
    | {"padding", "truncation", "max_length", "return_tensors", "return_dict", "return_assistant_tokens_mask"}
    | {"tokenizer_kwargs"}
)


class PromptSpec(Section):
    """Jinja2 templates over the row's columns: a chat (``user``, with ``system`` and ``shots``) or plain ``text``.

    Or the rows hold chats themselves, in a column that ``messages`` names.
    """

    system: str | None = None
    """The system message."""
    shots: tuple[Shot, ...] = ()
    """Worked examples before the question."""
    user: str | None = None
    """The question, as a message that goes through the model's chat template."""
    text: str | None = None
    """The prompt as plain text, given to the model verbatim, instead of a chat."""
    messages: str | None = None
    """The column with the chat: a list of messages with ``role`` and ``content``, the last of the user. ``system`` and
    ``shots`` come before them; a chat that begins with a system message of its own keeps it instead of ``system``."""
    chat_template_kwargs: dict[str, Any] = {}
    """Variables for the model's chat template, such as ``{enable_thinking: false}`` for Qwen3."""

    @model_validator(mode="after")
    def _one_form(self) -> PromptSpec:
        if (self.user is not None) + (self.text is not None) + (self.messages is not None) != 1:
            raise ValueError(
                "give exactly one of 'user' (a chat prompt), 'messages' (a column of chats) and 'text' (a plain one)"
            )
        if self.text is not None and (self.system is not None or self.shots):
            raise ValueError("'system' and 'shots' belong to a chat prompt; write them into 'text' instead")
        if self.text is not None and self.chat_template_kwargs:
            raise ValueError("'chat_template_kwargs' belongs to a chat prompt; 'text' goes through no chat template")
        if reserved := sorted(TEMPLATE_ARGUMENTS & self.chat_template_kwargs.keys()):
            raise ValueError(f"'chat_template_kwargs' cannot set {reserved[0]!r}; it is for variables of the template")
        return self


MAX_TURNS = 500


class EnvironmentSpec(Section):
    """An environment of several turns: a class whose public methods are the tools that the model may call."""

    use: str
    """``FILE.py:Class``, relative to the task file, or ``module:Class``: TRL's environment class, which has
    ``reset(**row)`` and, beside the tools, may have ``get_reward()``; and here also ``reply(text)``."""
    gold: str | None = None
    """``FILE.py:function`` or ``module:function``, which takes a row and returns the turns that solve it: texts, or
    lists of tool calls ``{"name": ..., "arguments": {...}}``. Only ``check`` and ``audit`` use it."""
    max_turns: int = Field(8, ge=1, le=MAX_TURNS)
    """The most turns of the model in one episode, which then ends with ``finish`` ``turns``."""
    tool_timeout: Annotated[FiniteFloat, Field(gt=0, le=3600)] = 10.0
    """Seconds by the clock for one call of the environment; one that takes longer is ended with its process."""
    max_result_chars: int = Field(4000, ge=1, le=1_000_000)
    """Longer results of tools, and replies, are cut to so many characters."""
    history: Literal["append", "fork"] | None = None
    """What training does where the model's chat template rewrites earlier turns (drops their reasoning, say): null
    stops before the run, ``append`` continues with the tokens as they were sampled, ``fork`` samples each turn on the
    conversation as the template writes it, and trains it in that context."""


class LinearSpec(Section):
    """A weight that changes from one value to another over the first ``steps`` training steps, then stays constant."""

    start: FiniteFloat = Field(alias="from")
    """The weight at the first step."""
    end: FiniteFloat = Field(alias="to")
    """The weight from ``steps`` on."""
    steps: int = Field(gt=0)
    """The number of training steps from the first to the last value."""


class ScheduleSpec(Section):
    """A weight that changes during training: exactly one of these."""

    linear: LinearSpec | None = None
    """Linear: ``{from: 0.5, to: 0.0, steps: 200}``."""
    cosine: LinearSpec | None = None
    """The same along half a cosine."""

    @model_validator(mode="after")
    def _one_shape(self) -> ScheduleSpec:
        if (self.linear is None) == (self.cosine is None):
            raise ValueError("a schedule is {linear: {from, to, steps}} or {cosine: {from, to, steps}}")
        return self


Seconds = Annotated[FiniteFloat, Field(gt=0)]


RowTemplate = Annotated[str, Field(pattern=r"\{[{%]")]


class ValuesSpec(Section):
    """What the values 0 and 1 of a verifier are worth, such as 1 and -1 (DAPO, arXiv:2503.14476, equation 7)."""

    right: FiniteFloat = 1.0
    """What the value 1 becomes."""
    wrong: FiniteFloat = 0.0
    """What the value 0 becomes, less than ``right``."""

    @model_validator(mode="after")
    def _right_is_more(self) -> ValuesSpec:
        if self.right <= self.wrong:
            raise ValueError(f"right must be above wrong, not {self.right:g} and {self.wrong:g}")
        return self


class VerifierSpec(BaseModel):
    """One entry of ``verifiers``, a part of the reward. All other keys are options of the verifier itself."""

    model_config = ConfigDict(extra="allow", frozen=True, use_attribute_docstrings=True)

    use: str | None = None
    """The verifier's name; by default the name of the entry."""
    weight: FiniteFloat | ScheduleSpec | RowTemplate = 1.0
    """The part's weight in the reward, 0 to only report it. Or a template of the row: ``"{{ points }}"``."""
    process: FiniteFloat | ScheduleSpec | None = None
    """The weight of its steps in process supervision, where a value without steps is a last step; null: ``weight``."""
    on: Literal["last", "each", "state"] = "last"
    """What is judged in an episode of several turns: the ``last`` turn; ``each`` turn by itself, with one step score
    per turn and their mean as the value; or the environment's ``state`` (as JSON) after each turn, where the step
    score of a turn is what the state's value rose by and the value is that of the last state."""
    when: str | None = None
    """The name of another part: this one only counts if that one is above 0. Or a template of the row that is true
    where the part counts at all: ``"{{ kind == 'math' }}"``."""
    values: ValuesSpec | None = None
    """What a verdict is worth: ``{right: 1, wrong: -1}`` makes -1 of 0 and leaves 1, in the value and in each step
    score; what lies between lies as far between these. The metric cannot have it."""
    clip: tuple[float, float] | None = None
    """Bounds ``[low, high]`` of the part's value."""
    statuses: dict[str, FiniteFloat] = {}
    """Values for statuses that are the completion's fault, such as ``{no_answer: -0.5}`` instead of 0 or ``wrong``. In
    a composite they are set for the parts; only ``first_of``, ``appeal`` and ``each_step`` have statuses of their
    own."""
    deadline: Seconds | None = None
    """Seconds by the clock for one completion, after which its value is 0 with status ``timeout``; by default 120, or
    more for verifiers with longer limits of their own. Of a composite: for its parts together."""
    of: dict[str, VerifierSpec] | None = None
    """The parts of a composite (``any_of``, ``all_of``, ``first_of``, ``appeal``, ``weighted_sum``, ``clip``)."""


class CaseSpec(BaseModel):
    """A completion with the values it must get; any other key is the name of a part (or ``total``)."""

    model_config = ConfigDict(extra="allow", frozen=True, use_attribute_docstrings=True)

    completion: str
    """The text to score."""
    answer: str | None = None
    """The gold answer."""
    info: dict[str, Any] = {}
    """Columns of the row, for verifiers that need them."""
    why: str = ""
    """The reason, printed if the case fails."""


NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"


class TaskSpec(Section):
    """A whole task file."""

    version: Literal[1]
    """The version of this format."""
    task: str = Field(pattern=NAME)
    """The task's name."""
    description: str = ""
    """One line for the list of tasks."""
    dataset: DatasetSpec
    """Where the problems come from."""
    format: Format = Format()
    """The output format, for the prompt, answer extraction and format verifiers."""
    prompt: PromptSpec
    """How a problem is presented to the model."""
    environment: EnvironmentSpec | None = None
    """The environment, for a task of several turns."""
    verifiers: dict[str, VerifierSpec] = Field(min_length=1)
    """The parts of the reward, by name."""
    deadline: Seconds | None = None
    """Seconds by the clock for all parts of the reward of one completion together; by default only theirs count."""
    metric: str
    """The name of the part that evaluation reports. It is not the reward."""
    partial_credit: bool = False
    """Whether the metric is meant to give wrong answers part of the credit, as ``check`` and ``audit`` then expect."""
    cases: tuple[CaseSpec, ...] = ()
    """Completions with the values that they must get, for ``grpo_env check``."""
    train: dict[str, Any] = {}
    """Recommended training settings."""


SECTIONS = tuple(TaskSpec.model_fields)
