import time

import pytest

from compression.engine.identifiers import identifiers, occurs, quoted, readable


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("see https://example.org/a?b=1, then", "https://example.org/a?b=1", "path"),
        ("in src/app.py.", "src/app.py", "path"),
        ("open /etc/hosts now", "/etc/hosts", "path"),
        ("from ./run and", "./run", "path"),
        ("at tests/a/b", "tests/a/b", "path"),
        ("commit 3f2a9bc fixes", "3f2a9bc", "hex"),
        ("id 550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440000", "hex"),
        ("raised KeyError: x", "KeyError", "error"),
        ("failed with ENOENT", "ENOENT", "error"),
        ("set app.config.debug", "app.config.debug", "dotted"),
        ("the MAX_SIZE of", "MAX_SIZE", "snake"),
        ("call getUser now", "getUser", "camel"),
        ("an HTTPServer is", "HTTPServer", "camel"),
        ("took 8421.5 ms", "8421.5", "number"),
        ("文件foo_bar不存在", "foo_bar", "snake"),
    ],
)
def test_each_class_is_recognised_in_running_text(text: str, name: str, kind: str) -> None:
    assert identifiers(text) == {name: kind}


@pytest.mark.parametrize(
    "text",
    ["and/or", "self.thing", "x.value", "v123", "1.234", "deadbee", "year 2024", "port 8080", "plain words only"],
)
def test_what_names_nothing_is_no_identifier(text: str) -> None:
    assert identifiers(text) == {}


def test_a_place_in_a_file_is_a_path_and_a_line() -> None:
    assert identifiers("pkg/foo_test.go:127: got") == {"pkg/foo_test.go": "path", "127": "number"}


def test_quoted_names_count_only_on_lines_that_tell_of_trouble() -> None:
    assert quoted("error: no field 'Total Sum' here\nuse 'Other Name' instead") == {"Total Sum": "quoted"}


def test_a_name_does_not_occur_inside_a_longer_one() -> None:
    assert not occurs("foo_bar", "a foo_bars and my_foo_bar")
    assert occurs("foo_bar", "foo_bars, foo_bar.")


def test_json_is_read_as_keys_and_leaves_and_escapes_separate() -> None:
    assert readable('{"file_path": "a\\\\nfoo_bar", "n": [12.50, true]}') == "file_path\na foo_bar\nn\n12.5\ntrue"


def test_gutters_of_listings_are_no_numbers() -> None:
    assert identifiers(readable("  1234\u2192some_name\n  1235\u2192other_name")) == {
        "some_name": "snake",
        "other_name": "snake",
    }


@pytest.mark.parametrize("piece", ["a", "A", "1", "_", "/", "a/", "ab.", "a_", "aB", "-", ".", "f1", "E", "'", "中"])
def test_one_giant_word_is_scanned_in_linear_time(piece: str) -> None:
    begin = time.process_time()
    identifiers(piece * (1_000_000 // len(piece)))
    assert time.process_time() - begin < 3
