"""The architecture: light imports, dependencies in one direction, a single top-level name in the wheel."""

import ast
import importlib.util
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import yaml

import grpo_env
from grpo_env.cli.app import app

ROOT = Path(__file__).parent.parent
spec = importlib.util.spec_from_file_location("packages", ROOT / "docs/site/packages.py")
packages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(packages)
FOLDERS = ("grpo_env", "verifiers", "tasks", "trainer")
HEAVY = {
    "torch",
    "transformers",
    "accelerate",
    "datasets",
    "sympy",
    "math_verify",
    "numpy",
    "yaml",
    "pydantic",
    "fastapi",
    "uvicorn",
    "jsonschema",
    "duckdb",
}
STDLIB_ONLY = [
    "control_tokens",
    "core",
    "endpoint",
    "equality",
    "errors",
    "lazy_regex",
    "plural",
    "registry",
    "terminal",
    *(f"workers.{path.stem}" for path in sorted((ROOT / "grpo_env/workers").glob("*.py"))),
]


def is_light(module: str) -> bool:
    """Whether a module is of the standard library, or of those of ours that import nothing else."""
    top, _, rest = module.partition(".")
    return top in sys.stdlib_module_names or (top == "grpo_env" and rest in ("", "workers", *STDLIB_ONLY))


def imports(path: Path) -> set[str]:
    """Modules that a file imports when it is itself imported (not inside functions or for type checkers)."""
    modules: set[str] = set()

    def visit(nodes):
        for node in nodes:
            if isinstance(node, ast.Import):
                modules.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                modules.add(node.module)
            elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
                visit(node.body + node.orelse)
            elif isinstance(node, ast.Try | ast.With | ast.ClassDef):
                visit(node.body)

    visit(packages.parsed(path).body)
    return modules


def breaches(paths: Iterable[Path], allowed: Callable[[str], bool]) -> list[tuple[str, str]]:
    """The files that import a module which is not allowed to them, with that module."""
    return [(str(path.relative_to(ROOT)), module) for path in paths for module in imports(path) if not allowed(module)]


def test_the_core_uses_only_the_standard_library():
    paths = [ROOT / "grpo_env" / f"{name.replace('.', '/')}.py" for name in STDLIB_ONLY]
    assert breaches(paths, is_light) == []
    assert ("grpo_env/taskfile/schema.py", "pydantic") in breaches([ROOT / "grpo_env/taskfile/schema.py"], is_light)


# algebra_worker.py is the program of the computer-algebra process, which alone imports the modules named sympy_*.py;
# math_verify_worker.py is that of the process in which math-verify runs.
IN_THE_WORKER = (
    "algebra_worker.py",
    "math_verify_worker.py",
    "sympy_equality.py",
    "sympy_families.py",
    "sympy_reader.py",
)


def test_verifiers_import_only_the_core():
    paths = [path for path in (ROOT / "verifiers").rglob("*.py") if path.name not in IN_THE_WORKER]
    assert breaches(paths, is_light) == []


def test_the_package_imports_verifiers_trainer_and_tasks_only_inside_functions():
    mapped = ("grpo_env.verifiers", "grpo_env.trainer", "grpo_env.tasks")
    assert breaches((ROOT / "grpo_env").rglob("*.py"), lambda module: not module.startswith(mapped)) == []


def test_the_trainer_sees_verifiers_only_through_the_task():
    paths = (ROOT / "trainer").rglob("*.py")
    assert breaches(paths, lambda module: not module.startswith("grpo_env.verifiers")) == []


# From the bottom to the top. Packages in one row do not import each other, apart from check before audit.
LAYERS = [
    ["core"],
    ["workers"],
    ["verifiers", "rows"],
    ["taskfile"],
    ["environments"],
    ["scoring", "trainer.config"],
    ["results", "trainer.engine"],
    ["trainer.episodes"],
    ["trainer"],
    ["trainer.extensions", "trainer.reward_models"],
    ["trainer.run"],
    ["trainer.commands", "trainer.loop"],
    ["check", "calibrate", "integrations", "docgen", "tasks"],
    ["audit", "serving"],
    ["view"],
    ["cli"],
]


def test_imports_point_down_even_inside_functions():
    rank = {name: index for index, names in enumerate(LAYERS) for name in names}
    edges = packages.graph()
    assert set(edges) == set(rank)
    upward = [(name, target) for name in edges for target in edges[name] if rank[target] >= rank[name]]
    assert upward == []


# Functions of more than six arguments whose form somebody else fixes, as typer does for commands: an option each.
LONG = {
    "grpo_env/integrations/trl.py __call__": "TRL calls a reward so",
    "grpo_env/integrations/verifiers.py launch": "verifiers calls a harness so",
}


