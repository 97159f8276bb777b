"""Transcripts of every shape that a log can have, for properties that must hold of all of them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from compression.engine.policy import PinRule, Policy
from compression.engine.tokens import count_parts
from compression.engine.transcript import Boundary, Message, Part, Recorded, Transcript, Turn
from tests.compression.engine.builders import Quarters

TOOLS = ("Bash", "Read", "TodoWrite", "load_skill", "MEMORY_read", "mcp__hermes__recall", "")
MODELS = ("", "claude-sonnet-4-5", "gpt-5-codex", "unheard-of")
ARGUMENTS = (
    '{"path": "src/pool.py"}',
    '{"path": "src/pool.py"}',
    json.dumps({"file_path": "src/pool.py", "content": "".join(f"    value_{n} = {n}\n" for n in range(120))}),
)
LONG_ANSWER = " ".join(f"Sentence {n} says that value_{n} is wrong." for n in range(60))

_LINES = (
    "ERROR worker-7 failed at src/pool.py:{n}: TimeoutError",
    "INFO request {n} served in {n} ms",
    "tests/test_pool.py::test_case_{n} PASSED",
    "漢字とかなの行 {n} です",
    "",
    "a,b,{n}",
    "    return value_{n}",
)


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """Bodies of tool results: empty, short, long, JSON, one endless line, look-alikes of a stub."""
    shape = draw(st.sampled_from(("empty", "short", "lines", "lines", "lines", "json", "one line", "look-alike")))
    size = draw(st.integers(1, 60))
    line = draw(st.sampled_from(_LINES))
    if shape == "empty":
        return ""
    if shape == "short":
        return draw(st.text(max_size=30))
    if shape == "json":
        return json.dumps([{"id": n, "name": f"item_{n}", "ok": n % 3 > 0} for n in range(size)])
    if shape == "one line":
        return "x9" * (size * 40)
    if shape == "look-alike":
        return f"[compressed log · {size} lines · 900 -> 90 tokens · original hermes:0123456789ab]\n" + "seen\n" * size
    return "\n".join(line.format(n=n) for n in range(size * draw(st.sampled_from((1, 4)))))


class Generated(Transcript):
    """A transcript that a failing test shows in lines, not in pages."""

    __slots__ = ()

    def __repr__(self) -> str:
        rows = [
            f"{m.index} {m.role} {','.join(sorted(m.flags))} "
            + " ".join(f"{p.kind}:{p.name}:{count}" for p, count in zip(m.parts, counts, strict=True))
            for m, counts in zip(self.messages, self.counts, strict=True)
        ]
        turns = [(t.request_end, t.response_end, t.results_end) for t in self.turns]
        return "\n".join([*rows, f"turns {turns}", *map(repr, self.boundaries), self.model])


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    """A session: what leads in, calls with parallel, missing and orphan results, boundaries of each kind."""
    messages: list[Message] = []
    turns: list[Turn] = []
    boundaries: list[Boundary] = []
    call_ids: list[str] = []
    told: list[str] = []

    def add(role: Any, *parts: Part, flags: tuple[str, ...] = (), response_id: str = "") -> None:
        messages.append(Message(len(messages), role, parts, None, "", response_id, frozenset(flags)))

    for _ in range(draw(st.integers(0, 2))):
        add("system", Part("text", draw(st.text(max_size=40))))
    for kind in draw(
        st.lists(st.sampled_from(("memory", "skill", "injected", "compact_summary", "orphan")), max_size=2)
    ):
        if kind == "orphan":
            add("tool", Part("tool_result", draw(bodies()), "before-all", "Bash"), flags=("orphan_result",))
        else:
            add("user", Part("text", "context " * 20), flags=(kind,))
            if kind == "compact_summary":
                here = len(messages) - 1
                boundaries.append(Boundary(0, "compact", here, here, originals_in_file=False))
    if draw(st.booleans()):
        add("user", Part("text", "please fix src/pool.py"))
    context = draw(st.integers(0, 3_000))
    for number in range(draw(st.integers(0, 14))):
        kind = draw(st.sampled_from(("", "", "", "", "", "", "prompt", "compact", "micro", "silent")))
        if kind == "prompt":
            parts = [Part("text", "now look at value_17")]
            if draw(st.booleans()):
                parts.append(Part("media", media_type="image/png", size=9, sha256="ab", width=750, height=100))
            add("user", *parts)
        elif kind == "compact" and messages:
            position = len(messages)
            kept = tuple(draw(st.sets(st.integers(0, position - 1), max_size=3)))
            add("user", Part("text", "summary of what was said"), flags=("compact_summary",))
            boundaries.append(
                Boundary(
                    number, "compact", position, position, tuple(sorted(kept)), originals_in_file=draw(st.booleans())
                )
            )
        elif kind == "micro" and call_ids:
            cleared = tuple(draw(st.sets(st.sampled_from(call_ids), max_size=3)))
            boundaries.append(Boundary(number, "micro", max(0, len(messages) - 1), cleared_call_ids=cleared))
        elif kind == "silent":
            boundaries.append(Boundary(number, "silent", len(messages), tokens_left=draw(st.integers(0, 4_000))))
        request_end = len(messages)
        response_id = draw(st.sampled_from(("", f"response-{number}")))
        thinking = draw(st.sampled_from((None, "thinking", "opaque")))
        own = [Part("text", draw(st.sampled_from(("", "I look at src/pool.py:17", "好的", LONG_ANSWER))))]
        if thinking == "thinking":
            signature = draw(st.sampled_from(("signed", "")))
            own.insert(0, Part("thinking", "value_3 may be wrong. " * 40, signature=signature))
        elif thinking == "opaque":
            own.insert(0, Part("opaque", size=120))
        names = draw(st.lists(st.sampled_from(TOOLS), max_size=3))
        ids = [f"call-{number}-{j}" for j in range(len(names))]
        calls = [
            Part("tool_call", draw(st.sampled_from(ARGUMENTS)), i, name) for i, name in zip(ids, names, strict=True)
        ]
        for part in own if response_id and draw(st.booleans()) else []:
            add("assistant", part, response_id=response_id)
        add(
            "assistant",
            *([] if draw(st.integers(0, 9)) == 0 and not calls else [*own, *calls]),
            response_id=response_id,
        )
        response_end = len(messages)
        for i, name in zip(ids, names, strict=True):
            if draw(st.integers(0, 11)):
                call_ids.append(i)
                again = told and draw(st.integers(0, 3)) == 0
                told.append(draw(st.sampled_from(told)) if again else draw(bodies()))
                add("tool", Part("tool_result", told[-1], i, name, is_error=draw(st.booleans())))
        context += draw(st.integers(0, 900))
        used = draw(st.sampled_from((None, context)))
        turns.append(
            Turn(number, request_end, response_end, len(messages), None if used is None else Recorded(used + 1))
        )
    counts = count_parts((m.parts for m in messages), Quarters().count_many)
    model = draw(st.sampled_from(MODELS))
    return Generated(tuple(messages), tuple(turns), tuple(map(tuple, counts)), tuple(boundaries), model, None)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Any valid policy of our own, over windows small enough to overflow."""
    trigger = draw(st.sampled_from((0.2, 0.5, 0.75, 1.0)))
    floor = draw(st.sampled_from((20, 60)))
    return Policy(
        name="drawn",
        strategy=draw(st.sampled_from(("threshold", "threshold", "threshold", "sliding"))),
        context_window=draw(st.sampled_from((1_000, 3_000, 9_000))),
        trigger_ratio=trigger,
        target_ratio=trigger * draw(st.sampled_from((0.2, 0.6, 0.9))),
        min_reclaim_tokens=draw(st.sampled_from((0, 50, 400))),
        reserve_output=draw(st.sampled_from((0, 200))),
        recent_tokens=draw(st.sampled_from((0, 100, 800, 4_000))),
        recent_mode=draw(st.sampled_from(("fixed", "adaptive"))),
        recent_min=draw(st.sampled_from((0, 200))),
        recent_max=draw(st.sampled_from((300, 2_000))),
        pin_latest_user=draw(st.booleans()),
        recall_hold_turns=draw(st.sampled_from((0, 1, 10))),
        pins=tuple(draw(st.lists(st.sampled_from(PIN_RULES), max_size=3))),
        arrival_limit_tokens=draw(st.sampled_from((None, None, 500))),
        ladder=draw(st.sampled_from((True, True, False))),
        superseded=draw(st.booleans()),
        max_argument_tokens=draw(st.sampled_from((None, 100))),
        clear_thinking=draw(st.booleans()),
        thrash_guard=draw(st.booleans()),
        min_result_tokens=draw(st.sampled_from((20, 100))),
        selection=draw(st.sampled_from(("largest_first", "oldest_first", "all"))),
        result_floor=floor,
        result_ceiling=floor * draw(st.sampled_from((1, 4))),
        code_output=draw(st.sampled_from(("errors_first", "head_tail"))),
    )


PIN_RULES = (
    PinRule(tool="*todo*", keep_last=1, reason="latest task list"),
    PinRule(tool="*SKILL*", reason="skill"),
    PinRule(tool="*", keep_last=2, reason="the last two"),
    PinRule(role="tool", pattern="ERROR|漢字", reason="errors"),
    PinRule(is_error=True, keep_last=1, reason="last failure"),
)
