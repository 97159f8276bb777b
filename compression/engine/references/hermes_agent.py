"""Hermes Agent's compressor, without its model: prune, summarise the middle, keep a head that soon decays.

Pruning groups at the first message, so that results in the protected head are rewritten too; after the first
compaction only the system prompt is protected; a note is added to that. All this is reproduced, not mended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from compression.engine.edits import Edit, Note, Step
from compression.engine.groups import groups_of
from compression.engine.references.arrivals import in_window
from compression.engine.references.cuts import past_group
from compression.engine.references.hermes_borders import tail_start
from compression.engine.references.hermes_fallback import fallback_summary
from compression.engine.references.hermes_prune import Pruned, prune, weight
from compression.engine.references.parameters import Parameters, setting
from compression.engine.references.protocol import Now, Reference
from compression.engine.references.replacements import leave, replacement, simulated_summary
from compression.engine.tokens import MESSAGE_OVERHEAD
from compression.engine.transcript import Message

SMALL_WINDOW, SMALL_WINDOW_RATIO = 512_000, 0.75
LEAST_TRIGGER = 64_000
DEGENERATE_RATIO = 0.85
"""Of the input budget, where ``LEAST_TRIGGER`` would lie beyond it."""

SUMMARY_SHARE, LEAST_SUMMARY, SUMMARY_WINDOW_SHARE, LARGEST_SUMMARY = 0.20, 2_000, 0.05, 10_000
LEAST_BESIDE_HEAD = 3 + 1
STRIKES = 2
SYSTEM_NOTE = (
    "\n\n[Earlier turns of this conversation were compacted into a summary to make room. What they did may still be "
    "in effect: build on the summary and do not repeat the work. The memory files stay authoritative.]"
)


class HermesAgent(Parameters):
    """The settings of its configuration file that this reference knows."""

    threshold: float = setting(0.50, "of window", "trigger; 0.75 at least below 512,000 tokens", gt=0, le=1)
    target_ratio: float = setting(0.20, "of trigger", "the tail's budget", ge=0.10, le=0.80)
    protect_first_n: int = setting(3, "messages", "kept behind the system prompt, until the first compaction", ge=0)
    protect_last_n: int = setting(20, "messages", "newest ones that pruning leaves alone", ge=0, le=100_000)
    max_tokens: int | None = setting(None, "tokens", "room for the answer, not part of the window", ge=0)
    summary: Literal["fallback", "simulated"] = setting(
        "fallback", "", "fallback: the text written without a model; simulated: a model's, by its size alone"
    )
    fallback_guard: bool = setting(
        False, "", "true: the fallback is a failure, two in a row stop compression; false: it stands for a model's text"
    )


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What follows from a window's size, in tokens."""

    trigger: int
    tail: int
    summary_cap: int


def thresholds(options: HermesAgent, limit: int) -> Thresholds:
    """The trigger with its raises and floors, the tail as a share of it, and the longest summary."""
    ratio = max(options.threshold, SMALL_WINDOW_RATIO) if limit < SMALL_WINDOW else options.threshold
    room = limit - (options.max_tokens or 0)
    room = room if room > 0 else limit
    trigger = max(int(room * ratio), LEAST_TRIGGER)
    if trigger >= room:
        trigger = max(1, min(int(room * DEGENERATE_RATIO), room - 1))
    cap = min(int(limit * SUMMARY_WINDOW_SHARE), LARGEST_SUMMARY)
    return Thresholds(trigger, int(trigger * options.target_ratio), cap)


