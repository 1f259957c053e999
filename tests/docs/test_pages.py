"""The commands on every page print what it shows. ``GRPO_ENV_DOCS=all`` (`make test-docs`) also runs trainings."""

import os
import shutil
from pathlib import Path

import pytest

from .pages import blocks, run_page

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
# Pages in Chinese have the commands of their originals (tests/test_docs.py).
PAGES = [ROOT / "README.md", *sorted(page for page in (ROOT / "docs").rglob("*.md") if ".zh" not in page.suffixes)]
WITH_COMMANDS = [page for page in PAGES if any(block.language == "console" for block in blocks(page.read_text()))]
DATA = os.environ.get("GRPO_ENV_DATA")


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_shows_what_its_commands_print(page, tmp_path):
    skipped = frozenset({"slow"} if os.environ.get("GRPO_ENV_DOCS") != "all" else ()) | frozenset(
        () if DATA else {"data"}
    )
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for file in Path(DATA).iterdir() if DATA else ():
        (tmp_path / file.name).symlink_to(file)
    if problems := run_page(page, tmp_path, skipped):
        pytest.fail("\n\n".join(problems), pytrace=False)
