"""Reads YAML files; errors name the file and the line. Writes values on one line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from grpo_env.errors import UsageError

_BOOLEAN = "tag:yaml.org,2002:bool"
_MERGE = "tag:yaml.org,2002:merge"
_TEXT = "tag:yaml.org,2002:str"
_NO_NUMBER = re.compile(r"\d{4}-\d\d?-\d|.*:|[-+]?0[0-9_]+$")  # a date, a time, leading zeros


class _StrictLoader(yaml.SafeLoader):
    """Rejects duplicate keys, of which PyYAML silently keeps the last.

    The keys ``on``, ``off``, ``yes`` and ``no`` are text, as are ``2024-05-01``, ``12:30`` and ``007`` everywhere; to
    YAML 1.1 they are booleans, a date, 750 and 7.
    """

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> str:
        tag: str = super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]
        return _TEXT if kind is yaml.ScalarNode and implicit[0] and _NO_NUMBER.match(value) else tag

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == _MERGE:
                continue
            if key_node.tag == _BOOLEAN and key_node.value.lower() not in ("true", "false"):
                key_node.tag = _TEXT
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, str) and key in seen:
                line = key_node.start_mark.line + 1
                raise UsageError(f"{self.name}, line {line}: key {key!r} is given twice")
            if isinstance(key, str):
                seen.add(key)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file as a mapping. Raises ``UsageError`` with file and line."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not valid UTF-8 (byte {error.start})") from error
    data = parse_yaml(text, str(path))
    if not isinstance(data, dict):
        found = "nothing" if data is None else type(data).__name__
        raise UsageError(f"{path}: expected a mapping of keys to values, found {found}")
    return data


def on_one_line(value: Any) -> str:
    """A value on one line of YAML."""
    text: str = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10**9, allow_unicode=True)
    return text.strip()


def entry_line(name: str, value: Any) -> str:
    """An entry of a mapping on one line of YAML."""
    return on_one_line({name: value})[1:-1]


def parse_yaml(text: str, name: str) -> Any:
    """The value of a YAML text. Raises ``UsageError`` with ``name`` and the line."""
    try:
        loader = _StrictLoader(text)
        loader.name = name
        return loader.get_single_data()
    except UsageError:
        raise
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        unquoted = "; put a template ({{ ... }}) in quotes" if error.problem == "found unhashable key" else ""
        raise UsageError(f"{name}{line}: not valid YAML: {error.problem}{unquoted}") from error
    except yaml.reader.ReaderError as error:
        at = text.count("\n", 0, error.position) + 1
        raise UsageError(f"{name}, line {at}: not valid YAML: the character U+{error.character:04X}") from error
    except RecursionError as error:
        raise UsageError(f"{name}: not valid YAML: nested too deeply") from error
    except ValueError as error:  # a number of more than 4,300 digits, a date that is none
        raise UsageError(f"{name}: not valid YAML: {error}") from error
