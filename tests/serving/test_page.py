"""The requests in docs/serving.md get the responses that it shows."""

import contextlib
import io
import json
import os
import re
import subprocess
from pathlib import Path
from urllib import request

from .conftest import TOKEN

PAGE = (Path(__file__).parents[2] / "docs/serving.md").read_text()
ADDRESS = "http://127.0.0.1:8000"


def block(language):
    (found,) = [text for text in re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S) if "/score" in text]
    return found


def contains(shown, real):
    """Whether ``real`` contains everything ``shown``. Keys may be omitted."""
    if isinstance(shown, dict):
        return all(contains(value, real[key]) for key, value in shown.items())
    if isinstance(shown, list):
        return len(shown) == len(real) and all(map(contains, shown, real))
    return shown == real


def test_curl_prints_what_the_page_shows(server, tmp_path):
    (tmp_path / ".curlrc").write_text(f'header = "Authorization: Bearer {TOKEN}"\n')
    command = block("sh").replace(ADDRESS, f"http://127.0.0.1:{server.port}")
    done = subprocess.run(
        ["bash", "-c", command], env={**os.environ, "CURL_HOME": str(tmp_path)}, capture_output=True, check=True
    )
    (shown,) = re.findall(r"^```json\n(.*?)^```", PAGE, re.M | re.S)
    assert contains(json.loads(shown), json.loads(done.stdout))


def test_python_prints_what_the_page_shows(server):
    code = block("python")
    after = PAGE.partition(code)[2].removeprefix("```\n\n")
    shown = [line.strip() for line in after.partition("\n\n")[0].splitlines()]
    opener = request.build_opener()
    opener.addheaders = [("Authorization", f"Bearer {TOKEN}")]
    request.install_opener(opener)
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code.replace(ADDRESS, f"http://127.0.0.1:{server.port}"), "serving.md", "exec"), {})
    finally:
        request.install_opener(None)
    assert printed.getvalue().splitlines() == shown
