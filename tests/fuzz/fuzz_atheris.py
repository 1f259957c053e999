"""Fuzz the verifiers with atheris: coverage-guided, from the case tables and real completions.

    python tests/fuzz/fuzz_atheris.py TARGET build/fuzz -max_total_time=500

What follows the folder goes to libFuzzer. ``TARGET`` is

    chain    accuracy with its worker
    exact    accuracy, where algebra always says "unreadable": fast
    pair     two answers: symmetry, reflexivity, neutral spellings
    extract  accuracy with each source of answers, and with all of them (algebra as in ``exact``)
    kinds    two answers as numbers, sets, texts, dates, literals, … (algebra as in ``exact``)
    rest     the rest of the catalogue
    files    files of completions: kinds of files, formats of tools, chats

An input is ``gold RS completion`` in UTF-8 (RS is ``\\x1e``), or ``suffix RS content`` for ``files``. Half of the
mutations are libFuzzer's own, half exchange whole words of the grammar, or values in the rows of a file. The corpus is
``FOLDER/corpus-TARGET``, findings become files in ``FOLDER``, and the run goes on. An audit hook ends the run should
anything write a file, start a process other than the worker, or import a module from a text.
"""

from __future__ import annotations

import os
import random
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["grpo_env"]):
    import input_files
    import oracles

    from grpo_env.verifiers.answers.math import algebra, algebra_worker  # noqa: F401  (imported before the audit hook listens)
from findings import Findings
from grammar import ATOMS, MARKERS, TEMPLATES, answers_of_kinds, fill, seeds

SEPARATOR = "\x1e"
TOKENS = [*ATOMS, *MARKERS]
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|<[^<>]{1,12}>|\d+|[A-Za-z]+|\s+|.", re.DOTALL)


def texts_of(data: bytes) -> tuple[str, str]:
    """The gold and the completion of an input."""
    gold, _, text = data.decode("utf-8", "surrogateescape").partition(SEPARATOR)
    return gold, text


def mutated(data: bytes, max_size: int, number: int) -> bytes:
    """A mutated input: bytes by libFuzzer, or exchanged words."""
    chance = random.Random(number)
    if chance.random() < 0.5:
        changed: bytes = atheris.Mutate(data, max_size)
        return changed
    if IS_OF_FILES:
        suffix, text = texts_of(data)
        text = input_files.changed_rows(text, chance)
        return f"{suffix}{SEPARATOR}{text}".encode("utf-8", "surrogateescape")[:max_size]
    tokens = _TOKEN.findall(data.decode("utf-8", "surrogateescape"))
    for _ in range(chance.randint(1, 4)):
        at = chance.randint(0, len(tokens))
        to = min(len(tokens), at + chance.choice([0, 1, 1, 2, 5, 20]))
        piece = tokens[at:to]
        kind = chance.randrange(6)
        if kind == 0:
            tokens[at:to] = [chance.choice(TOKENS)]
        elif kind == 1:
            tokens[at:at] = [chance.choice(TOKENS)]
        elif kind == 2:
            tokens[at:to] = [fill(chance.choice(TEMPLATES), ["".join(piece) or chance.choice(ATOMS)])]
        elif kind == 3:
            tokens[at:at] = piece * chance.choice([1, 2, 2, 10])
        elif kind == 4:
            tokens[at:to] = []
        else:
            seed_tokens = _TOKEN.findall(chance.choice(SEEDS)[1])
            start = chance.randint(0, len(seed_tokens))
            tokens[at:to] = seed_tokens[start : start + chance.randint(1, 12)]
    return "".join(tokens).encode("utf-8", "surrogatepass")[:max_size]


IS_OF_FILES = sys.argv[1:2] == ["files"]
SEEDS = input_files.seeds() if IS_OF_FILES else [*seeds(), *answers_of_kinds()]


TARGETS = {
    "chain": oracles.whole_chain,
    "exact": oracles.whole_chain,
    "pair": oracles.pair,
    "extract": oracles.extraction,
    "kinds": oracles.kinds,
    "rest": oracles.all_but_accuracy,
    "files": input_files.any_file,
}
WITHOUT_ALGEBRA = ("exact", "extract", "kinds")
SHORT = ("pair", "kinds")  # targets of two answers


def forbidden(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: what a text makes a verifier do beyond reading it ends the run."""
    if event == "open":
        writes = isinstance(arguments[1], str) and bool(set(arguments[1]) & set("wax+"))
        bad = writes and not isinstance(arguments[0], int) and not is_allowed(str(arguments[0]))
    elif event == "import":
        bad = arguments[0] not in sys.modules and not arguments[0].startswith("atheris")
    elif event == "subprocess.Popen":
        bad = "grpo_env.verifiers.answers.math.algebra_worker" not in arguments[1]
    elif event == "compile":
        bad = arguments[1] != "<unknown>"  # ast.parse, which runs nothing
    else:
        bad = event in ("os.system", "os.exec", "os.posix_spawn", "socket.connect", "exec", "os.remove")
    if bad:
        os.write(2, f"a verifier did {event} {str(arguments)[:200]}\n".encode())
        os._exit(70)  # an exception would be the verifier's to catch


ALLOWED: set[str] = set()


def is_allowed(path: str) -> bool:
    """Whether a path is, or is in, one that the fuzzer itself writes."""
    return not ALLOWED.isdisjoint((path, os.path.dirname(os.path.abspath(path))))


def main() -> None:
    target, folder = sys.argv[1], Path(sys.argv[2])
    check, findings, corpus = TARGETS[target], Findings(folder), folder / f"corpus-{target}"
    ALLOWED.update((str(folder.resolve()), "/dev/null"))
    if target in WITHOUT_ALGEBRA:

        def unreadable(request: dict[str, Any], time: algebra.TimeLimit) -> dict[str, Any]:
            raise algebra.UnreadableError("answer")

        algebra.ALGEBRA.ask = unreadable
    corpus.mkdir(parents=True, exist_ok=True)
    for number, (gold, text) in random.sample(list(enumerate(SEEDS)), min(len(SEEDS), 300)):
        pair = f"{gold}{SEPARATOR}{text}".encode("utf-8", "surrogatepass")
        if target not in SHORT or len(pair) < 200:
            (corpus / f"seed{number}").write_bytes(pair)
    with tempfile.NamedTemporaryFile("w", suffix=".dict", delete=False) as words:
        for word in [*input_files.KEYS, *input_files.SUFFIXES[:-2]] if IS_OF_FILES else TOKENS:
            escaped = "".join(f"\\x{byte:02x}" for byte in word.encode("utf-8", "surrogatepass"))
            if escaped:
                print(f'"{escaped}"', file=words)

    def one_input(data: bytes) -> None:
        gold, text = texts_of(data)
        if not IS_OF_FILES or gold in input_files.SUFFIXES:
            findings.run(check, gold, text)

    arguments = [sys.argv[0], str(corpus), f"-dict={words.name}", f"-artifact_prefix={folder}/", "-max_len=3000"]
    atheris.Setup(
        [*arguments, "-timeout=120", "-print_final_stats=1", *sys.argv[3:]], one_input, custom_mutator=mutated
    )
    if not IS_OF_FILES:
        for gold, text in [
            ("x+1", r"\boxed{x+1.0}"),
            *random.sample(SEEDS, 20),
        ]:  # lazy imports, before the hook listens
            findings.run(oracles.everything, gold, text)
        sys.addaudithook(forbidden)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
