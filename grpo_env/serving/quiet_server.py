"""The HTTP server of ``serve`` and ``view``: it logs errors only, and tells nothing of itself."""

from __future__ import annotations

from typing import Any

import uvicorn


def quiet_server(app: Any, **options: Any) -> uvicorn.Server:
    """A server for an ASGI app. ``options`` are further ones of ``uvicorn.Config``."""
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_level="error",
        access_log=False,
        server_header=False,
        **options,
    )
    return uvicorn.Server(config)
