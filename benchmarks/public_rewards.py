"""Audits reward functions of public repositories: ``python benchmarks/public_rewards.py CLONES OUT.jsonl [NAME ...]``.

CLONES holds a clone of each repository of ``public_rewards.txt``, by its name (or files, with the commit in COMMIT).
Nothing is copied from them: a file's statements are run one by one, and those whose imports are missing are left out.
Each function gets the rows that it wants: numbers (``--gsm8k``, a file of GSM8K), countdown, letters or names.
"""

import __future__

import argparse
import ast
import json
import re
import subprocess
import sys
import tempfile
import types
from contextlib import suppress
from pathlib import Path

LIMIT = 10  # rows
LINES = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()[1:]
TABLE = {name: rest for name, *rest in (line.split(" | ") for line in LINES)}
NAMES = "Marie Curie, Alan Turing, Emmy Noether, Niels Bohr, Ada Lovelace, Kurt Gödel, Grace Hopper, Paul Dirac"
COUNTDOWN = ((14, [2, 7], "2 * 7"), (10, [3, 4, 3], "3 + 4 + 3"), (21, [25, 4], "25 - 4"), (30, [5, 3, 2], "5 * 3 * 2"))


def load(root, paths):
    """What files or notebooks define, without the statements that fail. Relative imports work where packages do."""
    module = types.ModuleType("public_reward_functions")
    sys.modules[module.__name__] = module
    for file in (Path(root) / path for path in paths):
        folder = file.parent
        while (folder / "__init__.py").exists():
            folder = folder.parent
        sys.path.append(str(folder))
        module.__dict__["__package__"] = ".".join(file.parent.relative_to(folder).parts)
        text = file.read_text(encoding="utf-8")
        cells = json.loads(text)["cells"] if file.suffix == ".ipynb" else [{"cell_type": "code", "source": [text]}]
        for source in ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"):
            tree = ast.Module([], [])
            with suppress(SyntaxError):
                tree = ast.parse(re.sub(r"^\s*[%!].*$", "", source, flags=re.MULTILINE))
            for node in tree.body:
                if not isinstance(node, ast.Expr | ast.For | ast.While | ast.Assert):
                    flags = __future__.annotations.compiler_flag
                    with suppress(Exception):
                        exec(compile(ast.Module([node], []), str(file), "exec", flags), module.__dict__)
        module.__dict__[file.stem] = module
    return module


def rows_of(gsm8k):
    """The rows of each kind."""
    solved = [json.loads(line) for line in Path(gsm8k).read_text(encoding="utf-8").splitlines()[:LIMIT]]
    return {
        "numbers": [{**row, "answer": row["answer"].split("#### ")[1].replace(",", "")} for row in solved],
        "names": [{"question": f"Who was number {n}?", "answer": name} for n, name in enumerate(NAMES.split(", "))],
        "letters": [{"question": f"Number {n}: A) x B) y C) z D) w", "answer": x} for n, x in enumerate("BDACBADC")],
        "countdown": [
            {"question": f"Make {target} of {nums}.", "target": target, "nums": nums, "answer": answer}
            for target, nums, answer in COUNTDOWN
        ],
    }


def wrapped(clones, name, folder):
    """A file with one function for the audit; what the public one prints is dropped."""
    paths, rows, call = TABLE[name]
    columns = "target, nums, answer" if rows == "countdown" else "answer"
    file = folder / f"{re.sub(r'[^a-z0-9]+', '_', name.lower())}.py"
    file.write_text(
        "import contextlib, io, sys\n"
        f"sys.path.append({str(Path(__file__).parent)!r})\n"
        f"from public_rewards import load\nf = load({str(clones)!r}, {paths.split()!r})\n"
        f"def {file.stem}(completion, {columns}):\n"
        f"    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):\n"
        f"        return (lambda text: {call})(completion)\n"
    )
    return f"{file}:{file.stem}", rows


def source(clones, name):
    """The repository, and the commit that was audited."""
    folder = clones / TABLE[name][0].partition("/")[0]
    told = folder / "COMMIT"
    git = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    commit = told.read_text() if told.exists() else subprocess.run(git, capture_output=True, text=True).stdout
    return f"{folder.name} {commit.strip()[:7]}"


