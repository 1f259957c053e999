"""Pages through the application: who is let in, hostile texts, what is marked, and bad input."""

import gzip
import html
import json
import re
import shutil
from urllib.parse import urlencode

import pyarrow
import pyarrow.parquet
import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from grpo_env.cli.app import app as command
from grpo_env.errors import UsageError
from grpo_env.results.report.page import number
from grpo_env.view.app import make_app
from grpo_env.view.pages import marked
from grpo_env.view.run_page import charts
from grpo_env.view.source import find_source

from ..html_page import Page
from .conftest import TOKEN

HOSTILE = (
    '<script>alert(1)</script><img src="http://x/y" onerror=alert(1)>\x1b[31m\u202e\x00</pre></style>"\'{{ 7*7 }}'
    "javascript:alert(1)&quot; onfocus=alert(1) autofocus "
)


@pytest.fixture(scope="module")
def hostile_file(row, tmp_path_factory):
    """A group of two whose every text is hostile, and the same with other scores."""
    rows = []
    for completion in range(2):
        step = {"start": 0, "end": 8, "value": 0.0, "explanation": HOSTILE}
        turn = {"text": HOSTILE, "end": len(HOSTILE), "reply": HOSTILE, "state": {HOSTILE: HOSTILE}}
        turn["calls"] = [{"id": "1", "name": HOSTILE, "arguments": {}}]
        turn["results"] = [{"id": "1", "text": HOSTILE, "problem": HOSTILE}]
        fields = {"id": HOSTILE, "group": HOSTILE, "task": HOSTILE, "text": HOSTILE * (1 + completion), "kind": HOSTILE}
        made = row(0, completion, completion, **fields, answer=HOSTILE, finish_reason=HOSTILE, explanation=HOSTILE)
        made |= {"prompt": [{"role": HOSTILE, "content": HOSTILE}], "steps": [step], "turns": [turn]}
        made |= {"step_advantages": [1.0], "token_advantages": [0.5, -0.5, -0.5]}
        made["parts"][HOSTILE] = {**made["parts"]["tidy"], "status": HOSTILE, "explanation": HOSTILE, "steps": [step]}
        made["parts"]["accuracy"]["rule"] = HOSTILE + str(completion)
        made["parts"]["<b>_\x1b\u202e"] = made["parts"]["tidy"]  # short enough to be a column of the list
        rows.append(made)
    path = tmp_path_factory.mktemp("hostile") / "scores.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def hostile(hostile_file, index):
    return index(hostile_file)