class HermesAgentSession:
    """Remembers how many compactions there were and whether they helped."""

    def __init__(self, parameters: HermesAgent) -> None:
        self._parameters = parameters
        self._thresholds: Thresholds | None = None
        self._compactions = 0
        self._ineffective = 0
        self._fallbacks = 0
        self._is_unproven = False

    def act(self, now: Now) -> Step | None:
        """Compact when over the trigger and not blocked."""
        if self._thresholds is None:
            self._thresholds = thresholds(self._parameters, now.limit)
        is_over = now.tokens >= self._thresholds.trigger
        self._judge(is_over=is_over)
        if not is_over or self._ineffective >= STRIKES or self._fallbacks >= STRIKES:
            return None
        return self._compact(now, self._thresholds)

    def _judge(self, *, is_over: bool) -> None:
        """The next request tells whether a compaction helped; one that fits clears all strikes."""
        if not is_over:
            self._ineffective = 0
        elif self._is_unproven:
            self._ineffective += 1
        self._is_unproven = False

    def _compact(self, now: Now, derived: Thresholds) -> Step | None:
        options, messages = self._parameters, now.course.transcript.messages
        window = in_window(now)
        has_system = bool(window) and messages[window[0]].role == "system"
        head = has_system + (options.protect_first_n if not self._compactions else 0)
        if len(window) + (now.note is not None) <= head + LEAST_BESIDE_HEAD:
            self._ineffective += 1
            return None
        pruned = prune(now, window, derived.tail, options.protect_last_n)
        weights = [weight(now, i, pruned) for i in window]
        groups = groups_of(now.course.transcript)
        head = past_group(groups, window, min(head, len(window)))
        tail = tail_start(
            weights,
            window,
            groups,
            head,
            budget=derived.tail,
            protect_last=options.protect_last_n,
            last_prompt=_last(messages, window, head, "user"),
            last_reply=_last(messages, window, head, "assistant"),
        )
        left = window[head:tail]
        note = self._note(now, window, head, tail, pruned, sum(weights[head:tail]))
        gone = {*left}
        kept = [edit for edit in pruned.values() if edit.message not in gone]
        system = self._system_note(now, window[0]) if has_system else None
        step = leave(now, left, note, "pruned, the middle summarised", [*kept, *([system] if system else [])])
        if step is None:
            self._ineffective += 1
            return Step(tuple(pruned.values()), reason="pruned, no middle to summarise") if pruned else None
        self._compactions += 1
        self._fallbacks += options.summary == "fallback" and options.fallback_guard
        self._is_unproven = True
        return step

    def _note(self, now: Now, window: Sequence[int], head: int, tail: int, pruned: Pruned, content: int) -> Note:
        messages = now.course.transcript.messages
        role = _role(messages, window, head, tail)
        left = window[head:tail]
        if self._parameters.summary == "simulated":
            assert self._thresholds is not None
            size = max(LEAST_SUMMARY, min(int(content * SUMMARY_SHARE), self._thresholds.summary_cap))
            return simulated_summary(now, size, head, len(left), role)
        text = fallback_summary(now, left, pruned)
        return Note("summary", role, text, now.counter.count(text) + MESSAGE_OVERHEAD, head)

    def _system_note(self, now: Now, message: int) -> Edit | None:
        parts = now.course.transcript.messages[message].parts
        texts = [j for j, part in enumerate(parts) if part.kind == "text"]
        if not texts or (message, texts[-1]) in now.edits:
            return None
        text = parts[texts[-1]].text + SYSTEM_NOTE
        return replacement(now, message, texts[-1], text, "a note on the summary", kind="text", may_grow=True)


def _last(messages: Sequence[Message], window: Sequence[int], head: int, role: str) -> int:
    """The ordinal of the last prompt, or of the last reply with text (of any reply, when none has text); -1: none."""
    found = -1
    for at in range(len(window) - 1, head - 1, -1):
        message = messages[window[at]]
        if message.role != role or "compact_summary" in message.flags:
            continue
        if role == "user" or any(part.kind == "text" and part.text.strip() for part in message.parts):
            return at
        found = at if found < 0 else found
    return found


def _role(messages: Sequence[Message], window: Sequence[int], head: int, tail: int) -> Literal["user", "assistant"]:
    """Whose message the summary is: such that roles alternate where they can.

    Where neither role alternates the original merges it into the first message of the tail; here it stays its own.
    """
    before = messages[window[head - 1]].role if head else "user"
    after = messages[window[tail]].role if tail < len(window) else "user"
    stays = (*window[:head], *window[tail:])
    must_be_user = before == "system" or not any(messages[i].role == "user" for i in stays)
    role: Literal["user", "assistant"] = "user" if before in ("assistant", "tool") or must_be_user else "assistant"
    other: Literal["user", "assistant"] = "assistant" if role == "user" else "user"
    return other if role == after and other != before and not must_be_user else role


REFERENCE = Reference(
    name="hermes-agent",
    about="Hermes Agent: old results become a line of metadata, then the middle a summary; 20 % of the trigger stays.",
    version="hermes-agent 0.19.0",
    source="Hermes Agent source, agent/context_compressor.py: https://github.com/NousResearch/hermes-agent",
    parameters=HermesAgent,
    begin=HermesAgentSession,
    simulated="the summary: the text it writes when its model fails, in our words, or a model's by its size",
    breaks=frozenset({"sacred bytes stay", "no message grows"}),
)
