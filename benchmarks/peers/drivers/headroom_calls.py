"""headroom-ai: its router as it is by default, its compressors called directly, and compress() on whole sessions.

Its machine-learning parts are off: they load models that a benchmark must not download. Cold is a router that has
not seen the text, in a process that has compressed others; warm is the same call again, which its result cache serves.
"""

from __future__ import annotations

import copy
import importlib
import re
from collections.abc import Callable
from typing import Any

Timed = Callable[..., tuple[Any, float]]

MARKER = re.compile(r"<<ccr:([0-9a-f]+)|hash=([0-9a-f]+)")

DIRECT = {
    "log": ("log_compressor", "LogCompressor", "compress"),
    "test_report": ("log_compressor", "LogCompressor", "compress"),
    "code_output": ("log_compressor", "LogCompressor", "compress"),
    "search_hits": ("search_compressor", "SearchCompressor", "compress"),
    "diff": ("diff_compressor", "DiffCompressor", "compress"),
    "source_code": ("code_compressor", "CodeAwareCompressor", "compress"),
    "json": ("smart_crusher", "SmartCrusher", "crush"),
    "prose": ("text_crusher", "TextCrusher", "compress"),
}
"""Our kind -> module, class and method of the compressor that its user would have to name."""


def router() -> Any:
    found = importlib.import_module("headroom.transforms.content_router")
    return found.ContentRouter(found.ContentRouterConfig(enable_kompress=False))


def recalled(text: str) -> list[str]:
    """What its store gives back for the markers in a text."""
    store = importlib.import_module("headroom.cache.compression_store").get_compression_store()
    entries = [store.retrieve(a or b) for a, b in MARKER.findall(text)]
    return [entry.original_content for entry in entries if entry is not None]


def route(job: dict[str, Any], timed: Timed) -> dict[str, Any]:
    """One text through the default router."""
    result, ms = timed(router, lambda made: made.compress(job["text"]), job.get("rounds", 1))
    text = result.compressed
    return {"text": text, "ms": ms, "recalled": recalled(text), "strategy": result.strategy_used.value}


def direct(job: dict[str, Any], timed: Timed) -> dict[str, Any]:
    """One text through the compressor of its kind."""
    module, name, method = DIRECT[job["kind"]]
    kind = getattr(importlib.import_module(f"headroom.transforms.{module}"), name)
    result, ms = timed(kind, lambda made: getattr(made, method)(job["text"]), job.get("rounds", 1))
    text = result.compressed
    return {"text": text, "ms": ms, "recalled": recalled(text)}


def compress(job: dict[str, Any], timed: Timed) -> dict[str, Any]:
    """A whole session. ``settings`` are fields of its CompressConfig."""
    call = importlib.import_module("headroom.compress").compress
    settings = {"kompress_model": "disabled", **job.get("settings", {})}

    def run(messages: Any) -> Any:
        return call(messages, model="claude-sonnet-4-5", **settings)

    result, ms = timed(lambda: copy.deepcopy(job["messages"]), run)
    _, warm = timed(lambda: copy.deepcopy(job["messages"]), run, 3)
    texts = [m["content"] for m in result.messages if isinstance(m.get("content"), str)]
    return {"messages": result.messages, "ms": ms, "warm_ms": warm, "recalled": recalled("\n".join(texts))}


_LOG = "\n".join(f"2026-01-02 03:04:{n % 60:02} INFO served request {n}" for n in range(300))
_ROWS = "[" + ", ".join(f'{{"id": {n}, "name": "item {n}"}}' for n in range(300)) + "]"
_CALL = {"id": "c", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}
_SESSION = [
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": "", "tool_calls": [_CALL]},
    {"role": "tool", "tool_call_id": "c", "content": _LOG},
    *({"role": "assistant", "content": "done"} for _ in range(6)),
]

DISTRIBUTION = "headroom-ai"
HANDLERS = {"route": route, "direct": direct, "compress": compress}
WARM_UP: list[dict[str, Any]] = [
    *({"call": "route", "text": text} for text in (_LOG, _ROWS)),
    *({"call": "direct", "text": _LOG, "kind": kind} for kind in DIRECT),
    {"call": "compress", "messages": _SESSION},
    {"call": "compress", "messages": _SESSION, "settings": {"mode": "agent"}},
]
