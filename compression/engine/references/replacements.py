"""What a reference puts in place of a part, as an edit, and of messages that leave, as a note.

A replacement that would not be smaller than what it stands for is none: originals that write it all the same lose a
few tokens that are not counted here. Nothing is chosen here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from compression.engine.edits import Edit, EditKind, Note, Step
from compression.engine.references.protocol import Now
from compression.engine.snapshots import DIGITS, SCHEME
from compression.engine.tokens import MESSAGE_OVERHEAD


def standing_text(now: Now, message: int, part: int) -> str:
    """The text of a part as it stands."""
    edit = now.edits.get((message, part))
    return edit.text if edit else now.course.transcript.messages[message].parts[part].text


def address_of(now: Now, message: int, part: int) -> str:
    """Where the original of a part lies, for references whose agent can read it again."""
    return SCHEME + now.course.sha(message, part)[:DIGITS]


def replacement(
    now: Now,
    message: int,
    part: int,
    text: str,
    reason: str,
    *,
    kind: EditKind = "placeholder",
    recallable: bool = False,
    may_grow: bool = False,
) -> Edit | None:
    """``text`` in place of a part; None when that is not shorter in tokens and bytes. ``recallable``: the original
    keeps what left where the agent can read it, so that the edit carries an address."""
    transcript = now.course.transcript
    original, before = transcript.messages[message].parts[part], transcript.counts[message][part]
    after = now.counter.count(text) + (now.counter.count(original.name) if original.kind == "tool_call" else 0)
    grows = after >= before or (original.kind != "media" and _bytes(text) >= _bytes(original.text))
    if grows and not may_grow:
        return None
    sha = now.course.sha(message, part) if recallable else ""
    address = address_of(now, message, part) if recallable else ""
    return Edit(message, part, kind, text, before, after, address=address, sha256=sha, reason=reason)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def placeholders(now: Now, parts: Iterable[tuple[int, int]], text: str, reason: str) -> list[Edit]:
    """The same words in place of each of these parts that stands as logged."""
    edits = (replacement(now, i, j, text, reason) for i, j in parts if (i, j) not in now.edits)
    return [edit for edit in edits if edit is not None]


def own_tokens(now: Now, tokens: int) -> int:
    """Provider's tokens as uncalibrated ones, at least 1."""
    return max(1, round(tokens / now.calibration.k))


def simulated_summary(
    now: Now, tokens: int, ordinal: int, replaced: int, role: Literal["user", "assistant"] = "user"
) -> Note:
    """A summary that a model would have written, by its size in the provider's tokens alone."""
    noun = "message" if replaced == 1 else "messages"
    text = f"[stands for a model's summary of {replaced:,} {noun}: {tokens:,} tokens]"
    return Note("summary", role, text, own_tokens(now, tokens) + MESSAGE_OVERHEAD, ordinal, simulated=True)


def leave(now: Now, left: Sequence[int], note: Note, reason: str, edits: Collection[Edit] = ()) -> Step | None:
    """Messages leave and a note stands for them; None when the window would not become smaller.

    What the reading leaves out was never sent and goes with them, so that ``note.ordinal`` may pass over it.
    """
    excluded = now.course.excluded
    unsent = [i for i in now.request.indexes() if i in excluded] if excluded else []
    earlier = now.note.tokens if now.note else 0
    freed = sum(now.sizes[i] for i in left) + earlier - note.tokens + freed_by(now, edits)
    return Step(tuple(edits), tuple(sorted({*left, *unsent})), note, reason) if left and freed > 0 else None


def freed_by(now: Now, edits: Iterable[Edit]) -> int:
    """Uncalibrated tokens that edits free from the window as it stands."""
    total = 0
    for edit in edits:
        earlier = now.edits.get((edit.message, edit.part))
        total += (earlier.tokens_after if earlier else edit.tokens_before) - edit.tokens_after
    return total
