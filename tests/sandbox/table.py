"""The table on the page of the sandbox: promises, modes, and attacks. ``make attacks`` runs them all and writes it.

``results.json`` keeps what succeeded: by mode, as the user who ran it and as one without privileges.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from harness import ROOT, Attack, as_nobody, attacks, broken, credited

RESULTS = Path(__file__).parent / "results.json"
PAGE = ROOT / "docs" / "sandbox.md"
START, END = "<!-- attacks: generated -->\n", "<!-- end -->\n"
MODES = ("bubblewrap", "process")
PROMISES = {
    "network": "cannot reach a network, a server or another process through a socket",
    "processes": "cannot start, signal, trace or query a process",
    "read": "cannot read your files",
    "write": "cannot change your files, their modes, owners, times and attributes, or the system",
    "names": "cannot see the names of your files and your processes",
    "disk": "keeps at most 32 MiB, 1000 files and 64 open ones",
    "memory": "uses at most `memory`",
    "threads": "starts at most 1000 threads",
    "time": "ends within `timeout`",
    "output": "prints at most 4 MiB",
    "report": "cannot stall or harm the scoring process by what it returns or prints",
    "verdict": "cannot fake what is compared outside of its process",
    "inside": "cannot fool other test code, which runs in its process",
}


def table(results: dict[str, dict[str, str]], chosen: list[Attack]) -> str:
    lines = ["| A program | bubblewrap | process | attacks |", "|---|---|---|---|"]
    for promise, text in PROMISES.items():
        names = [attack.name for attack in chosen if attack.promise == promise]
        cells = []
        for mode in MODES:
            count = sum(name in results[mode] for name in names)
            cells.append("yes" if not count else f"**no** ({count} succeed)")
        lines.append(f"| {text} | {' | '.join(cells)} | {len(names)} |")
    return "\n".join(lines) + "\n"


def page(text: str, generated: str) -> str:
    """The page with its generated part replaced."""
    before, rest = text.split(START)
    return f"{before}{START}\n{generated}\n{END}{rest.split(END)[1]}"


def main() -> None:
    """Run every attack in each mode, as this user and as one without privileges, and write the results and the page."""
    chosen = attacks()
    results: dict[str, dict[str, str]] = {}
    tempfile.tempdir = tempfile.mkdtemp(prefix="attacks-")
    for mode in MODES:
        broken_promises = broken(mode, chosen)
        if os.getuid() == 0:
            unprivileged = as_nobody(mode)
            if broken_promises.keys() != unprivileged.keys():
                raise SystemExit(f"{mode}: as root {sorted(broken_promises)}, without privileges {unprivileged}")
        broken_promises |= credited(mode, chosen)
        results[mode] = {name: broken_promises[name] for name in sorted(broken_promises)}
    os.rmdir(tempfile.tempdir)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    PAGE.write_text(page(PAGE.read_text(), table(results, chosen)))


if __name__ == "__main__":
    main()
