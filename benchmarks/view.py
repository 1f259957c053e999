"""Seconds of the viewer's pages for a large score file: ``python benchmarks/view.py many.jsonl``.

docs/view.md has the figures. Its file has the 5,276 score rows of docs/export.md, copied 190 times under new groups.
"""

from __future__ import annotations

import argparse
import http.cookiejar
import resource
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

PAGES = {
    "list": "",
    "list, page 1,000": "?page=1000",
    "sorted by reward": "?sort=-reward",
    "mixed groups, by reward": "?signal=mixed&sort=-reward",
    "search, first page": "?q=ducks",
    "search, second page": "?q=ducks&page=2",
    "completion": "row/5000",
    "completion, in order of rewards": "row/5000?sort=-reward",
    "group": "group/1000",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scores", type=Path)
    scores = parser.parse_args().scores
    start = time.perf_counter()
    command = [sys.executable, "-m", "grpo_env", "view", str(scores), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]
        print(f"address: {time.perf_counter() - start:.2f} s")
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        browser = urllib.request.build_opener(cookies)
        base = address.partition("?")[0]
        print(f"first page: {measure(browser, address)[0]:.2f} s")
        while b"being indexed" in measure(browser, base)[1]:
            time.sleep(2)
        print(f"index: {time.perf_counter() - start:.0f} s after the start")
        for name, page in PAGES.items():
            print(f"{name}: {measure(browser, base + page)[0]:.2f} s")
        server.terminate()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"processor time: {used.ru_utime + used.ru_stime:.0f} s; memory: {used.ru_maxrss / 1e6:.2f} GB")


def measure(browser: urllib.request.OpenerDirector, address: str) -> tuple[float, bytes]:
    """Seconds until a page is complete, and the page."""
    start = time.perf_counter()
    with browser.open(address, timeout=600) as reply:
        return time.perf_counter() - start, reply.read()


if __name__ == "__main__":
    main()
