"""What to write in place of the task keys and values of 0.1.0 that 0.2.0 does not have, for the error message."""

from __future__ import annotations

_PATTERN = "use the verifier pattern for other spellings"
_NO_PROMPT = "give the rows or the task a prompt"
_RATE = "leave it out: refused requests are sent again after their Retry-After; concurrency bounds them"
_SIMILARITY = "the text in the answer block, else all after the reasoning, is compared; leave it out"

REMOVED: dict[str, str] = {
    "accuracy.kind=code": "use text",
    "accuracy.kind=json": "use literal",
    "accuracy.kind=time": "use text",
    "accuracy.kind=words": "use text",
    "accuracy.sources=a_line": "use phrase",
    "clip": "put the verifier under 'of' of one that says use: clip, low: 0, high: 1",
    "cosine": "use linear: {from, to, steps}",
    "deadline": "give each verifier its own",
    "exact_text.unicode": _PATTERN,
    "exact_text.whitespace": _PATTERN,
    "integer_answer.decimals": "use the verifier pattern for decimal numbers",
    "llm_judge.requests_per_minute": _RATE,
    "llm_judge.without_prompt": f"{_NO_PROMPT}, or leave {{question}} out of a template of your own",
    "llm_ranking.requests_per_minute": _RATE,
    "llm_ranking.without_prompt": _NO_PROMPT,
    "numeric.units=required": "use convert, with which an answer may leave its unit out",
    "pattern.ignore_case": "start the pattern with (?i)",
    "process_reward_model.without_prompt": _NO_PROMPT,
    "repetition.unit=character": "use word, which is a character in scripts without spaces",
    "reward_model.without_prompt": _NO_PROMPT,
    "text_similarity.read": _SIMILARITY,
    "text_similarity.sources": _SIMILARITY,
    "text_similarity.threshold": "the similarity is the value; leave it out",
}
"""By key; by ``VERIFIER.OPTION``; or by ``VERIFIER.OPTION=VALUE`` where the option is left."""
