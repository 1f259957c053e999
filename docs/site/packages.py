"""Draws the packages and what they import: ``python docs/site/packages.py`` writes docs/packages.svg.

Reads the source with ``ast``; imports inside functions count, imports for type checkers do not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from html import escape
from itertools import accumulate, pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAPPED = ("verifiers", "tasks", "trainer")  # installed as grpo_env.verifiers, ...
BASE = "core"  # the modules directly in grpo_env/
LOOP = "trainer.loop"

WIDTH, HEIGHT, GAP_X, GAP_Y = 168, 46, 26, 40


def modules() -> dict[str, Path]:
    """Every module by its dotted name below ``grpo_env``."""
    found = {}
    for folder in ("grpo_env", *MAPPED):
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            parts = parts[1:] if folder == "grpo_env" else parts
            found[".".join(part for part in parts if part != "__init__")] = path
    return found


def package(module: str) -> str:
    """The box that a module belongs to."""
    parts = module.split(".")
    if module == "__main__":
        return "cli"
    if module == LOOP:
        return LOOP
    if parts[0] == "trainer" and len(parts) > 1 and (ROOT / "trainer" / parts[1]).is_dir():
        return ".".join(parts[:2])
    if parts[0] in MAPPED or (parts[0] and (ROOT / "grpo_env" / parts[0]).is_dir()):
        return parts[0]
    return BASE


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def from_imports(path: Path, for_types: bool) -> list[ast.ImportFrom]:
    """The ``from`` imports of a file, also inside functions; those for type checkers only ``for_types``."""

    def visit(node: ast.AST) -> Iterator[ast.ImportFrom]:
        for child in ast.iter_child_nodes(node):
            if not for_types and isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.ImportFrom):
                yield child
            yield from visit(child)

    return list(visit(parsed(path)))


def imports(module: str, path: Path, known: dict[str, Path], for_types: bool = False) -> Iterator[str]:
    """The modules of ours that a module imports, relative imports resolved; also ``for_types`` on request."""
    here = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    for node in from_imports(path, for_types):
        target = node.module or ""
        if node.level:
            target = ".".join([*here[: len(here) - node.level + 1], *filter(None, [target])])
        elif target == "grpo_env" or target.startswith("grpo_env."):
            target = target.removeprefix("grpo_env").removeprefix(".")
        else:
            continue
        for alias in node.names:
            inner = f"{target}.{alias.name}".strip(".")
            yield inner if inner in known else target


def graph() -> dict[str, set[str]]:
    """What each package imports from the others."""
    known = modules()
    edges: dict[str, set[str]] = {package(module): set() for module in known}
    for module, path in known.items():
        for target in imports(module, path, known):
            if package(target) != package(module):
                edges[package(module)].add(package(target))
    return edges


def depths(edges: dict[str, set[str]]) -> dict[str, int]:
    """The row of each package: one above the highest that it imports. Raises ``ValueError`` for a cycle."""
    rows: dict[str, int] = {}

    def depth(name: str, above: tuple[str, ...]) -> int:
        if name in above:
            raise ValueError(f"import cycle: {' -> '.join([*above[above.index(name) :], name])}")
        if name not in rows:
            rows[name] = 1 + max((depth(target, (*above, name)) for target in edges[name]), default=-1)
        return rows[name]

    for name in edges:
        depth(name, ())
    return rows


def reduced(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """The edges that no longer path implies."""

    def reach(name: str) -> set[str]:
        return edges[name].union(*(reach(target) for target in edges[name]))

    return {
        name: {t for t in targets if not any(t in reach(other) for other in targets - {t})}
        for name, targets in edges.items()
    }


def sentence(name: str) -> str:
    """The first sentence of the package's docstring."""
    folder = ROOT / "grpo_env" if name == BASE else ROOT.joinpath(*name.split("."))
    if name == LOOP:
        folder = ROOT.joinpath(*name.split(".")).with_suffix(".py")
    elif not folder.is_dir():
        folder = ROOT / "grpo_env" / name
    path = folder if folder.suffix else folder / "__init__.py"
    return (ast.get_docstring(parsed(path)) or "").split("\n")[0]


