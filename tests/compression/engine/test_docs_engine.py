"""docs/engine.md shows what the engine really does, example by example."""

from __future__ import annotations

import re
from pathlib import Path

from compression import engine
from compression.engine.content_types import KINDS
from compression.engine.edits import LADDER
from compression.engine.excerpt import LONGEST_READ
from compression.engine.invariants import prove
from compression.engine.ladder import STATE_TOKENS
from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.engine.walk import ARCHIVE_ABOVE, AT_RISK, THRASH_RATIO, TRUNCATE_ABOVE
from tests.compression.engine.doc_examples import DOCUMENT, EDITED, EXAMPLES, LEFT, after, before, rewritten


def test_every_block_is_what_the_engine_makes() -> None:
    document = DOCUMENT.read_text(encoding="utf-8")

    assert document == rewritten(document), "run python -m tests.compression.engine.doc_examples"


def test_every_compressor_has_an_example_that_gets_shorter() -> None:
    document = DOCUMENT.read_text(encoding="utf-8")

    assert set(EXAMPLES) == set(KINDS)
    assert [kind for kind in KINDS if f"<!-- example {kind} -->" not in document] == []
    assert [kind for kind in KINDS if len(after(kind)) >= len(before(kind))] == []


def test_every_rung_and_every_new_field_is_explained() -> None:
    document = DOCUMENT.read_text(encoding="utf-8")
    fields = ("superseded", "ladder", "max_argument_tokens", "clear_thinking", "dollar_gate", "prefer_idle",
              "memory_note", "summaries", "allocation", "arrival_limit_tokens")  # fmt: skip

    assert [word for word in (*LADDER, "incompressible") if f"`{word}`" not in document] == []
    assert [name for name in fields if name not in Policy.model_fields or f"`{name}`" not in document] == []
    assert prove.__name__ in document


def test_every_other_text_that_an_event_writes_has_an_example() -> None:
    document = DOCUMENT.read_text(encoding="utf-8")

    assert [name for name in (*EDITED, *LEFT, "excerpt", "presets") if f"<!-- example {name} -->" not in document] == []


def test_the_figures_of_the_text_are_those_of_the_code() -> None:
    document, ours = DOCUMENT.read_text(encoding="utf-8"), PRESETS["hermes"]
    said = (
        f"{ours.recent_tokens:,} tokens of them",
        f"`trigger_ratio` ({ours.trigger_ratio:.0%})".replace("%", " %"),
        f"`target_ratio` ({ours.target_ratio:.0%})".replace("%", " %"),
        f"`min_reclaim_tokens` ({ours.min_reclaim_tokens:,})",
        f"(over {AT_RISK:.0%})".replace("%", " %"),
        f"free less than {THRASH_RATIO:.0%} each".replace("%", " %"),
        f"{ours.result_ratio:.0%} of its result".replace("%", " %"),
        f"within {ours.result_floor:,} and {ours.result_ceiling:,} tokens",
        f"| over {TRUNCATE_ABOVE:.0%} |".replace("%", " %"),
        f"| still over {ARCHIVE_ABOVE:.0%} ".replace("%", " %"),
        f"at most {STATE_TOKENS:,} tokens",
        f"above {LONGEST_READ:,} characters",
    )

    assert [words for words in said if words not in document] == []
    assert ours.recall_hold_turns == 10
    assert "ten calls (`recall_hold_turns`)" in document


def test_every_module_of_the_engine_has_its_row_in_the_architecture() -> None:
    architecture = (DOCUMENT.parent / "architecture.md").read_text(encoding="utf-8")
    modules = {path.stem for path in Path(engine.__file__).parent.glob("[!_]*.py")}
    table = architecture.partition("| module | subject |")[2].partition("\n\n")[0]
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}

    assert sorted(modules ^ named) == []
