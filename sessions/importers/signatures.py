"""What the first bytes of a file say: formats that are not lines of JSON, and files that are no log at all.

Looks at content only; a file's name is used for messages and nothing else.
"""

from __future__ import annotations

import re

from sessions.importers.parsed import Detection, ImportFailure

SQLITE_MAGIC = b"SQLite format 3\x00"
HEAD_BYTES = 64 * 1024

_PACKED = (
    (b"\x1f\x8b", "gzip data"),
    (b"\x28\xb5\x2f\xfd", "Zstandard data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"BZh", "bzip2 data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
)
_CONTROL = bytes(code for code in range(32) if code not in b"\t\n\r\f\v\x1b") + b"\x7f"
_SERVER_SENT = re.compile(rb"\A(?:[ \t\r\n]*(?::[^\n]*\n))*[ \t\r\n]*(?:data|event|id|retry):", re.ASCII)


def recognise_bytes(head: bytes) -> Detection | None:
    """A format that shows in its first bytes, None where the content must be parsed to tell."""
    if head.startswith(b"PK\x03\x04") and (b"_journal/" in head or b"samples/" in head or b"header.json" in head):
        return Detection("inspect-eval", 0.9, "a zip archive with the members of an Inspect log")
    text = head.removeprefix(b"\xef\xbb\xbf")
    if b"# aider chat started at" in text and not text.lstrip().startswith((b"{", b"[")):
        return Detection("aider", 0.95, 'has the header line "# aider chat started at"')
    if _SERVER_SENT.match(text):
        return Detection("sse", 0.9, 'its lines start with "data:" or "event:"')
    return None


def refuse_what_is_no_text(name: str, head: bytes) -> None:
    """Raise ImportFailure for an empty, packed or binary file, each with its own remedy."""
    if not head:
        raise ImportFailure(f"{name} is empty (0 bytes)", "Export the session again.")
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        raise ImportFailure(f"{name} is a zip archive", "Unpack it and import the session files inside.")
    for magic, what in _PACKED:
        if head.startswith(magic):
            raise ImportFailure(f"{name} is {what}", "Unpack it and import the session file inside.")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ImportFailure(f"{name} is UTF-16 text", "Convert it to UTF-8.")
    sample = head.replace(b"\x00", b"")
    if not sample.strip():
        raise ImportFailure(f"{name} holds only white space or NUL bytes", "Export the session again.")
    control = len(sample) - len(sample.translate(None, _CONTROL))
    broken = sample.decode("utf-8", "replace").count("\ufffd") - sample.count(b"\xef\xbf\xbd")
    if control * 20 > len(sample) or broken * 10 > len(sample):
        raise ImportFailure(
            f"{name} is a binary file, not text", "A session is JSON, JSONL or a Hermes Agent state.db."
        )
