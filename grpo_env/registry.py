"""Looks up verifiers by name: registered in this process, built in, ``module:Class`` or a file.

Instead of a class, a module or a file may have a plain function (``verifiers/function.py``).

Also loads functions that tasks and settings name: ``module:function`` or ``FILE.py:function``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection
from functools import cache, wraps
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from grpo_env.core import Verifier
from grpo_env.errors import UsageError, nearest

V = TypeVar("V", bound=type[Verifier])

SAFE = "GRPO_ENV_SAFE"

# The classes of the built-in verifiers, as strings so that a lookup imports only one module.
BUILT_IN: dict[str, str] = {
    "accuracy": "grpo_env.verifiers.accuracy:Accuracy",
    "exact_text": "grpo_env.verifiers.exact_text:ExactText",
    "json_answer": "grpo_env.verifiers.json_answer:JsonAnswer",
    "numeric": "grpo_env.verifiers.numeric:Numeric",
    "math_verify": "grpo_env.verifiers.math_verify:MathVerify",
    "strict_format": "grpo_env.verifiers.format:StrictFormat",
    "soft_format": "grpo_env.verifiers.format:SoftFormat",
    "tag_count": "grpo_env.verifiers.tag_count:TagCount",
    "reasoning_steps": "grpo_env.verifiers.reasoning:ReasoningSteps",
    "reasoning_length": "grpo_env.verifiers.reasoning:ReasoningLength",
    "keywords": "grpo_env.verifiers.keywords:Keywords",
    "language_consistency": "grpo_env.verifiers.language:LanguageConsistency",
    "repetition": "grpo_env.verifiers.repetition:Repetition",
    "choice": "grpo_env.verifiers.choice:Choice",
    "integer_answer": "grpo_env.verifiers.choice:IntegerAnswer",
    "equation_steps": "grpo_env.verifiers.equation_steps:EquationSteps",
    "each_step": "grpo_env.verifiers.each_step:EachStep",
    "labelled_steps": "grpo_env.verifiers.equation_steps:LabelledSteps",
    "tool_calls": "grpo_env.verifiers.turns:ToolCalls",
    "turns": "grpo_env.verifiers.turns:Turns",
    "environment_reward": "grpo_env.verifiers.turns:EnvironmentReward",
    "overlong": "grpo_env.verifiers.length:Overlong",
    "target_length": "grpo_env.verifiers.length:TargetLength",
    "cosine_length": "grpo_env.verifiers.length:CosineLength",
    "length_rank": "grpo_env.verifiers.length:LengthRank",
    "majority": "grpo_env.verifiers.agreement:Majority",
    "process_reward_model": "grpo_env.verifiers.models:ProcessRewardModel",
    "reward_model": "grpo_env.verifiers.models:RewardModel",
    "llm_judge": "grpo_env.verifiers.llm_judge:LLMJudge",
    "python_tests": "grpo_env.verifiers.python_tests:PythonTests",
    "weighted_sum": "grpo_env.verifiers.compose:WeightedSum",
    "any_of": "grpo_env.verifiers.compose:AnyOf",
    "all_of": "grpo_env.verifiers.compose:AllOf",
    "first_of": "grpo_env.verifiers.compose:FirstOf",
    "appeal": "grpo_env.verifiers.compose:Appeal",
    "clip": "grpo_env.verifiers.compose:Clip",
}
# Those whose scores have steps. Of verifiers that are not built in, the scores tell.
SCORE_STEPS = frozenset({"each_step", "equation_steps", "labelled_steps", "process_reward_model", "tool_calls"})

_OF_FUNCTION = "grpo_env.verifiers.function:verifier_class"

_registered: dict[str, type[Verifier]] = {}
_homes: dict[str, str] = {}  # FILE.py:Class of those that a file registers


def verifier(name: str) -> Callable[[V], V]:
    """Class decorator: register a verifier as ``name`` in this process. Raises ``UsageError`` if the name is taken."""

    def register(cls: V) -> V:
        home = BUILT_IN.get(name)
        if home is not None and home != f"{cls.__module__}:{cls.__qualname__}":
            raise UsageError(f"verifier {name!r} is built in ({home}); choose another name")
        known = _registered.get(name)
        if known is not None and known.__qualname__ != cls.__qualname__:
            raise UsageError(f"verifier {name!r} is already registered by {known.__module__}.{known.__qualname__}")
        _registered[name] = cls
        _check_values(name, cls)
        return cls

    return register


def _check_values(name: str, cls: type[Verifier]) -> None:
    """Let a class refuse values that the ``Literal`` of a field does not list, also where Python makes the instance."""
    init: Callable[..., None] = cls.__init__
    try:
        known = {option: listed for option, hint in get_type_hints(cls).items() if (listed := _listed(hint))}
    except NameError:  # a type that only type checkers import
        return

    @wraps(init)
    def checked(self: Verifier, *args: Any, **options: Any) -> None:
        init(self, *args, **options)
        for option, listed in known.items():
            value = getattr(self, option)
            for one in value if isinstance(value, (list, tuple)) else (value,):
                if one is not None and one not in listed:
                    raise UsageError(f"{name}: {option}: {one!r} is not one of {', '.join(listed)}")

    cls.__init__ = checked  # type: ignore[method-assign, assignment]


def _listed(hint: Any) -> tuple[str, ...]:
    """The values of a ``Literal``, of one that may be ``None``, or of a tuple of them; empty for any other type."""
    members = [member for member in get_args(hint) if member not in (type(None), Ellipsis)]
    if get_origin(hint) is Literal:
        return tuple(members)
    inner = [_listed(member) for member in members]
    return tuple(chain.from_iterable(inner)) if all(inner) else ()


def is_safe_mode() -> bool:
    """Whether ``GRPO_ENV_SAFE=1``: a task file may name nothing but built-in verifiers and generators."""
    return os.environ.get(SAFE, "") not in ("", "0")


def refuse_in_safe_mode(source: object) -> None:
    """Raises ``UsageError`` in safe mode, before the code of ``source`` runs: a file, or a setting that names it."""
    if is_safe_mode():
        raise UsageError(f"{source}: {SAFE}=1 refuses all code that is not built in")


def find(name: str) -> type[Verifier]:
    """The verifier class called ``name``. Raises ``UsageError`` for an unknown name."""
    if is_safe_mode() and name not in BUILT_IN and (":" in name or name in names()):
        raise UsageError(f"{name!r} is not built in, and {SAFE}=1 refuses all other code")
    if name in _registered:
        return _registered[name]
    if name in BUILT_IN:
        return _load(BUILT_IN[name])
    if ":" in name:
        return _load(name)
    raise UsageError(
        f"unknown verifier {name!r}; {nearest(name, names())} (load your own verifiers with --verifiers FILE)"
    )


def may_score_steps(cls: type[Verifier]) -> bool:
    """Whether scores of a verifier may have steps: not those of a function, or of a built-in one for whole texts."""
    if any(base.__module__ == _OF_FUNCTION.partition(":")[0] for base in cls.__mro__):
        return False
    name = built_in_name(cls)
    return name is None or name in SCORE_STEPS


@cache
def built_in_name(cls: type[Verifier]) -> str | None:
    """The name of a built-in verifier's class; ``None`` for another one."""
    return next((name for name, at in BUILT_IN.items() if at == f"{cls.__module__}:{cls.__qualname__}"), None)


