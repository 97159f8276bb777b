"""How many tokens a text, a message and a picture cost.

Counting is exact for ``o200k_base`` and ``cl100k_base`` and costs a call per *batch*:
a batch of one is as dear as a batch of a hundred. What the provider would have counted
is not decided here but in ``calibration``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Protocol

from compression.engine.transcript import Message, Part

MESSAGE_OVERHEAD = 4
"""Tokens that a message costs beyond its parts (role markers), uncalibrated."""

MEDIA_UNKNOWN = 1_500
"""Tokens of a picture whose size is unknown."""

DEFAULT_ENCODING = "o200k_base"
ENCODINGS = ("o200k_base", "cl100k_base")

_SURROGATES = re.compile("[\ud800-\udfff]")
_CACHE_LIMIT = 200_000
_SMALL_BATCH, _SMALL_TEXT = 400, 200_000


class TokenCounter(Protocol):
    """Counts the tokens of texts under one named encoding."""

    name: str

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, in order."""
        ...


def _clean(text: str) -> str:
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


class ToktokCounter:
    """The bulk counter: vocabularies inside the wheel, about ten times as fast as tiktoken."""

    def __init__(self, encoding: str = DEFAULT_ENCODING) -> None:
        self.name = encoding

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, in order."""
        from toktok import batch_count  # loads its vocabulary: about a second, only when first needed

        if not texts:
            return []
        # Starting threads costs more than a small batch does.
        small = len(texts) < _SMALL_BATCH and sum(map(len, texts)) < _SMALL_TEXT
        counts: list[int] = batch_count([_clean(text) for text in texts], self.name, threads=1 if small else 0)
        return counts


class TiktokenCounter:
    """The reference counter. Downloads its vocabulary when it is first used, so it needs a network once."""

    def __init__(self, encoding: str = DEFAULT_ENCODING) -> None:
        self.name = encoding

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, in order."""
        import tiktoken

        encoding = tiktoken.get_encoding(self.name)
        return [len(ids) for ids in encoding.encode_ordinary_batch([_clean(text) for text in texts])]


class CachedCounter:
    """Any counter with a memory: a text that was counted once is not counted again."""

    def __init__(self, counter: TokenCounter) -> None:
        self.name = counter.name
        self._counter = counter
        self._known: dict[bytes, int] = {}

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, in order; only unknown ones reach the counter, in one batch."""
        keys = [blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts]
        known = self._known  # another thread may put a fresh one in its place
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            if len(known) > _CACHE_LIMIT:
                self._known = known = {key: known[key] for key in keys if key in known}
            known.update(zip(missing, self._counter.count_many(list(missing.values())), strict=True))
        return [known[key] for key in keys]

    def count(self, text: str) -> int:
        """Tokens of one text."""
        return self.count_many([text])[0]


_default = CachedCounter(ToktokCounter())


def default_counter() -> CachedCounter:
    """The process-wide counter for ``o200k_base``."""
    return _default


def media_tokens(part: Part, provider: str = "anthropic") -> int:
    """Tokens of a picture by its provider's rule, never by its base64.

    Anthropic: width x height / 750, at most 1,600. OpenAI: 85 + 170 for each 512-pixel tile after
    the picture was fitted into 2,048 x 2,048 and its short side to 768. 1,500 when the size is unknown.
    """
    if not part.width or not part.height:
        return MEDIA_UNKNOWN
    if provider == "anthropic":
        return min(1_600, max(1, round(part.width * part.height / 750)))
    width, height = float(part.width), float(part.height)
    scale = min(1.0, 2_048 / max(width, height))
    width, height = width * scale, height * scale
    scale = min(1.0, 768 / min(width, height))
    tiles = -(-int(width * scale) // 512) * -(-int(height * scale) // 512)
    return 85 + 170 * max(1, tiles)


def part_texts(part: Part) -> tuple[str, ...]:
    """The texts of a part that cost tokens."""
    if part.kind == "tool_call":
        return (part.name, part.text)
    if part.kind in ("text", "thinking", "tool_result"):
        return (part.text,)
    return ()


def _sizes(part: Part, provider: str) -> int:
    if part.kind == "media":
        return media_tokens(part, provider)
    if part.kind == "opaque":
        return part.size // 4
    return 0


def count_parts(
    messages: Iterable[Sequence[Part]],
    count_many: Callable[[Sequence[str]], list[int]] | None = None,
    provider: str = "anthropic",
) -> list[list[int]]:
    """Tokens of every part of every message, uncalibrated, in one batch: O(text)."""
    count_many = count_many or default_counter().count_many
    rows = [list(parts) for parts in messages]
    texts: dict[str, int] = {}
    for parts in rows:
        for part in parts:
            for text in part_texts(part):
                texts.setdefault(text, 0)
    known = dict(zip(texts, count_many(list(texts)), strict=True))
    return [
        [_sizes(part, provider) + sum(known[text] for text in part_texts(part)) for part in parts] for parts in rows
    ]


def provider_of(model: str) -> str:
    """Whose counting rule for pictures applies to a model."""
    return "openai" if model.lower().startswith(("gpt", "o1", "o3", "o4", "codex", "openai/")) else "anthropic"


def message_tokens(counts: Sequence[int]) -> int:
    """Tokens of a message whose parts cost ``counts``."""
    return sum(counts) + MESSAGE_OVERHEAD


def count_messages(messages: Sequence[Message], provider: str = "anthropic") -> tuple[tuple[int, ...], ...]:
    """``Transcript.counts`` for messages that nobody has counted yet."""
    return tuple(tuple(counts) for counts in count_parts((m.parts for m in messages), provider=provider))
