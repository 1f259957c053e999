"""The viewer in headless Chromium: clicks, searches, keys, shared addresses, widths, and axe-core on every page.

Needs Chromium, its driver, Node and the packages of requirements.txt: ``make test-view``.
"""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

pytest.importorskip("selenium", reason="make test-view")

from selenium.webdriver import Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from grpo_env.results.report import make_report, render

from .chromium import start

AXE = Path(os.environ.get("AXE", ".venv-view/node_modules/axe-core/axe.min.js"))
HOSTILE = "<script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">\"' so it is 4."
CALL = {"id": "1", "name": "search", "arguments": {"text": HOSTILE}}
PAGES = [
    "/",
    "/?q=zebra&min.part.tidy=0&sort=-reward",
    "/row/0",
    "/group/1",
    "/?sort=nothing",
    "run/",
    "run/run",
]


@pytest.fixture(scope="module")
def paths(row, rows, tmp_path_factory):
    """A file of 130 completions, and a run."""
    folder = tmp_path_factory.mktemp("files")
    copies = [(f"{copy}/", made) for copy in range(13) for made in rows]
    many = [{**made, "id": copy + made["id"], "group": copy + made["group"]} for copy, made in copies]
    many[0] |= {"text": HOSTILE, "explanation": HOSTILE, "prompt": [{"role": "user", "content": HOSTILE}]}
    many[0] |= {"steps": [{"start": 0, "end": 8, "value": 0.5, "explanation": HOSTILE}], "step_advantages": [1.0]}
    many[0] |= {"token_advantages": [0.5, -0.5], "turns": [{"text": HOSTILE, "end": len(HOSTILE), "calls": [CALL]}]}
    many[0]["parts"]["tidy"] |= {"steps": [{"start": 0, "end": 8, "value": 0.5, "explanation": HOSTILE}]}
    for made in many:
        made["parts"] = {**made["parts"], "a_part_with_a_long_name" * 4: made["parts"]["tidy"]}
    many[77]["text"] = "a zebra " * 30 + "so it is 4."
    (folder / "a.jsonl").write_text("".join(json.dumps(made) + "\n" for made in many))
    return [folder / "a.jsonl", write_run(folder / "run", row)]


def write_run(folder, row):
    folder.mkdir()
    (folder / "config.yaml").write_text("steps: 2\n")
    (folder / "task.yaml").write_text("task: sums\nmetric: accuracy\n")
    metrics = [{"kind": "train", "step": step, "reward": step / 4, "accuracy": step / 2} for step in range(3)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in metrics))
    (folder / "samples").mkdir()
    for step in range(3):
        samples = [row(1, completion, 1, step=step, version=step, advantage=0.5) for completion in range(2)]
        table = pyarrow.Table.from_pylist(samples)
        pyarrow.parquet.write_table(table, folder / f"samples/step-{step:06d}.parquet")
    return folder


