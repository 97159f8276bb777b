"""Cline's ``basic`` compaction: old results are cut to 2,000 characters, then the oldest work becomes a list.

It groups at 90 % of the input budget and aims at 70 % of that. The newest 20,000 tokens and what a person typed stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from compression.engine.edits import Edit, Note, Step
from compression.engine.groups import groups_of
from compression.engine.pins import is_prompt
from compression.engine.references.arrivals import in_window, lead_in
from compression.engine.references.cuts import back_to_group
from compression.engine.references.parameters import Parameters, setting
from compression.engine.references.protocol import Now, Reference
from compression.engine.references.replacements import freed_by, leave, replacement
from compression.engine.tokens import MESSAGE_OVERHEAD

NAMED_TOOLS = 20
"""Tools that the list of activity names; a session has more only when somebody made them up."""


class Cline(Parameters):
    """When Cline compacts, how far, and what stays. Kept tokens are uncalibrated."""

    window_ratio: float = setting(0.90, "of window", "compact above this", gt=0, le=1)
    target_ratio: float = setting(0.70, "of the trigger", "compact down to this", gt=0, le=1)
    keep_tokens: int = setting(20_000, "tokens", "newest messages kept", ge=0, le=20_000_000)
    result_characters: int = setting(2_000, "characters", "left of an old result", ge=0, le=1_000_000)


class ClineSession:
    """Remembers which tools the list of activity stands for."""

    def __init__(self, parameters: Cline) -> None:
        self._parameters = parameters
        self._activity: Counter[str] = Counter()

    def act(self, now: Now) -> Step | None:
        """Compact when over the trigger."""
        options = self._parameters
        trigger = options.window_ratio * now.limit
        if now.tokens <= trigger:
            return None
        wanted = (now.tokens - options.target_ratio * trigger) / now.calibration.k
        window = in_window(now)
        start, end = lead_in(now, window), self._newest(now, window)
        edits = self._cut(now, window[start:end], wanted)
        left = self._oldest(now, window[start:end], edits, wanted - freed_by(now, edits))
        if not left:
            return Step(tuple(edits), reason="old results cut") if edits else None
        gone = {*left}
        activity = self._activity + Counter(
            part.name
            for i in left
            for part in now.course.transcript.messages[i].parts
            if part.kind == "tool_call" and part.name
        )
        note = self._note(now, activity, sum(i < left[0] for i in window if i not in gone))
        kept = [edit for edit in edits if edit.message not in gone]
        step = leave(now, left, note, "old results cut, the oldest work listed", kept)
        if step is not None:
            self._activity = activity
        return step

    def _newest(self, now: Now, window: Sequence[int]) -> int:
        """Where the newest messages begin that stay whole; never inside a group, never empty."""
        room, end = self._parameters.keep_tokens, len(window)
        while end > 0 and (end == len(window) or now.sizes[window[end - 1]] <= room):
            end -= 1
            room -= now.sizes[window[end]]
        return back_to_group(groups_of(now.course.transcript), window, end)

    def _cut(self, now: Now, old: Sequence[int], wanted: float) -> list[Edit]:
        """Old results cut to their beginning, oldest first, until enough is free."""
        edits: list[Edit] = []
        freed, length = 0, self._parameters.result_characters
        for i in old:
            for j, part in enumerate(now.course.transcript.messages[i].parts):
                if part.kind != "tool_result" or len(part.text) <= length or (i, j) in now.edits or freed >= wanted:
                    continue
                edit = replacement(now, i, j, f"{part.text[:length]}\n[cut]", "old result cut")
                if edit is not None:
                    edits.append(edit)
                    freed += edit.tokens_before - edit.tokens_after
        return edits

    def _oldest(self, now: Now, old: Sequence[int], edits: Sequence[Edit], wanted: float) -> list[int]:
        """The oldest whole groups without a typed message that free what is still wanted."""
        messages, groups = now.course.transcript.messages, groups_of(now.course.transcript)
        members: dict[int, list[int]] = {}
        for i in old:
            members.setdefault(groups[i], []).append(i)
        freed_in = Counter[int]()
        for edit in edits:
            freed_in[edit.message] += edit.tokens_before - edit.tokens_after
        left: list[int] = []
        freed = 0
        for group in members.values():
            if freed >= wanted:
                break
            if not any(is_prompt(messages[i]) for i in group):
                left += group
                freed += sum(now.sizes[i] - freed_in[i] for i in group)
        return sorted(left)

    def _note(self, now: Now, activity: Counter[str], ordinal: int) -> Note:
        rows = [f"{name}: {count:,} x" for name, count in activity.most_common(NAMED_TOOLS)]
        text = "\n".join(["[earlier tool activity]", *(rows or ["none"])])
        return Note("summary", "user", text, now.counter.count(text) + MESSAGE_OVERHEAD, ordinal)


REFERENCE = Reference(
    name="cline",
    about="Cline's basic compaction: at 90 % of the window old results are cut to 2,000 characters, then the oldest "
    "work becomes a list, down to 70 % of the trigger.",
    version="Cline SDK (2026), basic compaction",
    source="Cline source, SDK context compaction: https://github.com/cline/cline",
    parameters=Cline,
    begin=ClineSession,
    simulated="the words of the activity list",
    breaks=frozenset({"sacred bytes stay"}),
)
