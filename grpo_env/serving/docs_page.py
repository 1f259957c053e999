"""The OpenAPI description as one page of HTML.

FastAPI's own page loads a megabyte of scripts from a CDN, which fails without internet access; this one has no script
and loads nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
code{font:0.9em ui-monospace,monospace;background:#f2f2f2;padding:.1em .3em;border-radius:3px;overflow-wrap:anywhere}
h2{margin:2.5rem 0 .5rem;border-top:1px solid #ccc;padding-top:1rem}h3{margin:1.5rem 0 .25rem}
table{border-collapse:collapse;width:100%;margin:.5rem 0}td,th{text-align:left;vertical-align:top;padding:.3rem .6rem;
border-bottom:1px solid #ddd}td:first-child{white-space:nowrap}p{margin:.4rem 0}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}code{background:#2a2a2a}td,th,h2{border-color:#444}
a{color:#8ab4f8}}
@media(max-width:40rem){td:first-child{white-space:normal}}
"""
Schema = Mapping[str, Any]


def page(description: Schema) -> str:
    """The page for an OpenAPI 3.1 description made by FastAPI."""
    title = escape(description["info"]["title"])
    parts = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{STYLE}</style></head><body>',
        f"<h1>{title}</h1><p>{escape(description['info']['description'])} Version {description['info']['version']}. "
        'Machine-readable: <a href="openapi.json">openapi.json</a>.</p>',
    ]
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            parts += _operation(method, path, operation)
    parts.append("<h2>Schemas</h2>")
    for name, schema in description["components"]["schemas"].items():
        parts += _schema(name, schema)
    return "\n".join([*parts, "</body></html>"])


def _operation(method: str, path: str, operation: Schema) -> Iterator[str]:
    yield f"<h2><code>{method.upper()} {escape(path)}</code></h2><p>{escape(operation.get('description', ''))}</p>"
    if operation.get("security"):
        yield "<p>Needs <code>Authorization: Bearer TOKEN</code>.</p>"
    rows = [
        (parameter["name"], _type(parameter["schema"]), escape(parameter["description"]))
        for parameter in operation.get("parameters", ())
    ]
    if rows:
        yield _table(("query parameter", "type", ""), rows)
    if body := operation.get("requestBody"):
        yield f"<p>Body: {_content(body)}</p>"
    responses = [(code, _content(reply), escape(reply["description"])) for code, reply in _sorted(operation)]
    yield _table(("status", "body", ""), responses)


def _sorted(operation: Schema) -> list[tuple[str, Schema]]:
    return sorted(operation["responses"].items())


def _content(message: Schema) -> str:
    types = message.get("content", {})
    return ", ".join(_type(body["schema"]) if body.get("schema") else _code(name) for name, body in types.items())


def _schema(name: str, schema: Schema) -> Iterator[str]:
    yield f'<h3 id="{escape(name)}">{escape(name)}</h3><p>{escape(schema.get("description", ""))}</p>'
    required = schema.get("required", ())
    rows = []
    for key, value in schema.get("properties", {}).items():
        default = f" Default: {_code(json.dumps(value['default']))}." if value.get("default") is not None else ""
        bounds = "".join(f" {word} {value[bound]:,}." for bound, word in BOUNDS.items() if bound in value)
        optional = "" if key in required else " Optional."
        rows.append((key, _type(value), f"{escape(value.get('description', ''))}{optional}{default}{bounds}"))
    if rows:
        yield _table(("key", "type", ""), rows)
    extra = schema.get("additionalProperties")
    if extra is False:
        yield "<p>Unknown keys are an error.</p>"


BOUNDS = {"minItems": "At least", "maxItems": "At most", "minimum": "Minimum", "maximum": "Maximum"}


def _type(schema: Schema) -> str:
    """A type in words, with a link to its schema if it has one."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(_code(json.dumps(value)) for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return escape(str(schema.get("type", "anything")))


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    cells = "".join(f"<th>{name}</th>" for name in head)
    body = "".join(
        f"<tr><td>{_code(first)}</td>{''.join(f'<td>{cell}</td>' for cell in rest)}</tr>" for first, *rest in rows
    )
    return f"<table><tr>{cells}</tr>{body}</table>"
