"""Score files, their index, and a client of the application."""

import json

import pytest

duckdb = pytest.importorskip("duckdb", reason="pip install -c constraints.txt '.[view]'")

from starlette.testclient import TestClient  # noqa: E402

from grpo_env.view.app import make_app  # noqa: E402
from grpo_env.view.duckdb_index import Store  # noqa: E402
from grpo_env.view.source import find_source  # noqa: E402

TOKEN = "open-sesame"


def part(value, weight=1.0, status="scored", **more):
    weighted = None if value is None else weight * value
    return {"value": value, "weight": weight, "weighted": weighted, "process": 0.0, "status": status, **more}


def score_row(prompt, completion, correct, tidy=1.0, **more):
    """A completion with a reward of 1 for being correct and 2 for being tidy."""
    answer = {"answer": more.pop("answer", "4"), "gold": "4", "kind": more.pop("kind", "number")}
    scored = correct is not None
    parts = {"accuracy": part(correct, status="scored" if scored else "bad_gold", **answer), "tidy": part(tidy, 2.0)}
    return {
        "id": f"q{prompt}",
        "completion": completion,
        "group": f"g{prompt}",
        "prompt": f"What is {prompt}?",
        "text": f"Well, so it is {answer['answer']}.",
        "finish_reason": "stop",
        "total": correct + 2 * tidy if scored else None,
        "status": "scored" if scored else "bad_gold",
        "explanation": "",
        "parts": parts,
        "steps": [],
        "seconds": 0.001,
        "task": "sums",
        "metric": "accuracy",
        **more,
    }


def write_rows(path, rows):
    path.write_text("".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="session")
def rows():
    """Groups of two: mixed, all correct, all wrong, masked signal, unscored; (correct, tidy) of each completion."""
    table = [((1, 0), (0, 1)), ((1, 1), (1, 1)), ((0, 0), (0, 0)), ((1, 0), (0, 0.5)), ((None, 1), (None, 1))]
    return [score_row(p, c, *values) for p, group in enumerate(table) for c, values in enumerate(group)]


@pytest.fixture(scope="session")
def row():
    """Makes a row: ``row(prompt, completion, correct, tidy)`` and any key to change."""
    return score_row


@pytest.fixture
def write(tmp_path):
    """Writes rows (mappings, or lines as they are) to a file and returns its path."""
    return lambda rows, name="scores.jsonl": write_rows(tmp_path / name, rows)


@pytest.fixture(scope="session")
def index(tmp_path_factory):
    """Makes the complete index of a file."""
    stores = []

    def make(path):
        folder = tmp_path_factory.mktemp("index")
        stores.append(Store(folder, find_source(path)))
        stores[-1].wait()
        return stores[-1]

    yield make
    for store in stores:
        store.close()


@pytest.fixture(scope="session")
def browse():
    """Makes a client that has signed in."""

    def make(store):
        browser = TestClient(make_app(store, TOKEN), base_url="http://127.0.0.1:8001")
        assert browser.get(f"/?token={TOKEN}").status_code == 200
        return browser

    return make
