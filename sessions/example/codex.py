"""Writes a plan as a Codex rollout of the present shape: every line has a timestamp, a type and a payload.

As in real files, messages are mirrored by events, and each token count is sent twice.
"""

from __future__ import annotations

import base64
from datetime import datetime, timedelta
from typing import Any

import orjson

from sessions.example.claude_code import stamp
from sessions.example.counting import count, prompt_tokens, response_tokens, result_tokens
from sessions.example.script import Exchange, minutes
from sessions.example.shop import HOME, between, hex_digits, source

MODEL = "gpt-5-codex"
WINDOW = 272_000
COUNTERS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens")
TOOL_SCHEMAS_TOKENS = 2_900
ENVIRONMENT = f"<environment_context>\n  <cwd>{HOME}</cwd>\n  <shell>bash</shell>\n</environment_context>"


def rollout(exchange: Exchange, *, instructions: str, agents_file: str, started: datetime) -> bytes:
    """The file of one session with a single prompt."""
    rng = source("codex")
    digits = hex_digits(rng, 28)
    session_id = f"0199e0a4-{digits[:4]}-7{digits[4:7]}-b{digits[7:10]}-{digits[10:22]}"
    lines: list[dict[str, Any]] = []
    totals = dict.fromkeys(COUNTERS, 0)
    counted = TOOL_SCHEMAS_TOKENS + count(instructions) + prompt_tokens(agents_file) + prompt_tokens(ENVIRONMENT)
    cached = 0

    def add(record: str, time: datetime, /, **payload: Any) -> None:
        lines.append({"timestamp": stamp(time), "type": record, "payload": payload})

    def message(role: str, text: str, time: datetime) -> None:
        kind = "output_text" if role == "assistant" else "input_text"
        add("response_item", time, type="message", role=role, content=[{"type": kind, "text": text}])

    add("session_meta", started, id=session_id, timestamp=stamp(started), cwd=HOME, originator="codex_cli_rs",
        cli_version="0.47.0", instructions=instructions, source="cli")  # fmt: skip
    message("user", agents_file, started)
    message("user", ENVIRONMENT, started)
    message("user", exchange.prompt, started)
    add("event_msg", started, type="user_message", message=exchange.prompt, kind="plain")
    add("turn_context", started, cwd=HOME, approval_policy="on-request", model=MODEL, summary="auto")
    add("event_msg", started, type="token_count", info=None)
    counted += prompt_tokens(exchange.prompt)
    for response, minute in zip(exchange.responses, minutes(exchange), strict=True):
        time = started + timedelta(milliseconds=round(minute * 60_000))
        reasoning = between(rng, 40, 300)
        if response.thinking:
            add("event_msg", time, type="agent_reasoning", text=response.thinking)
            sealed = base64.b64encode(bytes(between(rng, 0, 255) for _ in range(160))).decode()
            add("response_item", time, type="reasoning", summary=[{"type": "summary_text", "text": response.thinking}],
                content=None, encrypted_content=sealed)  # fmt: skip
        if response.text:
            add("event_msg", time, type="agent_message", message=response.text)
            message("assistant", response.text, time)
        ids = [f"call_{hex_digits(rng, 24)}" for _ in response.calls]
        for call, call_id in zip(response.calls, ids, strict=True):
            arguments = call.arguments_text
            add("response_item", time, type="function_call", name=call.name, arguments=arguments, call_id=call_id)
        output = response_tokens(response) + reasoning
        last = dict(zip(COUNTERS, (counted, cached, output, reasoning, counted + output), strict=True))
        totals = {name: totals[name] + value for name, value in last.items()}
        info = {"total_token_usage": totals, "last_token_usage": last, "model_context_window": WINDOW}
        add("event_msg", time, type="token_count", info=info)
        for call, call_id in zip(response.calls, ids, strict=True):
            body = orjson.dumps({"output": call.result, "metadata": {"exit_code": 0, "duration_seconds": 0.4}}).decode()
            time += timedelta(milliseconds=between(rng, 300, 2500))
            add("response_item", time, type="function_call_output", call_id=call_id, output=body)
        add("event_msg", time, type="token_count", info=info)
        cached = counted // 128 * 128
        counted += response_tokens(response) + sum(result_tokens(call) for call in response.calls)
    return b"".join(orjson.dumps(line) + b"\n" for line in lines)