ADDRESSES = [
    "/",
    "/?q=alert&sort=-reward",
    "/row/0?q=alert",
    "/group/1",
    "/?q=%3Cscript%3Ealert(1)%3C/script%3E%22'",
    "/?kind=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_hostile_texts_are_text(hostile, browse, address):
    reply = browse(hostile).get(address)
    assert reply.status_code == 200
    page = Page(reply.text)
    assert page.tags.count("script") == 1
    assert not set(page.tags) & {"img", "iframe", "object", "style"}
    assert not [name for _, name, _ in page.attributes if name.startswith("on") or name in ("style", "autofocus")]
    assert [value for tag, name, value in page.attributes if name == "src"] == ["/static/view.js"]
    assert not [
        value for _, name, value in page.attributes if name in ("href", "action") and ":" in value.split("?")[0]
    ]
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", reply.text)
    assert "49" not in re.findall(r"&#34;.{0,9}", reply.text)
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_who_is_let_in(hostile):
    app = make_app(hostile, TOKEN)
    stranger = TestClient(app, base_url="http://127.0.0.1:8001")
    for address in (*ADDRESSES, "/static/view.js", "/nothing"):
        assert stranger.get(address).status_code == 401
        assert "alert(1)</script>" not in stranger.get(address).text
    assert stranger.get("/?token=wrong").status_code == 401
    assert stranger.get("/", headers={"cookie": "grpo_env_view_8001=wrong"}).status_code == 401
    assert stranger.get("/?q=a&token=" + TOKEN, follow_redirects=False).headers["location"] == "/?q=a"
    assert (
        stranger.get(f"http://127.0.0.1:8001//evil/?token={TOKEN}", follow_redirects=False).headers["location"]
        == "/evil/"
    )
    assert stranger.get("/").status_code == 200
    assert stranger.post("/").status_code == 405
    rebound = TestClient(app, base_url="http://evil.example:8001", cookies={"grpo_env_view_8001": TOKEN})
    assert rebound.get(f"/?token={TOKEN}").status_code == 400


def test_labels_are_a_filter_only_where_there_are_some(row, write, index, browse):
    files = [write([row(1, 0, 1, **more), row(1, 1, 0)], name) for name, more in (("a", {}), ("b", {"label": True}))]
    pages = [browse(index(file)).get("/").text for file in files]
    assert ['<select name="label">' in page for page in pages] == [False, True]


def test_rules_and_reasons_are_filters_with_counts_only_where_there_are_some(rows, write, index, browse):
    page = browse(index(write(rows))).get("/").text
    assert ['<select name="rule">' in page, '<select name="reason">' in page] == [False, False]
    ruled = json.loads(json.dumps(rows))
    for n, made in enumerate(ruled):
        made["parts"]["accuracy"] |= {"rule": ("number", "same text")[n % 2], "explanation": f"{n % 2} signs left"}
    browser = browse(index(write(ruled)))
    page = browser.get("/?verdict=correct").text
    counts = '<option value="number">number (3)</option><option value="same text">same text (1)</option>'
    assert counts in page
    assert '<option value="wrong">wrong (4)</option>' in page  # its own filter does not count
    page = browser.get("/?verdict=correct&reason=0+signs+left").text
    assert "<b>3</b> of 10 completions" in page
    assert "reason: 0 signs left ✕" in page
    assert "<small>rule: same text</small>" in browser.get("/row/1").text


@pytest.mark.parametrize("kind", ["text", "chat", "parquet"])
def test_a_list_shows_the_first_line_of_each_question_and_the_end_of_each_text(
    row, write, index, browse, kind, tmp_path
):
    asked = ["Answer briefly.\n\nHow many <b>?\nMore.", "Answer briefly.\n\nHow old?"]
    texts = ["begin" + " word" * 200 + " so it is 4.", "5"]
    made = [{**row(n, 0, n), "prompt": asked[n], "text": texts[n]} for n in range(2)]
    if kind != "text":
        for each in made:
            each["prompt"] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": each["prompt"]}]
    path = tmp_path / "scores.parquet"
    if kind == "parquet":
        packed = [{**each, "prompt": json.dumps(each["prompt"])} for each in made]
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(packed), path)
    page = browse(index(path if kind == "parquet" else write(made))).get("/").text
    assert re.findall('<div class="question">(.*)</div>', page) == ["How many &lt;b&gt;?", "How old?"]
    ends = re.findall('<div class="end">(.*)</div>', page)
    assert ends == [texts[0][-240:], "5"]
    assert "mean reward <b>2.500</b>, mean accuracy <b>0.500</b>" in page
    assert len(re.findall('<rect class="c0"', page)) == 2  # rewards 2 and 3


@pytest.mark.parametrize(("id", "line", "name"), [("5", 5, "line 5"), ("5", 9, "5"), ("5", None, "5"), ("q5", 5, "q5")])
def test_an_id_that_is_nothing_but_the_number_of_the_line_is_called_that(row, write, index, browse, id, line, name):
    made = [row(0, c, c, id=id, group=id, **({"line": line} if line else {})) for c in range(2)]
    file = write(made)
    client = browse(index(file))
    for address in ("/", "/row/0", "/group/1"):
        assert re.search(rf"[>\s]{name}(?= ·|:|<)", client.get(address).text), address


def test_keys_lead_to_the_next_and_previous_wrong_completion_in_the_order_of_the_list(row, write, index, browse):
    client = browse(index(write([row(n, 0, correct) for n, correct in enumerate((0, 1, 1, None, 0, 1))])))
    for n, before, after in ((0, None, 4), (1, 0, 4), (3, 0, 4), (4, 0, None), (5, 4, None)):
        page = client.get(f"/row/{n}?sort=step").text
        for key, expected in (("p", before), ("n", after)):
            found = re.findall(rf'href="(\d)\?sort=step" data-key="{key}"', page)
            assert found == ([] if expected is None else [str(expected)])


def test_the_files_that_draw_mathematics_are_served_to_those_who_are_let_in(rows, write, index, browse):
    store = index(write(rows))
    browser, stranger = browse(store), TestClient(make_app(store, TOKEN), base_url="http://127.0.0.1:8001")
    for name in ("katex.min.js", "auto-render.min.js", "katex.min.css", "fonts/KaTeX_Main-Regular.woff2"):
        assert browser.get(f"/static/katex/{name}").status_code == 200
        assert stranger.get(f"/static/katex/{name}").status_code == 401
    fonts = re.findall(r"url\(([^)]*)\)", browser.get("/static/katex/katex.min.css").text)
    assert all(browser.get(f"/static/katex/{font}").status_code == 200 for font in set(fonts))
    assert browser.get("/static/katex/../pages.py").status_code == 404
    assert browser.get("/static/katex/%2e%2e/pages.py").status_code == 404


