"""A task as a folder that others can install: the task file, the code and data that it names, and a run of a peer.

The texts are the templates in ``packages/``: those of ``common/``, then those of the peer. ``module`` in a path is the
name of the package, and ``@KEY@`` in a text is a value.
"""

from __future__ import annotations

import ast
import glob
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from grpo_env import __version__
from grpo_env.errors import UsageError, nearest
from grpo_env.integrations import nemo_gym, openrlhf, verl
from grpo_env.rows.writer import check_free
from grpo_env.taskfile.dataset import is_local
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task
from grpo_env.taskfile.yaml_file import read_yaml

from .scoring import Need, refuse

TEMPLATES = Path(__file__).parent / "packages"

MAX_MB = 100.0
"""Of a package; larger data are not copied."""

PROMPT_TOKENS = 1024
"""What peers that need a limit of prompts get, where the task recommends none."""


class Peer(NamedTuple):
    """A trainer: its name in texts, what its package needs, the file of a split, and what its tasks cannot have."""

    title: str
    dependencies: tuple[str, ...]
    suffix: str = ""
    write: Callable[[Task, Split, Path], None] | None = None
    refused: tuple[Need, ...] = ("groups", "steps")


PEERS = {
    "verifiers": Peer("verifiers and prime-rl", ("grpo_env", "verifiers>=0.4,<0.5")),
    "verl": Peer("verl", ("grpo_env",), ".parquet", verl.write),
    "openrlhf": Peer("OpenRLHF", ("grpo_env",), ".jsonl", openrlhf.write),
    "trl": Peer("TRL", ("grpo_env", "trl>=1.16"), refused=()),
    "gym": Peer("NeMo Gym", ("grpo_env[serve]",), ".jsonl", nemo_gym.write),
}


