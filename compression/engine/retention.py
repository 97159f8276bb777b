"""Referenced-later retention: which names of changed results the agent used afterwards, and which it could still see.

A name counts for an event when it first stood in a tool result that the event changed, an assistant message after
the event uses it, and nothing untouched in the window still says it. A name match is evidence of use, not proof:
numbers coincide most, paraphrase is not seen, and what a repeated call taught again counts as used. Looks at later
turns by design, so nothing that plans may import it. No model, no clock.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compression.engine.edits import Edit, Event
from compression.engine.history import Course
from compression.engine.identifiers import CLASSES
from compression.engine.occurrences import Occurrences, View, occurrences_of
from compression.engine.replay import Replay
from compression.engine.standing import Standing
from compression.engine.transcript import Message
from compression.engine.units import Count

HORIZONS: Mapping[str, int | None] = {"10": 10, "50": 50, "all": None}
"""How many assistant messages after an event count; None = all of them."""


@dataclass(frozen=True, slots=True)
class Needed:
    """A name that was used after an event. ``holder`` = message where it first stood, ``use`` = the first message
    that used it, ``after`` = assistant messages between the event and that one."""

    name: str
    kind: str
    holder: int
    use: int
    after: int
    in_view: bool
    in_reach: bool
    in_truncated: bool


@dataclass(frozen=True, slots=True)
class Loss:
    """What one event cost. ``forced`` = turns whose response uses a name that the view lost, of ``turns_after``;
    ``recall_tax`` = uncalibrated tokens of the whole lines of originals that would bring the lost names back."""

    turn: int
    needed: tuple[Needed, ...]
    forced: tuple[int, ...]
    turns_after: int
    recall_tax: int

    def within(self, horizon: int | None) -> list[Needed]:
        """R(h)."""
        return [n for n in self.needed if horizon is None or n.after < horizon]


@dataclass(frozen=True, slots=True)
class Tally:
    """|R| and how many of R are in the view, within reach, and in a truncation to the view's tokens."""

    n: int
    view: int
    reach: int
    truncated: int

    def fields(self) -> dict[str, Any]:
        """As shares; they are None where nothing was needed: no evidence is not 100 %."""

        def share(part: int) -> float | None:
            return round(part / self.n, 6) if self.n else None

        return {
            "n": self.n,
            "view": share(self.view),
            "reach": share(self.reach),
            "truncated": share(self.truncated),
            "lift": round((self.view - self.truncated) / self.n, 6) if self.n else None,
        }


def tally(needed: Iterable[Needed]) -> Tally:
    """Sums over names, so that sums over events are micro-averages."""
    n = view = reach = truncated = 0
    for one in needed:
        n += 1
        view += one.in_view
        reach += one.in_reach
        truncated += one.in_truncated
    return Tally(n, view, reach, truncated)


def losses(replay: Replay) -> tuple[Loss, ...]:
    """One loss for each event that changed or removed something. O(text) once a session, then O(names changed)."""
    names = occurrences_of(replay.course)
    standing = Standing(replay.course)
    found = []
    for event in replay.events:
        if event.changes:
            found.append(_loss(replay, names, event, standing))
        standing.tell(event)
    return tuple(found)


def _loss(replay: Replay, names: Occurrences, event: Event, standing: Standing) -> Loss:
    course, request = replay.course, standing.request(event.turn)
    messages, end = course.transcript.messages, course.windows[event.turn].end
    earlier = by_message(standing.edits.values())
    edits = by_message(event.edits)
    touched = {*edits, *event.left}
    summaries = _summaries(replay, event)
    view = View([*_shown(messages, edits, earlier, event.left), *(names.texts[i] for i in summaries), *_said(event)])
    window = set(request.indexes()) - touched - summaries
    stands = {i: View(texts_of(messages[i], own)) for i, own in earlier.items() if i in window}
    note = standing.note(event.turn)
    others = View([note.text] if note is not None and not event.left else [])
    addressed = {edit.message for edit in event.edits if edit.address}
    if event.note is not None and event.note.address:
        addressed.update(event.left)
    needed: list[tuple[str, str, int, int]] = []
    for name, kind, holder in first_seen(names, (i for i in touched if messages[i].role == "tool")):
        use = next_use(names, name, end)
        if use is not None and not _stands(names, name, end, window, stands) and not others.holds(name):
            needed.append((name, kind, holder, use))
    truncated = View(_truncations(replay, event) if needed else [])
    start = bisect_left(names.assistants, end)
    rows = tuple(
        Needed(
            name,
            kind,
            holder,
            use,
            bisect_left(names.assistants, use) - start,
            kept := view.holds(name),
            kept or any(i in addressed for i in names.messages(name) if i < end),
            truncated.holds(name),
        )
        for name, kind, holder, use in needed
    )
    missing = [row for row in rows if not row.in_view]
    return Loss(
        turn=event.turn,
        needed=rows,
        forced=_turns_using(course, names, (row.name for row in missing), end),
        turns_after=len(course.transcript.turns) - event.turn,
        recall_tax=_tax(course, missing, replay.stubber.counter.count_many),
    )