@pytest.mark.parametrize(("recorded", "said"), [(True, False), (False, True), (None, False)])
def test_a_prompt_that_is_only_the_tasks_is_said_to_be(recorded, said, row, write, index, browse):
    file = write([row(1, 0, 1, prompt_recorded=recorded)])
    for address in ("/row/0", "/group/1"):
        page = browse(index(file)).get(address).text
        assert ("of the task; the completion's own is not recorded" in page) == said


def test_a_missing_prompt_is_said_and_a_group_of_one_is_none(row, write, index, browse):
    files = write([{**row(1, 0, 1), "prompt": None}]), write([row(1, 0, 1), row(1, 1, 0)], "two.jsonl")
    one, two = (browse(index(file)).get("/row/0").text for file in files)
    assert ["This file has no prompt for this completion" in page for page in (one, two)] == [True, False]
    assert "its group has no other completion" in one
    assert "2 completions side by side" in two


def test_equal_values_do_not_differ(row, write, index, browse):
    """The first part has two values, the second one value with two statuses, the third one value."""
    rows = [row(1, c, c) for c in range(2)]
    for c, status in enumerate(("no_answer", "scored")):
        rows[c]["parts"] |= {"second": {**rows[c]["parts"]["tidy"], "value": 0.0, "status": status}}
    page = browse(index(write(rows))).get("/group/1").text
    said = dict(re.findall(r"<td>(\w+)(?: <small>([\w ]+)</small>)?</td>", page))
    assert said | {"accuracy": "differs", "second": "status differs", "tidy": ""} == said


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.12345, "0.123"), (-12.345, "-12.3"), (1999.6, "2,000"), (-123456.0, "-123,456"), (1e9, "1e+09")],
)
def test_numbers_of_up_to_six_digits_have_no_exponent(value, text):
    assert number(value) == text


def test_sizes_are_bounded(row, write, index, browse):
    long = "x" * 300_000
    fields = {"answer": long, "explanation": long, "id": long, "token_advantages": [0.5] * 300_000}
    rows = [row(0, c, 1, text=long + str(c), **fields) for c in range(2)]
    for made in rows:
        made["prompt"] = long
        made["parts"] = {**made["parts"], **{f"{n}{long[: 50 + n]}": made["parts"]["tidy"] for n in range(80)}}
    client = browse(index(write(rows)))
    for address in ("/", "/row/0", "/group/1"):
        assert len(client.get(address).text) < 200_000


@pytest.mark.parametrize("reason", ["of a long reason " * 30, "line\n" * 100, "end\n", "a\r\nb\rc", "\x00\u202e\u200b"])
def test_every_reason_of_the_menu_can_be_chosen(rows, write, index, browse, reason):
    for n, made in enumerate(rows := json.loads(json.dumps(rows))):
        made["parts"]["accuracy"]["explanation"] = f"{n % 2} {reason}"
    client = browse(index(write(rows)))
    menu = client.get("/").text.partition('<select name="reason">')[2].partition("</select>")[0]
    values = [html.unescape(value) for value in re.findall('<option value="([^"]+)"', menu)]
    assert len(values) == 2
    for value in values:
        sent = re.sub("\r\n|\r|\n", "\r\n", value)  # as a form sends it
        reply = client.get("/?" + urlencode({"reason": sent}))
        assert (reply.status_code, "<b>5</b> of 10 completions" in reply.text) == (200, True)


def test_addresses_that_are_wrong_get_one_line(hostile, browse):
    client = browse(hostile)
    for address, status in [
        ("/?sort=x", 400),
        ("/?page=7", 400),
        ("/row/99", 404),
        ("/group/99", 404),
        ("/run", 404),
        ("/group/1?start=x", 400),
    ]:
        reply = client.get(address)
        assert reply.status_code == status, address
        assert reply.text.count("<p>") == 2


def test_empty_fields_of_a_form_are_no_filters(hostile, browse):
    assert "<b>1</b> of 2 completions" in browse(hostile).get("/?q=&signal=&min.reward=&verdict=wrong").text


