"""A policy that is only sampled from: its config, and its rollout engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from grpo_env import __version__
from grpo_env.errors import UsageError
from grpo_env.taskfile.task import Task

from ..config import FIELDS, TrainConfig, flatten
from ..engine.bundled import TASKS
from ..engine.policy import Policy, load_policy
from ..engine.sampling.engines import make_engine
from ..run.start_lines import model_line
from .served_model import SETTINGS as SERVED_SETTINGS
from .served_model import ServedModel

# The settings of training that apply to sampling from a model.
SETTINGS = (
    *("model", "seed", "engine.device", "engine.precision", "sampling.max_new_tokens", "sampling.max_prompt_tokens"),
    *("sampling.overlong_prompts", "sampling.temperature", "sampling.engine", "sampling.url"),
    "sampling.gpu_memory_fraction",
)


def sampling_config(
    task: Task, command: str, model: str | ServedModel | None, settings: Mapping[str, Any]
) -> TrainConfig:
    """The config of a command that samples and does not train.

    Raises ``UsageError`` for a setting that has no effect, if neither the caller nor the task names a model, and for a
    task that a served model cannot be asked.
    """
    known: Sequence[str] = SETTINGS
    if isinstance(model, ServedModel):
        model.check(task)
        known, model = SERVED_SETTINGS, model.name
    chosen = {**flatten(settings, command), **({"model": model} if model else {})}
    defaults = flatten(task.defaults)
    if "model" not in chosen and "model" not in defaults:
        bundled = {name: own for own, name in TASKS.items()}.get(task.name)
        if bundled is None:
            raise UsageError(
                f"{command}: of which model? {task.source} names none (train.model); give --model, a folder or a hub id"
            )
        defaults["model"] = bundled
    for name in chosen:  # before values are checked, which are of no use here
        if name in FIELDS and name not in known:
            raise UsageError(f"{command}: {name} has no effect here; settings that do: {', '.join(known)}")
    return TrainConfig.from_mapping(chosen, command, defaults=defaults)


def sampling_identity(config: TrainConfig, known: Sequence[str]) -> dict[str, Any]:
    """What samples depend on besides the prompts: the settings ``known``, and the files of a model's folder."""
    settings, source = flatten(config.model_dump()), Path(config.model)
    files = sorted(source.iterdir()) if source.is_dir() else []
    return {
        "grpo_env": __version__,
        "settings": {name: settings[name] for name in known},
        "model files": {path.name: [path.stat().st_size, path.stat().st_mtime_ns] for path in files},
    }


@contextmanager
def sampling_policy(config: TrainConfig, console: Console) -> Iterator[Policy]:
    """The policy of a config with a started engine, which is closed at the end. ``console`` is told what is loaded.

    Raises ``UsageError``, also in one of several processes.
    """
    with closing(make_engine(config)) as engine:
        policy = load_policy(config.model, device=config.engine.device, precision=config.engine.precision)
        if policy.accelerator.num_processes > 1:
            raise UsageError("this command runs in one process; to use several GPUs, sample on servers (sampling.url)")
        policy = replace(policy, rollout_engine=engine)
        engine.report = lambda message: console.print(message, style="red")
        engine.start(policy)
        engine.update_weights(policy, 0)
        console.print(f"model      {model_line(policy)}", soft_wrap=True)
        yield policy
