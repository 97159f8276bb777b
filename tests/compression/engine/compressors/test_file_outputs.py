"""What stubs of code, searches, diffs, listings, pages and data tell beside their labelled facts."""

import json

import pytest

from compression.engine.compressors import compress, units
from compression.engine.content_types import detect
from compression.engine.readers.languages import guess, named
from compression.engine.readers.syntax import outline
from tests.compression.engine.compressors import file_outputs
from tests.compression.engine.measuring import budget_of, count


def stub_of(text: str, arguments: str = "", tool: str = "") -> list[str]:
    kind = detect(text, tool, arguments).kind
    budget = budget_of(count([text])[0])
    return compress(text, kind=kind, budget=budget, count=count, arguments=arguments).text.split("\n")


@pytest.mark.parametrize("name", ["grep_hits", "rg_headings"])
def test_every_file_of_a_search_is_told_in_a_twentieth(name: str) -> None:
    made = file_outputs.FILES[name]()

    lines = stub_of(made.text)

    assert [fact for fact in made.facts if fact not in lines] == []


def test_every_file_of_a_diff_is_told_in_a_twentieth() -> None:
    lines = stub_of(file_outputs.git_diff().text)

    assert [f"src/shop/part_{n}.py +30 -18" for n in range(6)] == lines[1:7]


def test_every_file_of_one_large_directory_is_told() -> None:
    text = "".join(
        f"diff --git a/src/part_{n}.py b/src/part_{n}.py\n--- a/src/part_{n}.py\n+++ b/src/part_{n}.py\n"
        f"@@ -1,22 +1,22 @@\n-old_{n} = 1\n+new_{n} = 2\n" + "".join(f" line {row} of {n}\n" for row in range(21))
        for n in range(25)
    )

    told = "\n".join(stub_of(text))

    assert [n for n in range(25) if f"part_{n}.py +1 -1" not in told] == []


def test_hits_that_define_what_was_asked_for_come_first() -> None:
    hits = [f"src/a.py:{n}:    # load_order is called here, step {n}" for n in range(1, 200)]
    hits[150] = "src/a.py:151:def load_order(number):"
    text = "\n".join(hits)

    asked = stub_of(text, json.dumps({"pattern": "load_order"}), "Grep")
    other = stub_of(text, json.dumps({"pattern": "called"}), "Grep")

    definition = "src/a.py:151:def load_order(number):"
    assert (definition in asked, definition in other) == (True, False)


def test_a_query_is_never_run_as_a_pattern() -> None:
    text = "\n".join(f"src/a.py:{n}:{'a' * 200}" for n in range(1, 200))

    assert stub_of(text, json.dumps({"pattern": "(a+)+$"}), "Grep")[0] == "199 hits in 1 file"


def test_hits_of_one_file_keep_their_line_numbers() -> None:
    text = "\n".join(f"{n * 7}:    value = compute(step_{n})" for n in range(1, 300))

    lines = stub_of(text, json.dumps({"pattern": "compute"}), "Grep")

    assert lines[:2] == ["299 hits in 1 file", "7: value = compute(step_1)"]


def test_a_search_in_one_file_of_code_is_a_search() -> None:
    text = "\n".join(f"{n}{':' if n % 5 == 0 else '-'}\tif err := step_{n}(); err != nil {{" for n in range(40, 90))

    assert detect(text, "Grep", '{"pattern": "step", "path": "/srv/app/main.go"}').kind == "search_hits"


def test_counts_per_file_are_added_up() -> None:
    text = "\n".join(f"src/part_{n}.py:{n}" for n in range(1, 200))

    assert detect(text, "Grep").kind == "search_hits"
    assert stub_of(text)[0] == "19,900 hits in 199 files"


def test_lines_of_a_compiler_are_no_search() -> None:
    text = "\n".join(f"src/a.c:{n}:9: error: unknown name value_{n}" for n in range(1, 60))

    assert detect(text).kind == "code_output"


def test_a_removed_line_that_looks_like_a_header_is_counted() -> None:
    text = file_outputs.wide_diff(60).text

    assert compress(text, kind="diff", budget=60, count=count).text.split("\n")[0] == "60 files, +120 -60"


def test_new_renamed_and_binary_files_of_a_diff_are_told() -> None:
    parts = [
        "diff --git a/a.py b/a.py\nnew file mode 100644\n--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,2 @@\n+one\n+two",
        "diff --git a/b.py b/c.py\nsimilarity index 100%\nrename from b.py\nrename to c.py",
        "diff --git a/d.png b/d.png\nBinary files a/d.png and b/d.png differ",
    ]
    filler = "diff --git a/e.py b/e.py\n--- a/e.py\n+++ b/e.py\n@@ -1,90 +1,90 @@\n" + " same line of text\n" * 90

    lines = stub_of("\n".join([*parts, filler]))

    assert lines[:5] == [
        "4 files, +2 -0",
        "a.py +2 -0 new",
        "c.py +0 -0 renamed from b.py",
        "d.png +0 -0 binary",
        "e.py +0 -0",
    ]


