"""Schemathesis against a real server: generated requests, valid and not, checked with its OpenAPI description.

python tests/fuzz/openapi.py --seconds 60
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

CONFIG = Path(__file__).parents[1] / "serving" / "schemathesis.toml"
SCHEMATHESIS = Path(sys.executable).with_name("st")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    command = [sys.executable, "-m", "grpo_env", "serve", "arithmetic", "--port", "0", "--workers", "1"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline().rpartition(":")[2])
        url = f"http://127.0.0.1:{port}/openapi.json"
        check = [str(SCHEMATHESIS), "--config-file", str(CONFIG), "run", url, "--max-time", str(options.seconds)]
        return subprocess.run([*check, "--continue-on-failure"], timeout=options.seconds + 300).returncode
    finally:
        server.terminate()
        server.wait(60)


if __name__ == "__main__":
    sys.exit(main())