def load_file(file: Path) -> list[str]:
    """Import a user's Python file and return the names of the verifiers that it registers. Raises ``UsageError``.

    Its folder is appended to ``sys.path``, so that the worker processes of a scoring run can import it too.
    """
    refuse_in_safe_mode(file)
    module = _import_file(file)
    registered = sorted(name for name, cls in _registered.items() if cls.__module__ == module)
    if not registered:
        raise UsageError(
            f'{file}: registers no verifier; decorate a class with @verifier("NAME"), or name its '
            f'functions in the task: use: "{file.name}:FUNCTION"'
        )
    for name in registered:
        if getattr(sys.modules[module], _registered[name].__name__, None) is _registered[name]:
            _homes[name] = f"{file.absolute()}:{_registered[name].__name__}"
    return registered


def home(name: str) -> str:
    """``FILE.py:Class`` for the name of a verifier in a file that was loaded, which other processes find by it.

    Other names stay as they are.
    """
    return _homes.get(name, name)


def _import_file(file: Path) -> str:
    """Import a Python file, and return the name of its module."""
    module = file.stem
    if file.suffix != ".py" or not module.isidentifier() or not file.is_file():
        problem = "its name must be a Python name" if file.is_file() else "no such file"
        raise UsageError(f"{file}: {problem}; expected a Python file with verifiers, such as my_verifiers.py")
    spec = find_spec(module)
    if spec is not None and (spec.origin is None or Path(spec.origin).resolve() != file.resolve()):
        raise UsageError(f"{file}: there is another module {module!r} ({spec.origin}); rename the file")
    if (folder := str(file.resolve().parent)) not in sys.path:
        sys.path.append(folder)
    try:
        import_module(module)
    except Exception as error:
        raise UsageError(f"{file}: cannot be loaded: {type(error).__name__}: {error}") from error
    return module


