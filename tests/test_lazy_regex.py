"""Regular expressions of the verifiers, which are compiled when they are first used."""

import pkgutil
import re
import subprocess
import sys
from importlib import import_module

import pytest

import grpo_env.verifiers
from grpo_env.lazy_regex import lazy_compile

WORKERS = ("algebra_worker", "supervisor")  # programs, which run when they are imported


def test_it_has_the_methods_of_a_compiled_pattern():
    pattern = lazy_compile(r"(?P<word>[a-z]+)(\d)?", re.IGNORECASE)
    for _ in range(2):
        assert pattern.pattern == r"(?P<word>[a-z]+)(\d)?"
        assert pattern.match("ab 1")["word"] == "ab"
        assert pattern.findall("a1 B") == [("a", "1"), ("B", "")]
        assert pattern.split("1x2") == ["1", "x", "2", ""]
        assert pattern.fullmatch("AB1").groups() == ("AB", "1")
        assert pattern.search("12") is None
        assert pattern.sub("-", "x1 y") == "- -"
        assert [match["word"] for match in pattern.finditer("a b1")] == ["a", "b"]


def test_a_mistake_is_an_error_at_its_first_use():
    pattern = lazy_compile("(")
    with pytest.raises(re.error, match="unterminated"):
        pattern.match("")


def test_importing_a_verifier_compiles_few_expressions():
    program = (
        "import re; compiled = []; compile = re._compiler.compile;"
        "re._compiler.compile = lambda *arguments: compiled.append(arguments) or compile(*arguments);"
        "import grpo_env.verifiers.accuracy; print(len(compiled))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 60  # 750 where each is compiled at once


def test_every_expression_of_the_verifiers_compiles():
    seen = 0
    for module in pkgutil.walk_packages(grpo_env.verifiers.__path__, "grpo_env.verifiers."):
        if module.name.rpartition(".")[2] not in WORKERS:
            for value in vars(import_module(module.name)).values():
                for pattern in value if isinstance(value, tuple | list) else [value]:
                    if type(pattern) is type(lazy_compile("")):
                        pattern.match("")
                        seen += 1
    assert seen > 300
