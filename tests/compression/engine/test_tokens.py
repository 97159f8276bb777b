from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha1
from pathlib import Path
from tempfile import gettempdir

import pytest

from compression.engine.tokens import (
    ENCODINGS,
    CachedCounter,
    TiktokenCounter,
    ToktokCounter,
    count_messages,
    count_parts,
    media_tokens,
    message_tokens,
    provider_of,
)
from compression.engine.transcript import Message, Part
from tests.compression.engine.builders import Words

TEXTS = (
    "",
    "hello world",
    "def f(x):\n    return x ** 2  # 漢字 🎉\n",
    "<|endoftext|> is plain text here",
    "half of a pair: \ud83d",
    "a" * 3_000,
    " \t\n\r\n  1234567890 3.14159e-10 https://example.com/a?b=c#d",
    "Ünïcödé ça va — «été» 안녕하세요 こんにちは",
)


def vocabulary(encoding: str) -> Path:
    """Where tiktoken keeps a vocabulary that it has fetched before."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    address = f"https://openaipublic.blob.core.windows.net/encodings/{encoding}.tiktoken"
    return Path(folder or Path(gettempdir()) / "data-gym-cache") / sha1(address.encode()).hexdigest()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_both_counters_count_alike(encoding: str) -> None:
    if not vocabulary(encoding).is_file():
        pytest.skip(f"tiktoken's vocabulary {encoding} is not on this machine, and tests fetch nothing")

    assert TiktokenCounter(encoding).count_many(TEXTS) == ToktokCounter(encoding).count_many(TEXTS)


def test_counts_are_those_of_the_encoding() -> None:
    assert ToktokCounter().count_many(["", "hello world", "hello world hello world"]) == [0, 2, 4]


def test_half_of_a_surrogate_pair_is_counted_as_a_replacement_character() -> None:
    assert ToktokCounter().count_many(["\ud83d"]) == ToktokCounter().count_many(["\ufffd"])


class Asked(Words):
    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def count_many(self, texts: Sequence[str]) -> list[int]:
        self.batches.append(list(texts))
        return super().count_many(texts)


def test_a_text_is_counted_once_and_unknown_ones_in_one_batch() -> None:
    asked = Asked()
    counter = CachedCounter(asked)

    assert counter.count_many(["a b", "c", "a b"]) == [2, 1, 2]
    assert counter.count_many(["c", "d e f"]) == [1, 3]
    assert counter.count("a b") == 2
    assert asked.batches == [["a b", "c"], ["d e f"]]


@pytest.mark.parametrize(
    ("provider", "width", "height", "tokens"),
    [
        ("anthropic", 750, 100, 100),
        ("anthropic", 4_000, 4_000, 1_600),
        ("anthropic", 1, 1, 1),
        ("anthropic", 0, 0, 1_500),
        ("openai", 0, 0, 1_500),
        ("openai", 1_024, 1_024, 765),
        ("openai", 2_048, 4_096, 1_105),
        ("openai", 512, 512, 255),
        ("openai", 10, 10, 255),
    ],
)
def test_a_picture_costs_what_its_provider_says(provider: str, width: int, height: int, tokens: int) -> None:
    part = Part("media", media_type="image/png", size=9_000_000, width=width, height=height)

    assert media_tokens(part, provider) == tokens


@pytest.mark.parametrize(
    ("model", "provider"),
    [("gpt-5", "openai"), ("o3-mini", "openai"), ("claude-opus-5", "anthropic"), ("", "anthropic")],
)
def test_the_provider_follows_from_the_model(model: str, provider: str) -> None:
    assert provider_of(model) == provider


def test_a_call_costs_its_name_and_its_arguments() -> None:
    call = Part("tool_call", '{"path": "a b"}', "c1", "Read")

    assert count_parts([[call]], Words().count_many) == [[4]]


def test_opaque_parts_cost_a_quarter_of_their_bytes() -> None:
    assert count_parts([[Part("opaque", size=403)]], Words().count_many) == [[100]]


def test_a_message_costs_its_parts_and_four() -> None:
    assert message_tokens([10, 5]) == 19


def test_messages_are_counted_as_their_parts() -> None:
    message = Message(0, "user", (Part("text", "hello world"), Part("media", width=750, height=100)))

    assert count_messages([message]) == ((2, 100),)
