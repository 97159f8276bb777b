"""One compressor a kind of output; ``compress`` spends a token budget on what it keeps first.

Deterministic, without a model: the same text, kind and budget give the same bytes in any process.
Every name and number of a result stands in the text or is listed in ``Compressed.counts``. The first
line of a stub (address, token counts) is not made here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from compression.engine.compressors import (
    binary,
    code_output,
    diff,
    json_data,
    listing,
    log,
    markup,
    prose,
    search_hits,
    source_code,
    table,
    test_report,
)
from compression.engine.content_types import KINDS
from compression.engine.excerpt import excerpt
from compression.engine.tool_output import cleaned
from compression.engine.units import Compressed, Count, Unit, Units, clip, fill, units_of

__all__ = ["COMPRESSORS", "Compressed", "Unit", "Units", "UnknownKind", "compress", "head_tail", "units"]

COMPRESSORS: Mapping[str, Callable[[str], Units]] = MappingProxyType(
    {
        "code_output": code_output.units,
        "test_report": test_report.units,
        "log": log.units,
        "table": table.units,
        "json": json_data.units,
        "source_code": source_code.units,
        "search_hits": search_hits.units,
        "diff": diff.units,
        "listing": listing.units,
        "markup": markup.units,
        "prose": prose.units,
        "binary": binary.units,
    }
)
_BY_ARGUMENTS: Mapping[str, Callable[[str, str], Units]] = MappingProxyType(
    {"source_code": source_code.units, "search_hits": search_hits.units}
)

# No token of a vocabulary in use spans more characters (those that do are runs of blanks).
_CHARACTERS_A_TOKEN = 128
# Before everything that a compressor proposes.
_FIRST = -1_000_000


class UnknownKind(ValueError):
    """A kind that no content type has."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"unknown content type {kind!r}; known: {', '.join(KINDS)}")


def units(text: str, kind: str, arguments: str = "") -> Units:
    """All that the compressor of ``kind`` proposes. ``arguments`` of the tool call name a language or a query.

    Of a very long text only parts are read; then a first line says so.
    """
    return _proposed(text, kind, arguments).complete()


def _proposed(text: str, kind: str, arguments: str) -> Units:
    if kind not in COMPRESSORS:
        raise UnknownKind(kind)
    read = excerpt(text)
    if not read.note or kind == "binary":
        return _whole_units(text, kind, arguments)
    found = _whole_units(read.text, kind, arguments)
    note = Unit(read.note, "must", _FIRST, _FIRST, "what was read", counts=read.counts)
    return replace(found, units=(note, *found.units))


def _whole_units(text: str, kind: str, arguments: str) -> Units:
    if arguments and kind in _BY_ARGUMENTS:
        return _BY_ARGUMENTS[kind](text, arguments)
    return COMPRESSORS[kind](text)


def compress(text: str, *, kind: str, budget: int, count: Count, arguments: str = "") -> Compressed:
    """``text`` in at most ``budget`` tokens, never longer than it was; unchanged when it fits as it is."""
    if _fits(text, budget, count):
        return Compressed(text, ("everything",))
    return fill(_proposed(text, kind, arguments), budget, count, longest=len(text))


def head_tail(text: str, *, budget: int, count: Count, head: int = 20, tail: int = 10) -> Compressed:
    """The first ``head`` and last ``tail`` lines, whatever they say; fewer when the budget is smaller."""
    if _fits(text, budget, count):
        return Compressed(text, ("everything",))
    source = cleaned(text)
    total = len(source.lines)
    chosen = dict.fromkeys((*range(min(head, total)), *range(max(total - tail, 0), total)))
    found = []
    for index in chosen:
        label = "first lines" if index < head else "last lines"
        rank = index if index < head else total - 1 - index
        shown = clip(source.shown(index), code_output.LONGEST_SHOWN)
        found.append(Unit(shown, "must", index, rank, label, index, 1))
    return fill(units_of(source, found), budget, count, longest=len(text))


def _fits(text: str, budget: int, count: Count) -> bool:
    """Whether ``text`` needs no compression. Texts that are longer than the longest tokens allow, or have more
    words than the budget has tokens, are known not to fit without counting them; so whatever is compressed
    has more tokens than its budget and the result can never be longer than the text."""
    if len(text) > budget * _CHARACTERS_A_TOKEN or (len(text) > 8 * budget and len(text.split()) > budget):
        return False
    return count([text])[0] <= budget