def export_package(task: Task, peer: str, out: Path, results: Callable[[], Mapping[str, str]]) -> list[str]:
    """Write the folder ``out``, and return the files that are not in it, being too large.

    ``results`` gives texts for its README, ``check`` and ``audit``. Raises ``UsageError`` for an unknown peer, a task
    that it cannot have, a folder that exists, and files that the task names outside its folder.
    """
    if peer not in PEERS:
        raise UsageError(f"--to {peer}: {nearest(peer, PEERS)}")
    check_free(out, overwrite=None)
    refuse(task, PEERS[peer].title, PEERS[peer].refused)
    code, data = sorted(_code(task)), sorted(_data(task))
    too_large = sum((task.folder / name).stat().st_size for name in data) > MAX_MB * 1e6
    module = re.sub(r"\W", "_", task.name.lower(), flags=re.ASCII) + "_env"  # not the name of the task's own code
    module = module if module.isidentifier() else f"task_{module}"
    values = _values(task, peer, module)
    values["left_out"] = f"\nCopy {', '.join(data)} into `{module}/`: too large for this folder.\n" if too_large else ""
    with TemporaryDirectory(prefix=".export-", dir=out.parent) as folder:
        package = Path(folder) / "package" / module
        package.mkdir(parents=True)
        for name in (Path(task.source).name, *code, *(() if too_large else data)):
            (package / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(task.folder / name, package / name)
        if (write := PEERS[peer].write) is not None:
            for split in task.spec.dataset.split:
                write(task, split, package / f"{split}{PEERS[peer].suffix}")
        _write_texts(package.parent, peer, {**values, **results()})
        package.parent.rename(out)
    return data if too_large else []


def _write_texts(folder: Path, peer: str, values: Mapping[str, str]) -> None:
    values = {**values, "use": _filled(TEMPLATES / peer / "use.md.txt", values)}
    for part in (TEMPLATES / "common", TEMPLATES / peer):
        for template in part.rglob("*.txt"):
            name = str(template.relative_to(part)).removesuffix(".txt").replace("module/", f"{values['module']}/")
            if name != "use.md":
                (folder / name).write_text(_filled(template, values), encoding="utf-8")


def _filled(template: Path, values: Mapping[str, str]) -> str:
    return re.sub(r"@([a-z_]+)@", lambda match: values[match[1]], template.read_text(encoding="utf-8"))


def _values(task: Task, peer: str, module: str) -> dict[str, str]:
    from grpo_env.trainer.config import TrainConfig

    config = TrainConfig.from_mapping({}, task.source, defaults=task.defaults)
    prompt_tokens = config.sampling.max_prompt_tokens or PROMPT_TOKENS
    values = {
        "name": task.name,
        "module": module,
        "distribution": module.replace("_", "-"),
        "file": Path(task.source).name,
        "peer": PEERS[peer].title,
        "version": __version__,
        "description": json.dumps(task.spec.description, ensure_ascii=False),
        "description_text": task.spec.description,
        "dependencies": json.dumps(PEERS[peer].dependencies),
        "metric": task.metric,
        "chat": "" if task.spec.prompt.text is not None else "--data.apply_chat_template \\\n    ",
        "steps": config.steps,
        "group_size": config.group_size,
        "prompts_per_step": config.prompts_per_step,
        "batch_size": config.group_size * config.prompts_per_step,
        "max_new_tokens": config.sampling.max_new_tokens,
        "max_prompt_tokens": prompt_tokens,
        "total_tokens": prompt_tokens + config.sampling.max_new_tokens,
        "temperature": config.sampling.temperature,
        "learning_rate": config.optimizer.learning_rate,
    }
    return {name: str(value) for name, value in values.items()}


def _code(task: Task) -> set[str]:
    """The Python files that the task names, and those beside it that they import, relative to its folder."""
    homes = [text.rpartition(":")[0] for _, text in _strings(read_yaml(Path(task.source)))]
    todo = [_inside(task, home) for home in homes if home.endswith(".py")]
    todo += [f"{home}.py" for home in homes if home.isidentifier()]
    found: set[str] = set()
    while todo:
        name = todo.pop()
        if name in found or not (task.folder / name).is_file():
            continue
        found.add(name)
        for imported in _imports(task.folder / name):
            at = task.folder / Path(name).parent / imported
            todo += [str(path.relative_to(task.folder)) for path in (at.with_suffix(".py"), *at.rglob("*.py"))]
    return found


def _imports(file: Path) -> Iterator[str]:
    """The top-level names of the modules that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
        yield from (name.partition(".")[0] for name in names if name)


def _data(task: Task) -> set[str]:
    """The files of the task's rows and of its verifiers' models, relative to its folder."""
    data = read_yaml(Path(task.source))
    path = data["dataset"].get("path")
    patterns = []
    if path is not None and is_local(path, task.folder):
        patterns = [path.replace("{split}", str(name)) for name in task.spec.dataset.split.values()]
    options = {option for cls in task.verifier_classes for option in cls.path_options}
    models = [text for key, text in _strings(data["verifiers"]) if key in options]
    patterns += [model for model in models if (task.folder / model).exists() or Path(model).exists()]
    found: set[Path] = set()
    for pattern in (_inside(task, pattern) for pattern in patterns):
        exact = task.folder / pattern
        matches = [] if exact.exists() else glob.glob(pattern, root_dir=task.folder, recursive=True)
        for at in map(task.folder.joinpath, matches or [pattern]):
            found |= {file for file in (at.rglob("*") if at.is_dir() else [at]) if file.is_file()}
    return {str(file.relative_to(task.folder)) for file in found}


def _inside(task: Task, name: str) -> str:
    """A path of the task file. Raises ``UsageError`` for one that is not in its folder, where others do not have it."""
    elsewhere = not (task.folder / name).exists() and Path(name).exists()
    if Path(name).is_absolute() or ".." in Path(name).parts or elsewhere:
        raise UsageError(f"{task.source}: {name} is not in the folder of the task file; copy it there")
    return name


def _strings(data: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """All texts in data of YAML, with the nearest key."""
    if isinstance(data, str):
        yield key, data
    for name, value in data.items() if isinstance(data, Mapping) else ():
        yield from _strings(value, name)
    for value in data if isinstance(data, list) else ():
        yield from _strings(value, key)
