import json

import pytest

from compression.engine.content_types import KINDS, detect
from tests.compression.engine.compressors import outputs
from tests.compression.engine.compressors.file_outputs import FILES

OUTPUTS = {**outputs.ALL, **FILES}


@pytest.mark.parametrize("name", sorted(OUTPUTS))
def test_outputs_of_known_programs_are_recognised(name: str) -> None:
    made = OUTPUTS[name]()

    assert detect(made.text).kind == made.kind


@pytest.mark.parametrize("name", sorted(set(OUTPUTS) - {"json_records"}))
def test_wrapping_in_json_changes_nothing(name: str) -> None:
    made = OUTPUTS[name]()

    assert detect(json.dumps({"output": made.text, "exit_code": 1})).kind == made.kind


@pytest.mark.parametrize("name", sorted(OUTPUTS))
def test_numbered_lines_change_nothing(name: str) -> None:
    made = OUTPUTS[name]()
    numbered = "\n".join(f"{n:>6}\u2192{line}" for n, line in enumerate(made.text.rstrip("\n").split("\n"), 1))

    assert detect(numbered).kind == made.kind


@pytest.mark.parametrize("name", sorted(OUTPUTS))
def test_colours_and_carriage_returns_change_nothing(name: str) -> None:
    made = OUTPUTS[name]()
    coloured = "".join(f"\x1b[32m{line}\x1b[0m\r\n" for line in made.text.split("\n"))

    assert detect(coloured).kind == made.kind


def test_an_appended_reminder_changes_nothing() -> None:
    made = outputs.json_records(200)

    assert detect(f"{made.text}\n<system-reminder>\nRemember the list.\n</system-reminder>\n").kind == "json"


DOCKER_PS = """\
CONTAINER ID   IMAGE          COMMAND                  CREATED       STATUS       PORTS      NAMES
3f2a9bc01d2e   postgres:17    "docker-entrypoint.s…"   2 hours ago   Up 2 hours   5432/tcp   shop-db-1
a81bc93fe001   shop/web:1.4   "gunicorn shop.wsgi"     2 hours ago   Up 2 hours   8000/tcp   shop-web-1
77ac01be9902   redis:8        "docker-entrypoint.s…"   3 hours ago   Up 3 hours   6379/tcp   shop-cache-1
"""
TSV = "name\tsize\tkind\n" + "".join(f"file_{n}\t{n * 10}\tplain\n" for n in range(20))
JSON_LINES = "".join(f'{{"id": {n}, "level": "info"}}\n' for n in range(20))
SOURCE = "".join(f"{n:>6}\u2192    total = compute(first_{n}, second)  # error path\n" for n in range(1, 60))
GREP = "".join(f"src/app/models.py:{n}:    name = models.CharField(max_length={n})\n" for n in range(1, 40))
DIFF = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n-old, one\n+new, one\n context\n" * 4
TABBED = "type Point struct {\n\t// ID names the point\n\tID string\n\n\t// At is its time\n\tAt time.Time\n}\n" * 9
DIFFSTAT = "".join(f" src/app/part_{n}.go | {n:3} {'+' * (n % 30)}\n" for n in range(1, 30))
COUNTED_ROWS = (
    " status | count \n--------+-------\n" + "".join(f" s{n:<6} | {n * 7:5}\n" for n in range(30)) + "(30 rows)\n"
)
COMMITS = "".join(f"{n:07x}a make the window of the session a little smaller\n" for n in range(1, 30))
CHINESE = "日志压缩的目标是在有限的窗口里保留重要的信息。每次事件都会重新计算预算。\n" * 20
CODE = "def total(a, b):\n    return sum(a, b)\n\nclass Shop:\n    name: str = 'x'\n" * 20
ACCESS = "".join(
    f'10.0.0.{n} - - [10/Oct/2025:13:55:{n:02d} +0000] "GET /p/{n} HTTP/1.1" {500 if n == 7 else 200} 51{n}\n'
    for n in range(40)
)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (DOCKER_PS, "table"),
        (TSV, "table"),
        (JSON_LINES, "json"),
        (SOURCE, "source_code"),
        (GREP, "search_hits"),
        (DIFF, "diff"),
        (TABBED, "source_code"),
        (DIFFSTAT, "diff"),
        (COUNTED_ROWS, "table"),
        (COMMITS, "code_output"),
        (CHINESE, "prose"),
        (CODE, "source_code"),
        (ACCESS, "log"),
        ("", "code_output"),
        ("\n\n", "code_output"),
        ("done", "code_output"),
        ("{broken", "code_output"),
        ("[]", "code_output"),
    ],
)
def test_other_forms_go_where_they_are_served_best(text: str, kind: str) -> None:
    assert detect(text).kind == kind


def test_a_document_read_from_a_text_file_is_prose() -> None:
    text = "\n".join(
        f"{n:>6}\u2192{line}"
        for n, line in enumerate(["# Title", "", "Short words here make up one plain sentence."] * 20, 1)
    )

    assert detect(text, "Read", '{"file_path": "/srv/docs/guide.md"}').kind == "prose"


def test_the_word_error_in_a_message_is_no_level() -> None:
    lines = [f"the user sent an ERROR report number {n}" for n in range(10)]

    assert detect("\n".join(lines)).kind != "log"


def test_there_are_twelve_kinds() -> None:
    assert len(KINDS) == len(set(KINDS)) == 12


def test_a_csv_with_dates_is_no_search() -> None:
    rows = "\n".join(f"{n},{n * 1.5:.2f},2026-02-{n % 28 + 1:02},10:{n % 60:02}:00" for n in range(80))

    assert detect(f"id,price,sold,at\n{rows}", "Bash").kind == "table"


def test_a_list_of_tests_by_file_is_no_search() -> None:
    rows = "\n".join(f"tests/test_orders.py::test_row_{n} PASSED" for n in range(60))
    totals = "========================= 1 failed, 60 passed in 2.14s ========================="

    assert detect(f"{rows}\ntests/test_orders.py::test_comma FAILED\n{totals}", "Bash").kind == "test_report"
