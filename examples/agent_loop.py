"""A complete small agent with the engine in its loop: two hundred tool calls in a window of 32K tokens.

    python examples/agent_loop.py                          the engine runs in this process
    python examples/agent_loop.py --url http://127.0.0.1:8000 --token hermes_...    a running Hermes compresses
    python examples/agent_loop.py --no-compression         the window overflows half-way

The lines that matter are in ``run``: compress before every model call, and offer ``recall`` as a tool.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote, urlencode, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from compression.dialects.bodies import read_request
from compression.engine.planner import Known
from compression.engine.policy import build
from compression.engine.snapshots import BadSlice, Slice, UnknownAddress, read_slice, resolve
from compression.engine.stubs import Stubber
from compression.engine.tokens import default_counter
from compression.live_window import compress_request
from examples.fake_model import ASKED_LINE, ASKED_LOG, served

WINDOW = 32_768
LOGS = 200
POLICY = {"extends": "hermes", "context_window": WINDOW, "recent_tokens": 6_000, "min_reclaim_tokens": 2_000}
Messages = list[dict[str, Any]]
TOOLS = [
    {"type": "function", "function": {
        "name": "read_log", "description": "Read one log.",
        "parameters": {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
    }},
    {"type": "function", "function": {
        "name": "recall", "description": "Read the original behind an address (hermes:...) or the lines that match.",
        "parameters": {
            "type": "object", "required": ["address"],
            "properties": {"address": {"type": "string"}, "grep": {"type": "string"}},
        },
    }},
]  # fmt: skip


class Compressor(Protocol):
    """What the loop needs: a smaller window, and the way back."""

    def compress(self, messages: Messages) -> Messages: ...
    def recall(self, address: str, grep: str) -> str: ...


@dataclass
class InThisProcess:
    """The engine as a library. What it must be given back lies in two dicts; a real agent keeps them on disk.

    The stubber remembers what it made, which only saves time.
    """

    originals: dict[str, str] = field(default_factory=dict)
    stubs: dict[str, str] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)
    stubber: Stubber = field(default_factory=Stubber)

    def compress(self, messages: Messages) -> Messages:
        request = read_request(json.dumps(messages).encode(), "openai")
        policy = build(POLICY, "the example's policy")
        outcome = compress_request(request, policy, known=Known(self.stubs, self.originals.get), stubber=self.stubber)
        self.originals.update(outcome.snapshots)
        self.stubs.update(outcome.stubs)
        self.events += [f"{e.kind} {e.before:,} -> {e.after:,}" for e in outcome.events if e.changes]
        smaller: Messages = json.loads(outcome.body)
        return smaller

    def recall(self, address: str, grep: str) -> str:
        try:
            text = self.originals[resolve(address, self.originals)]
            return read_slice(text, Slice(grep=grep, max_tokens=2_000), default_counter().count)
        except (UnknownAddress, BadSlice) as error:
            return f"error: {error}"


@dataclass
class OverHttp:
    """A running Hermes: ``POST compress`` before each call, ``GET snapshots`` for the tool."""

    url: str
    token: str
    events: list[str] = field(default_factory=list)

    def compress(self, messages: Messages) -> Messages:
        body = {"policy": POLICY, "dialect": "openai", "messages": messages}
        status, answer = self._ask("POST", "/api/v1/compress", body)
        if status != 200:
            # Whatever goes wrong over there, the agent still has its own messages.
            self.events.append(f"not compressed: {answer}")
            return messages
        self.events += [f"{e['kind']} {e['before']:,} -> {e['after']:,}" for e in answer["events"] if e["reclaimed"]]
        smaller: Messages = answer["messages"]
        return smaller

    def recall(self, address: str, grep: str) -> str:
        query = urlencode({"grep": grep, "max_tokens": 2_000})
        status, answer = self._ask("GET", f"/api/v1/snapshots/{quote(address)}?{query}")
        return str(answer["text"]) if status == 200 else f"error: {answer['error']['message']}"

    def _ask(self, method: str, path: str, body: object = None) -> tuple[int, dict[str, Any]]:
        where = urlsplit(self.url)
        kind = HTTPSConnection if where.scheme == "https" else HTTPConnection
        connection = kind(where.netloc, timeout=60)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        response = connection.getresponse()
        answer: dict[str, Any] = json.loads(response.read())
        connection.close()
        return response.status, answer


class Overflow(Exception):
    """The model refused the request: it is longer than its window."""


@dataclass
class Report:
    """How a run went."""

    answer: str = ""
    tool_calls: int = 0
    recalls: int = 0
    peak_tokens: int = 0


def run(ask: Callable[[Messages], tuple[dict[str, Any], int]], compressor: Compressor | None, logs: int) -> Report:
    """The agent. ``ask`` calls the model: its answer and the tokens of the request; Overflow when it refuses."""
    report = Report()
    messages: Messages = [
        {"role": "system", "content": "You read logs with read_log. Stubs name an address that recall takes."},
        {"role": "user", "content": f"Read all {logs} logs. Then quote line {ASKED_LINE} of log {ASKED_LOG}."},
    ]
    while True:
        if compressor is not None:
            messages = compressor.compress(messages)
        answer, tokens = ask(messages)
        report.peak_tokens = max(report.peak_tokens, tokens)
        messages.append(answer)
        if not answer.get("tool_calls"):
            report.answer = answer["content"]
            return report
        for call in answer["tool_calls"]:
            arguments = json.loads(call["function"]["arguments"])
            report.tool_calls += 1
            if call["function"]["name"] == "recall" and compressor is not None:
                report.recalls += 1
                result = compressor.recall(arguments["address"], arguments.get("grep", ""))
            else:
                result = log_text(arguments["number"], logs)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


def log_text(number: int, logs: int) -> str:
    """The log that the tool reads: forty lines, some of them a failure, and which one is next."""
    rows = [f"line {n:02} 12:{number % 60:02}:{n:02} INFO worker {n * number % 17} took job {n * 7919 + number}"
            for n in range(1, 41)]  # fmt: skip
    if number % 10 == 0:
        rows[20] = f"line 21 12:{number % 60:02}:21 ERROR src/worker.py:{number}: TimeoutError: job {number} is stuck"
    following = f"next: read_log {number + 1}" if number < logs else "that was the last log"
    return "\n".join([f"log {number:03} of {logs}", *rows, following])


def wanted_line() -> str:
    """What the task asks for."""
    return log_text(ASKED_LOG, LOGS).split("\n")[ASKED_LINE]


def model_at(host: str, port: int) -> Callable[[Messages], tuple[dict[str, Any], int]]:
    """A client of the fake model."""

    def ask(messages: Messages) -> tuple[dict[str, Any], int]:
        connection = HTTPConnection(host, port, timeout=60)
        body = json.dumps({"model": "fake", "messages": messages, "tools": TOOLS})
        connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        document = json.loads(response.read())
        connection.close()
        if response.status == 400:
            raise Overflow(document["error"]["message"])
        return document["choices"][0]["message"], document["usage"]["prompt_tokens"]

    return ask


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="An agent with a small window and a long task.")
    parser.add_argument("--no-compression", action="store_true", help="send the whole history each time")
    parser.add_argument("--logs", type=int, default=LOGS, help="how many calls the task takes (default: %(default)s)")
    parser.add_argument("--url", help="let a running Hermes compress instead of this process")
    parser.add_argument("--token", help="its token, of scope write")
    options = parser.parse_args(arguments)
    if bool(options.url) != bool(options.token):
        parser.error("--url and --token go together")
    engine = OverHttp(options.url, options.token) if options.url else InThisProcess()
    say = sys.stdout.write
    with served(WINDOW, default_counter().count) as (host, port):
        try:
            report = run(model_at(host, port), None if options.no_compression else engine, options.logs)
        except Overflow as overflow:
            say(f"The agent stopped: {overflow}\n")
            return 1
    for event in engine.events:
        say(f"  {event}\n")
    is_done = wanted_line() in report.answer
    say(
        f"{report.tool_calls} tool calls, {report.recalls} recalls, {len(engine.events)} events, "
        f"at most {report.peak_tokens:,} of {WINDOW:,} tokens\n{report.answer}\n"
        f"The task is {'finished' if is_done else 'not finished'}.\n"
    )
    return 0 if is_done else 1


if __name__ == "__main__":
    sys.exit(main())
