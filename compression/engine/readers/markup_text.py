"""HTML and XML as text: what a reader would see, with headings marked; tags, scripts and styles dropped.

One scan from left to right, no tree, nothing is fetched or run. Unclosed scripts and comments reach to the end, as
browsers have it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]{0,60})([^<>]{0,4000})>|<[!?][^<>]{0,2000}>")
_BLOCKS = frozenset(
    [
        "p",
        "div",
        "section",
        "article",
        "header",
        "footer",
        "main",
        "nav",
        "ul",
        "ol",
        "li",
        "table",
        "tr",
        "td",
        "th",
        "thead",
        "tbody",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "br",
        "hr",
        "pre",
        "blockquote",
        "form",
        "fieldset",
        "title",
        "head",
        "body",
        "html",
        "dl",
        "dt",
        "dd",
        "figure",
        "figcaption",
        "aside",
        "option",
        "select",
        "button",
        "details",
        "summary",
    ]
)
_INLINE = frozenset(
    [
        "a",
        "b",
        "i",
        "em",
        "strong",
        "span",
        "code",
        "small",
        "sub",
        "sup",
        "u",
        "s",
        "mark",
        "abbr",
        "label",
        "tt",
        "kbd",
        "var",
        "samp",
        "font",
        "cite",
        "q",
        "wbr",
        "img",
    ]
)
_SILENT = frozenset(("script", "style", "noscript", "template", "svg"))
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&apos;": "'", "&nbsp;": " "}
_ENTITY = re.compile("|".join(_ENTITIES))
_SPACED_STOP = re.compile(r" +([,.;:!?)])(?=\s|$)")


class Piece(NamedTuple):
    """One run of text. ``tag`` is the block around it (``h1``..``h6``, ``title``, ``p`` ...)."""

    text: str
    tag: str
    heading: int = 0


class Page(NamedTuple):
    """``tags`` counts opening tags by name; ``links`` are targets as written."""

    pieces: tuple[Piece, ...]
    tags: Counter[str]
    root: str


def read(text: str) -> Page:
    """The text of a document, O(text)."""
    pieces: list[Piece] = []
    tags: Counter[str] = Counter()
    root = ""
    block = ""
    run: list[str] = []
    position = 0

    def flush() -> None:
        joined = " ".join("".join(run).split())
        run.clear()
        if joined:
            joined = _SPACED_STOP.sub(r"\1", joined)
            joined = _ENTITY.sub(lambda match: _ENTITIES[match.group()], joined)
            pieces.append(Piece(joined, block, _HEADINGS.get(block, 0)))

    while position < len(text):
        start = text.find("<", position)
        if start < 0:
            run.append(text[position:])
            break
        run.append(text[position:start])
        if text.startswith("<!--", start):
            end = text.find("-->", start + 4)
            position = len(text) if end < 0 else end + 3
            continue
        if text.startswith("<![CDATA[", start):
            end = text.find("]]>", start)
            end = len(text) if end < 0 else end
            run.append(text[start + 9 : end])
            position = end + 3
            continue
        match = _TAG.match(text, start)
        if match is None:
            run.append("<")
            position = start + 1
            continue
        position = match.end()
        name = (match[2] or "").lower()
        if not name:
            continue
        if not match[1]:
            tags[name] += 1
            root = root or name
            if name in _SILENT and not match[3].endswith("/"):
                position = _after(text, position, name)
                continue
        if name in _INLINE:
            run.append(" ")
        else:
            flush()
            block = "" if match[1] else name
    flush()
    return Page(tuple(pieces), tags, root)


def _after(text: str, position: int, name: str) -> int:
    """Where the element ``name`` that began before ``position`` ends."""
    while True:
        start = text.find("</", position)
        if start < 0:
            return len(text)
        position = start + 2
        if text[position : position + len(name)].lower() == name:
            end = text.find(">", position)
            return len(text) if end < 0 else end + 1


def is_html(page: Page) -> bool:
    """Whether the document is for reading rather than data."""
    return page.root == "html" or sum(page.tags[name] for name in _BLOCKS) * 2 >= page.tags.total()