# Marks


def test_a_search_is_marked_where_it_is():
    html = marked("An Apple, an apple", q="apple")
    assert html.count('class="hit"') == 2


# Files


@pytest.fixture
def few(monkeypatch):
    """The number of rows that are indexed first."""
    monkeypatch.setattr("grpo_env.view.duckdb_index.HEAD", 4)
    return 4


def test_compressed_parquet_and_plain_files_have_the_same_index(few, rows, write, index, tmp_path):
    plain = write(rows)
    packed = tmp_path / "scores.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    table = tmp_path / "scores.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), table)
    assert len(rows) > few
    contents = []
    for store in map(index, (plain, packed, table)):
        found = store.table
        assert (found.complete, found.rows, found.problem) == (True, len(rows), "")
        last = store.row(found, len(rows) - 1)
        assert (last["id"], last["completion"]) == (rows[-1]["id"], rows[-1]["completion"])
        contents.append(store.query(f"SELECT * FROM rows_{found.tag} ORDER BY n"))
    assert contents[0] == contents[1] == contents[2]


def test_lines_that_are_no_score_rows_are_named_and_skipped(row, write, index):
    surrogate = json.dumps(row(1, 0, 1, text="a\ud800b"))
    lines = [
        row(0, 0, 1),
        "not json\n",
        "\n  \n",
        surrogate + "\n",
        '{"id": 3}\n',
        "[1]\n",
        row(2, 0, 0),
        '{"id": "cut',
    ]
    path = write(lines)
    store = index(path)
    table = store.table
    assert table.unreadable == (2, 3, 4, 5, 7)
    assert [r["n"] for r in store.query(f"SELECT n FROM rows_{table.tag}")] == [0, 5]
    assert store.row(table, 5)["id"] == "q2"


def test_a_part_that_only_later_rows_have_can_be_filtered(few, row, write, index):
    rows = [row(n, 0, 1) for n in range(few + 1)]
    rows[-1]["parts"]["late/~part"] = rows[-1]["parts"]["tidy"]
    store = index(write(rows))
    table = store.table
    assert "late/~part" in table.parts
    column = f"p{table.parts.index('late/~part')}"
    assert store.query(f"SELECT n FROM rows_{table.tag} WHERE {column} = 1") == [{"n": few}]


def test_the_index_opens_no_other_file(rows, write, index, tmp_path):
    other = tmp_path / "secret.txt"
    other.write_text("secret")
    store = index(write(rows))
    for sql in ("SELECT * FROM read_text(?)", "SELECT * FROM read_csv(?)"):
        with pytest.raises(Exception, match="disabled by configuration"):
            store.query(sql, [str(other)])
    with pytest.raises(Exception, match="locked"):
        store.query("SET enable_external_access = true")


