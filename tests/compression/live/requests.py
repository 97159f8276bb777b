"""Small requests of both dialects, with odd bytes that nobody may tidy up."""

from __future__ import annotations

import json
from typing import Any

from tests.compression.session_files import log_text

OPENAI = rb"""{ "model":"gpt-5", "messages" : [
  {"role": "system", "content": "You fix \u0062uilds."},
  {"content": "Why does it f\u00e4il?",  "role": "user"},
  {"role":"assistant","content":null,"reasoning_content":"Let me look.","tool_calls":[
     {"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\": \"make\", \"n\": 1.50}"}},
     {"id":"c2","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.py\"}"}} ]},
  {"role":"tool","tool_call_id":"c1","content":"line 1\nline 2"},
  {"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"alpha"},{"text":"beta","type":"text"}]},
  {"role":"assistant","content":"Done.","score":1.0e2},
  {"role":"user","content":[{"type":"text","text":"And now?"},
     {"type":"image_url","image_url":{"url":"https://example.org/a.png"}}]}
]}"""

ANTHROPIC = rb"""{"system":[{"type":"text","text":"You fix builds.","cache_control":{"type":"ephemeral"}}],
 "messages":[
  {"role":"user","content":"Why does it f\u00e4il?"},
  {"role":"assistant","content":[
    {"type":"thinking","thinking":"Signed thought","signature":"c2ln"},
    {"type":"redacted_thinking","data":"AAAA"},
    {"type":"tool_use","id":"t1","name":"bash","input":{"command":"make","n":1.50}},
    {"type":"tool_use","id":"t2","name":"read","input":{}}]},
  {"role":"user","content":[
    {"type":"tool_result","tool_use_id":"t1","content":"line 1\nline 2"},
    {"type":"tool_result","tool_use_id":"t2","is_error":true,"content":[
       {"type":"text","text":"alpha"},{"type":"text","text":"beta","cache_control":{"type":"ephemeral","ttl":"1h"}}]},
    {"type":"text","text":"<system-reminder>be brief</system-reminder>"}]},
  {"role":"assistant","content":[{"type":"thinking","thinking":"Unsigned","signature":""},{"type":"text","text":"Done."}]},
  {"role":"user","content":"And now?"}
 ]}"""


def array(raw: bytes) -> bytes:
    """The messages array of a body, its own bytes."""
    from compression.dialects.bodies import read_request

    return read_request(raw).array.source


def openai_messages(calls: int = 6, lines: int = 300) -> list[dict[str, Any]]:
    """A prompt, calls with long logs, and the question of the moment."""
    rows: list[dict[str, Any]] = [
        {"role": "system", "content": "You find out why batches fail."},
        {"role": "user", "content": "Why does the batch fail?"},
    ]
    for n in range(calls):
        function = {"name": "bash", "arguments": json.dumps({"command": f"cat batch_{n}.log"})}
        rows.append({"role": "assistant", "content": None, "tool_calls": [
            {"id": f"call_{n}", "type": "function", "function": function}
        ]})  # fmt: skip
        rows.append({"role": "tool", "tool_call_id": f"call_{n}", "content": log_text(n, lines)})
    return rows


def anthropic_messages(calls: int = 6, lines: int = 300) -> list[dict[str, Any]]:
    """The same as Anthropic has it: results in user messages, the first two calls in parallel."""
    rows: list[dict[str, Any]] = [{"role": "user", "content": "Why does the batch fail?"}]
    batches = [[0, 1], *([n] for n in range(2, calls))]
    for batch in batches:
        uses = [
            {"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": f"cat {n}.log"}} for n in batch
        ]
        results = [{"type": "tool_result", "tool_use_id": f"t{n}", "content": log_text(n, lines)} for n in batch]
        rows += [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]
    return rows