@contextmanager
def served(path):
    """The address that the command prints."""
    command = [sys.executable, "-m", "grpo_env", "view", str(path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        yield server.stdout.readline().split()[-1]
        server.terminate()
        assert server.wait(10) == 0


@pytest.fixture(scope="module")
def addresses(paths):
    """Of the file and of the run."""
    with served(paths[0]) as file, served(paths[1]) as run:
        yield file, run


@pytest.fixture(scope="module")
def address(addresses):
    return addresses[0]


@pytest.fixture(scope="module")
def signed_in(addresses, tmp_path_factory):
    driver = start(tmp_path_factory.mktemp("profile"), "--window-size=1300,900")
    driver.set_script_timeout(120)  # axe-core on a busy machine
    for address in addresses:
        driver.get(address)
    yield driver
    driver.quit()


@pytest.fixture
def browser(signed_in, addresses):
    """A browser on the list of the file, and the bases of addresses."""
    signed_in.base, signed_in.run = (address.split("/?")[0] for address in addresses)
    signed_in.get(f"{signed_in.base}/")
    return signed_in


def text(browser, selector):
    return browser.find_element(By.CSS_SELECTOR, selector).text


def press(browser, key):
    before = browser.current_url
    browser.switch_to.active_element.send_keys(key)
    return before


def wait(browser, condition):
    WebDriverWait(browser, 10).until(condition)


def test_a_page_shows_all_rows_when_they_are_indexed_without_being_asked(paths, tmp_path):
    large = tmp_path / "large.jsonl"
    large.write_text(paths[0].read_text() * 3000)
    command = [sys.executable, "-m", "grpo_env", "view", str(large), "--port", "0"]
    driver = start(tmp_path / "profile", "--window-size=1300,900")  # takes as long as the index does
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            driver.get(server.stdout.readline().split()[-1])
            assert "Until then its first 1,000 rows are shown" in text(driver, "[data-wait]")
            WebDriverWait(driver, 120).until(lambda it: not it.find_elements(By.CSS_SELECTOR, "[data-wait]"))
            assert text(driver, ".count") == "390,000 of 390,000 completions"
        finally:
            driver.quit()
            server.terminate()


def test_a_search_and_a_filter_are_in_the_address_and_the_page(browser):
    field = browser.find_element(By.NAME, "q")
    field.send_keys("zebra", Keys.ENTER)
    wait(browser, lambda it: it.current_url.endswith("/?q=zebra"))
    assert text(browser, ".count b") == "1"
    browser.find_element(By.CSS_SELECTOR, "a.chip").click()
    wait(browser, lambda it: it.current_url.endswith("/?"))
    browser.find_element(By.CSS_SELECTOR, "select[name=signal] option[value='']")
    browser.find_element(By.XPATH, "//select[@name='signal']/option[@value='mixed']").click()
    wait(browser, lambda it: it.current_url.endswith("/?signal=mixed"))
    assert text(browser, ".count b") == "26"


def test_a_shared_address_shows_the_same_to_another_browser_with_the_token(browser, address, tmp_path):
    browser.get(f"{browser.base}/?signal=mixed&sort=-reward&page=1")
    shown = text(browser, "table.rows")
    other = start(tmp_path, "--window-size=1300,900")
    try:
        other.get(f"{browser.base}/?signal=mixed&sort=-reward")
        assert "needs a token" in other.page_source
        other.find_element(By.CSS_SELECTOR, "input[name=token]").send_keys(address.split("=")[1], Keys.ENTER)
        wait(other, lambda it: it.find_elements(By.CSS_SELECTOR, "table.rows"))
        assert "token" not in other.current_url
        assert text(other, "table.rows") == shown
    finally:
        other.quit()


def test_keys_move_through_list_completions_and_groups(browser):
    press(browser, "j")
    press(browser, "j")
    assert browser.switch_to.active_element.text == "0/q0 · 1"
    press(browser, Keys.ENTER)
    wait(browser, lambda it: "/row/1?" in it.current_url)
    press(browser, "j")
    wait(browser, lambda it: "/row/2?" in it.current_url)
    press(browser, "k")
    wait(browser, lambda it: "/row/1?" in it.current_url)
    press(browser, "n")  # the next wrong one: of the third group, after two correct ones
    wait(browser, lambda it: "/row/4?" in it.current_url)
    press(browser, "p")
    wait(browser, lambda it: "/row/1?" in it.current_url)
    press(browser, "g")
    wait(browser, lambda it: "/group/1?" in it.current_url)
    press(browser, "u")
    wait(browser, lambda it: it.current_url.endswith("/?"))
    press(browser, "n")
    wait(browser, lambda it: it.current_url.endswith("page=2"))
    press(browser, "/")
    assert browser.switch_to.active_element.get_attribute("name") == "q"


MATHEMATICS = (
    r"It costs \(\frac{1}{2}\), \[x^2\] and $\sqrt{3}$. \(\href{javascript:alert(1)}{a}\) "
    r"\(\includegraphics{http://x/y}\) \(\htmlStyle{position:fixed}{b}\) \(\unknown\) \(\frac{1}\) "
    r"\(\rule{9999em}{9999em}\) \(\kern-99em c\) \(\color{red}d\) \(\def\a{\a\a}\a\) "
    r"<img src=x onerror=document.title='pwned'> \(<b>e</b>\)"
)


def test_mathematics_is_drawn_on_a_key_that_is_remembered_and_harms_nothing(row, browser, tmp_path):
    path = tmp_path / "mathematics.jsonl"
    texts = (MATHEMATICS, "It costs $5, not $6.", r"\(" + "{" * 20000 + r"\)")
    path.write_text("".join(json.dumps({**row(1, n, 1), "text": text}) + "\n" for n, text in enumerate(texts)))
    command = [sys.executable, "-m", "grpo_env", "view", str(path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        address, token = server.stdout.readline().split()[-1].split("/?")
        browser.get(f"{address}/?{token}")
        browser.get(f"{address}/row/0")
        assert not browser.find_elements(By.CSS_SELECTOR, ".katex")
        assert text(browser, "pre.whole") == MATHEMATICS
        browser.get_log("browser")
        press(browser, "m")
        wait(browser, lambda it: it.find_elements(By.CSS_SELECTOR, ".mathematics .whole.drawn .katex"))
        assert not browser.find_element(By.CSS_SELECTOR, "pre.whole").is_displayed()
        drawn = browser.find_element(By.CSS_SELECTOR, ".whole.drawn")
        assert len(drawn.find_elements(By.CSS_SELECTOR, ".sqrt, .katex-display")) == 2
        assert r"\(\frac{1}\)" in drawn.text  # what cannot be read stays as it is
        assert not drawn.find_elements(By.CSS_SELECTOR, "img, a, b, script, [style*=fixed]")
        assert browser.get_log("browser") == []
        check(browser)
        browser.get(f"{address}/group/1")  # remembered
        wait(browser, lambda it: it.find_elements(By.CSS_SELECTOR, ".mathematics .drawn .katex"))
        money, deep = browser.find_elements(By.CSS_SELECTOR, ".columns article")[1:]
        assert money.text.endswith("It costs $5, not $6.")
        assert "{{{{" in deep.text
        press(browser, "m")
        browser.get(f"{address}/row/0")
        assert text(browser, "pre.whole") == MATHEMATICS
        server.terminate()


def test_a_point_of_a_curve_leads_to_its_samples(browser):
    browser.get(f"{browser.run}/run")
    browser.find_element(By.CSS_SELECTOR, "svg a[aria-label='train, step 1']").click()
    wait(browser, lambda it: "min.step=1" in it.current_url)
    assert text(browser, ".count b") == "2"


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1210])
def test_axe_finds_nothing_and_nothing_runs_or_overflows(browser, page, scheme, width):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get_log("browser")
    browser.get(browser.run + page.removeprefix("run") if page.startswith("run") else browser.base + page)
    check(browser)
    expected = page == "/?sort=nothing"  # the browser logs its status 400
    assert len(browser.get_log("browser")) == expected
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def check(browser):
    assert browser.title != "pwned"
    assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    browser.execute_script("for (const folded of document.querySelectorAll('details')) folded.open = true")
    browser.execute_script(AXE.read_text())
    result = browser.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    assert result["passes"]
    assert [(issue["id"], [node["html"][:200] for node in issue["nodes"][:3]]) for issue in result["violations"]] == []


@pytest.mark.parametrize("width", [390, 1210])
def test_axe_finds_nothing_in_a_report(browser, rows, tmp_path, width):
    page = tmp_path / "report.html"
    page.write_text(render(make_report({**made, "text": made["text"] * 300} for made in rows)))
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    browser.get(page.as_uri())
    check(browser)
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
