"""docs/engine.md shows what the engine really does, example by example."""

from __future__ import annotations

from compression.engine.content_types import KINDS
from compression.engine.edits import LADDER
from compression.engine.invariants import prove
from compression.engine.policy import Policy
from tests.compression.engine.doc_examples import DOCUMENT, EXAMPLES, after, before, rewritten


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