def body(edit: Edit) -> str:
    """What an edit shows of its original: a stub's first line holds figures of our own."""
    if edit.kind in ("stub", "text"):
        return edit.text.partition("\n")[2]
    return "" if edit.kind in ("superseded", "thinking") else edit.text


def by_message(edits: Iterable[Edit]) -> dict[int, dict[int, Edit]]:
    """Edits by message, then by part."""
    found: dict[int, dict[int, Edit]] = {}
    for edit in edits:
        found.setdefault(edit.message, {})[edit.part] = edit
    return found


def texts_of(message: Message, edits: Mapping[int, Edit]) -> list[str]:
    """What the parts of a message say as they stand."""
    return [body(edits[j]) if j in edits else part.text for j, part in enumerate(message.parts)]


def _shown(
    messages: Sequence[Message],
    edits: Mapping[int, Mapping[int, Edit]],
    earlier: Mapping[int, Mapping[int, Edit]],
    left: Collection[int],
) -> Iterable[str]:
    """What the messages that an event changed say after it; those that left say nothing."""
    gone = {*left}
    for i, own in edits.items():
        if i not in gone:
            yield from texts_of(messages[i], {**earlier.get(i, {}), **own})


def _said(event: Event) -> list[str]:
    """What an event's note says, but for its lines of addresses; a simulated one says nothing."""
    if event.note is None or event.note.simulated:
        return []
    return [row for row in event.note.text.split("\n") if not row.endswith(f"{event.note.address}]")]


def _summaries(replay: Replay, event: Event) -> set[int]:
    """The agent's own summaries that came into the window with a recorded event: they are its view."""
    if event.kind != "recorded":
        return set()
    boundaries = replay.course.transcript.boundaries
    return {b.summary_message for b in boundaries if b.turn == event.turn and b.summary_message is not None}


def first_seen(names: Occurrences, touched: Iterable[int]) -> Iterable[tuple[str, str, int]]:
    """(name, class, message) of every name that stands in one of ``touched`` before anywhere else."""
    for i in sorted(touched):
        for name, kind in names.names(i).items():
            # Uses are few and quickly known; where a name stood first is asked only for the used ones.
            if names.uses(name) and names.first(name) == i:
                yield name, kind, i


def next_use(names: Occurrences, name: str, start: int) -> int | None:
    """The first assistant message from ``start`` on that uses a name."""
    uses = names.uses(name)
    at = bisect_left(uses, start)
    return uses[at] if at < len(uses) else None


def _stands(names: Occurrences, name: str, end: int, window: Collection[int], stubs: Mapping[int, View]) -> bool:
    """Whether an untouched message of the window still says a name."""
    for i in names.messages(name):
        if i >= end:
            return False
        if i in window and (i not in stubs or stubs[i].holds(name)):
            return True
    return False


def _turns_using(course: Course, names: Occurrences, missing: Iterable[str], end: int) -> tuple[int, ...]:
    ends = [turn.request_end for turn in course.transcript.turns]
    used = {i for name in missing for i in names.uses(name) if i >= end}
    return tuple(sorted({bisect_right(ends, i) - 1 for i in used}))


def _tax(course: Course, missing: Sequence[Needed], count: Count) -> int:
    """For each lost name the shortest line of its original that has it; a line that serves two counts once."""
    lines: dict[tuple[int, str], None] = {}
    cut: dict[int, list[tuple[str, View]]] = {}
    for need in missing:
        if need.holder not in cut:
            parts = course.transcript.messages[need.holder].parts
            text = "\n".join(part.text for part in parts if part.kind == "tool_result")
            cut[need.holder] = [(line, View([line])) for line in text.split("\n")]
        having = [line for line, view in cut[need.holder] if view.holds(need.name)]
        # Escapes may hide a name from every raw line; then only the whole brings it back.
        whole = "\n".join(line for line, _ in cut[need.holder])
        lines[need.holder, min(having, key=lambda line: (len(line), line), default=whole)] = None
    return sum(count([line for _, line in lines])) if lines else 0