def audited(clones, name, rows, folder):
    """A row of the table."""
    from grpo_env.audit import AuditRequest, audit_foreign  # ``load`` is used where this project is not
    from grpo_env.errors import UsageError

    home, kind = wrapped(clones, name, folder)
    data = folder / f"{kind}.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows[kind]), encoding="utf-8")
    result = {"function": name, "source": source(clones, name), "rows": kind}
    try:
        report = audit_foreign([home], data, AuditRequest(LIMIT, budget=120.0))
    except UsageError as problem:
        return {**result, "verdict": str(problem)}
    refused = [outcome.hack for outcome in report.outcomes if outcome.remark.startswith("REFUSED")]
    exploits = {outcome.hack: outcome.text for outcome in report.exploits}
    form = any("it pays form" in note for note in report.notes)
    verdict = f"{len(exploits)} exploits" if exploits else "pays form only" if form else "none found"
    result |= rivals(home, rows[kind], report.source)
    return {
        **result, "format": report.source, "verdict": verdict, "exploits": exploits, "refused": refused,
        "slow": [outcome.hack for outcome in report.slow], "unstable": list(report.unstable),
        "failed": [outcome.hack for outcome in report.failed], "notes": report.notes, "seconds": report.seconds,
    }  # fmt: skip


class Rows(list):
    """Rows as ``datasets`` has them."""

    @property
    def column_names(self):
        return list(self[0])

    def __getitem__(self, key):
        return [row[key] for row in self] if isinstance(key, str) else super().__getitem__(key)


def rivals(home, rows, source):
    """Which kinds of worthless texts, of five each, two other auditors find paid, where they are installed.

    Both want an environment of verifiers before 0.4 with the function as its rubric; ``None`` if to them right answers
    are not paid.
    """
    from grpo_env.audit.foreign import LAYOUTS
    from grpo_env.registry import load_function

    function, layout = load_function(home), LAYOUTS[source.partition("paid as ")[2].partition(";")[0]]
    data = Rows({**row, "prompt": row["question"]} for row in rows)

    def reward(completion, answer, **row):
        columns = {"target": row["target"], "nums": row["nums"]} if "target" in row else {}
        return function(completion, answer=answer, **columns)

    async def score_rollout(prompt, completion, answer, **rest):
        row = next(row for row in data if row["prompt"] == prompt)
        return {"reward": reward(completion, **{**row, "answer": answer})}

    environment = types.SimpleNamespace(
        message_type="completion",
        rubric=types.SimpleNamespace(funcs=[reward], weights=[1.0], score_rollout=score_rollout),
        parser=types.SimpleNamespace(answer_field="answer", format=lambda answer: layout.text("I think.", answer)),
        get_dataset=lambda n=-1: data,
    )
    found = {}
    with suppress(ImportError):
        from gradecheck.completion_attacks import run_all
        from gradecheck.verifiers_env import VerifiersEnv

        baseline, *attacks = run_all(VerifiersEnv(environment, sample=LIMIT))
        fooled = [attack.attack for attack in attacks if attack.verdict == "fooled"]
        found["gradecheck"] = None if " 0/" in baseline.summary else fooled
    with suppress(ImportError):
        from gameability.probe import probe_env

        probed = probe_env(environment, LIMIT)
        found["gameability"] = probed["gameable_probes"] if probed["status"] == "MEASURED" else None
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clones", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--gsm8k", default="gsm8k_test.jsonl")
    arguments = parser.parse_args()
    rows = rows_of(arguments.gsm8k)
    print("| function | repository, commit | verdict | shortest exploit | right answers refused | seconds |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, arguments.out.open("a", encoding="utf-8") as out:
        for name in arguments.names or TABLE:
            row = audited(arguments.clones.absolute(), name, rows, Path(folder))
            out.write(json.dumps(row) + "\n")
            out.flush()
            first = next(iter(row.get("exploits", {}).values()), "")
            cells = (name, row["source"], row["verdict"], repr(first[-60:]), ", ".join(row.get("refused", ())))
            print("|", " | ".join(cells), "|", f"{row.get('seconds', 0):.0f} |", flush=True)


if __name__ == "__main__":
    main()
