"""The page that asks for labels: what is appended to the file, and who may append it."""

import json
import re

import pytest

pytest.importorskip("duckdb", reason="pip install -c constraints.txt '.[view]'")

from starlette.testclient import TestClient

from grpo_env.calibrate.label_file import read_labels
from grpo_env.errors import UsageError
from grpo_env.view.label_page import make_label_app

TOKEN = "open-sesame"
OWN = {"sec-fetch-site": "same-origin"}
HOSTILE = "<script>alert(1)</script>\x1b\u202e"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "labels.jsonl"
    common = {"completion": 0, "problem": HOSTILE, "text": HOSTILE, "answer": HOSTILE, "gold": "2"}
    common |= {"verdict": True, "explanation": "secret", "stratum": "accepted", "stratum_size": 9, "label": None}
    path.write_text("".join(json.dumps({"id": id, **common}) + "\n" for id in "abc"))
    return path


@pytest.fixture
def client(file):
    client = TestClient(make_label_app(file, TOKEN), base_url="http://127.0.0.1:8001")
    assert client.get(f"/?token={TOKEN}").status_code == 200
    return client


def labels(path):
    return [row["label"] for row in read_labels(path)]


def addresses(page):
    """By key, where its button leads."""
    found = re.findall(r'data-key="(\w)" formaction="([^"]*)"', page.text)
    return {key: address.replace("&amp;", "&") for key, address in found}


def test_labels_are_appended_one_by_one_undone_and_read_by_calibrate(file, client):
    before, page = file.read_bytes(), client.get("/")
    assert set(addresses(page)) == {"y", "n", "s"}
    for key, expected in (
        ("y", [True, None, None]),
        ("n", [True, False, None]),
        ("u", [True, None, None]),
        ("s", [True, "?", None]),
        ("n", [True, "?", False]),
    ):
        page = client.post(addresses(page)[key], headers=OWN)
        assert page.status_code == 200
        assert labels(file) == expected
    assert "All are labeled" in page.text
    assert set(addresses(page)) == {"u"}
    assert file.read_bytes().startswith(before)


def test_the_verdict_is_not_shown_and_texts_are_text(client):
    page = client.get("/").text
    assert "accepted" not in page
    assert "secret" not in page
    assert page.count("<script") == 1
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;⟨U+001B⟩⟨U+202E⟩") == 3


def test_only_the_page_itself_gives_labels(file, client):
    stranger = TestClient(make_label_app(file, TOKEN), base_url="http://127.0.0.1:8001")
    rebound = TestClient(
        make_label_app(file, TOKEN), base_url="http://evil.example:8001", cookies={"grpo_env_view_8001": TOKEN}
    )
    assert stranger.post("/?row=0&label=y", headers=OWN).status_code == 401
    assert stranger.post(f"/?row=0&label=y&token={TOKEN}", headers=OWN).status_code == 405
    assert rebound.post("/?row=0&label=y", headers=OWN).status_code == 403
    for headers in ({}, {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"sec-fetch-site": "none"}):
        assert client.post("/?row=0&label=y", headers=headers).status_code == 405
    assert client.put("/?row=0&label=y", headers=OWN).status_code == 405
    for query in ("row=3&label=y", "row=-1&label=y", "row=0&label=x", "label=y", "row=0"):
        assert client.post(f"/?{query}", headers=OWN).status_code == 400
    assert client.get("/?row=0&label=y").status_code == 200
    assert labels(file) == [None] * 3


def test_a_file_to_which_no_line_can_be_appended_is_refused(file):
    listed = file.with_suffix(".json")
    listed.write_text(json.dumps([json.loads(line) for line in file.read_text().splitlines()]))
    with pytest.raises(UsageError, match="name ends in"):
        make_label_app(listed, TOKEN)
