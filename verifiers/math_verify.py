"""Is the final answer correct by math-verify, as in TRL and Open-R1? It runs in a process that can be killed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, TypeAlias

from grpo_env.core import Case, Completion, Example, Score, Verifier
from grpo_env.lazy_regex import lazy_compile
from grpo_env.registry import verifier
from grpo_env.workers.killable_worker import START_TIMEOUT, LateError, ProgramWorker, WorkerDiedError

from .answer_text import MAX_SHOWN, check_timeout

Extraction: TypeAlias = Literal["boxed", "any"]
BareGolds: TypeAlias = Literal["in_dollars", "as_is"]

MEMORY = 2 * 2**30  # bytes of address space
PATIENCE = 5.0  # seconds by the clock for one of processor time
MAX_LENGTH = 200_000  # characters; math-verify finds the answer in so long a text in 0.1 s
GOLD_TIMEOUT = 5.0  # seconds of processor time to read a gold answer, which is done once
MAX_GOLDS = 4096  # that are remembered

_MARK = lazy_compile(r"(?<!\\)\$|\\[(\[]|\\boxed|\n")  # of mathematics, or of a worked solution; not of a price
WORKER = ProgramWorker(f"{__package__}.math_verify_worker", str(MEMORY))


@verifier("math_verify")
@dataclass(frozen=True)
class MathVerify(Verifier):
    """1 if math-verify finds the answer equal to the gold answer, else 0: the rewards of TRL and Open-R1.

    The whole completion is read, with its reasoning and without the task's format. A gold answer that math-verify
    cannot read is ``bad_gold``. A text without an answer (``no_answer``), one of more than 200,000 characters
    (``over_limit``) and one that takes longer than ``timeout`` score 0.

    Use it to repeat the rewards of a run with TRL (``bare_golds: as_is``), as a second reader beside ``accuracy``
    (weight 0, or ``grpo_env compare``), and in ``first_of`` for gold answers that ``accuracy`` cannot read. It does
    not belong into ``appeal``: of the 104 hacks that ``grpo_env audit math`` tries on MATH-500 it pays 9 (``any``: 22,
    ``accuracy``: 0); of 2,400 labelled answers it accepts 41 wrong ones and refuses 58 right ones (``accuracy``:
    none), at 12 ms each instead of 0.2 ms (``benchmarks/verdicts.py --math-verify``).

    Source: TRL 1.16's ``accuracy_reward`` and Math-Verify 0.9. Open-R1 reads gold answers by their first match
    instead.
    """

    extraction: Extraction = "boxed"
    r"""``boxed``: the last ``\boxed{}``, else LaTeX in delimiters after words like "the answer is", as TRL reads it.
    ``any``: math-verify's own default, which goes on to any formula or number, the last one first."""
    bare_golds: BareGolds = "in_dollars"
    r"""Whether a gold answer of one line without dollars, brackets ``\(`` or a box is put in dollars (``in_dollars``),
    or given to math-verify ``as_is``, as TRL does: ``\frac12`` and ``(1,2)`` are ``bad_gold`` then."""
    timeout: float = 5.0
    """Seconds of processor time for reading and comparing an answer; by the clock five times as long."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case("So it is $\\boxed{0.5}$.", 1.0, "equal values", "\\frac12"),
        Case("The answer is $x=2$.", 1.0, "LaTeX after these words", "2"),
        Case("\\boxed{(x-2)(x-3)}", 1.0, "equal formulas", "x^2-5x+6"),
        Case("The answer is 18.", 0.0, "neither a box nor LaTeX", "18"),
        Case("The answer is 18.", 1.0, "any number", "18", options={"extraction": "any"}),
        Case("\\boxed{3}", 0.0, "another value", "4"),
        Case("It is not \\boxed{2+2}.", 1.0, "what accuracy counts as wrong: denied, not evaluated", "4"),
        Case("\\boxed{3.14159265}", 1.0, "what accuracy counts as wrong: rounded", "\\pi"),
        Case("\\boxed{\\frac12}", None, "TRL leaves the row out", "\\frac12", options={"bare_golds": "as_is"}),
    )

    def __post_init__(self) -> None:
        check_timeout("math_verify", self.timeout)

    @property
    def default_deadline(self) -> float:
        return 2 * START_TIMEOUT + 2 * PATIENCE * (self.timeout + GOLD_TIMEOUT)  # the worker may start twice

    def __call__(self, example: Example, completion: Completion) -> Score:
        if problem := self.problem(example):
            return Score(None, "bad_gold", gold=example.answer, explanation=problem)
        assert example.answer is not None
        score = Score(0.0, gold=example.answer[:MAX_SHOWN])
        if len(completion.text) > MAX_LENGTH:
            return replace(score, status="over_limit", explanation=f"a text of more than {MAX_LENGTH:,} characters")
        request = {"gold": self._gold(example.answer), "text": completion.text, "extraction": self.extraction}
        try:
            reply = _ask(request, self.timeout)
        except LateError:
            return replace(score, status="timeout", explanation="no result in time")
        except WorkerDiedError:
            return replace(score, status="over_limit", explanation="math-verify crashed on it")
        if reply["answer"] is None:
            return replace(score, status="no_answer", explanation="math-verify finds no answer in the text")
        why = f"{self.extraction}: {'equal' if reply['same'] else 'not equal'} by math-verify"
        return replace(score, value=float(reply["same"]), answer=reply["answer"][:MAX_SHOWN], explanation=why)

    def problem(self, example: Example) -> str | None:
        if example.answer is None or not example.answer.strip():
            return "the gold answer is missing"
        if len(example.answer) > MAX_LENGTH:
            return f"a gold answer of more than {MAX_LENGTH:,} characters"
        return _gold_problem(self._gold(example.answer))

    def _gold(self, text: str) -> str:
        """A gold answer as math-verify gets it."""
        is_bare = self.bare_golds == "in_dollars" and not _MARK.search(text.strip())
        return f"${text.strip()}$" if is_bare else text


@lru_cache(maxsize=MAX_GOLDS)
def _gold_problem(text: str) -> str | None:
    """Why math-verify cannot read a gold answer, or ``None``."""
    try:
        found = _ask({"gold": text}, GOLD_TIMEOUT)["found"]
    except LateError:
        return "math-verify takes too long to read the gold answer"
    except WorkerDiedError:
        return "math-verify crashed on the gold answer"
    return None if found else "math-verify finds no mathematics in the gold answer"


def _ask(request: dict[str, Any], seconds: float) -> dict[str, Any]:
    """The worker's reply. Raises ``LateError``, or ``WorkerDiedError`` if it died twice."""
    request = {**request, "deadline": seconds}
    try:
        return WORKER.ask(request, PATIENCE * seconds)
    except WorkerDiedError:  # not necessarily because of this request: try once more, with a fresh worker
        return WORKER.ask(request, PATIENCE * seconds)
