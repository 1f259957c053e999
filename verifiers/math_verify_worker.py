"""The process that runs math-verify, without its signals: it has to be ended from outside.

It answers requests of ``math_verify.py``, which runs it with the memory limit in bytes and the pipe as its arguments
and never imports it. It ends with its caller, or when its memory has run out.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any

from latex2sympy2_extended import NormalizationConfig
from math_verify import LatexExtractionConfig, parse, verify

from grpo_env.workers.child_process import has_grown, limit_memory, limit_processor_time, read_requests

# As TRL 1.16 calls it; without these, math-verify has its defaults.
BOXED: dict[str, Any] = {
    "extraction_config": [
        LatexExtractionConfig(
            normalization_config=NormalizationConfig(units=True),
            boxed_match_priority=0,
            try_extract_without_anchor=False,
        )
    ],
    "extraction_mode": "first_match",
}


@lru_cache(maxsize=4096)
def read_gold(text: str) -> list[Any]:
    """What math-verify finds in a gold answer: objects of sympy and, last, the text that they were read from."""
    return list(parse(text, parsing_timeout=None))


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Answer a request: ``{"gold"}`` to try to read it, ``{"gold", "text", "extraction"}`` to compare."""
    golds = read_gold(request["gold"])
    if "text" not in request:
        return {"found": bool(golds)}
    options = BOXED if request["extraction"] == "boxed" else {}
    found = parse(request["text"], parsing_timeout=None, **options)
    texts = [item for item in found if isinstance(item, str)]  # to write out an object of sympy may take very long
    return {"answer": (texts or [""])[-1] if found else None, "same": bool(verify(golds, found, timeout_seconds=None))}


def main() -> None:
    """Answer requests until the caller closes the pipe."""
    memory = int(sys.argv[1])
    limit_memory(memory)
    answer({"gold": "$1$", "text": r"\boxed{x}", "extraction": "boxed"})  # the first call builds the tables of parsers
    for request, send in read_requests(sys.argv):
        limit_processor_time(request["deadline"])
        reply = answer(request)
        limit_processor_time(0.0)
        send(reply)
        if has_grown(memory):
            return


if __name__ == "__main__":
    main()
