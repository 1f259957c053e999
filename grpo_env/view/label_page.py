"""A page that asks for the labels of a sample, as ``view calibrate --ask`` does, and appends them to the same file."""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from grpo_env.calibrate.label_file import KEYS, UNDO, append_label, check_appendable, read_labels
from grpo_env.errors import UsageError

from .app import STATIC, Guard, html_page, usage_error, whole


def make_label_app(path: Path, token: str) -> ASGIApp:
    """The application that asks for the labels of ``path``. The verdicts are not shown. Raises ``UsageError``."""
    check_appendable(path)

    def ask(request: Request) -> Response:
        rows, given, n = read_labels(path), request.query_params.get("label"), whole(request, "row")
        if request.method == "POST":
            if n is None or n >= len(rows) or given not in {*KEYS, UNDO}:
                raise UsageError(f"a label needs row=N and label={'|'.join([*KEYS, UNDO])}")
            append_label(path, rows[n], KEYS.get(given))
            return RedirectResponse("/" if given == UNDO else f"/?row={n}", 303)
        missing = [place for place, row in enumerate(rows) if row["label"] is None]
        shown = {"n": missing[0], "row": rows[missing[0]]} if missing else {"n": None}
        return html_page("label.html", {**shown, "path": path, "last": n, "rows": len(rows), "left": len(missing)})

    app = Starlette(
        routes=[STATIC, Route("/", ask, methods=["GET", "POST"])], exception_handlers={UsageError: usage_error}
    )
    return Guard(app, token, posts=True)
