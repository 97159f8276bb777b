"""Binary data and base64: what it is, how many bytes, its sha256; the text around it, and readable strings within.

Hash and size are of the decoded bytes (of raw bytes: of the text as UTF-8, which is all that a log holds).
"""

from __future__ import annotations

import re

from compression.engine.compressors import code_output
from compression.engine.readers.binary_data import Blob, blobs
from compression.engine.tool_output import cleaned
from compression.engine.units import Unit, Units, clip, counted, units_of

LONGEST_SHOWN = 200
_STRINGS = re.compile(r"[\x20-\x7e]{6,200}")
_MOST_STRINGS = 400
_MOST_BLOBS = 40


def units(text: str) -> Units:
    source = cleaned(text)
    body = source.text
    found_blobs = blobs(body)
    if not found_blobs:
        return code_output.units(text)
    found: list[Unit] = []
    at = order = 0
    for turn, blob in enumerate(found_blobs[:_MOST_BLOBS]):
        for line in body[at : blob.start].split("\n"):
            if line.strip():
                order += 1
                found.append(Unit(clip(line.strip(), LONGEST_SHOWN), "should", order, order, "text around", order, 1))
        order += 1
        found.append(_blob_unit(blob, order, turn))
        at = blob.end
    for line in body[at:].split("\n"):
        if line.strip():
            order += 1
            found.append(Unit(clip(line.strip(), LONGEST_SHOWN), "should", order, order, "text around", order, 1))
    if found_blobs[0].encoding == "raw bytes":
        for match in _STRINGS.finditer(body[:400_000]):
            if len(found) > _MOST_STRINGS:
                break
            if match.group().strip():
                order += 1
                found.append(Unit(clip(match.group().strip(), LONGEST_SHOWN), "may", order, order, "string", order, 0))
    return units_of(source, found, total=0, gaps="once")


def _blob_unit(blob: Blob, order: int, turn: int) -> Unit:
    size = counted(blob.size)
    media = f"{blob.media}, " if blob.media else ""
    text = f"{media}{blob.encoding}, {size} {'byte' if blob.size == 1 else 'bytes'}, sha256 {blob.digest}"
    return Unit(text, "must", order, turn, "type, size and hash", order, 0, (size, blob.digest))