def _truncations(replay: Replay, event: Event) -> list[str]:
    """The changed results cut to what the event left of them; what left shares the tokens of its note."""
    messages, counts = replay.transcript.messages, replay.transcript.counts
    gone, count = {*event.left}, replay.stubber.counter.count_many
    found = [
        truncated(messages[edit.message].parts[edit.part].text, edit.tokens_before, edit.tokens_after, count)
        for edit in event.edits
        if edit.message not in gone
    ]
    results = [(i, j) for i in event.left for j, p in enumerate(messages[i].parts) if p.kind == "tool_result"]
    whole = sum(counts[i][j] for i, j in results)
    if event.note is not None and whole:
        found += [
            truncated(messages[i].parts[j].text, counts[i][j], event.note.tokens * counts[i][j] // whole, count)
            for i, j in results
        ]
    return found


def truncated(text: str, tokens: int, budget: int, count: Count) -> str:
    """The beginning and, half as long, the end of a text of ``tokens`` tokens, together in ``budget``."""
    if tokens <= budget:
        return text
    size = len(text) * budget // tokens
    while size > 0:
        tail = size // 3
        cut = text[: size - tail] + "\n" + (text[-tail:] if tail else "")
        used = count([cut])[0]
        if used <= budget:
            return cut
        size = min(size - 1, size * budget // used)
    return ""


@dataclass(frozen=True, slots=True)
class Common:
    """A name of the common denominator: used after a turn, first said by any tool result before it, and by nobody
    but tools before it. What keeps all results keeps all of these, whatever a policy touched."""

    name: str
    kind: str
    use: int


def common(course: Course, turn: int, horizon: int | None = None) -> list[Common]:
    """The names by which policies are compared at a turn."""
    names, messages = occurrences_of(course), course.transcript.messages
    request = course.windows[turn]
    start = bisect_left(names.assistants, request.end)
    last = names.assistants[start : None if horizon is None else start + horizon]
    tools = [i for i in request.indexes() if messages[i].role == "tool"]
    found = []
    for name, kind, _ in first_seen(names, tools):
        use = next_use(names, name, request.end)
        if use is None or not last or use > last[-1]:
            continue
        before = (i for i in names.messages(name) if i < request.end)
        if all(messages[i].role == "tool" for i in before):
            found.append(Common(name, kind, use))
    return found


def kept(wanted: Iterable[Common], tool_texts: Sequence[str]) -> list[Common]:
    """Those of ``wanted`` that the tool messages of a window still say."""
    view = View(tool_texts)
    return [one for one in wanted if view.holds(one.name)]


def retention_fields(found: Sequence[Loss]) -> dict[str, Any]:
    """The figures of all events together, for a summary: sums over sums, None where nothing was needed."""
    fields: dict[str, Any] = {}
    for label, horizon in HORIZONS.items():
        tail = "" if horizon is None else f"_{label}"
        figures = tally(need for loss in found for need in loss.within(horizon)).fields()
        fields[f"rlr_n{tail}"] = figures["n"]
        fields.update({f"rlr_{name}{tail}": figures[name] for name in ("view", "reach", "truncated", "lift")})
    after = sum(loss.turns_after for loss in found)
    fields["rlr_classes"] = _by_class(need for loss in found for need in loss.needed)
    fields["forced_rereads"] = round(sum(len(loss.forced) for loss in found) / after, 6) if after else None
    fields["forced_turns"] = sum(len(loss.forced) for loss in found)
    fields["turns_after"] = after
    fields["recall_tax"] = sum(loss.recall_tax for loss in found)
    return fields


def loss_fields(loss: Loss, message_turn: Callable[[int], int]) -> dict[str, Any]:
    """One event's loss, with every name that left the view: where it stood and the turn that used it."""
    return {
        **{label: tally(loss.within(horizon)).fields() for label, horizon in HORIZONS.items()},
        "classes": _by_class(loss.needed),
        "forced_turns": list(loss.forced),
        "turns_after": loss.turns_after,
        "recall_tax": loss.recall_tax,
        "lost": [
            {
                "name": n.name,
                "class": n.kind,
                "message": n.holder,
                "used_in": n.use,
                "used_at_turn": message_turn(n.use),
                "reachable": n.in_reach,
            }
            for n in loss.needed
            if not n.in_view
        ],
    }


def _by_class(needed: Iterable[Needed]) -> dict[str, dict[str, Any]]:
    rows = list(needed)
    return {kind: tally(own).fields() for kind in CLASSES if (own := [row for row in rows if row.kind == kind])}
