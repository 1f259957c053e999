"""Hub ids on a machine without a network: one message at once, in place of half a minute of retries."""

from __future__ import annotations

import os
import socket
from urllib.parse import urlsplit

HUB = "https://huggingface.co"
VARIABLE = "HF_HUB_OFFLINE"


def set_if_unreachable() -> None:
    """Set ``HF_HUB_OFFLINE`` if the hub's name cannot be resolved, so that only cached files are looked for.

    huggingface_hub reads the variable when it is imported, so this comes before. Proxies resolve names themselves.
    """
    proxies = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
    if VARIABLE in os.environ or any(os.environ.get(proxy) for proxy in proxies):
        return
    host = urlsplit(os.environ.get("HF_ENDPOINT") or HUB).hostname
    try:
        socket.getaddrinfo(host, 443)
    except (OSError, UnicodeError):
        os.environ[VARIABLE] = "1"
