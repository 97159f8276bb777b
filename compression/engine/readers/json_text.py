"""JSON values as stubs write them: numbers untouched, strings on one line, shapes in words.

Reading keeps the text of every number, because a reformatted number is a number that the original
does not hold. Nothing here chooses what is shown.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NoReturn

from compression.engine.units import clip, counted

_DEEPEST_SHAPE = 4
_MOST_KEYS = 24
_MOST_SAMPLED = 400


class RawNumber(str):
    """A number in the spelling of its source."""

    __slots__ = ()


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(parse_float=RawNumber, parse_int=RawNumber, parse_constant=_refused, strict=False)


def loads(text: str) -> object:
    """Raises ValueError for what is not JSON, and for nesting that no tool's output has."""
    try:
        value: object = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def shown(value: object, limit: int) -> str:
    """``value`` on one line of at most ``limit`` characters, more than that cut between words."""
    if isinstance(value, RawNumber) and len(value) <= limit:
        return str(value)
    return clip(_written(value, limit, 0), limit)


def _written(value: object, limit: int, depth: int) -> str:
    if isinstance(value, str):
        return " ".join(clip(value, 2 * limit).split()) or '""'
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if depth >= _DEEPEST_SHAPE:
        return "{…}" if isinstance(value, dict) else "[…]"
    pieces: list[str] = []
    length = 0
    if isinstance(value, dict):
        for key, part in value.items():
            pieces.append(f"{_written(key, 60, 0)}: {_written(part, limit, depth + 1)}")
            length += len(pieces[-1])
            if length > 2 * limit:
                break
        return f"{{{', '.join(pieces)}}}"
    assert isinstance(value, list)
    for part in value:
        pieces.append(_written(part, limit, depth + 1))
        length += len(pieces[-1])
        if length > 2 * limit:
            break
    return f"[{', '.join(pieces)}]"


def shape(value: object) -> tuple[str, tuple[str, ...]]:
    """Keys, types and array lengths in words, and the counts in it as written."""
    counts: list[str] = []
    return _shape([value], 0, counts), tuple(counts)


def _shape(values: Sequence[object], depth: int, counts: list[str]) -> str:
    """One description for values that stand in the same place."""
    described = []
    objects = [value for value in values if isinstance(value, dict)]
    arrays = [value for value in values if isinstance(value, list)]
    if objects:
        described.append(_object_shape(objects, depth, counts))
    if arrays:
        described.append(_array_shape(arrays, depth, counts))
    plain = dict.fromkeys(_plain(value) for value in values if not isinstance(value, (dict, list)))
    return "|".join([*described, *plain]) or "nothing"


def _plain(value: object) -> str:
    if isinstance(value, RawNumber):
        return "number"
    if isinstance(value, str):
        return "string"
    return "null" if value is None else "boolean"


def _object_shape(objects: Sequence[dict[str, object]], depth: int, counts: list[str]) -> str:
    keys = list(dict.fromkeys(key for value in objects for key in value))
    if depth >= _DEEPEST_SHAPE:
        return "{…}"
    fields = []
    for key in keys[:_MOST_KEYS]:
        held = [value[key] for value in objects if key in value]
        optional = "optional " if len(held) < len(objects) else ""
        fields.append(f"{clip(' '.join(key.split()), 60)}: {optional}{_shape(held, depth + 1, counts)}")
    if len(keys) > _MOST_KEYS:
        counts.append(counted(len(keys) - _MOST_KEYS))
        fields.append(f"{counts[-1]} more keys")
    return f"{{{', '.join(fields)}}}"


def _array_shape(arrays: Sequence[list[object]], depth: int, counts: list[str]) -> str:
    lengths = sorted({len(value) for value in arrays})
    if lengths == [0]:
        return "empty array"
    counts.append(counted(lengths[0]))
    length = counts[-1]
    if len(lengths) > 1:
        counts.append(counted(lengths[-1]))
        length = f"{length} to {counts[-1]}"
    items = [item for value in arrays[:_MOST_SAMPLED] for item in value[:_MOST_SAMPLED]][: 2 * _MOST_SAMPLED]
    return f"array of {length} {_shape(items, depth + 1, counts)}"
