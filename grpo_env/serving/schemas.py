"""What the server takes and gives, as pydantic models: they check requests, and the OpenAPI page is made of them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from grpo_env.core import Finish, Status

LARGEST = 2**31 - 1  # tokens


class Strict(BaseModel):
    """Only the keys it names, each of its own type: "5" is no number."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ChatMessage(BaseModel):
    """A chat message. What else other tools write into one is passed over."""

    model_config = ConfigDict(strict=True)

    role: str
    content: str | None = None
    reasoning_content: str | None = Field(None, description="What a server split off the text; put back to be judged.")


def _whole(number: Any) -> Any:
    """3.0 is an integer in JSON, and some writers know no other."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


Count = Annotated[int, Field(ge=0, le=LARGEST), BeforeValidator(_whole)]
Chat = Annotated[list[ChatMessage], Field(min_length=1, fail_fast=True)]  # a million bad messages are one error


class Item(Strict):
    """A completion to judge."""

    completion: str | Chat = Field(description="The model's text, or chat messages of which the last one counts.")
    answer: str | None = Field(None, description="The gold answer.")
    info: dict[str, Any] = Field({}, description="Columns of the problem's row, for verifiers that look at them.")
    prompt: str | Chat | None = Field(None, description="For verifiers that look at the prompt.")
    id: str | None = Field(None, description="Comes back with the verdict; default: the item's place, from 0.")
    group: str | None = Field(None, description="Neighbours with the same group are completions of one prompt.")
    finish: Finish = Field("unknown", description="Whether the text ended by itself (stop) or was cut (length).")
    num_tokens: Count | None = Field(None, description="Tokens of the completion.")


class ScoreRequest(Strict):
    """Completions to judge by one task."""

    task: str | None = Field(None, description="Which of the served tasks; may be left out where there is one.")
    items: list[Item] = Field(min_length=1, fail_fast=True)


class Step(BaseModel):
    """The value of one reasoning step: characters [start, end) of the text."""

    start: int
    end: int
    value: float
    explanation: str


class Part(BaseModel):
    """One verdict; `value` is null where the completion could not be judged, and `status` says why."""

    value: float | None
    status: Status
    name: str
    weight: float
    process: float
    answer: str | None = Field(description="What was found in the text.")
    gold: str | None = Field(description="What it was compared with.")
    explanation: str
    parts: list[Part]
    steps: list[Step]
    seconds: float


class Verdict(Part):
    """The verdict on an item: its reward is `value`."""

    id: str


class ScoreResponse(BaseModel):
    """A verdict for each item, in order."""

    task: str
    scores: list[Verdict]


class RewardRequest(Strict):
    """OpenRLHF's request: prompts, the same with the completion behind them, and what the data has as labels."""

    query: list[str] = Field(min_length=1, fail_fast=True, description="Prompt and completion, with special tokens.")
    prompts: list[str] = Field(min_length=1, fail_fast=True)
    labels: list[Any] = Field(min_length=1, description="Gold answers, or packed examples.")


class RewardResponse(BaseModel):
    """OpenRLHF's answer: numbers alone, one for each query."""

    rewards: list[float]
    scores: list[float] = Field(description="The task's metric, between 0 and 1.")
    # Any: JSON has no NaN, so no schema has it.
    extra_logs: dict[str, list[Any]] = Field(description="The parts: numbers, and the word NaN for an unscored one.")


class TaskCard(BaseModel):
    """A task that is served."""

    name: str
    description: str
    metric: str = Field(description="The part that evaluation reports.")
    verifiers: list[str]
    needs_prompt: bool = Field(description="Whether items without a prompt stay unscored.")
    scores_groups: bool = Field(description="Whether completions of one group are compared with each other.")


class Health(BaseModel):
    """That the server answers, and how many of its processes are there to judge."""

    status: str
    workers: int


class Problem(BaseModel):
    """What is wrong with the request, and where."""

    detail: str
