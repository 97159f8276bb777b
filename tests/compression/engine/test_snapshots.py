from __future__ import annotations

import json
from pathlib import Path

import pytest

from compression.engine import snapshots
from compression.engine.snapshots import Addresses, BadSlice, Slice, UnknownAddress, digest, read_slice, resolve
from compression.snapshot_files import SnapshotFolder

LINES = "one\ntwo words\nthree\nfour\n"


def count(text: str) -> int:
    return len(text.split())


def test_an_address_is_twelve_digits_of_the_sha256() -> None:
    sha = digest("abc")

    assert sha.startswith("ba7816bf8f01")
    assert Addresses().of(sha) == "hermes:ba7816bf8f01"


def test_an_address_is_longer_where_two_share_it() -> None:
    addresses = Addresses()
    first, second, third = "a" * 12 + "1" * 52, "a" * 12 + "2" * 52, "a" * 12 + "2" + "3" * 51

    found = [addresses.of(sha) for sha in (first, second, third, first)]

    assert found == [
        "hermes:" + "a" * 12,
        "hermes:" + "a" * 12 + "2",
        "hermes:" + "a" * 12 + "23",
        "hermes:" + "a" * 12,
    ]


def test_an_address_resolves_with_and_without_its_scheme() -> None:
    shas = ["ab" * 32, "cd" * 32]

    assert resolve("hermes:" + "ab" * 6, shas) == resolve("ab" * 6, shas) == "ab" * 32


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("hermes:" + "00" * 6, "nothing is stored under hermes:000000000000"),
        ("abcd", "more than one original begins with hermes:abcd"),
        ("hermes:xyz", "'hermes:xyz' is no address: write hermes: and 12 or more hex digits"),
        ("", "'' is no address: write hermes: and 12 or more hex digits"),
    ],
)
def test_an_address_that_means_nothing_says_why(address: str, why: str) -> None:
    with pytest.raises(UnknownAddress) as refusal:
        resolve(address, ["abcd" + "0" * 60, "abcd" + "1" * 60])

    assert str(refusal.value) == why


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (Slice(), LINES),
        (Slice(lines="2-3"), "two words\nthree"),
        (Slice(lines="4"), "four"),
        (Slice(lines="3-99"), "three\nfour"),
        (Slice(grep="^t"), "2:two words\n3:three"),
        (Slice(grep="nothing"), ""),
        (Slice(max_tokens=3), "one\ntwo words"),
        (Slice(max_tokens=2), "one"),
        (Slice(lines="2-3", max_tokens=2), "two words"),
    ],
)
def test_a_slice_holds_what_was_asked_for(part: Slice, text: str) -> None:
    assert read_slice(LINES, part, count) == text


def test_a_first_line_that_is_too_long_is_cut() -> None:
    assert read_slice("a b c d e f\ng", Slice(max_tokens=2), count).split() == ["a", "b"]


@pytest.mark.parametrize(
    ("path", "text"),
    [("$.a[1]", '{"b":2}'), ("$..b", "2"), ("$.missing", ""), ("$.s", '"é"')],
)
def test_values_are_read_by_their_path(path: str, text: str) -> None:
    document = json.dumps({"a": [1, {"b": 2}], "s": "é"})

    assert read_slice(document, Slice(json_path=path), count) == text


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (Slice(lines="0"), "lines '0': write A-B, counted from 1, as in 10-40"),
        (Slice(lines="a-b"), "lines 'a-b': write A-B, counted from 1, as in 10-40"),
        (Slice(lines="3-2"), "lines '3-2': the original has lines 1-4"),
        (Slice(lines="5"), "lines '5': the original has lines 1-4"),
        (Slice(lines="1", grep="a"), "give one of lines, grep and json_path"),
        (Slice(json_path="$"), "json_path: the original is not JSON; use lines or grep"),
        (Slice(grep="a" * 1_001), "grep: 1,001 characters are too many, at most 1,000"),
    ],
)
def test_a_slice_that_cannot_be_read_says_why(part: Slice, why: str) -> None:
    with pytest.raises(BadSlice) as refusal:
        read_slice(LINES, part, count)

    assert str(refusal.value) == why


@pytest.mark.parametrize("part", [Slice(grep="(a"), Slice(json_path="$["), Slice(json_path="$[?@.a =~ /(/]")])
def test_a_broken_expression_is_one_line_that_quotes_it(part: Slice) -> None:
    with pytest.raises(BadSlice) as refusal:
        read_slice('[{"a": "b"}]', part, count)

    assert repr(part.grep or part.json_path) in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_folder_gives_back_the_same_bytes(tmp_path: Path) -> None:
    text = "tab\there\r\n\x00 é 漢 \ud83d end"
    sha = SnapshotFolder(tmp_path).put(text)

    assert SnapshotFolder(tmp_path).get(f"hermes:{sha[:12]}") == (sha, text.encode("utf-8", "surrogatepass"))


def test_keeping_an_original_twice_changes_nothing(tmp_path: Path) -> None:
    folder = SnapshotFolder(tmp_path)
    folder.put("text")
    (path,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    before = path.stat()

    folder.put("text")

    assert [path.stat() for path in tmp_path.rglob("*") if path.is_file()] == [before]


def test_a_folder_that_does_not_exist_holds_nothing(tmp_path: Path) -> None:
    with pytest.raises(UnknownAddress, match=r"nothing is stored under hermes:abcdefabcdef in .*nowhere; --store"):
        SnapshotFolder(tmp_path / "nowhere").get("hermes:abcdefabcdef")


def test_a_damaged_original_is_not_given_out(tmp_path: Path) -> None:
    sha = SnapshotFolder(tmp_path).put("text")
    (tmp_path / sha[:2] / sha).write_text("test")

    with pytest.raises(UnknownAddress, match="damaged"):
        SnapshotFolder(tmp_path).get(sha)


def test_addresses_that_share_digits_keep_their_meaning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short addresses make two originals share them; what was given out first stays good in a later process."""
    monkeypatch.setattr("compression.snapshot_files.DIGITS", 4)
    texts: dict[str, list[str]] = {}
    for n in range(2_000):
        texts.setdefault(digest(str(n))[:4], []).append(str(n))
    one, other = next(pair for pair in texts.values() if len(pair) > 1)[:2]

    addresses = Addresses(4)
    given = {text: addresses.of(digest(text)) for text in (one, other)}
    for text, address in given.items():
        SnapshotFolder(tmp_path).put(text, address)

    assert len(given[one]) < len(given[other])
    assert {text: SnapshotFolder(tmp_path).get(address)[1].decode() for text, address in given.items()} == {
        one: one,
        other: other,
    }
    again = SnapshotFolder(tmp_path).addresses()
    monkeypatch.setattr(again, "_digits", 4)
    assert {text: again.of(digest(text)) for text in (other, one)} == given


def test_the_scheme_is_part_of_an_address() -> None:
    assert snapshots.SCHEME == "hermes:"
