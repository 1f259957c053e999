"""How similar is the text to the gold answer? Metrics of translation and summarization, by their packages."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import ClassVar, Literal

from grpo_env.core import Case, Completion, Example, Format, Score, Verifier
from grpo_env.lazy_regex import lazy_compile
from grpo_env.registry import verifier

from .answer_text import MAX_TEXT, gold_texts, read_text, shown
from .linear_regex import encodable
from .optional_packages import optional_package

Metric = Literal["chrf", "bleu", "rouge1", "rouge2", "rougeL", "edit"]

MAX_CELLS = 2_000_000  # of ROUGE-L's table of words by words, which takes half a second

_ROUGE_WORD = lazy_compile(r"[a-z0-9]+", re.IGNORECASE)  # all that rouge-score sees


@verifier("text_similarity")
@dataclass(frozen=True)
class TextSimilarity(Verifier):
    """The similarity of the text (the answer block, else all after the reasoning) and the gold answer, from 0 to 1.

    ``chrf`` (character n-grams, for any language) and ``bleu`` are sacrebleu's for one sentence, divided by 100;
    ``rouge1``, ``rouge2`` and ``rougeL`` the F-measures of rouge-score with stemming, for letters a to z and digits
    only; ``edit`` is 1 minus the edit distance, divided by the length of the longer text. Of several gold answers the
    most similar counts. More than 20,000 characters, or too many words for ROUGE-L, are ``over_limit``. It is a weak
    reward: a wrong number costs as much as a synonym. Needs ``pip install -c constraints.txt '.[text]'``.

    Source: Papineni et al. 2002 (BLEU), Lin 2004 (ROUGE), Popović 2015 (chrF), Post 2018 (sacrebleu).
    """

    metric: Metric
    """``chrf``, ``bleu``, ``rouge1``, ``rouge2``, ``rougeL`` or ``edit``."""
    format: Format = field(default_factory=Format)
    golds: Literal["one", "any"] = "one"
    """``any`` of a JSON list (``{{ answers | tojson }}``) that is the gold answer then, or ``one``."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case("<answer>the cat sat</answer>", 1.0, "the same text", "the cat sat", options={"metric": "chrf"}),
        Case("<answer>kitten</answer>", 4 / 7, "3 edits of 7 letters", "sitting", options={"metric": "edit"}),
        Case("the cat", 0.8, "2 of 2 words, 2 of 3", "the cat sat", options={"metric": "rouge1"}),
        Case("dogs", 0.0, "no common word", "the cat sat", options={"metric": "bleu"}),
        Case("cat", None, "one word has no pairs of words", "cat", options={"metric": "rouge2"}),
        Case("猫", None, "ROUGE reads no Chinese", "猫", options={"metric": "rougeL"}),
    )

    def __post_init__(self) -> None:
        _similarity(self.metric)  # or the extra is missed only when the first completion is scored

    def __call__(self, example: Example, completion: Completion) -> Score:
        golds, problem = self._golds(example.answer)
        if problem:
            return Score(None, "bad_gold", gold=example.answer, explanation=problem)
        final = read_text(self.format, completion)
        score = Score(0.0, answer=shown(final.answers), gold=shown(golds))
        if not final.answers:
            return replace(score, status="no_answer", explanation=final.reason)
        if final.denied or len(final.answers) > 1:
            why = "the text denies it" if final.denied else "several different answers"
            return replace(score, explanation=f"{final.source}: {why}")
        text = final.answers[0]
        if len(text) > MAX_TEXT or any(self._cells(text, gold) > MAX_CELLS for gold in golds):
            return replace(score, status="over_limit", explanation="the text is too long to be compared")
        similarity = _similarity(self.metric)
        value = max(similarity(encodable(text), encodable(gold)) for gold in golds)
        return replace(score, value=value, explanation=f"{self.metric} {value:.3f}")

    def problem(self, example: Example) -> str | None:
        return self._golds(example.answer)[1] or None

    def _golds(self, text: str | None) -> tuple[list[str], str]:
        """The gold answers, or the reason why there are none."""
        golds, problem = gold_texts(text and text.strip(), self.golds)
        if self.metric.startswith("rouge") and not all(map(_ROUGE_WORD.search, golds)):
            return [], "ROUGE reads only letters a to z and digits, and the gold answer has none; use chrf or edit"
        if self.metric == "rouge2" and any(len(_ROUGE_WORD.findall(gold)) < 2 for gold in golds):
            return [], "rouge2 compares pairs of words, and the gold answer has only one word; use rouge1 or chrf"
        return golds, problem

    def _cells(self, text: str, gold: str) -> int:
        if self.metric != "rougeL":
            return 0
        return len(_ROUGE_WORD.findall(text)) * len(_ROUGE_WORD.findall(gold))


@lru_cache(maxsize=8)
def _similarity(metric: Metric) -> Callable[[str, str], float]:
    """The function of a text and a gold answer. Raises ``UsageError`` if its package is not installed."""
    needed_by = f"text_similarity with {metric}"
    if metric in ("chrf", "bleu"):
        metrics = optional_package("sacrebleu.metrics", "text", needed_by)
        scorer = metrics.CHRF() if metric == "chrf" else metrics.BLEU(effective_order=True)
        return lambda text, gold: min(1.0, float(scorer.sentence_score(text, [gold]).score) / 100)
    if metric == "edit":
        levenshtein = optional_package("rapidfuzz.distance.Levenshtein", "text", needed_by)
        return lambda text, gold: float(levenshtein.normalized_similarity(text, gold))
    rouge = optional_package("rouge_score.rouge_scorer", "text", needed_by).RougeScorer([metric], use_stemmer=True)
    return lambda text, gold: float(rouge.score(gold, text)[metric].fmeasure)
