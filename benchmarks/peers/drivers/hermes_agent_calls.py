"""Hermes Agent 0.19.0: its prune stage and its whole compress(), with the model's summary replaced by a stand-in.

``summary``: the text that stands for the model's summary; None = the model cannot be reached, which gives the
agent's own fallback. The methods that begin with an underscore are private, hence the pinned version.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable
from typing import Any

Timed = Callable[..., tuple[Any, float]]


def compressor(job: dict[str, Any]) -> Any:
    """A fresh one, so that nothing is left of an earlier job. ``window`` in tokens."""
    made = importlib.import_module("agent.context_compressor").ContextCompressor(
        model="anthropic/claude-sonnet-4-5", config_context_length=job["window"], quiet_mode=True
    )
    made._generate_summary = lambda *_, **__: job.get("summary")
    return made


def prune(job: dict[str, Any], timed: Timed) -> dict[str, Any]:
    """The stage without a model, with the agent's own tail (``tail``: that many messages instead)."""

    def run(given: tuple[Any, Any]) -> Any:
        made, messages = given
        if "tail" in job:
            return made._prune_old_tool_results(messages, job["tail"])
        return made._prune_old_tool_results(messages, made.protect_last_n, made.tail_token_budget)

    result, ms = timed(lambda: (compressor(job), copy.deepcopy(job["messages"])), run, job.get("rounds", 1))
    return {"messages": result[0], "ms": ms}


def compress(job: dict[str, Any], timed: Timed) -> dict[str, Any]:
    """The whole pass. ``tokens`` is what the provider would have reported."""
    result, ms = timed(
        lambda: (compressor(job), copy.deepcopy(job["messages"])),
        lambda given: given[0].compress(given[1], current_tokens=job["tokens"], force=True),
        job.get("rounds", 1),
    )
    return {"messages": result, "ms": ms}


def example() -> list[dict[str, Any]]:
    """A few messages to warm up with."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "rules"}, {"role": "user", "content": "go"}]
    for n in range(40):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "terminal", "arguments": '{"command": "ls"}'}}
        messages.append({"role": "assistant", "content": "looking", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "content": f"line {n} of a file\n" * 400})
    return messages


_FIRST = {"call": "compress", "messages": example(), "window": 64_000, "tokens": 80_000, "summary": None}

DISTRIBUTION = "hermes-agent"
HANDLERS = {"prune": prune, "compress": compress}
WARM_UP = [_FIRST, {**_FIRST, "call": "prune"}]
