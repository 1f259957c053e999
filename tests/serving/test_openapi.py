"""The server behaves as its OpenAPI description says, checked by Schemathesis."""

import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import TOKEN, Server

SCHEMATHESIS = shutil.which("st")
CHECKS = Path(__file__).parent / "schemathesis.toml"


@pytest.mark.skipif(SCHEMATHESIS is None, reason="Schemathesis (tests/serving/requirements.txt) is not on the PATH")
@pytest.mark.parametrize("options", [(), ("--token-file", "token")], ids=["open", "token"])
def test_schemathesis_finds_no_failures(tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)  # where it leaves its files
    (tmp_path / "token").write_text(TOKEN)
    server = Server(tmp_path, *options)
    try:
        command = [SCHEMATHESIS, "--config-file", str(CHECKS), "run", f"http://127.0.0.1:{server.port}/openapi.json"]
        command += ["--header", f"Authorization: Bearer {TOKEN}"] if options else []
        done = subprocess.run([*command, "--max-examples", "40"], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout[-3000:]
        assert "Tested: 5" in done.stdout
    finally:
        server.close()
