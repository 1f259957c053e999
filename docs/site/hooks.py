"""Adds a page for every file outside docs/ that a page links to, so that no link leaves the site; typesets formulas.

A block ``math`` becomes MathML, which browsers draw by themselves, without scripts and fonts of ours.
"""

from __future__ import annotations

import html
import os
import re
from pathlib import Path

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PICTURE = re.compile(r"(\bsrc(?:set)?=\")([^\":]+)(\")")
LINK = re.compile(r"(\]\()([^)#\s:]+)((?:#[^)\s]*)?\))")
EXTERNAL = re.compile(r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=[\"']?((?:https?:)?//[^\"' >]*)")
CODE = re.compile(r"<pre( id=\"[^\"]*\")?>((?:<[^>]*>)*<code[^>]*>)(.*?)</code></pre>", re.DOTALL)
MATH = re.compile(r"^```math\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NARROW = 45  # characters that fit a phone
NAMES = {"README.md": "index.md", "README.zh-CN.md": "zh-CN.md", "CHANGELOG.md": "changelog.md"}
LANGUAGES = {".py": "python", ".yaml": "yaml", ".toml": "toml", ".sh": "bash"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside docs/ that the pages link to, and those that these link to."""
    pages = {DOCS / page.src_uri: page.content_string for page in files.documentation_pages()}
    while pages:
        path, text = pages.popitem()
        if path.suffix != ".md":
            continue
        for _, target, _ in LINK.findall(text):
            linked = (path.parent / target).resolve()
            if linked.is_file() and uri(linked) not in files.src_uris:
                pages[linked] = linked.read_text()
                files.append(File.generated(config, uri(linked), content=as_page(linked)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links to files outside docs/ at their pages, and typeset formulas."""
    sources = {page_name: name for name, page_name in NAMES.items()}
    page_uri = page.file.src_uri
    path = DOCS / page_uri
    if not path.is_file():
        path = ROOT / sources.get(page_uri, page_uri.removeprefix("source/").removesuffix(".md"))

    def relinked(match: re.Match[str]) -> str:
        linked = (path.parent / match[2]).resolve()
        if not linked.is_file():
            return match[0]
        return match[1] + os.path.relpath(uri(linked), Path(page_uri).parent) + match[3]

    if path.suffix != ".md":
        return markdown
    return MATH.sub(typeset, LINK.sub(relinked, PICTURE.sub(relinked, markdown)))


def typeset(formula: re.Match[str]) -> str:
    """A block of LaTeX as MathML."""
    return f'<div class="formula">{convert(formula[1].strip(), display="block")}</div>'


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Refuse a page that loads anything from the network, and fit its code blocks to the column."""
    if external := EXTERNAL.search(output):
        raise PluginError(f"{page.file.src_uri}: loads {external[1]} from the network; keep a copy in docs/site")
    return CODE.sub(fitted, output)


def fitted(block: re.Match[str]) -> str:
    """A code block with what site.css needs to fit it: the length of its longest line and the indents of its lines."""
    lines = block[3].splitlines(keepends=True)
    plain = [html.unescape(re.sub(r"<[^>]*>", "", line)).rstrip("\n") for line in lines]
    columns = max(map(len, plain), default=1) or 1
    code = block[3]
    if columns > NARROW:
        indents = [len(line) - len(line.lstrip(" ")) for line in plain]
        code = "".join(
            f'<span class="line" style="--indent: {indent + 2}ch">{line}</span>'
            for line, indent in zip(lines, indents, strict=True)
        )
    return f'<pre{block[1] or ""} style="--columns: {columns}">{block[2]}{code}</code></pre>'


def uri(path: Path) -> str:
    """The path on the site of a file of the project."""
    if path.is_relative_to(DOCS):
        return str(path.relative_to(DOCS))
    name = str(path.relative_to(ROOT))
    return NAMES.get(name, f"source/{name}.md")


def as_page(path: Path) -> str:
    """A file as a page: Markdown unchanged, anything else as code, which the search leaves out."""
    if path.suffix == ".md":
        return path.read_text()
    front, language = "---\nsearch: {exclude: true}\n---\n", LANGUAGES.get(path.suffix, "text")
    return f"{front}\n# {path.relative_to(ROOT)}\n\n````{language}\n{path.read_text()}\n````\n"
