"""One whole event on a long window: ours against Hermes Agent's compress(), and how both grow.

The window is made: a prompt, then calls and results of five kinds in turn, each result with names of its own, some
of which the next message uses. Cold: nothing known, tokens counted too. Counted: an agent that checks its window
before each call knows these. Prepared: each result was also read when it arrived, and only the event is new; the
rounds differ in their target, so that no stub of the event is known.

Every name of this window is new, as in no recorded session: the worst case of an engine that looks for names. It
informs; ``benchmarks.event`` holds the engine to Hermes Agent's time on windows as agents have them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import log
from statistics import median
from time import process_time
from typing import Any, Literal

from benchmarks.engines_messages import TOOLS, chat_messages
from benchmarks.engines_outputs import fresh_stubber
from benchmarks.engines_rows import EngineRow, answers, peer_row
from compression.engine.calibration import Calibration
from compression.engine.history import course_of
from compression.engine.policy import Policy
from compression.engine.presets import PRESETS
from compression.engine.replay import replay
from compression.engine.stubs import Stubber
from compression.engine.tokens import count_parts, default_counter
from compression.engine.transcript import Message, Part, Transcript, Turn

Allocation = Literal["per_result", "novelty"]

MESSAGES, MANY_MESSAGES = 150, 696
RESULT_LINES = 64
ROUNDS = 5
ALLOCATIONS: tuple[Allocation, ...] = ("per_result", "novelty")
FULL = 0.80
"""Share of the window that is used when the event starts."""

SUMMARY = "The earlier conversation was summarised here."


def result_of(n: int) -> tuple[str, str, str]:
    """Tool, arguments and text of the n-th result: about 1,900 tokens."""
    lines = range(RESULT_LINES)
    match n % 5:
        case 0:
            tests = [f"tests/area_{n}/test_part_{i}.py::test_case_{n}_{i} PASSED  [{i:3}%]" for i in lines]
            failed = f"FAILED tests/area_{n}/test_part_7.py::test_case_{n}_7 - ValueError: total_{n} is {n * 37 + 100}"
            totals = f"===== 1 failed, {RESULT_LINES} passed in {n + 1}.52s ====="
            head = "===== test session starts ====="
            return "Bash", f'{{"command": "pytest tests/area_{n}"}}', "\n".join([head, *tests, failed, totals])
        case 1:
            rows = [
                f"2026-03-04 05:{i:02}:{n % 60:02},{i * 7 + 100} {'ERROR' if i % 20 == 9 else 'INFO'} "
                f"worker_{n}_{i % 4} handled job {n * 1000 + i} of queue_{n} in {i * 3 + 11} ms"
                for i in lines
            ]
            return "Bash", f'{{"command": "tail worker_{n}.log"}}', "\n".join(rows)
        case 2:
            hits = [f"src/part_{n}/file_{i}.py:{i * 13 + 5}:    value_{n}_{i} = load_value_{i}(config)" for i in lines]
            return "Grep", f'{{"pattern": "value_{n}"}}', "\n".join(hits)
        case 3:
            code = [
                f"def compute_{n}_{i}(left, right):\n    total_{i} = left * {i + 3} + right\n    return total_{i}\n"
                for i in lines
            ]
            return "Read", f'{{"file_path": "/srv/app/part_{n}.py"}}', "import math\n\n\n" + "\n\n".join(code)
        case _:
            records = [
                f'{{"id": {n * 1000 + i}, "name": "item_{n}_{i}", "state": "ready", "size": {i * 97}}}' for i in lines
            ]
            return "Bash", f'{{"command": "curl items/{n}"}}', "[\n" + ",\n".join(records) + "\n]"


def _messages(count: int) -> Iterator[Message]:
    yield Message(0, "system", (Part("text", "You are a careful engineer. " * 40),))
    yield Message(1, "user", (Part("text", "Find out why totals of area 7 are wrong."),))
    for n in range((count - 2) // 2):
        tool, arguments, text = result_of(n)
        said = f"I look at part {n}; value_{n - 3}_8 of src/part_{n - 3}/file_8.py matters."
        call = Part("tool_call", arguments, f"call-{n}", tool)
        yield Message(2 + 2 * n, "assistant", (Part("text", said), call))
        yield Message(3 + 2 * n, "tool", (Part("tool_result", text, f"call-{n}", tool),))


def window(count: int) -> Transcript:
    """A session of ``count`` messages before one call of the model, its tokens counted."""
    messages = tuple(_messages(count))
    return counted(messages, default_counter().count_many)


def counted(messages: tuple[Message, ...], count_many: Any) -> Transcript:
    """The session with its tokens; nothing else is known of it."""
    counts = count_parts((m.parts for m in messages), count_many)
    size = len(messages)
    return Transcript(messages, (Turn(0, size, size, size),), tuple(map(tuple, counts)))


def policy(allocation: Allocation, tokens: int, target: float = 0.5) -> Policy:
    """The preset, in a window of which ``FULL`` is used."""
    changes = {"allocation": allocation, "context_window": int(tokens / FULL), "target_ratio": target}
    return PRESETS["hermes"].model_copy(update=changes)


def event(transcript: Transcript, rules: Policy, stubber: Stubber) -> None:
    """The whole event, as a replay of the one call."""
    done = replay(transcript, rules, Calibration(), stubber=stubber)
    assert any(one.edits for one in done.events)


def our_times(transcript: Transcript, allocation: Allocation) -> dict[str, float]:
    """Median milliseconds of one event: cold, counted, prepared."""
    tokens = course_of(transcript, "uncompacted").prefix[-1]
    times: dict[str, list[float]] = {"cold": [], "counted": [], "prepared": []}
    for n in range(ROUNDS):
        rules = policy(allocation, tokens)
        stubber = fresh_stubber()
        started = process_time()
        event(counted(transcript.messages, stubber.counter.count_many), rules, stubber)
        times["cold"].append(process_time() - started)

        stubber = fresh_stubber()
        known = counted(transcript.messages, stubber.counter.count_many)
        started = process_time()
        event(known, rules, stubber)
        times["counted"].append(process_time() - started)

        other = policy(allocation, tokens, 0.49 - n / 100)
        started = process_time()
        event(known, other, stubber)
        times["prepared"].append(process_time() - started)
    return {name: 1e3 * median(found) for name, found in times.items()}


def peer_times(transcript: Transcript) -> dict[str, float] | EngineRow:
    """Median milliseconds of Hermes Agent's compress(), with a stand-in for the summary and with its own fallback."""
    course = course_of(transcript, "uncompacted")
    tokens = course.prefix[-1]
    job = {
        "call": "compress",
        "messages": chat_messages(course, course.windows[0], None, TOOLS),
        "window": int(tokens / FULL),
        "tokens": tokens,
        "rounds": ROUNDS,
    }
    _, found = answers("hermes-agent", [{**job, "summary": SUMMARY}, {**job, "summary": None}])
    fault = peer_row("event: Hermes Agent compress()", "hermes-agent", found)
    return fault or {"stub summary": found[0]["ms"], "own fallback": found[1]["ms"]}


