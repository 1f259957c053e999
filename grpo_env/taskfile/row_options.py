"""A verifier whose options are templates of the row: another limit, pattern or list of words for each example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, get_args

from grpo_env.core import BatchVerifier, Completion, Example, Format, Group, GroupVerifier, Score, Verifier
from grpo_env.errors import UsageError

from .templates import is_template, render
from .validation import build_verifier, check_names, type_of_option, validated_options
from .yaml_file import parse_yaml

MAX_KEPT = 256  # verifiers with different options


def class_of(verifier: Verifier) -> type[Verifier]:
    """The class of a verifier, also of one whose options are templates of the row."""
    return verifier.cls if isinstance(verifier, RowOptions) else type(verifier)


@dataclass(frozen=True)
class RowOptions(Verifier):
    """Scores each example by a verifier of its own: ``cls`` with the ``options`` that the example's columns give.

    What a template writes is read as YAML, unless the option is a text. What is asked of no row, such as the default
    deadline, is that of ``cls`` with the options that are no templates. ``source`` and ``key`` begin messages. Raises
    ``UsageError`` for a class that scores many examples at once, and for options that are not valid in any row.
    ``problem`` raises it for an example whose options are not valid; its completions are unscored.
    """

    cls: type[Verifier]
    options: Mapping[str, Any]
    format: Format
    source: str
    key: tuple[str, ...]
    _made: dict[tuple[str, ...], Verifier] = field(default_factory=dict, init=False, repr=False, compare=False)
    _without_rows: Verifier | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if issubclass(self.cls, BatchVerifier):
            raise UsageError(
                f"{self._where(self.templates[0])}: a template of the row is not possible here: this verifier scores "
                "many examples at once"
            )
        check_names(self.cls, self.options, self.source, self.key)
        fixed = {name: value for name, value in self.options.items() if name not in self.templates}
        validated_options(self.cls, fixed, self.source, self.key)
        with suppress(UsageError):  # an option that only the rows give
            object.__setattr__(self, "_without_rows", build_verifier(self.cls, fixed, self.source, self.key))
        for name in ("reads_turns", "late_status"):
            object.__setattr__(self, name, getattr(self.cls, name))

    @property
    def templates(self) -> tuple[str, ...]:
        """The options that are templates."""
        return tuple(name for name, value in self.options.items() if is_template(value))

    @property
    def compares_completions(self) -> bool:
        return issubclass(self.cls, GroupVerifier)

    @property
    def needs_prompt(self) -> bool:
        return super().needs_prompt if self._without_rows is None else self._without_rows.needs_prompt

    @property
    def counts_tokens(self) -> bool:
        return super().counts_tokens if self._without_rows is None else self._without_rows.counts_tokens

    @property
    def default_deadline(self) -> float:
        return super().default_deadline if self._without_rows is None else self._without_rows.default_deadline

    def unusable(self) -> str | None:
        return None if self._without_rows is None else self._without_rows.unusable()

    def __call__(self, example: Example, completion: Completion) -> Score:
        return self.verifier_of(example)(example, completion)

    def score_groups(self, groups: Sequence[Group]) -> list[list[Score]]:
        return [self._score_group(group) for group in groups]

    def problem(self, example: Example) -> str | None:
        return self.verifier_of(example).problem(example)

    def verifier_of(self, example: Example) -> Verifier:
        """The verifier with the options of an example. Raises ``UsageError``."""
        texts = tuple(
            render(self.options[name], example.info, self.format, self._where(name)).strip() for name in self.templates
        )
        if texts not in self._made:
            options = {name: self._read(name, text) for name, text in zip(self.templates, texts, strict=True)}
            if len(self._made) == MAX_KEPT:
                self._made.clear()
            self._made[texts] = build_verifier(self.cls, {**self.options, **options}, self.source, self.key)
        return self._made[texts]

    def _read(self, name: str, text: str) -> Any:
        kind = type_of_option(self.cls, name)
        members = get_args(kind) if isinstance(kind, UnionType) else (kind,)
        return text if str in members else parse_yaml(text, self._where(name))

    def _where(self, name: str) -> str:
        return f"{self.source}: {'.'.join([*self.key, name])}"

    def _score_group(self, group: Group) -> list[Score]:
        try:
            verifier = self.verifier_of(group.example)
        except UsageError as error:
            return [Score(None, "error", explanation=str(error)) for _ in group.completions]
        return verifier.score_groups([group])[0]