def commands(group):
    """The functions of a typer app's commands."""
    for one in filter(None, [group.registered_callback, *group.registered_commands]):
        yield f"grpo_env/cli/{one.callback.__module__.rpartition('.')[2]}.py {one.callback.__name__}"
    for inner in group.registered_groups:
        yield from commands(inner.typer_instance)


def test_only_protocols_of_others_have_more_than_six_arguments():
    found = set()
    for path in (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(packages.parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                if len([one for one in arguments if one.arg not in ("self", "cls")]) > 6:
                    found.add(f"{path.relative_to(ROOT)} {node.name}")
    assert found - set(commands(app)) == set(LONG)


def test_modules_import_each_other_without_a_cycle_even_inside_functions():
    known = packages.modules()
    edges = {name: set(packages.imports(name, path, known)) & set(known) - {name} for name, path in known.items()}
    packages.depths(edges)
    assert "verifiers.answers.math.normal" in edges["verifiers.answers.math.parse"]


def test_the_modules_of_the_trainer_import_each_other_without_a_cycle_even_for_types():
    """Apart from the engine's, which is below all of them."""
    known = {name: path for name, path in packages.modules().items() if name.startswith("trainer.")}
    own = {name: path for name, path in known.items() if not name.startswith("trainer.engine.")}
    edges = {name: set(packages.imports(name, path, known, for_types=True)) & set(own) for name, path in own.items()}
    packages.depths({name: targets - {name} for name, targets in edges.items()})
    assert "trainer.shared_types" in edges["trainer.episodes.sampling"]


def test_the_picture_of_the_packages_is_current():
    assert (ROOT / "docs/packages.svg").read_text() == packages.draw(), "run: python docs/site/packages.py"


def test_a_cycle_of_imports_is_noticed():
    with pytest.raises(ValueError, match="import cycle: a -> b -> a"):
        packages.depths({"a": {"b"}, "b": {"a"}})


def test_no_module_shadows_the_standard_library():
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            assert path.stem not in sys.stdlib_module_names or path.stem.startswith("__"), path


@pytest.mark.parametrize(
    "code",
    [
        "import grpo_env",
        "import grpo_env.verifiers",
        "from grpo_env.registry import BUILT_IN, find\nfor name in BUILT_IN: find(name)",
        "import sys; sys.argv = ['grpo_env', '--help']\nfrom grpo_env.cli.app import app\napp(standalone_mode=False)",
    ],
)
def test_light_imports_stay_light(code):
    probe = f"{code}\nimport sys\nprint('LOADED', sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "LOADED []"


def test_a_mapped_folder_refuses_to_be_imported_under_another_name():
    for folder in ("verifiers", "tasks", "trainer"):
        done = subprocess.run(
            [sys.executable, "-c", f"import {folder}"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert f"grpo_env.{folder}" in done.stderr


@pytest.mark.slow
def test_the_wheel_holds_one_top_level_name_with_weights_tasks_and_types(tmp_path):
    source = tmp_path / "source"
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    if not tracked:
        pytest.skip("not a git checkout: no list of the files that belong to the project")
    for name in tracked.splitlines():
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, source],
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"grpo_env"}
    modules = {name for name in tracked.splitlines() if name.endswith(".py") and name.split("/")[0] in FOLDERS}
    assert {name if name.startswith("grpo_env/") else f"grpo_env/{name}" for name in modules} <= set(names)
    for needed in (
        "grpo_env/py.typed",
        "grpo_env/results/report/templates/report.html",
        "grpo_env/view/static/view.css",
        "grpo_env/view/static/katex/LICENSE",
        "grpo_env/view/static/katex/katex.min.js",
        "grpo_env/view/static/katex/fonts/KaTeX_Main-Regular.woff2",
        "grpo_env/tasks/arithmetic.yaml",
        "grpo_env/tasks/template.txt",
        "grpo_env/verifiers/template.txt",
        "grpo_env/verifiers/template_steps.txt",
        "grpo_env/trainer/bundled/model.safetensors",
        "grpo_env/trainer/bundled/tokenizer.json",
        "grpo_env/trainer/bundled_tools/model.safetensors",
        "grpo_env/trainer/bundled_search/model.safetensors",
        "grpo_env/tasks/till.yaml",
        "grpo_env/tasks/till.py",
        "grpo_env/integrations/packages/common/module/__init__.py.txt",
        "grpo_env/integrations/packages/gym/app.py.txt",
    ):
        assert needed in names


def test_one_version_everywhere():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert version == grpo_env.__version__
    assert version == yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"]
    newest = next(line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("## "))
    assert newest.strip("# []").split(",")[0].rstrip("]") == version
