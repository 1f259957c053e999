"""Plain functions as verifiers: with the signature of TRL's reward functions, or with that of one row.

The call is that of TRL 1.16 (``_calculate_rewards`` in ``trainer/grpo_trainer.py``): by keywords, with lists of the
same length, and ``None`` for a completion that the function has no value for.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from typing import Any, ClassVar

from grpo_env.core import Completion, Example, Format, GroupVerifier, Score, Verifier
from grpo_env.errors import UsageError, nearest
from grpo_env.registry import find

from .blocks import whole_turn

SIGNATURES = "reward(completions, **kwargs) with lists, as in TRL, or reward(completion, answer) for one row"

_OF_THE_TRAINER = ("trainer_state", "log_extra", "log_metric", "environments")
_NO_COLUMNS = ("prompt", "completion", "completion_ids")  # which TRL does not pass on either
_OWN_FIELDS = ("format", "is_chat")
_REQUIRED = inspect.Parameter.empty
_NOT_SET = inspect.Parameter.empty  # of an option; a null of the task is None


@dataclass(frozen=True)
class PlainFunction(Verifier):
    """A function with its options, each ``_NOT_SET`` if the task does not set it.

    ``given`` are the parameters that are neither columns nor options. ``is_chat`` says that the task's prompt is a
    chat.
    """

    home: ClassVar[str]
    function: ClassVar[Callable[..., Any]]
    defaults: ClassVar[Mapping[str, Any]]
    takes_all: ClassVar[bool]
    given: ClassVar[tuple[str, ...]]

    format: Format = field(default_factory=Format)
    is_chat: bool = True

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_again, (self.home, {field.name: getattr(self, field.name) for field in fields(self)})

    @property
    def needs_prompt(self) -> bool:
        return "prompt" in self.defaults or "prompts" in self.defaults

    def problem(self, example: Example) -> str | None:
        self._columns(example)
        return None

    def _columns(self, example: Example) -> dict[str, Any]:
        """The columns of a row that the function takes; ``answer`` is the gold answer. Raises ``UsageError``."""
        row = {**example.info, **({} if example.answer is None else {"answer": example.answer})}
        options = self._options()
        for name, default in self.defaults.items():
            if default is _REQUIRED and name not in {*self.given, *row, *options}:
                raise UsageError(f"{self.home} takes {name!r}, which the row does not have; {nearest(name, row)}")
        names = {*row} - {*_NO_COLUMNS} if self.takes_all else {*row} & {*self.defaults}
        return {name: row[name] for name in names - {*self.given, *options}}

    def _options(self) -> dict[str, Any]:
        options = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in _OWN_FIELDS}
        return {name: value for name, value in options.items() if value is not _NOT_SET}

    def _call(self, columns: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
        wanted = {name: value for name, value in given.items() if self.takes_all or name in self.defaults}
        return self.function(**columns, **self._options(), **wanted)


class RowFunction(PlainFunction):
    """A function of one completion, which is a text."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        text = whole_turn(self.format, completion)[0]
        values = (text, _prompt(example), example)
        return _score(self._call(self._columns(example), dict(zip(self.given, values, strict=True))))


class ListFunction(PlainFunction, GroupVerifier):
    """A function of lists. It gets the completions of one prompt, which it may compare with each other."""

    def group(self, example: Example, completions: Sequence[Completion]) -> Sequence[Score]:
        count = len(completions)
        texts = [whole_turn(self.format, completion)[0] for completion in completions]
        chats = [[{"role": "assistant", "content": text}] for text in texts]
        ids = [completion.token_ids for completion in completions]
        given = {"completions": chats if self.is_chat else texts, "prompts": [_prompt(example)] * count}
        if None not in ids:
            given["completion_ids"] = [list(tokens or ()) for tokens in ids]
        elif "completion_ids" in self.defaults:
            why = "a completion of the group has no token ids (column token_ids)"
            return [Score(None, "not_applicable", explanation=why)] * count
        columns = {name: [value] * count for name, value in self._columns(example).items()}
        values = self._call(columns, given)
        if isinstance(values, str | Mapping) or not hasattr(values, "__iter__"):
            raise TypeError(f"{self.home} returned {values!r:.100}, not a list of {count} values")
        return [_score(value) for value in values]


_kept: dict[str, type[PlainFunction]] = {}


def verifier_class(home: str, function: Any, module: str) -> type[Verifier]:
    """The class of a function. Other processes find it by ``home``, ``module:name`` or ``FILE.py:name``.

    Parameters with a default are its options. Raises ``UsageError`` for what has neither signature.
    """
    if home in _kept and _kept[home].function is function:
        return _kept[home]
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise UsageError(
            f"verifier {home!r} is neither a subclass of grpo_env.core.Verifier nor a function: {SIGNATURES}"
        ) from None
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    defaults = {parameter.name: parameter.default for parameter in parameters if parameter.kind not in variadic}
    if inspect.iscoroutinefunction(function) or any(item.kind == item.POSITIONAL_ONLY for item in parameters):
        raise UsageError(f"verifier {home!r} is async or has parameters without names; expected {SIGNATURES}")
    for name in _OF_THE_TRAINER:
        if defaults.get(name) is _REQUIRED:
            raise UsageError(f"verifier {home!r} takes {name!r}, which only TRL's trainer has; give it a default")
    base, given = _signature(home, list(defaults))
    taken = {*given, *dir(base), *PlainFunction.__annotations__, "parts"}  # by what every verifier has
    options = [name for name, default in defaults.items() if default is not _REQUIRED and name not in taken]
    name = home.rpartition(":")[2]
    _kept[home] = make_dataclass(
        name,
        [(option, Any, field(default=_NOT_SET)) for option in options],
        bases=(base,),
        frozen=True,
        namespace={
            "__doc__": inspect.getdoc(function) or f"The function ``{name}``.",
            "__module__": module,
            "home": home,
            "function": staticmethod(function),
            "defaults": defaults,
            "takes_all": any(parameter.kind == parameter.VAR_KEYWORD for parameter in parameters),
            "given": given,
        },
    )
    return _kept[home]


def _signature(home: str, names: Sequence[str]) -> tuple[type[PlainFunction], tuple[str, ...]]:
    """Which of the two signatures a function has, and what of it is neither a column nor an option."""
    if "completions" in names:
        return ListFunction, ("completions", "prompts", "completion_ids", *_OF_THE_TRAINER)
    text = next((name for name in ("completion", "text") if name in names), None)
    if text is None:
        raise UsageError(f"verifier {home!r} takes {', '.join(names) or 'no parameters'}; expected {SIGNATURES}")
    return RowFunction, (text, "prompt", "example")


def _made_again(home: str, values: Mapping[str, Any]) -> Verifier:
    return find(home)(**values)


def _prompt(example: Example) -> Any:
    if isinstance(example.prompt, str):
        return example.prompt
    return [{"role": message.role, "content": message.content} for message in example.prompt]


def _score(value: Any) -> Score:
    """The score of what a function returned: a number, or ``None``."""
    if value is None:
        return Score(None, "not_applicable", explanation="the function has no value for it")
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, str) or not math.isfinite(number):
        return Score(None, "error", explanation=f"the function returned {value!r:.100}, not a finite number or None")
    return Score(number)