@pytest.fixture
def run_folder(tmp_path, row):
    """A run of one step, as the trainer writes it."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "config.yaml").write_text("steps: 1\n")
    (folder / "task.yaml").write_text("task: sums\nmetric: accuracy\n")
    metrics = [{"kind": "train", "step": step, "reward": step / 2, "truncated": 0.25} for step in range(2)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in metrics))
    turn = {"text": "first turn", "end": 10}
    samples = [
        row(0, 0, 1, step=0, version=0, advantage=0.7),
        row(0, 1, 0, step=0, version=0, token_advantages=[-0.7, -0.9], turns=json.dumps([turn])),
        row(1, 0, 1, step=1, version=1, advantage=0.0),
    ]
    columns = {name for sample in samples for name in sample}
    padded = [{**dict.fromkeys(sorted(columns)), **sample} for sample in samples]
    schema = pyarrow.Table.from_pylist(padded).schema
    (folder / "samples").mkdir()
    for step in range(2):
        table = pyarrow.Table.from_pylist([sample for sample in padded if sample["step"] == step], schema)
        pyarrow.parquet.write_table(table, folder / f"samples/step-{step:06d}.parquet")
    return folder


def test_a_run_has_curves_that_lead_to_its_samples(run_folder, index, browse):
    client = browse(index(run_folder))
    page = client.get("/run").text
    assert 'href="./?min.step=0&amp;max.step=0"' in page
    assert "Constant: truncated 0.25.</p>" in page
    assert page.count("<figure>") == 1  # the reward
    listed = client.get("/?min.step=0&max.step=0&sort=-reward").text
    assert "<b>2</b> of 3 completions" in listed
    assert "mixed" in listed
    assert ">step: 0 ✕</a>" in listed
    page = client.get("/row/1").text
    assert "first turn" in page[page.index("<h2>Turns</h2>") :]
    assert "<b>1</b> of 3 completions" in client.get("/?min.step=1").text


@pytest.mark.parametrize("steps", [1, 60, 61, 62, 1000])
def test_curves_begin_and_end_with_the_run(steps):
    metrics = [{"kind": "train", "step": step, "uniform_groups": step / steps} for step in range(steps)]
    (chart,) = charts(metrics)
    assert chart.title == "groups whose advantages are all 0"
    (line,) = chart.series.values()
    assert (line.xs[0], line.xs[-1]) == (0, steps - 1)
    assert min(steps, 30) <= len(line.xs) <= 61
    assert line.ys == [step / steps for step in line.xs]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.jsonl", None, "no such file"),
        ("empty.jsonl", "", "not a score file"),
        ("other.jsonl", '{"question": "?"}\n', "not a score file"),
        ("cut.parquet", "PAR1", "not a valid Parquet file"),
    ],
)
def test_what_is_no_score_file_is_refused_in_one_line(tmp_path, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError, match=message) as error:
        find_source(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_folder_that_is_no_run_or_has_no_samples_is_refused(run_folder, tmp_path):
    shutil.rmtree(run_folder / "samples")
    with pytest.raises(UsageError, match="no samples yet"):
        find_source(run_folder)
    with pytest.raises(UsageError, match="not a run folder"):
        find_source(tmp_path)


def test_turns_are_colored_by_their_scores(row, write, index, browse):
    made = row(0, 0, 1, text="call itdone 4")
    made["turns"] = [
        {"text": "call it", "start": 0, "end": 7},
        {"text": "done 4", "start": 7, "end": 13, "state": {"paid": 4}},
    ]
    made["turns"][0]["calls"] = [{"id": "1", "name": "price", "arguments": {}}]
    made["turns"][0]["results"] = [{"id": "1", "text": "4"}]
    steps = [{"start": 0, "end": 7, "value": 0.0, "explanation": "worse"}]
    made["parts"]["tidy"]["steps"] = [*steps, {"start": 7, "end": 13, "value": 1.0, "explanation": "better"}]
    page = browse(index(write([made]))).get("/row/0").text
    turns = page[page.index("<h2>Turns</h2>") :]
    assert turns.index('class="step v0" title="tidy: worse">call it') < turns.index('title="tidy: better">done ')
    assert "<b>price:</b> 4</pre>" in turns
    assert "paid" in turns[turns.index("<summary>state") :]


def test_steps_are_shown_with_their_texts_and_the_advantages_that_the_file_has(row, write, index, browse):
    """A step may be without an explanation."""
    steps = [{"start": 0, "end": 5, "value": 0.25}, {"start": 5, "end": 9, "value": 1.0, "explanation": "fine"}]
    made = row(0, 0, 1, text="1+1=2 so 2", steps=steps, step_advantages=[-0.5])
    page = browse(index(write([made]))).get("/row/0").text
    cells = re.findall(r"<tr><td class=\"why\"><code>(.*?)</code></td>(.*?)</tr>", page)
    assert [(text, re.sub("<.*?>", " ", rest).split()) for text, rest in cells] == [
        ("1+1=2", ["0.25", "-0.5"]),
        (" so ", ["1", "-", "fine"]),
    ]


def test_turns_that_cannot_be_read_leave_the_rest_of_the_row(row, write, index, browse):
    made = row(0, 0, 1, text="call it") | {"turns": [{"text": "call it", "calls": [{"name": "price"}]}]}
    page = browse(index(write([made]))).get("/row/0").text
    assert "call it</pre>" in page
    assert "not the turns of an episode" in page


def test_the_command_says_which_extra_is_missing(monkeypatch, rows, write):
    monkeypatch.setattr("grpo_env.cli.options.find_spec", lambda name: None)
    result = CliRunner().invoke(command, ["view", str(write(rows))])
    assert isinstance(result.exception, UsageError)
    assert "pip install -c constraints.txt '.[view]'" in str(result.exception)


def test_a_port_in_use_is_one_line(rows, write):
    from grpo_env.serving.local_server import listen

    with listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        result = CliRunner().invoke(command, ["view", str(write(rows)), "--port", port])
    assert isinstance(result.exception, UsageError)
    assert f"port {port}" in str(result.exception)
