"""Reads YAML files; errors name the file and the line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from grpo_env.errors import UsageError


class _UniqueKeyLoader(yaml.SafeLoader):
    """Rejects duplicate keys, of which PyYAML silently keeps the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
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
    loader = _UniqueKeyLoader(text)
    loader.name = str(path)
    try:
        data = loader.get_single_data()
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise UsageError(f"{path}{line}: not valid YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise UsageError(f"{path}: not valid YAML: {error}") from error
    if not isinstance(data, dict):
        raise UsageError(f"{path}: expected a mapping of keys to values, found {type(data).__name__}")
    return data
