"""A language model as judge: is this answer the same as the reference, or how good is this text by a rubric."""

from __future__ import annotations

import math
import os
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from grpo_env.core import BatchVerifier, Completion, Example, Format, Score
from grpo_env.errors import UsageError
from grpo_env.registry import verifier

from .answers.extract import final_answer
from .blocks import whole_turn
from .endpoint import Endpoint, Failure, Reply, ask
from .llm_judge_prompt import Question, equality_question, grade, reasons, reminder, rubric_question, verdict
from .replies import ReplyCache, request_key

LONGEST_ANSWER = 1_000
LONGEST_COMPLETION = 20_000
PARAMETERS = {"temperature": 0, "max_tokens": 1024}
MAX_SHOWN = 300  # characters of an answer and of the judge's reasons that a score keeps


@verifier("llm_judge")
@dataclass(frozen=True)
class LLMJudge(BatchVerifier):
    """1 if a language model finds the final answer equal to the reference, else 0; with a ``rubric`` its grade, 0 to 1.

    *Equality*: the judge sees the question (the last message of the user), the reference answer and the completion's
    final answer, as ``accuracy`` would extract it; never the reasoning, unless ``text: completion``. No answer and a
    denied one are 0 without asking. *Rubric*: the judge sees question, reference (where there is one) and the whole
    completion, and grades within ``scale``; the value is (grade - low) / (high - low). Where the question is not known
    the completion is ``not_applicable``, unless it is not to be shown anyway (``without_prompt``).

    A text longer than ``max_chars`` is ``over_limit``, 0. A reply without a verdict is asked about once more; if there
    is none again, or no reply at all, the completion is unscored (``error``), never 0. Equal requests are sent once.

    The texts are sent as JSON data in which no control token and no delimiter can be spelled, and the verdict counts
    only in the reply's last line, behind a mark that the texts cannot know. That stops forged verdicts; it does not
    stop a judge from being talked round: prefer ``accuracy`` where it applies, and watch how far the two agree.

    Source: OpenAI's simple-evals, whose equality judge counts a reply that is neither yes nor no as wrong; X-R1, which
    asks a judge where a reference cannot be parsed. Both put the answer bare into the prompt. That a colon or an
    opening phrase for an answer wins many judges over is from Zhao et al. 2025 (arXiv:2507.08794); here an answer of
    nothing but punctuation is none.
    """

    base_url: str
    """Where the endpoint's API begins, e.g. ``http://localhost:8000/v1``; ``/chat/completions`` is added."""
    model: str
    """The model's name there."""
    rubric: str | None = None
    """What to grade by; without one the judge compares the final answer with the reference."""
    scale: tuple[float, float] = (0.0, 10.0)
    """The worst and the best grade of the rubric."""
    text: Literal["answer", "completion"] | None = None
    """What of a completion is judged; by default the ``answer``, with a rubric the whole ``completion``."""
    max_chars: int | None = None
    """The longest text that is sent, in characters; by default 1,000 of an answer, 20,000 of a completion."""
    without_prompt: bool = False
    """Never show the question: for files that do not have it, and where it says nothing."""
    api_key_env: str | None = None
    """The environment variable that holds the API key; the key itself is in no file."""
    parameters: Mapping[str, Any] | None = None
    """All other fields of the request, by default ``{temperature: 0, max_tokens: 1024}``."""
    timeout: float = 60.0
    """Seconds for one try."""
    retries: int = 4
    """How often a request that timed out, was refused for now (429) or met a server error is sent again."""
    concurrency: int = 8
    """Requests in flight at a time, for each scoring process."""
    requests_per_minute: float | None = None
    """At most so many requests start per minute, for each scoring process."""
    cache: str | None = None
    """A file that keeps replies, so that a request is paid for once; may be shared by processes and runs."""
    format: Format = field(default_factory=Format)

    def __post_init__(self) -> None:
        _check_address(self.base_url)
        if self.rubric is not None and not self.rubric.strip():
            raise UsageError("rubric: the text is empty; leave the key out to compare with the reference answer")
        low, high = self.scale
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise UsageError(f"scale: expected the worst grade, then a better one, got {[low, high]}")
        if taken := {"model", "messages", "stream", "n"} & (self.parameters or {}).keys():
            raise UsageError(f"parameters: {min(taken)!r} cannot be set there")
        for name, value, least in (("concurrency", self.concurrency, 1), ("retries", self.retries, 0)):
            if value < least:
                raise UsageError(f"{name}: expected at least {least}, got {value}")
        for name in ("timeout", "requests_per_minute", "max_chars"):
            if (value := getattr(self, name)) is not None and not 0 < value < math.inf:
                raise UsageError(f"{name}: expected a number above 0, got {value}")

    @property
    def needs_prompt(self) -> bool:
        return not self.without_prompt

    def problem(self, example: Example) -> str | None:
        if self.rubric is None and not (example.answer or "").strip():
            return "llm_judge needs a reference answer to compare with, or a rubric"
        return None

    def batch(self, pairs: Sequence[tuple[Example, Completion]]) -> list[Score]:
        drafts = [self._draft(example, completion) for example, completion in pairs]
        verdicts = self._verdicts([draft.question for draft in drafts if draft.question])
        return [
            draft.score if draft.question is None else replace(draft.score, **verdicts[draft.question.hash]._asdict())
            for draft in drafts
        ]

    def _draft(self, example: Example, completion: Completion) -> _Draft:
        if problem := self.problem(example):
            return _Draft(Score(None, "not_applicable", explanation=problem))
        question = None if self.without_prompt else _problem_text(example)
        if question is None and not self.without_prompt:
            why = "the example has no prompt to show to the judge; with without_prompt=true it is not shown"
            return _Draft(Score(None, "not_applicable", gold=example.answer, explanation=why))
        what = self.text or ("answer" if self.rubric is None else "completion")
        text = whole_turn(self.format, completion)[0]
        if what == "answer":
            found = final_answer(self.format, completion)
            if found.denied:
                return _Draft(Score(0.0, gold=example.answer, explanation="the answer is denied"))
            text = ", ".join(found.answers)
            if _is_blank(text):
                why = found.reason or "the answer is nothing but punctuation"
                return _Draft(Score(0.0, "no_answer", gold=example.answer, explanation=why))
        elif _is_blank(text):
            return _Draft(Score(0.0, "no_answer", gold=example.answer, explanation="the completion is empty"))
        most = self.max_chars or (LONGEST_ANSWER if what == "answer" else LONGEST_COMPLETION)
        shown = text[:MAX_SHOWN] if what == "answer" else None
        score = Score(0.0, answer=shown, gold=example.answer)
        if len(text) > most:
            why = f"{len(text)} characters to judge, at most {most} are sent"
            return _Draft(replace(score, status="over_limit", explanation=why))
        known = {"question": question, "reference": example.answer}
        texts = {key: value for key, value in known.items() if value is not None}
        if self.rubric is None:
            return _Draft(score, equality_question({**texts, "answer": text}))
        return _Draft(score, rubric_question(self.rubric, *self.scale, {**texts, "completion": text}))

    def _verdicts(self, questions: Sequence[Question]) -> dict[str, _Verdict]:
        """What the judge says, by the hash of the question."""
        open_questions = {question.hash: question for question in questions}
        verdicts: dict[str, _Verdict] = {}
        for last_time in (False, True):
            asked = list(open_questions.values())
            for question, reply in zip(asked, self._replies(asked), strict=True):
                found = verdicts[question.hash] = self._read(question, reply)
                if isinstance(reply, Failure) or found.status == "scored" or last_time:
                    del open_questions[question.hash]
                else:
                    open_questions[question.hash] = reminder(question, reply.text)
        return verdicts

    def _read(self, question: Question, reply: Reply | Failure) -> _Verdict:
        if isinstance(reply, Failure):
            return _Verdict(None, "error", reply.reason)
        low, high = self.scale
        found: float | None = None
        if reply.whole and self.rubric is None:
            found = verdict(reply.text, question.mark)
        elif reply.whole and (grade_given := grade(reply.text, question.mark, low, high)) is not None:
            found = (grade_given - low) / (high - low)
        if found is None:
            cut = "" if reply.whole else ", cut at its token limit"
            return _Verdict(None, "error", f"the judge's reply has no verdict{cut}: {reply.text[-MAX_SHOWN:]!r}")
        said = reasons(reply.text, MAX_SHOWN)
        return _Verdict(float(found), "scored", f"{self.model}: {said}" if said else self.model)

    def _replies(self, questions: Sequence[Question]) -> list[Reply | Failure]:
        parameters = PARAMETERS if self.parameters is None else self.parameters
        bodies = [{**parameters, "model": self.model, "messages": one.messages} for one in questions]
        keys = [request_key(body) for body in bodies]
        cache = ReplyCache(self.cache) if self.cache is not None and keys else None
        known: dict[str, Reply | Failure] = {**cache.get(keys)} if cache else {}
        missing = {key: body for key, body in zip(keys, bodies, strict=True) if key not in known}
        names = list(missing)
        keep = (lambda index, reply: cache.put(names[index], reply)) if cache else None
        if missing:
            known.update(zip(names, ask(self._endpoint(), list(missing.values()), keep), strict=True))
        return [known[key] for key in keys]

    def _endpoint(self) -> Endpoint:
        key = None
        if self.api_key_env is not None:
            key = os.environ.get(self.api_key_env, "").strip()
            if not (key and key.isascii() and key.isprintable()):
                raise UsageError(f"api_key_env: the environment variable {self.api_key_env} holds no API key")
        return Endpoint(self.base_url, key, self.timeout, self.retries, self.concurrency, self.requests_per_minute)


class _Draft(NamedTuple):
    """A score that is final, unless there is a question to the judge."""

    score: Score
    question: Question | None = None


class _Verdict(NamedTuple):
    """The fields of a score that the judge decides."""

    value: float | None
    status: Literal["scored", "error"]
    explanation: str


def _problem_text(example: Example) -> str | None:
    """What was asked: a plain prompt, or the last message of the user."""
    if isinstance(example.prompt, str):
        return example.prompt or None
    return next((message.content for message in reversed(example.prompt) if message.role == "user"), None)


def _is_blank(text: str) -> bool:
    return all(unicodedata.category(character)[0] in "PZC" for character in text)


def _check_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise UsageError(f"base_url: expected an address such as http://localhost:8000/v1, got {url!r}")
    if parts.username is not None or parts.query:
        raise UsageError("base_url: no credentials or query there; name the key's environment variable in api_key_env")
