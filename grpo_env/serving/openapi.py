"""The OpenAPI description with what only the running server knows: its tasks, and whether it needs a token."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import FastAPI

PUBLIC_ROUTE = "/healthz"


def complete_openapi(app: FastAPI, tasks: Iterable[str], token: bool) -> None:
    """Add tasks and security to ``app.openapi()``. All routes must be there already."""
    names = sorted(tasks)
    description = app.openapi()
    app.openapi = lambda: description  # type: ignore[method-assign]
    schemas = description["components"]["schemas"]
    request = schemas["ScoreRequest"]
    request["properties"]["task"] |= {"anyOf": [{"enum": names}, {"type": "null"}]}
    if len(names) > 1:
        request["properties"]["task"] = {"enum": names, "description": "Name of a served task."}
        request["required"].append("task")
    for parameter in description["paths"]["/get_reward"]["post"]["parameters"]:
        if parameter["name"] == "task":
            parameter |= {"schema": {"enum": names}, "required": len(names) > 1}
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    operations = [(path, operation) for path, methods in description["paths"].items() for operation in methods.values()]
    for _, operation in operations:
        operation["responses"]["200"]["description"] = "Answered"
    if not token:
        return
    description["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    for path, operation in operations:
        if path != PUBLIC_ROUTE:
            operation["security"] = [{"token": []}]