def rows() -> Iterable[EngineRow]:
    """Times of both, ours against theirs, and growth against n log n."""
    windows = (window(MESSAGES), window(MANY_MESSAGES))
    tokens = [course_of(one, "uncompacted").prefix[-1] for one in windows]
    told = [f"{len(one.messages)} messages, {size:,} tokens" for one, size in zip(windows, tokens, strict=True)]
    peers = [peer_times(one) for one in windows]
    ours = {allocation: [our_times(one, allocation) for one in windows] for allocation in ALLOCATIONS}
    again = peer_times(windows[0])  # on both sides of ours, the better one counts: a busy machine slows all alike
    times: dict[str, float] = {}
    if isinstance(peers[0], EngineRow):
        yield peers[0]
    elif not isinstance(peers[1], EngineRow) and not isinstance(again, EngineRow):
        times = {name: min(ms, again[name]) for name, ms in peers[0].items()}
        for name, ms in times.items():
            detail = f"{told[0]}; {told[1]}: {peers[1][name]:.1f} ms"
            yield EngineRow(f"event: Hermes Agent compress(), {name}", ms, "ms", None, detail)
    expected = (tokens[1] * log(tokens[1])) / (tokens[0] * log(tokens[0]))
    for allocation, (one, many) in ours.items():
        name = f"event: ours, {allocation.replace('_', ' ')}"
        for state, ms in one.items():
            yield EngineRow(f"{name}, {state}", ms, "ms", None, f"{told[0]}; {told[1]}: {many[state]:.1f} ms")
            for peer, its in times.items():
                yield EngineRow(f"  / Hermes Agent, {peer}", ms / its, "x", None, f"{ms:.1f} ms against {its:.1f} ms")
        grown = many["prepared"] / one["prepared"]
        detail = f"{grown:.1f} times for {tokens[1] / tokens[0]:.1f} times the tokens; n log n: {expected:.1f}"
        yield EngineRow(f"{name}, growth / n log n", grown / expected, "x", None, detail)
