"""Is a value valid under a JSON Schema? By ``jsonschema``, in bounded time and without a network.

``jsonschema`` matches patterns by backtracking, compares the items of an array in pairs and tries every branch of a
recursive schema. Here RE2 matches, items are compared by their text, and a validation ends after ``MAX_CHECKS``.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from grpo_env.errors import UsageError

from .answers.kinds.json_value import Json
from .linear_regex import encodable, linear_regex

MAX_CHECKS = 50_000  # keywords, about a second
MAX_SIZE = 20_000  # characters of JSON
MAX_EXPONENT = 1000  # of a number

_NAMED = ("properties", "$defs", "definitions", "dependentSchemas")  # keywords whose keys are names
_VALUES = ("const", "enum", "default", "examples")  # keywords that hold no schemas


class TooManyChecksError(Exception):
    """The value is larger than ``MAX_SIZE`` and its like, or its validation did not end within ``MAX_CHECKS``."""


class _Number(Decimal):
    """A number that messages show as it was written."""

    def __repr__(self) -> str:
        return str(self)


def schema_problem(schema: object) -> str | None:
    """Why a schema cannot be used, or ``None``."""
    try:
        _validator(_text(schema))
    except (UsageError, TypeError, ValueError, RecursionError) as error:
        return str(error)
    return None


def schema_error(schema: object, value: Json) -> str | None:
    """The first error of a value under a usable schema, ``None`` if it is valid. Raises ``TooManyChecksError``."""
    validator, budget = _validator(_text(schema))  # the JSON text is a key of the cache
    budget.left = MAX_CHECKS
    try:
        error = next(validator.iter_errors(_readable(value)), None)
    except RecursionError:
        raise TooManyChecksError from None
    if error is None:
        return None
    where = "/".join(str(key) for key in error.absolute_path)
    return f"{where or 'the value'}: {error.message[:200]}"


class _Budget(threading.local):
    """How many keywords may still be checked."""

    left = MAX_CHECKS

    def spend(self, checks: int) -> None:
        self.left -= checks
        if self.left < 0:
            raise TooManyChecksError


@lru_cache(maxsize=64)
def _validator(text: str) -> tuple[Any, _Budget]:
    """A validator for the schema in a JSON text, and its budget. Raises ``UsageError``."""
    from jsonschema import Draft202012Validator, SchemaError, validators  # late: imports stay light
    from referencing.jsonschema import EMPTY_REGISTRY

    schema = json.loads(text, parse_float=_Number)
    if not isinstance(schema, dict | bool):
        raise UsageError("a JSON Schema is an object")
    dialect = schema.get("$schema") if isinstance(schema, dict) else None
    base = validators.validator_for(schema, default=None if dialect else Draft202012Validator)
    if base is None:
        raise UsageError(f"unknown $schema {dialect!r}")
    try:
        base.check_schema(json.loads(text))
    except SchemaError as error:
        raise UsageError(f"{'/'.join(map(str, error.absolute_path)) or 'the schema'}: {error.message[:200]}") from None
    budget = _Budget()
    checks = {**base.VALIDATORS, "pattern": _pattern, "uniqueItems": _unique_items, "multipleOf": _multiple_of}
    bounded = validators.extend(
        base,
        {name: _counted(check, budget) for name, check in checks.items()},
        type_checker=base.TYPE_CHECKER.redefine("integer", lambda checker, value: _is_integer(value)),
    )
    validator = bounded(schema, registry=EMPTY_REGISTRY)
    _check_keywords(schema, validator)
    _check_recursion(validator, budget)
    return validator, budget


def _check_keywords(schema: Any, validator: Any) -> None:
    """Raise ``UsageError`` for patterns and references that cannot be used, at any depth."""
    if isinstance(schema, list):
        for item in schema:
            _check_keywords(item, validator)
    if not isinstance(schema, dict):
        return
    for keyword, value in schema.items():
        if keyword == "patternProperties":
            raise UsageError("patternProperties is not supported")
        if keyword == "pattern" and isinstance(value, str):
            linear_regex(value)
        if keyword in ("$ref", "$dynamicRef") and isinstance(value, str):
            _check_reference(value, validator)
        if keyword in _NAMED and isinstance(value, dict):
            _check_keywords(list(value.values()), validator)
        elif keyword not in _VALUES:
            _check_keywords(value, validator)


def _check_reference(reference: str, validator: Any) -> None:
    from referencing.exceptions import Unresolvable

    if not reference.startswith("#"):
        raise UsageError(f"$ref {reference!r}: only references inside of the schema (#/...) are followed")
    try:
        validator._resolver.lookup(reference)
    except Unresolvable:
        raise UsageError(f"$ref {reference!r} is not in the schema") from None


def _check_recursion(validator: Any, budget: _Budget) -> None:
    """Raise ``UsageError`` for a schema that refers to itself without end."""
    values: tuple[Json, ...] = ({}, [], "", Decimal(0), None, True)
    for value in values:
        budget.left = MAX_CHECKS
        try:
            next(validator.iter_errors(value), None)
        except (RecursionError, TooManyChecksError):
            raise UsageError("the schema refers to itself without end") from None


def _counted(check: Any, budget: _Budget) -> Any:
    """A keyword's function that spends a budget: for the call, the items that it looks at, and its messages."""

    def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        budget.spend(1 + (len(instance) // 10 if isinstance(instance, dict | list | str) else 0))
        for error in check(validator, value, instance, schema) or ():
            budget.spend(len(error.message) // 100)
            yield error

    return counted


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(instance, str) and linear_regex(pattern).search(encodable(instance)) is None:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _unique_items(validator: Any, unique: bool, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if unique and isinstance(instance, list) and len({_key(item) for item in instance}) < len(instance):
        yield ValidationError("the array has the same item twice")


def _multiple_of(validator: Any, divisor: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(instance, Decimal) and (Fraction(instance) / Fraction(divisor)).denominator != 1:
        yield ValidationError(f"{instance} is not a multiple of {divisor}")


def _key(value: Json) -> str:
    """A text that is the same for equal values."""
    if isinstance(value, Decimal):
        return f"{Fraction(value)}"
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{_key(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_key, value)) + "]"
    return json.dumps(value)


def _is_integer(value: object) -> bool:
    if isinstance(value, Decimal):
        return Fraction(value).denominator == 1
    return isinstance(value, int) and not isinstance(value, bool)


def _readable(value: Json) -> Json:
    """The value with numbers that messages can show. Raises ``TooManyChecksError`` for an extreme exponent."""
    if isinstance(value, Decimal):
        if abs(value.adjusted()) > MAX_EXPONENT:
            raise TooManyChecksError
        return _Number(value)
    if isinstance(value, list):
        return [_readable(item) for item in value]
    return {key: _readable(item) for key, item in value.items()} if isinstance(value, dict) else value


def _text(schema: object) -> str:
    return json.dumps(schema, allow_nan=False)
