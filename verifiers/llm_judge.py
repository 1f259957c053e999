"""A language model as judge: compares an answer with the gold answer, or grades a text by a rubric."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, NamedTuple

from grpo_env.core import BatchVerifier, Completion, Example, Format, Score
from grpo_env.endpoint import Endpoint, Failure, Reply, ask, check_address, usable_key
from grpo_env.errors import UsageError, nearest
from grpo_env.registry import SAFE, is_safe_mode, verifier

from .answers.extract import final_answer
from .blocks import whole_turn
from .llm_judge_prompt import (
    PLACES,
    Question,
    equality_question,
    own_question,
    places,
    read_grade,
    read_verdict,
    reasons,
    reminder,
    rubric_question,
)
from .replies import ReplyCache, request_key

LONGEST_ANSWER = 1_000
LONGEST_COMPLETION = 20_000
GRADES = (0.0, 10.0)
PARAMETERS = {"temperature": 0, "max_tokens": 1024}
MAX_SHOWN = 300  # characters of an answer and of the judge's reasoning that a score keeps


@verifier("llm_judge")
@dataclass(frozen=True)
class LLMJudge(BatchVerifier):
    """1 if a language model finds the answer equal to the gold answer, else 0; or its grade by a ``rubric``, 0 to 1.

    *Equality*: the judge sees the question (the last user message), the gold answer and the completion's final answer,
    extracted as by ``accuracy``; with ``text: completion`` all of the text. A missing or denied answer scores 0
    without a request. *Rubric*: it sees the question, the gold answer (if there is one) and the whole completion, and
    grades within ``scale``; the value is (grade - low) / (high - low). Without a prompt the completion is unscored
    (``not_applicable``), unless a ``template`` leaves out the question.

    A text longer than ``max_chars`` scores 0 (``over_limit``). If a reply has no verdict the judge is asked once more;
    if that fails too, the completion is unscored (``error``).

    The texts are sent as escaped JSON data, and the verdict must be in the last line of the reply, after a code that
    the texts cannot contain. This prevents forged verdicts, but not that a text persuades the judge: monitor how well
    it agrees with ``accuracy``. With a ``template`` of your own the last line is ``Yes``, ``**Verdict:** no`` or a
    grade, without a code: a judge that repeats a text may give the text's verdict.

    Source: OpenAI's simple-evals and X-R1. Zhao et al. 2025 (arXiv:2507.08794): a colon in place of an answer
    convinces many judges; here punctuation alone is a missing answer.
    """

    base_url: str
    """The endpoint's base URL, e.g. ``http://localhost:8000/v1``; ``/chat/completions`` is appended."""
    model: str
    """The model's name at the endpoint."""
    max_chars: int | None = None
    """The maximum length of the text in characters; by default 1,000 for an answer, 20,000 for a completion."""
    api_key_env: str | None = None
    """The environment variable with the API key."""
    parameters: Mapping[str, Any] | None = None
    """The other fields of the request; by default ``{temperature: 0, max_tokens: 1024}``."""
    timeout: float = 60.0
    """Seconds per attempt."""
    retries: int = 4
    """The number of retries after a timeout, a rate limit (429) or a server error."""
    concurrency: int = 8
    """Concurrent requests of each scoring process."""
    cache: str | None = None
    """A file that caches replies, relative to the task file; processes and runs may share it."""
    rubric: str | None = None
    """The grading criteria; without a rubric the judge compares the final answer with the gold answer."""
    scale: tuple[float, float] | None = None
    """The worst and the best grade of the rubric, by default 0 and 10."""
    text: Literal["answer", "completion"] | None = None
    """What the judge sees of a completion: by default the ``answer``, with a rubric the whole ``completion``."""
    template: str | None = None
    """The whole message to the judge in your own words. ``{question}``, ``{reference}``, ``{rubric}`` and one of
    ``{answer}`` and ``{completion}``, which says what the judge sees, stand for the texts."""
    format: Format = field(default_factory=Format)

    in_process: ClassVar[bool] = False
    output_options: ClassVar[tuple[str, ...]] = ("cache",)

    def __post_init__(self) -> None:
        check_address(self.base_url, "name the key's environment variable in api_key_env")
        if self.api_key_env is not None and is_safe_mode():
            raise UsageError(f"api_key_env: {SAFE}=1 refuses to send secrets to an address that a task file names")
        if taken := {"model", "messages", "stream", "n"} & (self.parameters or {}).keys():
            raise UsageError(f"parameters: {min(taken)!r} cannot be set here")
        for name, value, least in (("concurrency", self.concurrency, 1), ("retries", self.retries, 0)):
            if value < least:
                raise UsageError(f"{name}: expected at least {least}, got {value}")
        for name in ("timeout", "max_chars"):
            if (value := getattr(self, name)) is not None and not 0 < value < math.inf:
                raise UsageError(f"{name}: expected a number above 0, got {value}")
        if self.rubric is not None and not self.rubric.strip():
            raise UsageError("rubric: the text is empty; omit it to compare with the gold answer")
        if self.scale is not None and self.rubric is None:
            raise UsageError("scale: only a rubric has grades: give the grading criteria in 'rubric', or omit 'scale'")
        low, high = self._grades
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise UsageError(f"scale: expected [worst, best] with worst < best, got {[low, high]}")
        self._check_template()

    def _check_template(self) -> None:
        named = set(places(self.template or ""))
        if self.template is None:
            return
        if unknown := sorted(named - set(PLACES)):
            raise UsageError(f"template: {{{unknown[0]}}}: {nearest(unknown[0], PLACES)}; texts stand in single braces")
        if len(named & {"answer", "completion"}) != 1 or self.text is not None:
            raise UsageError("template: names one of {answer} and {completion}, instead of 'text'")
        if ("rubric" in named) != (self.rubric is not None):
            raise UsageError("template: {rubric} stands for the text of 'rubric': give both or none")

    @property
    def needs_prompt(self) -> bool:
        return self.template is None or "question" in places(self.template)

    def problem(self, example: Example) -> str | None:
        needed = self.rubric is None if self.template is None else "reference" in places(self.template)
        if needed and not (example.answer or "").strip():
            return "llm_judge needs a gold answer or a rubric"
        return None

    def batch(self, pairs: Sequence[tuple[Example, Completion]]) -> list[Score]:
        drafts = [self._draft(example, completion) for example, completion in pairs]
        verdicts = self._verdicts([draft.question for draft in drafts if draft.question])
        return [
            replace(verdicts[draft.question.hash], answer=draft.score.answer, gold=draft.score.gold)
            if draft.question
            else draft.score
            for draft in drafts
        ]

    def _draft(self, example: Example, completion: Completion) -> _Draft:
        if problem := self.problem(example):
            return _Draft(Score(None, "not_applicable", explanation=problem))
        question = _last_user_message(example)
        if self.needs_prompt and question is None:
            why = (
                "the example has no prompt to send to the judge: give Task.score its row as info, or score_groups an "
                "Example with a prompt"
            )
            return _Draft(Score(None, "not_applicable", gold=example.answer, explanation=why))
        optional = {"question": question, "reference": example.answer}
        texts = {key: value for key, value in optional.items() if value is not None}
        is_answer = self._seen == "answer"
        text = self._final_answer(example, completion) if is_answer else self._completion(example, completion)
        if isinstance(text, Score):
            return _Draft(text)
        score = Score(0.0, answer=text[:MAX_SHOWN] if is_answer else None, gold=example.answer)
        limit = self.max_chars or (LONGEST_ANSWER if is_answer else LONGEST_COMPLETION)
        if len(text) > limit:
            why = f"{len(text)} characters, of at most {limit}"
            return _Draft(replace(score, status="over_limit", explanation=why))
        if self.template is not None:
            return _Draft(score, own_question(self.template, self.rubric, {**texts, self._seen: text}))
        if self.rubric is None:
            return _Draft(score, equality_question({**texts, "answer": text}))
        return _Draft(score, rubric_question(self.rubric, *self._grades, {**texts, "completion": text}))

    def _final_answer(self, example: Example, completion: Completion) -> str | Score:
        """The final answer, or the score of a completion without one."""
        final = final_answer(self.format, completion)
        if final.denied:
            return Score(0.0, gold=example.answer, explanation="the text denies the answer")
        text = ", ".join(final.answers)
        if _is_unreadable(text):
            why = "the answer is nothing but punctuation" if final.answers else final.reason
            return Score(0.0, "no_answer", gold=example.answer, explanation=why)
        return text

    def _completion(self, example: Example, completion: Completion) -> str | Score:
        """The whole completion, or the score of an empty one."""
        text = whole_turn(self.format, completion)[0]
        if _is_unreadable(text):
            return Score(0.0, "no_answer", gold=example.answer, explanation="the completion is empty")
        return text

    @property
    def _grades(self) -> tuple[float, float]:
        return self.scale or GRADES

    @property
    def _seen(self) -> Literal["answer", "completion"]:
        if self.template is not None:
            return "answer" if "answer" in places(self.template) else "completion"
        return self.text or ("answer" if self.rubric is None else "completion")

    def _value(self, question: Question, reply: Reply) -> float | None:
        """The value that a whole reply has, or ``None`` without a verdict."""
        if self.rubric is None:
            return read_verdict(reply.text, question.mark)
        low, high = self._grades
        grade = read_grade(reply.text, question.mark, low, high)
        return None if grade is None else (grade - low) / (high - low)

    def _verdicts(self, questions: Sequence[Question]) -> dict[str, Score]:
        """The judge's verdicts, by the hash of the question: scores with a value, or with status ``error``."""
        verdicts: dict[str, Score] = {}
        unique = list({question.hash: question for question in questions}.values())
        silent: list[tuple[Question, Reply]] = []  # without a verdict
        for question, reply in zip(unique, self._replies(unique), strict=True):
            verdict = verdicts[question.hash] = self._read(question, reply)
            if isinstance(reply, Reply) and not verdict.scored:
                silent.append((question, reply))
        reminders = [reminder(question, reply.text) for question, reply in silent]
        for question, first, again in zip(reminders, silent, self._replies(reminders), strict=True):
            verdict = verdicts[question.hash] = self._read(question, again)
            if verdict.scored and self.cache is not None:  # the way to a verdict that is in the cache
                ReplyCache(self.cache).put(request_key(self.base_url, self._body(first[0])), first[1])
        return verdicts

    def _read(self, question: Question, reply: Reply | Failure) -> Score:
        if isinstance(reply, Failure):
            return Score(None, "error", explanation=reply.reason)
        value = self._value(question, reply) if reply.whole else None
        if value is None:
            truncated = "" if reply.whole else ", truncated at its token limit"
            why = f"the judge's reply has no verdict{truncated}: {reply.text[-MAX_SHOWN:]!r}"
            return Score(None, "error", explanation=why)
        reasoning = reasons(reply.text, MAX_SHOWN)
        return Score(value, explanation=f"{self.model}: {reasoning}" if reasoning else self.model)

    def _replies(self, questions: Sequence[Question]) -> list[Reply | Failure]:
        """The judge's replies. Those with a verdict are kept in the cache; others may be better the next time."""
        bodies = list(map(self._body, questions))
        keys = [request_key(self.base_url, body) for body in bodies]
        asked = dict(zip(keys, questions, strict=True))
        cache = ReplyCache(self.cache) if self.cache is not None and keys else None
        replies: dict[str, Reply | Failure] = {**cache.get(keys)} if cache else {}
        missing = {key: body for key, body in zip(keys, bodies, strict=True) if key not in replies}
        names = list(missing)

        def keep(index: int, reply: Reply) -> None:
            if cache and self._read(asked[names[index]], reply).scored:
                cache.put(names[index], reply)

        if missing:
            replies.update(zip(names, ask(self._endpoint(), list(missing.values()), keep), strict=True))
        return [replies[key] for key in keys]

    def _body(self, question: Question) -> dict[str, Any]:
        parameters = PARAMETERS if self.parameters is None else self.parameters
        return {**parameters, "model": self.model, "messages": question.messages}

    @property
    def default_deadline(self) -> float:
        """All attempts of two requests, with a pause as long as each."""
        return 120.0 + 4 * (self.retries + 1) * self.timeout

    def _endpoint(self) -> Endpoint:
        key = None
        if self.api_key_env is not None:
            key = usable_key(self.api_key_env)
            if key is None:
                raise UsageError(f"api_key_env: the environment variable {self.api_key_env} contains no API key")
        return Endpoint(self.base_url, key, self.timeout, self.retries, self.concurrency)


class _Draft(NamedTuple):
    """A final score, or one that lacks the judge's answer to a question."""

    score: Score
    question: Question | None = None


def _last_user_message(example: Example) -> str | None:
    """The last user message of the prompt, or the whole prompt if it is a string."""
    if isinstance(example.prompt, str):
        return example.prompt or None
    return next((message.content for message in reversed(example.prompt) if message.role == "user"), None)


def _is_unreadable(text: str) -> bool:
    return all(unicodedata.category(character)[0] in "PZC" for character in text)
