"""The schema of a task file. The text under each field is its documentation (docs/settings.md)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat, model_validator

from grpo_env.core import Format

Split = Literal["train", "eval"]
AnySplit = Literal["train", "eval", "all"]


def _version_1(value: object) -> object:
    if value != 1:
        raise ValueError("this grpo_env reads task files of version 1")
    return value


Version = Annotated[Literal[1], BeforeValidator(_version_1)]


class Section(BaseModel):
    """A mapping with these keys and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


HUB_KEYS = ("name", "revision", "data_files", "streaming")


class DatasetSpec(Section):
    """Where examples come from: ``path`` or ``generator``."""

    path: str | None = None
    """A ``.jsonl``, ``.json``, ``.csv``, ``.tsv`` or ``.parquet`` file, also compressed; a pattern of several; a folder
    of ``save_to_disk`` or laid out as on the hub; or a hub id. Relative to the task file; ``{split}`` is the name of
    the split."""
    name: str | None = None
    """Configuration on the hub."""
    revision: str | None = None
    """Commit, tag or branch on the hub."""
    data_files: str | list[str] | dict[str, str | list[str]] | None = None
    """Files or patterns on the hub in place of all: of ``train``, or by the name of each split."""
    streaming: bool = False
    """Read rows from the hub as they arrive, up to ``limit``."""
    generator: str | None = None
    """``FILE.py:function`` that yields rows; called with split, size, seed and ``arguments``."""
    arguments: dict[str, Any] = {}
    """Further arguments of the generator."""
    split: dict[Split, str | float] = {"train": "train", "eval": "eval"}
    """The source's names of the splits, of the hub also slices (``train[:90%]``); of files without splits fractions
    (``{train: 0.9, eval: 0.1}``) by a hash of a row's content."""
    limit: dict[Split, Annotated[int, Field(ge=0)]] = {}
    """Most rows of each split, after ``filter`` and ``bad_gold``; of a generator, how many."""
    seed: int = 0
    """Of the generator."""
    id: str | None = None
    """Template of an example's id; null: ``split/number``."""
    answer: str | None = None
    """Template of the gold answer."""
    filter: str | None = None
    """Template that says whether a row is kept (``{{ level == 5 }}``)."""
    bad_gold: Literal["error", "skip"] = "error"
    """Stop at a gold answer that cannot be parsed (``score``: reject its row), or skip such rows."""

    @model_validator(mode="after")
    def _one_source(self) -> DatasetSpec:
        if (self.path is None) == (self.generator is None):
            raise ValueError("give exactly one of 'path' (hub id or local file) and 'generator' (module:function)")
        if self.generator is not None and not self.limit:
            raise ValueError("a generator needs 'limit': the number of rows to generate for each split")
        for key in HUB_KEYS:
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


class PromptSpec(Section):
    """Templates of the row: a chat (``user``, with ``system`` and ``shots``), a column of chats, or plain ``text``."""

    system: str | None = None
    """The system message."""
    shots: tuple[Shot, ...] = ()
    """Worked examples before the question."""
    user: str | None = None
    """The question, in a chat."""
    text: str | None = None
    """A prompt that the model gets verbatim, without a chat template."""
    messages: str | None = None
    """The column with the chat, whose last message is the user's; its own system message replaces ``system``."""
    chat_template_kwargs: dict[str, Any] = {}
    """Variables of the chat template, such as ``{enable_thinking: false}``."""

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
        return self


MAX_TURNS = 500


class EnvironmentSpec(Section):
    """Several turns: a class whose public methods are the model's tools."""

    use: str
    """``FILE.py:Class`` or ``module:Class`` with ``reset(**row)`` and tools, as in TRL; may have ``get_reward()`` and
    ``reply(text)``."""
    gold: str | None = None
    """``FILE.py:function`` of a row: the turns that solve it, for ``check`` and ``audit``."""
    max_turns: int = Field(8, ge=1, le=MAX_TURNS)
    """Most turns of the model in an episode."""
    tool_timeout: Annotated[FiniteFloat, Field(gt=0, le=3600)] = 10.0
    """Seconds for one call, after which its process is ended."""
    max_result_chars: int = Field(4000, ge=1, le=1_000_000)
    """Longer results and replies are cut."""
    history: Literal["append"] | None = None
    """Where the chat template rewrites earlier turns: ``append`` goes on with the tokens as sampled; null: stop before
    the run."""


