"""Markup: the title, the headings and the text of a page, tags dropped; of XML data also which elements, how often.

Sentences are ranked like those of prose. Elements of data are shown as ``name: text``.
"""

from __future__ import annotations

from collections import Counter

from compression.engine.compressors import prose
from compression.engine.readers.markup_text import Page, Piece, is_html, read
from compression.engine.readers.problems import ERROR_LINE
from compression.engine.tool_output import LINE_LIMIT, cleaned
from compression.engine.units import Tier, Unit, Units, clip, counted, units_of

LONGEST_SHOWN = 400
_MOST_ELEMENTS = 20
_FIRST, _LAST = 6, 4


def units(text: str) -> Units:
    source = cleaned(text)
    page = read(source.text)
    found = _page_units(page) if is_html(page) else _data_units(page)
    return units_of(source, found, total=len(page.pieces), noun=("text", "texts"), gaps="once")


def _page_units(page: Page) -> list[Unit]:
    worths = prose.worths([piece.text for piece in page.pieces])
    best = sorted(range(len(worths)), key=lambda index: (-worths[index], index))
    place = {index: turn for turn, index in enumerate(best)}
    found = []
    titles = 0
    for index, piece in enumerate(page.pieces):
        tier: Tier = "should" if 3 * place[index] <= len(worths) else "may"
        rank, label, shown = 100 + place[index], "text", piece.text
        if piece.tag == "title" and not titles:
            titles += 1
            tier, rank, label = "must", -10, "title"
        elif piece.heading:
            tier, rank, label = ("must" if piece.heading <= 2 else "should"), piece.heading, "heading"
            shown = f"{'#' * piece.heading} {piece.text}"
        elif ERROR_LINE.search(piece.text[:LINE_LIMIT]):
            tier, rank, label = "must", 20, "error line"
        elif len(piece.text) < 20 and tier == "should":
            tier = "may"
        found.append(Unit(clip(shown, LONGEST_SHOWN), tier, index, rank, label, index, 1))
    return found


def _data_units(page: Page) -> list[Unit]:
    tags = sorted(page.tags.items(), key=lambda item: (-item[1], item[0]))
    amounts = [counted(number) for _, number in tags[:_MOST_ELEMENTS]]
    shape = ", ".join(f"{name} {amount}" for (name, _), amount in zip(tags, amounts, strict=False))
    amounts.append(counted(len(tags)))
    kinds = "kind" if len(tags) == 1 else "kinds"
    text = f"root {page.root}, {amounts[-1]} {kinds} of elements: {shape}" if page.root else f"elements: {shape}"
    found = [Unit(clip(text, 900), "must", -1, -10, "elements", counts=tuple(amounts))] if tags else []
    repeated: Counter[str] = Counter()
    for index, piece in enumerate(page.pieces):
        repeated[piece.tag] += 1
        found.append(_element(page, piece, index, repeated[piece.tag]))
    return found


def _element(page: Page, piece: Piece, index: int, turn: int) -> Unit:
    shown = clip(f"{piece.tag}: {piece.text}" if piece.tag else piece.text, LONGEST_SHOWN // 2)
    if ERROR_LINE.search(piece.text[:LINE_LIMIT]):
        return Unit(shown, "must", index, 10, "error line", index, 1)
    if page.tags[piece.tag] <= 2:
        return Unit(shown, "should", index, 0, "single element", index, 1)
    if index < _FIRST or index >= len(page.pieces) - _LAST or turn == 1:
        return Unit(shown, "should", index, 10, "first and last elements", index, 1)
    return Unit(shown, "may", index, turn, "element", index, 1)
