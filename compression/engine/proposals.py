"""What the compressor of each result proposes, with the names in every unit; worked out once for a text.

Nothing here depends on a session, a budget or a policy.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from compression.engine import compressors
from compression.engine.content_types import ContentType, detect
from compression.engine.identifiers import spans, unescaped
from compression.engine.transcript import Part
from compression.engine.units import Units

_SHELF_LIMIT = 5_000
_GUTTER = re.compile(r"(?m)^ *[0-9]+[\u2192\t|]")


@dataclass(frozen=True, slots=True)
class Prepared:
    """The units of one result and, for each of them, the names that it says; ``places`` is the other way round."""

    content: ContentType
    units: Units
    names: tuple[tuple[str, ...], ...]
    places: Mapping[str, tuple[int, ...]]


class Proposals:
    """Prepared results, the latest few thousand of them."""

    def __init__(self) -> None:
        self._shelf: OrderedDict[tuple[str, str, str], Prepared] = OrderedDict()

    def of(self, part: Part, arguments: str, sha: str) -> Prepared:
        """What is proposed for a tool result; ``sha`` is that of its text."""
        key = (sha, part.name, arguments)
        known = self._shelf.get(key)
        if known is None:
            known = self._shelf[key] = _prepared(part, arguments)
            while len(self._shelf) > _SHELF_LIMIT:
                self._shelf.popitem(last=False)
        return known


def _prepared(part: Part, arguments: str) -> Prepared:
    content = detect(part.text, part.name, arguments)
    units = compressors.units(part.text, content.kind, arguments)
    if units.gaps == "each":
        # A count at every gap would cost more than the lines that novelty picks from all over a text.
        units = replace(units, gaps="mark")
    names = tuple(
        tuple(dict.fromkeys(name for name, _ in spans(_GUTTER.sub("", unescaped(unit.text))))) for unit in units.units
    )
    places: dict[str, list[int]] = {}
    for number, said in enumerate(names):
        for name in said:
            places.setdefault(name, []).append(number)
    return Prepared(content, units, names, {name: tuple(found) for name, found in places.items()})
