"""``Task``: a task file loaded into examples, prompts and one composed verifier."""

from __future__ import annotations

import hashlib
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from grpo_env.core import Completion, Example, Format, Score, Verifier, score_one
from grpo_env.errors import UsageError, nearest, no_such_file
from grpo_env.registry import find, home, is_safe_mode, locate

from .dataset import NumberedRow, SplitRows, is_local, load_rows
from .prompt import build_prompt
from .row_options import RowOptions, class_of
from .schema import HUB_KEYS, SECTIONS, AnySplit, ScheduleSpec, Split, TaskSpec, VerifierSpec
from .templates import RowCondition, check_template, is_template, is_true, render_value
from .validation import build_verifier, type_of_option, validate
from .yaml_file import read_yaml

if TYPE_CHECKING:
    from grpo_env.verifiers.parts_and_gates import Composite, Part
    from grpo_env.verifiers.segments import Segmenter
    from grpo_env.verifiers.steps import StepEnd

SEARCH_PATH = "GRPO_ENV_TASKS"


@dataclass(frozen=True)
class Task:
    """What to solve and how answers are scored. Picklable.

    ``source`` names the task file in messages, relative paths start from ``folder``, and ``verifier`` computes the
    reward.
    """

    spec: TaskSpec
    source: str
    folder: Path
    verifier: Verifier

    @property
    def name(self) -> str:
        """The task's name."""
        return self.spec.task

    @property
    def command_line_name(self) -> str:
        """The argument that loads this task from a command line: its name if that finds its file, else the path."""
        try:
            found_by_name = str(find_task_file(self.name)) == self.source
        except UsageError:
            found_by_name = False
        return self.name if found_by_name or not Path(self.source).is_file() else self.source

    @property
    def scores_groups(self) -> bool:
        """Whether a verifier compares the completions of a group with each other."""
        return any(verifier.compares_completions for verifier in self.verifier.walk())

    def unusable(self) -> list[tuple[str, str]]:
        """The keys of verifiers that can score nothing here, with the reason: a model that is missing, say."""
        return list(_unusable(self.verifier, "verifiers"))

    def check_usable(self) -> None:
        """Raises ``UsageError``, with the key, if a verifier can score nothing here."""
        for key, why in self.unusable():
            raise UsageError(f"{self.source}: {key}: {why}")

    @cached_property
    def needs_prompt(self) -> bool:
        """Whether a verifier reads the prompt."""
        return any(verifier.needs_prompt for verifier in self.verifier.walk())

    @property
    def verifier_classes(self) -> list[type[Verifier]]:
        """The classes of its verifiers, also of those whose options are templates of the row."""
        return list(map(class_of, self.verifier.walk()))

    @property
    def code(self) -> dict[str, str]:
        """A hash of the file that defines each verifier, by its class; empty if there is none."""
        return {f"{cls.__module__}:{cls.__qualname__}": _code_hash(cls) for cls in self.verifier_classes}

    @property
    def format(self) -> Format:
        """The output format: tag names and prefill."""
        return self.spec.format

    @property
    def metric(self) -> str:
        """The name of the part that evaluation reports."""
        return self.spec.metric

    @property
    def metric_verifier(self) -> Verifier:
        """The verifier of the part that evaluation reports."""
        return cast("Part", _part(self.verifier, self.metric)).verifier

    @property
    def metric_alone(self) -> Verifier:
        """A reward of one part, the metric, with its deadline and without its gate."""
        part = cast("Part", _part(self.verifier, self.metric))
        return replace(cast("Composite", self.verifier), parts=(replace(part, when=None),))

    @property
    def defaults(self) -> Mapping[str, Any]:
        """Recommended settings for training (the ``train`` section)."""
        return self.spec.train

    def rows(
        self,
        split: Split,
        limit: int | None = None,
        use: Callable[[NumberedRow], bool] = lambda row: True,
    ) -> SplitRows:
        """The first ``limit`` rows of a split that ``dataset.filter`` keeps and for which ``use`` is true.

        Raises ``UsageError``.
        """

        def choose(row: NumberedRow) -> bool | None:
            template = self.spec.dataset.filter
            where = f"{self.source}: {row.place}: dataset.filter"
            return use(row) if template is None or is_true(template, row.row, self.format, where) else None

        return load_rows(self.spec.dataset, split, self.folder, self.source, limit, choose)

    def examples(
        self, split: AnySplit, limit: int | None = None, report: Callable[[str], None] = lambda line: None
    ) -> list[Example]:
        """The first ``limit`` examples of a split, or of each with ``all``.

        ``report`` is called with a line about the rows that ``dataset.filter`` leaves out, if there are any. Raises
        ``UsageError`` for missing columns, an empty split and gold answers that cannot be parsed.
        """
        if split == "all":
            return [example for own in self.spec.dataset.split for example in self.examples(own, limit, report)]
        examples = []

        def use(numbered: NumberedRow) -> bool:
            number, place, row = numbered
            example = self.example(row, f"{split}/{number}", f"{self.source}: {place}", place)
            try:
                problem = self.verifier.problem(example)
            except UsageError as error:
                detail = str(error).removeprefix(f"{self.source}: ")
                raise UsageError(f"{self.source}: {place}: {detail}; fix the row or the template") from error
            if problem is None:
                examples.append(example)
            elif self.spec.dataset.bad_gold == "error":
                raise UsageError(
                    f"{self.source}: {place}: {problem}; fix it, or skip such rows with dataset.bad_gold=skip"
                )
            return problem is None

        rows = self.rows(split, limit, use)
        if rows.filter_line is not None:
            report(f"{self.name}: {rows.filter_line} of the {split} split")
        return examples

    def example(self, row: Mapping[str, Any], id: str, where: str, place: str = "") -> Example:
        """One row as an example; ``place`` is where the row is (``shop.csv, line 14``).

        Raises ``UsageError``, beginning with ``where``, if a template fails.
        """
        dataset = self.spec.dataset
        if dataset.id is not None:
            own = render_value(dataset.id, row, self.format, f"{where}: dataset.id")
            if own is not None:
                id, place = own, place and f"{place}, id {own}"
        answer = self.answer(row, where)
        prompt = build_prompt(self.spec.prompt, row, self.format, where)
        return Example(id, prompt, answer, row, self.spec.prompt.chat_template_kwargs, place)

    def answer(self, row: Mapping[str, Any], where: str) -> str | None:
        """The gold answer of a row by the task's template; ``None`` if the task has none, or the row a null or NaN.

        Of a whole response that ends with the format's answer block, it is what stands in that block.
        """
        template, tag = self.spec.dataset.answer, self.format.answer
        if template is None:
            return None
        answer = render_value(template, row, self.format, f"{where}: dataset.answer")
        if answer is None:
            return None
        blocks = answer.split(f"<{tag}>") if tag and answer.rstrip().endswith(f"</{tag}>") else []
        return blocks[1].rstrip().removesuffix(f"</{tag}>").strip() if len(blocks) == 2 else answer

    def score(
        self, completion: str | Completion, *, answer: str | None = None, info: Mapping[str, Any] | None = None
    ) -> Score:
        """Score one completion against a gold answer. Never raises because of the completion's text.

        ``info`` holds the columns of its row, which also fill the prompt if a verifier needs it. Raises ``TypeError``
        for a completion or gold answer that is not a text.
        """
        example = Example("", answer=answer, info=info or {})
        if self.needs_prompt:
            with suppress(UsageError):  # for a column that is not there; the verifier reports it
                prompt = build_prompt(self.spec.prompt, example.info, self.format, "info")
                example = replace(example, prompt=prompt)
        return score_one(self.verifier, example, self._completion(completion))

    def _completion(self, completion: str | Completion) -> Completion:
        if isinstance(completion, str):
            return Completion(completion, prefill=self.format.prefill)
        if not isinstance(completion, Completion):
            raise TypeError(f"a completion is a text or a Completion, not {completion!r:.100}")
        return completion

    def with_parts(self, score: Score) -> Score:
        """The score with all parts of the reward, which a total that failed as a whole does not have."""
        names = (name for _, name, _ in entries(self.spec.verifiers))
        return score if score.parts else replace(score, parts=tuple(score.relabel(name=name) for name in names))

    def step_ends(self, completion: Completion, ends: Sequence[int], segments: Segmenter) -> list[StepEnd]:
        """The steps of a completion and the tokens that end them, see ``verifiers.steps.step_ends``."""
        from grpo_env.verifiers.steps import step_ends

        return step_ends(self.format, completion, ends, segments)

    @property
    def is_from_hub(self) -> bool:
        """Whether its rows are those of a dataset on the Hugging Face Hub."""
        path = self.spec.dataset.path
        return path is not None and not is_local(path, self.folder)

    @property
    def data_files(self) -> list[Path]:
        """The files of its rows on this machine; a pattern, or a folder, as the task names it."""
        path = self.spec.dataset.path
        if path is None or self.is_from_hub:
            return []
        return [self.folder / path.replace("{split}", str(split)) for split in self.spec.dataset.split.values()]

    def resolved(self) -> dict[str, Any]:
        """The task as a YAML-ready mapping; loading it again gives the same task."""
        data = self.spec.model_dump(mode="json", by_alias=True, exclude_unset=True)
        path = self.spec.dataset.path
        if path is not None and not self.is_from_hub:
            data["dataset"]["path"] = str((self.folder / path).absolute())
        with_code = [(data["dataset"], "generator"), *((data.get("environment") or {}, key) for key in ("use", "gold"))]
        for section, key in with_code:
            if section.get(key) is not None:
                section[key] = locate(section[key], self.folder)
        for name, verifier in _all_verifiers(data["verifiers"]):
            use = verifier.get("use") or name
            if ".py:" in use:  # a module is found by its name
                verifier["use"] = locate(use, self.folder)
            elif (found := home(use)) != use:
                verifier["use"] = found
            if ".py:" in str(verifier.get("kind")):
                verifier["kind"] = locate(verifier["kind"], self.folder)
        return data


