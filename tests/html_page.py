"""What a page of HTML consists of."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = frozenset({"meta", "br", "wbr", "link", "input", "img"})
"""Elements without an end. Those of SVG have one, or end in ``/>``."""


class Page(HTMLParser):
    """The tags of a page, and its attributes as (tag, name, value); fails if a tag is not closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self._open: list[str] = []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
