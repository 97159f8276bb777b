"""Images and documents to a part that says what they are: type, bytes, sha256, pixels; never their content.

Pixels are read from the header of PNG, GIF, JPEG and WebP. Nothing is decompressed.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct

from sessions.importers.fields import JsonObject, mapping, string
from sessions.importers.parsed import Part


def media_part(media_type: str, data: str) -> Part:
    """From base64; text that is no base64 counts with its own bytes."""
    try:
        raw = base64.b64decode(data)
    except (binascii.Error, ValueError):
        raw = data.encode("utf-8", "replace")
    width, height = pixels(raw)
    digest = hashlib.sha256(raw).hexdigest()
    return Part("media", media_type=media_type[:100], size=len(raw), sha256=digest, width=width, height=height)


def media_from_url(url: str, media_type: str = "") -> Part:
    """A data URL is read; any other address is named and never fetched."""
    if url.startswith("data:"):
        head, _, data = url[5:].partition(",")
        return media_part(head.partition(";")[0] or media_type, data)
    return Part("media", media_type=media_type or "image", name=url[:300])


def media_from_block(block: JsonObject) -> Part:
    """An Anthropic ``image`` or ``document`` block."""
    source = mapping(block.get("source"))
    kind = string(block.get("type")) or "image"
    media_type = string(source.get("media_type"))
    if data := string(source.get("data")):
        return media_part(media_type or kind, data)
    return media_from_url(string(source.get("url")), media_type or kind)


def pixels(raw: bytes) -> tuple[int, int]:
    """(width, height), or (0, 0) where the header does not say."""
    try:
        if raw.startswith(b"\x89PNG\r\n\x1a\n"):
            return struct.unpack(">II", raw[16:24])
        if raw[:6] in (b"GIF87a", b"GIF89a"):
            return struct.unpack("<HH", raw[6:10])
        if raw.startswith(b"\xff\xd8"):
            return _jpeg_pixels(raw)
        if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
            return _webp_pixels(raw)
    except (struct.error, IndexError):
        return 0, 0
    return 0, 0


def _jpeg_pixels(raw: bytes) -> tuple[int, int]:
    at = 2
    while raw[at] == 0xFF:
        marker = raw[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", raw[at + 5 : at + 9])
            return width, height
        (length,) = struct.unpack(">H", raw[at + 2 : at + 4])
        at += 2 + length
    return 0, 0


def _webp_pixels(raw: bytes) -> tuple[int, int]:
    chunk = raw[12:16]
    if chunk == b"VP8X":
        return int.from_bytes(raw[24:27], "little") + 1, int.from_bytes(raw[27:30], "little") + 1
    if chunk == b"VP8 ":
        width, height = struct.unpack("<HH", raw[26:30])
        return width & 0x3FFF, height & 0x3FFF
    if chunk == b"VP8L":
        bits = int.from_bytes(raw[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return 0, 0