def _code_hash(verifier: type) -> str:
    try:
        return hashlib.sha256(Path(inspect.getfile(verifier)).read_bytes()).hexdigest()[:16]
    except (TypeError, OSError):
        return ""


def _all_verifiers(verifiers: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The entries of a mapping of verifiers, at any depth. It may not be valid yet: what is no mapping is left out."""
    for name, spec in verifiers.items() if isinstance(verifiers, Mapping) else ():
        if isinstance(spec, dict):
            yield name, spec
            yield from _all_verifiers(spec.get("of"))


def _unusable(verifier: Verifier, key: str) -> Iterator[tuple[str, str]]:
    for part in getattr(verifier, "parts", ()):
        if why := part.verifier.unusable():
            yield f"{key}.{part.name}", why
        yield from _unusable(part.verifier, f"{key}.{part.name}.of")


def _part(verifier: Verifier, name: str) -> Part | None:
    """The part called ``name``, at any depth."""
    for part in getattr(verifier, "parts", ()):
        match = part if part.name == name else _part(part.verifier, name)
        if match is not None:
            return match
    return None


def load_task(name: str | Path, overrides: Mapping[str, Any] | None = None) -> Task:
    """A task by name (bundled, or in a folder of ``GRPO_ENV_TASKS``) or by path.

    ``overrides`` maps dotted keys to values: ``{"dataset.path": "train.jsonl", "verifiers.accuracy.weight": 2}``.
    Relative paths in the file start from its folder, those in ``overrides`` from the current one; models of verifiers
    in the file may also be in the current folder. Raises ``UsageError``.
    """
    path = find_task_file(name)
    return make_task(read_yaml(path), str(path), path.parent, overrides)


def make_task(data: Mapping[str, Any], source: str, folder: Path, overrides: Mapping[str, Any] | None = None) -> Task:
    """A task from the mapping in its file, with ``overrides`` as in ``load_task``.

    Raises ``UsageError`` that names ``source`` and the key.
    """
    if "mixture" in data:
        raise UsageError(f"{source}: only grpo_env train takes a mixture of tasks; give one of its tasks here")
    spec = validate(TaskSpec, _with_overrides(data, overrides or {}, folder), source)
    for key, template in _templates(spec):
        check_template(template, f"{source}: {key}")
    file = _File(source, folder, spec.format, is_chat=spec.prompt.text is None)
    parts = _parts(spec.verifiers, file, ["verifiers"])
    verifier = build_verifier(find("weighted_sum"), {"parts": parts}, source, ["verifiers"])
    places: dict[str, str] = {}
    for place, name, _ in entries(spec.verifiers):
        if name == "total":
            raise UsageError(f"{source}: {place}: 'total' is the name of the whole reward; rename this part")
        if "." in name:
            raise UsageError(f"{source}: {place}: a dot in a name separates a part from those in it; rename this part")
        if name in places:
            raise UsageError(f"{source}: {place}: {places[name]} has the same name; rename one of them")
        places[name] = place
    names = list(places)
    if spec.metric not in names:
        raise UsageError(f"{source}: metric: no verifier is called {spec.metric!r}; {nearest(spec.metric, names)}")
    metric = _part(verifier, spec.metric)
    if metric is None:
        raise UsageError(f"{source}: metric: {spec.metric!r} is in a verifier whose options are templates of the row")
    if metric.values is not None:
        raise UsageError(
            f"{source}: {places[spec.metric]}.values: the metric counts what is right; rename this part, and add "
            f"{spec.metric} without values and with weight: 0"
        )
    for index, case in enumerate(spec.cases):
        if not case.model_extra:
            raise UsageError(f"{source}: cases.{index}: expects no value; name a part with its value: {spec.metric}: 1")
        for key in case.model_extra:
            if key != "total" and key not in names:
                raise UsageError(f"{source}: cases.{index}.{key}: no verifier is called {key!r}; {nearest(key, names)}")
    return Task(spec, source, folder, verifier)


def make_verifier(name: str, options: Mapping[str, Any], source: str, format: Format | None = None) -> Verifier:
    """A verifier by name, with ``options`` as a task file sets them. Raises ``UsageError`` naming ``source``."""
    spec = VerifierSpec.model_validate({**options, "use": name})
    return _verifier(name, spec, _File(source, Path(), format or Format()), [name])


def find_task_file(name: str | Path) -> Path:
    """The file of a task. Raises ``UsageError`` for an unknown or ambiguous name."""
    if str(name).endswith((".yaml", ".yml")):
        if not Path(name).is_file():
            raise no_such_file(Path(name), "task file")
        return Path(name)
    matches = [path for path in task_files() if path.stem == str(name)]
    if not matches:
        known = [path.stem for path in task_files()]
        raise UsageError(
            f"unknown task {str(name)!r}; {nearest(str(name), known)} (for a file, give its path, ending in .yaml)"
        )
    if len(matches) > 1:
        raise UsageError(f"task {name!r} is ambiguous: {' and '.join(map(str, matches))}; give the path")
    return matches[0]


def task_files() -> list[Path]:
    """The task files that can be found by name: bundled ones, then those in the folders of ``GRPO_ENV_TASKS``."""
    folders = [Path(str(files("grpo_env.tasks")))]
    for folder in filter(None, os.environ.get(SEARCH_PATH, "").split(os.pathsep)):
        if not Path(folder).is_dir():
            raise UsageError(f"{SEARCH_PATH}: {folder} is not a folder")
        folders.append(Path(folder))
    return [path for folder in folders for path in sorted(folder.glob("*.yaml"))]


def _with_overrides(data: Mapping[str, Any], overrides: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The mapping of a task file with ``overrides``, and absolute paths for what its verifiers name.

    A path is looked for in the folder of the task file, if it stands there, and then in the current folder. What is in
    neither stays as it is, such as a hub id, unless it is a file to write.
    """
    if not isinstance(overrides, Mapping):
        kind = type(overrides).__name__
        raise UsageError(f'overrides: expected a mapping such as {{"dataset.path": "train.jsonl"}}, found a {kind}')
    changed = deepcopy(dict(data))
    _locate(changed.get("verifiers"), folder, folder)
    for key, value in sorted(overrides.items(), key=lambda item: item[0] != "dataset.path"):  # it resets other keys
        if key == "dataset.path" and is_local(str(value), Path.cwd()):
            value = str(Path.cwd() / str(value))
        _set(changed, key, value)
    _locate(changed.get("verifiers"), Path.cwd(), folder)
    return changed


def _locate(verifiers: Any, folder: Path, home: Path) -> None:
    """Make the paths in a mapping of verifiers absolute that exist in ``folder``, and those of files to write.

    The task file is in ``home``.
    """
    for name, spec in _all_verifiers(verifiers):
        with suppress(UsageError):  # an unknown name, which is reported when the verifier is built
            cls = _find(str(spec.get("use") or name), home, name)
            for option in (*cls.path_options, *cls.output_options):
                value = spec.get(option)
                if isinstance(value, str) and value:
                    path = (folder / Path(value).expanduser()).absolute()
                    spec[option] = str(path) if option in cls.output_options or path.exists() else value


def _set(data: dict[str, Any], key: str, value: Any) -> None:
    *path, last = key.split(".")
    if key.split(".")[0] not in SECTIONS:
        raise UsageError(f"{key}={value}: unknown task key; {nearest(key.split('.')[0], SECTIONS)}")
    section = data
    for name in path:
        section = section.setdefault(name, {})
        if not isinstance(section, dict):
            raise UsageError(f"{key}={value}: {name!r} is not a section of the task")
    if key == "dataset.path":
        # The file replaces the whole source, generators included.
        for replaced in ("generator", "arguments", *HUB_KEYS):
            section.pop(replaced, None)
    section[last] = value


def _templates(spec: TaskSpec) -> Iterator[tuple[str, str]]:
    """The templates of a task, with their keys."""
    dataset, prompt = spec.dataset, spec.prompt
    shots = ((f"shots.{index}.{key}", text) for index, shot in enumerate(prompt.shots) for key, text in shot)
    found = {
        **{f"dataset.{key}": getattr(dataset, key) for key in ("id", "answer", "filter")},
        **{f"prompt.{key}": getattr(prompt, key) for key in ("system", "user", "text")},
        **{f"prompt.{key}": text for key, text in shots},
    }
    yield from ((key, template) for key, template in found.items() if template is not None)
    for place, _, part in entries(spec.verifiers):
        values = {"when": part.when, **(part.model_extra or {})}
        yield from ((f"{place}.{key}", value) for key, value in values.items() if is_template(value))


class _File(NamedTuple):
    """What verifiers are told of their task file. ``is_chat``: the prompt is a chat, no plain text."""

    source: str
    folder: Path
    format: Format
    is_chat: bool = True


def _parts(specs: Mapping[str, VerifierSpec], file: _File, at: list[str]) -> tuple[Any, ...]:
    # Imported late: verifiers are loaded by name, so that importing a task stays light.
    from grpo_env.verifiers.parts_and_gates import Part
    from grpo_env.verifiers.schedule import Linear

    def number(spec: float | ScheduleSpec) -> Any:
        if not isinstance(spec, ScheduleSpec):
            return spec
        return Linear(spec.linear.start, spec.linear.end, spec.linear.steps)

    format, source = file.format, file.source
    parts = []
    for name, spec in specs.items():
        where = [*at, name]
        try:
            verifier = _verifier(name, spec, file, where)
            has_own_deadline = type_of_option(class_of(verifier), "deadline") is not None  # as python_tests
            part = Part(
                name=name,
                verifier=verifier,
                weight=number(spec.weight),
                process=None if spec.process is None else number(spec.process),
                on=spec.on,
                when=None if is_template(spec.when) else spec.when,
                applies=RowCondition(spec.when, format, f"{name}: when") if is_template(spec.when) else None,
                values=None if spec.values is None else (spec.values.wrong, spec.values.right),
                statuses=spec.statuses,
                deadline=None if has_own_deadline else spec.deadline,
            )
        except UsageError as error:
            raise error if str(error).startswith(source) else UsageError(f"{source}: {error}") from error
        parts.append(part)
    return tuple(parts)


def _verifier(name: str, spec: VerifierSpec, file: _File, at: list[str]) -> Verifier:
    use, where = spec.use or name, f"{file.source}: {'.'.join(at)}"
    cls = _find(use, file.folder, where)
    known = {field.name for field in fields(cast(Any, cls))}
    of_file = {"format": file.format, "is_chat": file.is_chat}
    if spec.deadline is not None:
        of_file["deadline"] = spec.deadline
    own = spec.model_extra or {}
    for key, value in own.items():
        for inner in _templates_within(value, f"{where}.{key}"):
            raise UsageError(
                f"{inner}: a template is not filled inside of a list or mapping; write all of {key} as one template, "
                f'with tojson: {key}: "{{{{ ... | tojson }}}}"'
            )
    options = {key: value for key, value in of_file.items() if key in known} | own
    is_composite = "parts" in known
    if is_composite and (not spec.of or "parts" in options):
        raise UsageError(f"{where}.of: {use} needs a mapping of verifiers here")
    if spec.of is not None:
        if not is_composite:
            raise UsageError(f"{where}.of: {use} is not composed of other verifiers")
        options["parts"] = _parts(spec.of, file, [*at, "of"])
    if isinstance(kind := options.get("kind"), str):  # of accuracy
        options["kind"] = _located(kind, file.folder)
    if any(is_template(value) for key, value in options.items() if key in known):
        return RowOptions(cls, options, file.format, file.source, tuple(at))
    return build_verifier(cls, options, file.source, at)


def _templates_within(value: Any, key: str) -> Iterator[str]:
    """The keys of the templates inside of a list or mapping."""
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        if is_template(inner):
            yield f"{key}.{name}"
        yield from _templates_within(inner, f"{key}.{name}")


def _find(use: str, folder: Path, where: str) -> type[Verifier]:
    """The class of a verifier in a task file in ``folder``. Raises ``UsageError``, beginning with ``where``."""
    try:
        cls = find(_located(use, folder))
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error
    if not is_dataclass(cls):
        raise UsageError(f"{where}: {cls.__name__} is no dataclass; put @dataclass(frozen=True) before it")
    return cls


def _located(use: str, folder: Path) -> str:
    """A name with the absolute path of its file, if it is in a file; unchanged in safe mode, which loads none."""
    return locate(use, folder) if ".py:" in use and not is_safe_mode() else use


def entries(specs: Mapping[str, VerifierSpec], at: str = "verifiers") -> Iterator[tuple[str, str, VerifierSpec]]:
    """All parts at any depth: key, name, specification. ``metric``, ``cases`` and reports find parts by name."""
    for name, spec in specs.items():
        yield f"{at}.{name}", name, spec
        yield from entries(spec.of or {}, f"{at}.{name}.of")
