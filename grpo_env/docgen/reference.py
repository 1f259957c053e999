"""The reference of all keys as a page: settings of training and the schema of task files, from the classes."""

from __future__ import annotations

import inspect

from grpo_env.core import Format
from grpo_env.taskfile.mixture import MemberSpec, MixtureSpec
from grpo_env.taskfile.schema import (
    CaseSpec,
    DatasetSpec,
    LinearSpec,
    PromptSpec,
    ScheduleSpec,
    Shot,
    TaskSpec,
    VerifierSpec,
)

from .catalogue import option_table, options

TOP = """\
# Settings and keys

Written by `grpo_env settings --markdown` from the classes themselves; a test says when it is out of date. What settings
mean together: [training](training.md); their equations: [the algorithm](algorithm.md); how a task file is put together:
[tasks](tasks.md); options of verifiers: [the catalogue](catalogue.md).
"""

KEYS = {
    "Keys of a task file": TaskSpec,
    "dataset": DatasetSpec,
    "format": Format,
    "prompt": PromptSpec,
    "prompt: shots": Shot,
    "verifiers": VerifierSpec,
    "verifiers: a weight that moves": ScheduleSpec,
    "verifiers: linear and cosine": LinearSpec,
    "cases": CaseSpec,
    "Keys of a mixture": MixtureSpec,
    "mixture": MemberSpec,
}


def page() -> str:
    """All settings and keys, in Markdown."""
    from grpo_env.trainer.config import GROUPS, TrainConfig

    groups: dict[str, type] = {f"`{group}`": type(TrainConfig.model_fields[group].default) for group in GROUPS}
    lines = [TOP]
    for title, cls in {"Settings of training": TrainConfig, **groups, **KEYS}.items():
        told = inspect.cleandoc(cls.__doc__ or "").replace("``", "`")
        lines += [
            f"{'###' if title[0].islower() or title[0] == '`' else '##'} {title}",
            "",
            told,
            "",
            *option_table(options(cls)),
            "",
        ]
    return "\n".join(lines)