def layout(edges: dict[str, set[str]]) -> tuple[list[list[str]], list[list[str]]]:
    """Rows of names from the bottom up, and every edge as a path of names with a waypoint in each row it crosses.

    The order within rows is Sugiyama's: repeatedly sort each row by the mean position of its neighbors.
    """
    rank = depths(edges)
    rows: list[list[str]] = [
        sorted(name for name in rank if rank[name] == row) for row in range(max(rank.values()) + 1)
    ]
    paths = []
    for name, targets in sorted(edges.items()):
        for target in sorted(targets):
            waypoints = [f"{name}>{target}>{row}" for row in range(rank[name] - 1, rank[target], -1)]
            for offset, waypoint in enumerate(waypoints, start=1):
                rows[rank[name] - offset].append(waypoint)
            paths.append([name, *waypoints, target])
    neighbors: dict[str, set[str]] = {name: set() for row in rows for name in row}
    for path in paths:
        for upper, lower in pairwise(path):
            neighbors[upper].add(lower)
            neighbors[lower].add(upper)
    for _ in range(40):
        place = {name: x for row in rows for name, x in zip(row, positions(row), strict=True)}
        for row in rows:
            row.sort(key=lambda name: (sum(place[n] for n in neighbors[name]) / max(1, len(neighbors[name])), name))
            place.update(zip(row, positions(row), strict=True))
    return rows, paths


def positions(row: list[str]) -> list[float]:
    """The center of each name of a row, which is centered at 0. Waypoints are narrower than boxes."""
    widths = [GAP_X if ">" in name else WIDTH + GAP_X for name in row]
    ends = list(accumulate(widths))
    return [end - width / 2 - ends[-1] / 2 for end, width in zip(ends, widths, strict=True)]


def draw() -> str:
    """The picture as SVG, legible in light and dark mode."""
    rows, paths = layout(reduced(graph()))
    width = max(sum(GAP_X if ">" in name else WIDTH + GAP_X for name in row) for row in rows) + GAP_X
    height = len(rows) * (HEIGHT + GAP_Y) + GAP_Y
    place = {
        name: (width / 2 + x, height - (level + 1) * (HEIGHT + GAP_Y))
        for level, row in enumerate(rows)
        for name, x in zip(row, positions(row), strict=True)
    }
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" '
        'aria-label="Packages; lines lead down to what a package imports">',
        "<style>text{font:600 15px ui-monospace,monospace;fill:#1b1f24;text-anchor:middle}"
        "rect{fill:#eef4f1;stroke:#2f6f5e;stroke-width:1.5}path{fill:none;stroke:#7a8a86;stroke-width:1.5}"
        "@media (prefers-color-scheme:dark){text{fill:#e6edf3}rect{fill:#16302a;stroke:#6fc2a9}}</style>",
    ]
    for path in paths:
        line = f"M{place[path[0]][0]:g} {place[path[0]][1] + HEIGHT:g}"
        for upper, lower in pairwise(path):
            (x, y), (x2, y2) = place[upper], place[lower]
            line += f"C{x:g} {y + HEIGHT + GAP_Y / 2:g} {x2:g} {y2 - GAP_Y / 2:g} {x2:g} {y2:g}"
            line += f"V{y2 + HEIGHT:g}" if ">" in lower else ""
        parts.append(f'<path d="{line}"/>')
    for name, (x, y) in sorted(place.items()):
        if ">" in name:
            continue
        label = "grpo_env/*.py" if name == BASE else name.replace(".", "/") + (".py" if name == LOOP else "/")
        box = f'<rect x="{x - WIDTH / 2:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="8"/>'
        parts.append(f"<g><title>{escape(sentence(name))}</title>{box}")
        parts.append(f'<text x="{x:g}" y="{y + HEIGHT / 2 + 5:g}">{label}</text></g>')
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    (ROOT / "docs/packages.svg").write_text(draw(), encoding="utf-8")