class LinearSpec(Section):
    """A weight that moves, then stays."""

    start: FiniteFloat = Field(alias="from")
    """At the first step."""
    end: FiniteFloat = Field(alias="to")
    """From ``steps`` on."""
    steps: int = Field(gt=0)
    """Training steps between them."""


class ScheduleSpec(Section):
    """A weight for each training step."""

    linear: LinearSpec
    """``{from: 0.5, to: 0.0, steps: 200}``."""


Seconds = Annotated[FiniteFloat, Field(gt=0)]


class ValuesSpec(Section):
    """For rewards such as 1 and -1 (DAPO, equation 7)."""

    right: FiniteFloat = 1.0
    """In place of 1."""
    wrong: FiniteFloat = 0.0
    """In place of 0; less than ``right``."""

    @model_validator(mode="after")
    def _right_is_more(self) -> ValuesSpec:
        if self.right <= self.wrong:
            raise ValueError(f"right must be above wrong, not {self.right:g} and {self.wrong:g}")
        return self


class VerifierSpec(BaseModel):
    """A part of the reward. Other keys are options of the verifier."""

    model_config = ConfigDict(extra="allow", frozen=True, use_attribute_docstrings=True)

    use: str | None = None
    """The verifier's name; null: that of the entry."""
    weight: FiniteFloat | ScheduleSpec = 1.0
    """In the reward; 0: only reported."""
    process: FiniteFloat | ScheduleSpec | None = None
    """Weight of its steps in process supervision; null: ``weight``."""
    on: Literal["last", "each", "state"] = "last"
    """In an episode: the ``last`` turn; ``each`` turn, with their mean as the value; or the environment's ``state``
    after each, where a turn's step score is what the value rose by."""
    when: str | None = None
    """A part that must be above 0, or a template that must be true, for this one to count."""
    values: ValuesSpec | None = None
    """What a verdict is worth (``{right: 1, wrong: -1}``), in value and steps; not of the metric."""
    statuses: dict[str, FiniteFloat] = {}
    """Values of statuses that are the completion's fault (``{no_answer: -0.5}``)."""
    deadline: Seconds | None = None
    """Seconds for one completion, then 0 with status ``timeout``; null: 120, or the verifier's own. Not of a
    composite, nor of a verifier with an option of this name."""
    of: dict[str, VerifierSpec] | None = None
    """The parts of a composite."""


class CaseSpec(BaseModel):
    """A completion and its values: any other key is a part's name, or ``total``."""

    model_config = ConfigDict(extra="allow", frozen=True, use_attribute_docstrings=True)

    completion: str
    """The text."""
    answer: str | None = None
    """The gold answer."""
    info: dict[str, Any] = {}
    """Columns of the row."""
    why: str = ""
    """Printed if the case fails."""


NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"


class TaskSpec(Section):
    """A task file."""

    version: Version
    """Of this format."""
    task: str = Field(pattern=NAME)
    """Its name."""
    description: str = ""
    """One line for the list of tasks."""
    dataset: DatasetSpec
    """The problems."""
    format: Format = Format()
    """The output format."""
    prompt: PromptSpec
    """What the model is asked."""
    environment: EnvironmentSpec | None = None
    """Of a task of several turns."""
    verifiers: dict[str, VerifierSpec] = Field(min_length=1)
    """The parts of the reward."""
    metric: str
    """The part that evaluation reports. It is not the reward."""
    partial_credit: bool = False
    """Whether the metric may give wrong answers part of the credit."""
    cases: tuple[CaseSpec, ...] = ()
    """Completions with their values, for ``check``."""
    train: dict[str, Any] = {}
    """Recommended training settings."""


SECTIONS = tuple(TaskSpec.model_fields)