def test_a_shown_commit_keeps_its_message() -> None:
    head = "commit 3f2a9bc01d\nAuthor: A B <a@example.org>\nDate:   Mon\n\n    Keep carts for a day\n\n"

    lines = stub_of(head + file_outputs.git_diff().text)

    assert [line for line in lines if "Keep carts" in line or line.startswith("commit ")] == [
        "commit 3f2a9bc01d",
        "    Keep carts for a day",
    ]


def test_the_language_is_taken_from_the_file_that_was_read() -> None:
    assert named('{"file_path": "/srv/app/cart.rs"}') == "rust"
    assert named('{"command": "sed -n 1,80p src/view.tsx"}') == "tsx"
    assert named('{"file_path": "/srv/notes.md"}') == ""


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("python_code", "python"), ("typescript_code", "typescript"), ("rust_code", "rust"), ("java_code", "java"),
        ("cpp_code", "cpp"), ("ruby_code", "other"),
    ],
)  # fmt: skip
def test_the_language_shows_without_a_name(name: str, language: str) -> None:
    lines = [line for line in file_outputs.FILES[name]().text.split("\n") if line.strip()]

    assert guess(lines[:60]).language == language


def test_the_first_line_of_a_documentation_follows_its_definition() -> None:
    found = outline(["class Cart:", '    """Holds items.', "", '    More."""', "    def add(self): ..."], "python")

    assert [(d.kind, d.first, d.depth, d.doc) for d in found.definitions] == [("type", 0, 0, 1), ("function", 4, 1, -1)]


def test_a_comment_above_a_definition_is_its_documentation() -> None:
    found = outline(["package a", "", "// Load reads.", "// Slowly.", "func Load() {", "}"], "go")

    assert [(d.kind, d.first, d.doc) for d in found.definitions] == [("package", 0, -1), ("function", 4, 2)]


def test_a_fragment_of_code_still_shows_its_definitions() -> None:
    fragment = ["    return nil", "}", "", "func (s *Store) Save(id string) error {", "    return s.write(id)", "}"]

    assert [d.first for d in outline(fragment, "go").definitions] == [3]


def test_code_that_costs_too_many_steps_is_read_by_patterns() -> None:
    lines = ["if(a)else " * 20] * 200 + ["static int last_one(int a) {", "return 1; }", "struct tail {", "};"]

    assert [d.first for d in outline(lines, "c").definitions] == [202]


def test_definitions_far_down_a_long_file_are_numbered_right() -> None:
    text = "\n\n".join(f"def step_{n}(value):\n    return value + {n}" for n in range(3_000))

    assert [d.first for d in outline(text.split("\n"), "python").definitions] == [3 * n for n in range(3_000)]


def test_scripts_and_unclosed_comments_of_a_page_are_dropped() -> None:
    text = "<html><body><h1>Orders</h1><script>if (a < b) { steal() }</script><p>Kept text.</p><!-- <p>never</p>"

    texts = [unit.text for unit in units(text, "markup").units]

    assert texts == ["# Orders", "Kept text."]


def test_words_that_a_tag_parts_are_not_joined_to_a_new_name() -> None:
    assert [unit.text for unit in units("<html><p>load<b>_user</b> now</p></html>", "markup").units] == [
        "load _user now"
    ]


def test_raw_bytes_are_told_by_size_and_hash_and_their_strings() -> None:
    text = "\x7fELF\x00\x01" + "\x00\x02" * 2_000 + "/lib/ld-linux.so\x00" * 3

    lines = stub_of(text)

    assert detect(text).kind == "binary"
    assert lines[0].startswith("ELF program, raw bytes, 4,057 bytes, sha256 ")
    assert "/lib/ld-linux.so" in lines


def test_dates_without_a_year_are_not_put_in_order() -> None:
    rows = [f"-rw-r--r-- 1 a b {n + 10} Jan {n % 28 + 1:2} 10:{n % 60:02d} part_{n}.txt" for n in range(200)]

    assert not any(unit.label == "newest" for unit in units("\n".join(rows), "listing").units)


def test_two_json_values_on_one_line_are_two_records() -> None:
    text = "".join(json.dumps({"id": n, "state": "ok"}) for n in range(400))

    assert detect(text).kind == "json"
    assert "array of 400" in stub_of(text)[0]
