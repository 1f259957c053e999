"""A hub on this machine: datasets of a folder ``ORG/NAME/COMMIT``, as the client of ``datasets`` asks for them.

The answers are those of https://huggingface.co/docs/hub/api and of the resolve route of a repository's files.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit


@contextmanager
def serve(root: Path, refs: Mapping[str, str]) -> Iterator[str]:
    """Serve the commits in ``root``; ``refs`` are branches and tags with their commits. Gives the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def reply(self, code: int, body: bytes = b"", **headers: str) -> None:
            self.send_response(code)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def do_GET(self) -> None:
            match unquote(urlsplit(self.path).path).strip("/").split("/"):
                case ["datasets", org, name, "resolve", revision, *file]:
                    self.file(root / org / name / refs.get(revision, revision), "/".join(file))
                case ["api", "datasets", org, name, "revision", revision]:
                    self.listing(root / org / name / refs.get(revision, revision), None)
                case ["api", "datasets", org, name, "tree", revision, *folder]:
                    self.listing(root / org / name / refs.get(revision, revision), "/".join(folder))
                case _:
                    self.reply(404)

        do_HEAD = do_GET  # noqa: N815

        def file(self, commit: Path, name: str) -> None:
            if not commit.is_dir():
                self.reply(404, X_Error_Code="RevisionNotFound")
            elif not (commit / name).is_file():
                self.reply(404, X_Error_Code="EntryNotFound", X_Repo_Commit=commit.name)
            else:
                data = (commit / name).read_bytes()
                tag = hashlib.sha256(data).hexdigest()
                headers = {"ETag": f'"{tag}"', "X_Repo_Commit": commit.name, "Accept_Ranges": "bytes"}
                if wanted := self.headers.get("Range"):
                    first, last = wanted.removeprefix("bytes=").split("-")
                    start, end = int(first), min(int(last or len(data)), len(data) - 1)
                    place = f"bytes {start}-{end}/{len(data)}"
                    self.reply(206, data[start : end + 1], Content_Range=place, **headers)
                else:
                    self.reply(200, data, **headers)

        def listing(self, commit: Path, folder: str | None) -> None:
            answer: Any = {"id": str(commit.parent.relative_to(root)), "sha": commit.name, "siblings": []}
            if not commit.is_dir():
                self.reply(404, X_Error_Code="RevisionNotFound")
                return
            if folder is not None:
                answer = [
                    {
                        "type": "directory" if path.is_dir() else "file",
                        "path": str(path.relative_to(commit)),
                        "size": path.stat().st_size,
                        "oid": "0" * 40,
                    }
                    for path in sorted((commit / folder).iterdir())
                ]
            self.reply(200, json.dumps(answer).encode(), Content_Type="application/json")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
