"""Data that is no text: base64, data URIs, hex dumps, bytes that a tool printed as they were.

Tells what it is by its first bytes, how large it is and its hash. Nothing is unpacked.
"""

from __future__ import annotations

import re
from base64 import b64decode, urlsafe_b64decode
from binascii import Error
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

_BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/_-]{160,}+|[A-Za-z0-9+/_-]{60,}+\n[A-Za-z0-9+/_-]{60,}+\n)(?:\n?[A-Za-z0-9+/_-]{16,}+)*+(?:\n[A-Za-z0-9+/_-]{1,15}(?==|\n|$))?={0,2}"
)
_DATA_URI = re.compile(r"data:([\w.+-]{1,60}/[\w.+-]{1,80})[;,]")
_HEX_DUMP = re.compile(r"(?:0x)?[0-9a-f]{4,16}:?\s{1,3}((?:[0-9a-f]{2,8}\s{1,2}){4,16})", re.IGNORECASE)
_LOOKED_AT = 8_000
_NO_TEXT = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_MAGIC = (
    (b"\x89PNG", "PNG image"), (b"\xff\xd8\xff", "JPEG image"), (b"GIF8", "GIF image"), (b"%PDF", "PDF document"),
    (b"PK\x03\x04", "ZIP archive"), (b"\x1f\x8b", "gzip data"), (b"\x7fELF", "ELF program"), (b"RIFF", "RIFF data"),
    (b"BZh", "bzip2 data"), (b"\xfd7zXZ", "xz data"), (b"\x28\xb5\x2f\xfd", "zstd data"), (b"MZ", "Windows program"),
    (b"\xca\xfe\xba\xbe", "Java class or Mach-O"), (b"SQLite format 3", "SQLite database"), (b"OggS", "Ogg data"),
    (b"ID3", "MP3 audio"), (b"\x00asm", "WebAssembly"), (b"wOFF", "web font"), (b"wOF2", "web font"),
)  # fmt: skip


class Blob(NamedTuple):
    """Characters ``start`` .. ``end`` of the text are the blob in ``encoding``; ``size`` in bytes, decoded."""

    start: int
    end: int
    encoding: str
    media: str
    size: int
    digest: str


def share(lines: Sequence[str]) -> tuple[float, str]:
    """(how much of the first lines is no text, of which kind)."""
    head = [line[:_LOOKED_AT] for line in lines[:60]]
    text = "\n".join(head)[:_LOOKED_AT]
    if not text:
        return 0.0, ""
    if _NO_TEXT.search(text) and 20 * len(_NO_TEXT.findall(text)) >= len(text):
        return 1.0, "raw bytes"
    if any(len(line) >= 60 for line in head):
        encoded = sum(match.end() - match.start() for match in _BASE64.finditer(text) if _is_base64(match.group()))
        if 2 * encoded >= len(text):
            return min(encoded / len(text), 1.0), "base64"
    if _HEX_DUMP.match(head[0]) and len(head) >= 3:
        dumped = sum(1 for line in head if _HEX_DUMP.match(line[:200]))
        if dumped >= 0.8 * len(head):
            return dumped / len(head), "hex dump"
    return 0.0, ""


def blobs(text: str) -> list[Blob]:
    """Every blob in ``text``; all of it as one when it holds raw bytes. O(text)."""
    if 20 * len(_NO_TEXT.findall(text)) >= len(text):
        return [_blob(0, len(text), "raw bytes", "", text.encode("utf-8", "surrogatepass"))]
    found = []
    for match in _BASE64.finditer(text):
        if not _is_base64(match.group()):
            continue
        before = text[max(match.start() - 120, 0) : match.start()]
        media = _DATA_URI.search(before)
        found.append(_blob(match.start(), match.end(), "base64", media[1] if media else "", _decoded(match.group())))
    if found:
        return found
    rows = ["".join(row[1].split()) for line in text.split("\n") if (row := _HEX_DUMP.match(line[:200]))]
    if len(rows) >= 3:
        data = b"".join(bytes.fromhex(digits[: len(digits) & ~1]) for digits in rows)
        return [_blob(0, len(text), "hex dump", "", data)]
    return []


def _is_base64(run: str) -> bool:
    """Long names and rules of one character are none."""
    head = run[:2_000]
    return len(set(head)) >= 12 and any(map(str.isdigit, head)) and head.upper() != head and head.lower() != head


def _decoded(run: str) -> bytes:
    run = run.replace("\n", "").rstrip("=")
    run = run[: len(run) - (len(run) % 4 == 1)]
    run += "=" * (-len(run) % 4)
    try:
        return urlsafe_b64decode(run) if "-" in run or "_" in run else b64decode(run)
    except (Error, ValueError):
        return run.encode()


def _blob(start: int, end: int, encoding: str, media: str, data: bytes) -> Blob:
    kind = media or next((name for magic, name in _MAGIC if data.startswith(magic)), "")
    return Blob(start, end, encoding, kind, len(data), sha256(data).hexdigest())