def names() -> list[str]:
    """All known names except ``module:Class``, sorted."""
    return sorted({*_registered, *BUILT_IN})


def load_attribute(home: str) -> Any:
    """What ``module:name`` names. Raises ``ImportError``, ``AttributeError``, ``ValueError``."""
    module, _, attribute = home.partition(":")
    return _attribute(import_module(module), attribute)


def _attribute(module: ModuleType, name: str) -> Any:
    """What a module has by a name. Raises ``AttributeError`` with what it defines."""
    try:
        return getattr(module, name)
    except AttributeError:
        own = [
            key
            for key, value in vars(module).items()
            if getattr(value, "__module__", "") == module.__name__ and not key.startswith("_")
        ]
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}; {nearest(name, own)}") from None


def locate(name: str, folder: Path) -> str:
    """``module:function`` or ``FILE.py:function`` as a name that ``load_function`` and ``find`` find from anywhere.

    A file, or a module of a file, in ``folder`` gets its absolute path, and one of the bundled tasks its module, which
    other machines have as well. Other names stay as they are.
    """
    home, _, function = name.rpartition(":")
    if home.endswith(".py") and home[:-3].isidentifier() and folder.resolve() == _bundled_tasks():
        return f"grpo_env.tasks.{home[:-3]}:{function}"
    if home.endswith(".py"):
        return f"{(folder / home).absolute()}:{function}"
    file = folder / f"{home}.py"
    return f"{file.absolute()}:{function}" if home.isidentifier() and file.is_file() else name


@cache
def _bundled_tasks() -> Path:
    return Path(str(files("grpo_env.tasks"))).resolve()


def load_function(name: str) -> Callable[..., Any]:
    """The function that ``module:function``, or ``FILE.py:function`` with an absolute path, names.

    A file is run each time, and is not put into ``sys.modules``. Raises what its code raises, ``OSError`` if there is
    no such file, ``ImportError``, ``AttributeError``, ``ValueError``, and ``TypeError`` if it cannot be called.
    """
    home, _, function = name.rpartition(":")
    if home.endswith(".py"):
        spec = spec_from_file_location(Path(home).stem, home)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        loaded = _attribute(module, function)
    else:
        loaded = load_attribute(name)
    if not callable(loaded):
        raise TypeError(f"{function} is not a function")
    return loaded  # type: ignore[no-any-return]


def load_named(
    name: str, folder: Path | None, where: str, what: str = "function", built_in: Collection[str] = ()
) -> Callable[..., Any]:
    """The function or class that a task in ``folder`` names, or without one a setting, by an absolute path.

    Raises ``UsageError``, beginning with ``where`` and the name: for what its code raises, and in safe mode for names
    that are not ``built_in``.
    """
    if is_safe_mode() and name not in built_in:
        raise UsageError(f"{where} {name!r} is not built in, and {SAFE}=1 refuses all other code")
    try:
        return load_function(locate(name, folder) if folder else name)
    except Exception as error:  # of the imported code
        file = f"FILE.py:{what}{', relative to the task' if folder else ''}"
        raise UsageError(
            f"{where} {name!r} cannot be loaded ({type(error).__name__}: {error}); expected {file}, or module:{what} "
            "of an installed module"
        ) from error


def _load(home: str) -> type[Verifier]:
    file, _, attribute = home.rpartition(":")
    try:
        module = _import_file(Path(file)) if file.endswith(".py") else file
        loaded = _attribute(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"verifier {home!r} cannot be loaded: {error}") from error
    if isinstance(loaded, type) and issubclass(loaded, Verifier):
        return loaded
    if isinstance(loaded, type):
        raise UsageError(f"verifier {home!r} is not a subclass of grpo_env.core.Verifier")
    of_function: type[Verifier] = load_attribute(_OF_FUNCTION)(home, loaded, module)
    return of_function
