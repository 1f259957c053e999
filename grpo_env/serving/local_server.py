"""What the servers of ``serve`` and ``view`` share: a socket, its URL, and uvicorn, which logs errors only."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any

import uvicorn

from grpo_env.errors import UsageError


def is_loopback(host: str) -> bool:
    """Whether a name or an address (IPv6 with or without brackets) is this machine's own."""
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; ``port`` 0 is any free port. Raises ``UsageError``, for one that is in use, too."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        advice = "choose another with --port, or any free one with --port 0"
        raise UsageError(f"cannot listen on {host}, port {port} ({error}); {advice}") from error
    # asyncio does this only for sockets created with IPPROTO_TCP, which create_server's are not. Without it the body of
    # every response waits 40 ms for the acknowledgement of its head.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def url_of(listener: socket.socket) -> str:
    """The URL of a server that accepts connections of ``listener``."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def quiet_server(app: Any, **options: Any) -> uvicorn.Server:
    """A server for an ASGI app, which tells nothing of itself. ``options`` are further ones of ``uvicorn.Config``."""
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
