"""Every tool result of the real sessions: true, within budget, never longer."""

from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from compression.engine.compressors import compress
from compression.engine.content_types import detect
from compression.engine.fidelity import fidelity
from tests.compression.engine.measuring import budget_of, count

SAMPLES = Path(__file__).parents[3] / "shared" / "samples" / "claude-code"
FILES = sorted(SAMPLES.glob("*.jsonl"))

pytestmark = pytest.mark.skipif(not FILES, reason="the sample sessions are not here")


def results(path: Path) -> Iterator[tuple[str, str, str]]:
    """(tool, arguments, text) of each tool result that is text."""
    calls: dict[str, tuple[str, str]] = {}
    for line in path.read_bytes().split(b"\n"):
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        message = record.get("message") if isinstance(record, dict) else None
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            if not isinstance(block, dict):
                continue
            if block.get("type") == "tool_use":
                calls[block["id"]] = (block["name"], orjson.dumps(block["input"]).decode())
            elif block.get("type") == "tool_result":
                body = block.get("content") or ""
                if isinstance(body, list):
                    body = "\n".join(part.get("text", "") for part in body if isinstance(part, dict))
                yield (*calls.get(block["tool_use_id"], ("", "")), body)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_stubs_of_real_results_are_true_and_small(path: Path) -> None:
    found = list(results(path))
    tokens = count([text for _, _, text in found])

    for (tool, arguments, text), size in zip(found, tokens, strict=True):
        kind = detect(text, tool, arguments).kind
        for budget in {budget_of(size), 40}:
            stub = compress(text, kind=kind, budget=budget, count=count)

            assert count([stub.text])[0] <= min(budget, size)
            assert len(stub.text) <= len(text)
            assert fidelity(text, stub.text, stub.counts)[2] == []
