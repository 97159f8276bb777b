"""JSON: its shape, the values at the top, and of its largest array the odd, the first and the last records.

Records with the same plain fields are shown as rows of a table. Numbers are shown as they were
written (``1.10`` stays ``1.10``), strings with their line breaks as spaces. One value a line (JSON
lines) counts as an array. What does not parse is left to the line compressor.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from compression.engine.compressors import code_output
from compression.engine.compressors.columns import describe
from compression.engine.readers.json_text import loads, shape, shown
from compression.engine.readers.problems import BAD_STATE
from compression.engine.tool_output import cleaned
from compression.engine.units import Tier, Unit, Units, clip, units_of

FIRST = 3
LAST = 2
LONGEST_RECORD = 400
LONGEST_VALUE = 300

_SMALLEST_ARRAY = 4
_MOST_COLUMNS = 40
_MOST_ERRORS = 6
_MOST_TOP_VALUES = 20
_DEEPEST = 60
_BAD_KEY = re.compile(
    r"(?:^|_|\b)(?:error|errors|exception|failure|failed|fault|panic|traceback)$|Error$|Exception$", re.I
)
_STATE_KEY = re.compile(r"(?:^|_)(?:status|state|level|severity|result|outcome|conclusion|type|kind)$", re.I)
# Written out in place, the union would be made anew for every value.
_NESTED = (dict, list)
_NOTHING = frozenset({"", "0", "false", "null", "none"})

Path = tuple[str, ...]


class _Array(NamedTuple):
    path: Path
    items: Sequence[object]


def units(text: str) -> Units:
    source = cleaned(text)
    value = _parsed(source.text)
    if not isinstance(value, _NESTED) or not value:
        return code_output.units(text)
    main, leaves = _taken_apart(value)
    shape_text, shape_counts = shape(value)
    found = [Unit(clip(shape_text, 1_200), "must", -100, -100, "shape", counts=shape_counts)]
    if main is None:
        found += _leaf_units(leaves, standalone=True)
        return units_of(source, found, total=len(leaves), noun=("value", "values"))
    found += _leaf_units(leaves, standalone=False)
    records, ordinary = _record_units(main)
    return units_of(source, [*found, *records], total=len(main.items), noun=("record", "records"), rest=ordinary)


def _parsed(text: str) -> object:
    try:
        return loads(text)
    except ValueError:
        pass
    values = []
    for line in text.replace("}{", "}\n{").split("\n"):
        if line.strip():
            try:
                values.append(loads(line))
            except ValueError:
                return None
    return values if len(values) > 1 else None


def _taken_apart(value: object) -> tuple[_Array | None, list[tuple[Path, object]]]:
    """The array with most items, and every value outside of it with the keys that lead there."""
    main: _Array | None = None
    pending: list[tuple[Path, object]] = [((), value)]
    while pending:
        path, item = pending.pop()
        if isinstance(item, list) and len(item) >= _SMALLEST_ARRAY and (main is None or len(item) > len(main.items)):
            main = _Array(path, item)
        if len(path) > _DEEPEST:
            continue
        if isinstance(item, dict):
            pending.extend([((*path, key), part) for key, part in item.items() if isinstance(part, _NESTED)][::-1])
        elif isinstance(item, list):
            pending.extend([(path, part) for part in reversed(item) if isinstance(part, _NESTED)])
    skipped = main.items if main else None
    leaves = [(path, item) for path, item in _walk(value, skipped) if not isinstance(item, _NESTED) or not item]
    return main, leaves


def _walk(value: object, skipped: object) -> Iterator[tuple[Path, object]]:
    pending: list[tuple[Path, object]] = [((), value)]
    while pending:
        path, item = pending.pop()
        if item is skipped:
            continue
        yield path, item
        if len(path) > _DEEPEST:
            continue
        if isinstance(item, dict):
            pending.extend(((*path, key), item[key]) for key in reversed(list(item)))
        elif isinstance(item, list):
            # Positions are no names: an item is found by what it holds.
            pending.extend((path, part) for part in reversed(item))


def _leaf_units(leaves: Sequence[tuple[Path, object]], *, standalone: bool) -> list[Unit]:
    found = []
    top = 0
    for index, (path, value) in enumerate(leaves):
        bad = any(_BAD_KEY.search(key) for key in path) and str(value).lower() not in _NOTHING
        shallow = len(path) <= 1
        top += shallow
        tier: Tier = "must" if bad or (shallow and top <= _MOST_TOP_VALUES) else "should"
        rank = -50 if bad else 0 if shallow else 10
        name = " > ".join(clip(" ".join(key.split()), 60) for key in path)
        longest = LONGEST_VALUE if tier == "must" else LONGEST_VALUE // 2
        text = f"{name}: {shown(value, longest)}" if name else shown(value, longest)
        lines = 1 if standalone else 0
        found.append(Unit(text, tier, index if standalone else -50, rank + len(path), "value", index, lines))
    return found


def _record_units(main: _Array) -> tuple[list[Unit], Callable[[], Iterator[Unit]]]:
    """The units that matter, and the making of the others."""
    items = main.items
    objects = [item for item in items if isinstance(item, dict)]
    names = list(dict.fromkeys(key for item in objects for key in item))[:_MOST_COLUMNS]
    flat = len(objects) == len(items) and all(
        not isinstance(part, _NESTED) for item in objects for part in item.values()
    )
    uniform = flat and len({tuple(item) for item in objects}) == 1 and len(names) <= 16
    found: list[Unit] = []
    worth: dict[int, tuple[Tier, int, str]] = {}
    for turn, index in enumerate(_troubled(items)):
        worth[index] = ("must" if turn < _MOST_ERRORS else "should", 10 + turn, "error record")
    for index in _odd(items):
        worth.setdefault(index, ("should", 30, "odd record"))
    for index in (*range(FIRST), *range(len(items) - LAST, len(items))):
        worth.setdefault(index, ("must", 20, "first and last records"))
    if uniform:
        header = " | ".join(clip(" ".join(name.split()), 60) for name in names)
        found.append(Unit(header, "must", -1, 0, "header"))
    for name in names if objects else ():
        cells = [item.get(name) for item in objects]
        if any(isinstance(cell, _NESTED) for cell in cells):
            continue
        told = {cell: "" if cell is None else shown(cell, 80) for cell in set(cells)}
        column = describe(name, [told[cell] for cell in cells])
        numeric = bool(column.extremes)
        found.append(Unit(column.line, "must" if numeric else "should", -2, 5, "field", counts=column.counts))
        if len(objects) == len(items):
            for index in column.extremes:
                worth.setdefault(index, ("should", 40, "extreme record"))
            for index in column.rare:
                worth.setdefault(index, ("should", 35, "rare record"))

    def unit(index: int, tier: Tier, rank: int, label: str) -> Unit:
        item = items[index]
        if uniform and isinstance(item, dict):
            text = clip(" | ".join(shown(part, 120) for part in item.values()), LONGEST_RECORD)
        else:
            text = shown(item, LONGEST_RECORD)
        return Unit(text, tier, index, rank, label, index, 1)

    def ordinary() -> Iterator[Unit]:
        return (unit(index, "may", 0, "record") for index in range(len(items)) if index not in worth)

    found += [unit(index, *worth[index]) for index in sorted(worth)]
    return found, ordinary


def _troubled(items: Sequence[object]) -> list[int]:
    """Records that report an error, when that is not what nearly all of them do."""
    keys: dict[str, tuple[bool, bool]] = {}
    states: dict[str, bool] = {}
    found = [index for index, item in enumerate(items) if isinstance(item, dict) and _is_troubled(item, keys, states)]
    return found if 2 * len(found) <= len(items) else []


def _is_troubled(item: Mapping[str, object], keys: dict[str, tuple[bool, bool]], states: dict[str, bool]) -> bool:
    """``keys`` and ``states`` remember what was found out about the words in these places."""
    for key, value in item.items():
        if key not in keys:
            keys[key] = bool(_BAD_KEY.search(key)), bool(_STATE_KEY.search(key))
        bad, state = keys[key]
        if bad and value and str(value).lower() not in _NOTHING:
            return True
        if state and isinstance(value, str) and len(value) < 40:
            if value not in states:
                states[value] = bool(BAD_STATE.fullmatch(value))
            if states[value]:
                return True
    return False


def _odd(items: Sequence[object]) -> list[int]:
    """Records with a rare set of fields, or a field of a rare type."""
    if len(items) < 10:
        return []
    kinds = [_signature(item) for item in items]
    tally = Counter(kinds)
    return [index for index, kind in enumerate(kinds) if tally[kind] * 50 <= len(items)][:6]


def _signature(item: object) -> tuple[object, ...]:
    if not isinstance(item, dict):
        return (type(item),)
    if None in item.values():
        item = {key: value for key, value in item.items() if value is not None}
    return (*item, *map(type, item.values()))
