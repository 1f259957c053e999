"""The HTTP application: pages for GET requests that carry the token, and nothing else."""

from __future__ import annotations

import hmac
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grpo_env.errors import UsageError

from . import pages
from .duckdb_index import Store, Table
from .run_page import run_page
from .selection import Selection

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; font-src 'self'; script-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
STATIC = StaticFiles(packages=[("grpo_env.view", "static"), ("grpo_env.results.report", "templates")])
NAMES = ["127.0.0.1", "localhost"]
STYLES = ("/static/style.css", "/static/view.css")  # what a page without the token needs


def make_app(store: Store, token: str) -> ASGIApp:
    """The application that shows the completions of ``store``."""
    views = Views(store)
    return Starlette(
        routes=[
            Route("/", views.rows),
            Mount("/static", STATIC),
            Route("/run", views.run),
            Route("/row/{n:int}", views.row),
            Route("/group/{g:int}", views.group),
        ],
        exception_handlers={
            UsageError: lambda _, error: _error(HTTPStatus.BAD_REQUEST, str(error)),
            404: lambda *_: _error(HTTPStatus.NOT_FOUND, "no such page"),
        },
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=NAMES),  # no page of others reaches it by DNS rebinding
            Middleware(Guard, token=token),
        ],
    )


class Views:
    """The pages. They are ordinary functions, which Starlette runs in threads."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def rows(self, request: Request) -> Response:
        """The list."""
        table = self._store.table
        return _html_page("list.html", pages.list_page(self._store, table, _selection(request, table)))

    def row(self, request: Request) -> Response:
        """One completion."""
        table = self._store.table
        found = pages.row_page(self._store, table, _selection(request, table), request.path_params["n"])
        return _found("row.html", table, found)

    def group(self, request: Request) -> Response:
        """The completions of a group, side by side."""
        table = self._store.table
        found = pages.group_page(self._store, table, _selection(request, table), request.path_params["g"])
        return _found("group.html", table, found)

    def run(self, request: Request) -> Response:
        """The curves of a run."""
        if (run := self._store.source.run) is None:
            return _error(HTTPStatus.NOT_FOUND, "this file is no run")
        return _html_page("run.html", run_page(self._store, run))


def _selection(request: Request, table: Table) -> Selection:
    return Selection.parse(request.query_params, table.parts)


def _found(template: str, table: Table, context: dict[str, Any] | None) -> Response:
    """The page of what was looked for, unless it is not in the table."""
    if context is None:
        waiting = not table.complete and not table.problem
        return _error(HTTPStatus.NOT_FOUND, "no such completion" + (" in the rows indexed so far" * waiting))
    return _html_page(template, context)


class Guard:
    """Admits requests that carry the token, in the address once and then in a cookie."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        response = self._signing_in(Request(scope))
        await (response or self._app)(scope, receive, _with_headers(send))

    def _signing_in(self, request: Request) -> Response | None:
        """The answer to a request without the cookie; with the token in its address, the same page with a cookie."""
        name = f"grpo_env_view_{request.url.port or 80}"  # cookies are shared by all ports of a machine
        if given := request.query_params.get("token"):
            if not self._is_token(given):
                return _error(HTTPStatus.UNAUTHORIZED, "this token is wrong; use the address that the command printed")
            rest = request.url.remove_query_params("token").query
            response = RedirectResponse(f"/{request.url.path.lstrip('/')}?{rest}".removesuffix("?"))
            response.set_cookie(name, given, httponly=True, samesite="strict", path="/")
            return response
        if self._is_token(request.cookies.get(name, "")) or request.url.path in STYLES:
            return None
        fields = {"address": request.url.path, "fields": request.query_params.multi_items()}
        return _html_page("token.html", fields, HTTPStatus.UNAUTHORIZED)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            pairs = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message["headers"], *pairs]}
        await send(message)

    return sending


def _html_page(template: str, context: dict[str, Any], status: int = 200) -> Response:
    """A page of a template."""
    html = pages.templates().get_template(template).render(context)
    return Response(html, status, media_type="text/html")


def _error(status: HTTPStatus, problem: str) -> Response:
    return _html_page("error.html", {"status": status, "problem": problem}, status)
