"""Requests and responses as pydantic models, which check requests and make the OpenAPI description."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from grpo_env.core import Finish, Score
from grpo_env.scoring.completion import MAX_TOKENS

MAX_ITEMS = 4096  # in a request


class Strict(BaseModel):
    """Accepts no unknown keys and converts no types: "5" is not a number."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ChatMessage(BaseModel):
    """A chat message. Other keys, which tools may add, are ignored."""

    model_config = ConfigDict(strict=True)

    role: str
    content: str | None = None
    reasoning_content: str | None = Field(None, description="Split off by a server; scored with the text.")
    reasoning: str | None = Field(None, description="Newer name of reasoning_content.")
    refusal: str | None = Field(None, description="Counts as content.")
    tool_calls: list[dict[str, Any]] | None = Field(None, description="Calls, which make the chat an episode.")
    function_call: dict[str, Any] | None = Field(None, description="Older form of tool_calls.")
    tool_call_id: str | None = Field(None, description="The call that a message of a tool answers.")


Chat = Annotated[list[ChatMessage], Field(min_length=1, fail_fast=True)]  # report one bad message, not a million


class Item(Strict):
    """A completion to score."""

    completion: str | Chat = Field(
        description="The model's text, or chat messages: the assistant's last one is scored."
    )
    answer: str | None = Field(None, description="The gold answer.")
    info: dict[str, Any] = Field({}, description="Columns of the example's row, for verifiers that use them.")
    prompt: str | Chat | None = Field(None, description="For verifiers that use the prompt.")
    id: str | None = Field(None, description="Returned with the score; by default the item's index, from 0.")
    group: str | None = Field(None, description="Adjacent items with the same group are completions of one prompt.")
    finish: Finish = Field("unknown", description="Whether the text ended by itself (stop) or was truncated (length).")
    num_tokens: int | None = Field(None, ge=0, le=MAX_TOKENS, description="Tokens of the completion.")


class ScoreRequest(Strict):
    """Completions to score by one task."""

    task: str | None = Field(None, description="Name of a served task; optional if only one is served.")
    items: list[Item] = Field(min_length=1, max_length=MAX_ITEMS, fail_fast=True)


@dataclass
class ItemScore(Score):
    """The score of an item. Its reward is `value`, which is null if the completion could not be scored."""

    id: str = ""


class ScoreResponse(BaseModel):
    """A score for each item, in order."""

    task: str
    scores: list[ItemScore]


class RewardRequest(Strict):
    """OpenRLHF's request: prompts, prompts with completions, and the labels of the data set."""

    query: list[str] = Field(
        min_length=1, max_length=MAX_ITEMS, fail_fast=True, description="Prompt and completion, with special tokens."
    )
    prompts: list[str] = Field(min_length=1, fail_fast=True)
    labels: list[Any] = Field(min_length=1, description="Gold answers, or packed examples.")


class RewardResponse(BaseModel):
    """OpenRLHF's response: numbers, one for each query."""

    rewards: list[float]
    scores: list[float] = Field(description="The task's metric, between 0 and 1.")
    # Any: JSON has no NaN, so no schema can describe it.
    extra_logs: dict[str, list[Any]] = Field(description="The parts: numbers, or NaN for an unscored part.")


class Health(BaseModel):
    """The server responds."""

    status: str
    workers: int = Field(description="Running scoring processes.")
    restarts: int = Field(description="Scoring processes that replaced others.")


class ErrorResponse(BaseModel):
    """What is wrong, and where."""

    detail: str
