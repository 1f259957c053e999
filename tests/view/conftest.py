"""Score files, their index, and a client of the application."""

import json

import pytest

duckdb = pytest.importorskip("duckdb", reason="pip install -c constraints.txt '.[view]'")

from starlette.testclient import TestClient  # noqa: E402

from grpo_env.view.app import make_app  # noqa: E402
from grpo_env.view.duckdb_index import Store  # noqa: E402
from grpo_env.view.source import find_source  # noqa: E402

from ..results.conftest import five_groups  # noqa: E402
from ..results.conftest import score_row as reported_row  # noqa: E402

TOKEN = "open-sesame"


def score_row(prompt, completion, correct, tidy=1.0, kind="number", **more):
    """``score_row`` of the reports with a kind of gold answer, and a text in which the answer is marked."""
    made = reported_row(prompt, completion, correct, tidy, **more)
    made["parts"]["accuracy"]["kind"] = kind
    return made | ({} if "text" in more else {"text": f"Well, so it is {made['parts']['accuracy']['answer']}."})


def write_rows(path, rows):
    path.write_text("".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="session")
def rows():
    """``five_groups``."""
    return five_groups(score_row)


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
