"""Descriptions of tools for the model's chat template, and the check of a call's arguments against them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from grpo_env.errors import UsageError, nearest

from .load import tools_of

Schema = Mapping[str, Any]

_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")


def tool_schemas(cls: type[Any], where: str) -> list[dict[str, Any]]:
    """The JSON schema of each tool of an environment, as chat templates take them: transformers' ``get_json_schema``.

    Raises ``UsageError``, beginning with ``where``, for a tool whose types or docstring are incomplete.
    """
    tools = tools_of(cls)
    if not tools:
        return []
    from transformers.utils import get_json_schema

    schemas = []
    for name, method in tools.items():
        if problem := _cannot_be_called(method):
            raise UsageError(f"{where}: the tool {name} {problem} (or begin its name with _ if it is no tool)")
        try:
            schemas.append(get_json_schema(method))
        except Exception as error:  # also of type hints that cannot be evaluated
            reason = " ".join(str(error).split())
            raise UsageError(
                f"{where}: the tool {name} cannot be described to a model: {reason}; give every argument a type, and "
                "the method a docstring with 'Args:' (or begin its name with _ if it is no tool)"
            ) from error
    return schemas


def _cannot_be_called(method: Callable[..., Any]) -> str | None:
    """Why no call of a model, which has named arguments and waits for a result, can be passed to a method."""
    if inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method):
        return "is an async function, which nothing awaits; make it an ordinary one"
    kinds = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    for parameter in inspect.signature(method).parameters.values():
        if parameter.kind in kinds:
            return f"takes {kinds[parameter.kind]}{parameter.name}, which a call cannot give; name its arguments"
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY and parameter.name != "self":
            return f"takes {parameter.name} by position only, which a call cannot give; remove the / after it"
    return None


def wrong_arguments(schemas: Sequence[Schema], name: str, arguments: Mapping[str, Any]) -> str | None:
    """Why the arguments of a call to a known tool cannot be passed to it, in words for the model."""
    parameters = next(schema["function"]["parameters"] for schema in schemas if schema["function"]["name"] == name)
    properties = parameters.get("properties", {})
    for key in parameters.get("required", ()):
        if key not in arguments:
            return f"the argument {key} is missing"
    for key in arguments:
        if key not in properties:
            return f"there is no argument {key[:100]!r}; {nearest(key[:100], properties) if properties else 'none'}"
    validator = _validator_class()(parameters)
    for error in validator.iter_errors(dict(arguments)):
        if error.instance is None and error.schema.get("nullable"):  # transformers' word for what may be None
            continue
        key, *inner = error.absolute_path
        place = f"{key}{''.join(f'[{step!r:.100}]' for step in inner)}"
        kind = type(error.instance).__name__
        found = next((name for name in _TYPES if validator.is_type(error.instance, name)), kind)
        return f"the argument {place} must be {_described(error.schema)}, not {found}"
    return None


@cache
def _validator_class() -> Any:
    """JSON Schema, but for 1.0, which is no integer: Python's methods tell the two apart."""
    from jsonschema import Draft202012Validator, validators

    types = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    return validators.extend(Draft202012Validator, type_checker=types)


def _described(schema: Schema) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(map(repr, schema["enum"]))
    if "anyOf" in schema:
        return " or ".join(_described(option) for option in schema["anyOf"])
    names = schema.get("type", "a value")
    return str(names) if isinstance(names, str) else " or ".join(names)
