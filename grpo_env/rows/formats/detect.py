"""Detects the format of a file of completions by the columns of its first rows. File names are not looked at."""

from __future__ import annotations

from collections.abc import Sequence

from .file_format import NATIVE, FileFormat, GoldTemplate, Row
from .inspect_log import INSPECT_LOG
from .lm_eval import LM_EVAL_SAMPLES
from .math_harness import MATH_HARNESS
from .nemo_gym import NEMO_GYM
from .openai_batch import OPENAI_BATCH
from .openai_chat import OPENAI_CHAT
from .opencompass import OPENCOMPASS
from .prm800k import PRM800K
from .scores import SCORES
from .trl import TRL_COMPLETIONS
from .verifiers import VERIFIERS_RESULTS, VERIFIERS_TRACES
from .verl import VERL_DUMP, VERL_GENERATION
from .vllm import VLLM_GENERATE

# The first match counts, so a more specific format comes before a more general one.
FORMATS = (
    SCORES,
    LM_EVAL_SAMPLES,
    VERIFIERS_RESULTS,
    VERIFIERS_TRACES,
    OPENAI_BATCH,
    NEMO_GYM,
    VERL_DUMP,
    VERL_GENERATION,
    TRL_COMPLETIONS,
    INSPECT_LOG,
    OPENCOMPASS,
    MATH_HARNESS,
    PRM800K,
    OPENAI_CHAT,
    VLLM_GENERATE,
)


def detect_format(rows: Sequence[Row], template: GoldTemplate | None = None) -> FileFormat:
    """The format of a file with these first rows: the first one that all of them match, else our own.

    ``template`` finds a row's gold answer. Without one, rows of TRL and conversations are not
    joined with the task's dataset.
    """
    for file_format in FORMATS if rows else ():
        if all(file_format.matches(row) for row in rows):
            return file_format.adapt(file_format, rows, template) if file_format.adapt else file_format
    return NATIVE
