"""The bridge: parsed files and stored rows become the engine's transcript, and what was measured of them.

The only module that has seen both a row and an engine message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, cast

from compression.engine.calibration import Calibration, Fall, Point, Segment, calibrate
from compression.engine.terms import OwnPrices
from compression.engine.tokens import count_parts, provider_of
from compression.engine.transcript import Boundary, Message, Part, Recorded, Role, Transcript, Turn
from compression.engine.windows import window_for
from compression.project_prices import own_prices
from sessions.describe import boundary_records
from sessions.importers.parsed import ParsedMessage, ParsedSession
from sessions.measures import MESSAGE_OVERHEAD_TOKENS, Measurement
from sessions.models import Message as MessageRow
from sessions.models import Original, Session
from sessions.models import Turn as TurnRow

_PART_FIELDS = frozenset(field.name for field in fields(Part))


@dataclass(frozen=True, slots=True)
class Subject:
    """What a policy is replayed on: a transcript with the calibration that is its fixed input, and the prices that its
    project set itself."""

    transcript: Transcript
    calibration: Calibration
    name: str
    prices: OwnPrices | None = None


def measure(parsed: ParsedSession) -> Measurement:
    """Count a parsed session's tokens in one batch and fit its calibration (setting AGENT_SESSIONS_MEASURE)."""
    model = parsed.models[0] if parsed.models else ""
    tokens = count_parts((cast("list[Part]", m.parts) for m in parsed.messages), provider=provider_of(model))
    prefix = [0]
    for counts in tokens:
        prefix.append(prefix[-1] + sum(counts) + MESSAGE_OVERHEAD_TOKENS)
    points = [
        Point(index, turn.usage.context_tokens, prefix[turn.request_end])
        for index, turn in enumerate(parsed.turns)
        if turn.usage is not None and turn.usage.context_tokens
    ]
    # A compaction before the first call is no break: what it left is all that was ever sent.
    turns = [record["turn"] for record in boundary_records(parsed, []) if record["turn"] or record["originals_in_file"]]
    calibration = calibrate(points, turns, model)
    silent = [
        {
            "turn": fall.turn,
            "kind": "silent",
            "position": parsed.turns[fall.turn].request_end,
            "tokens_left": fall.tokens_left,
        }
        for fall in calibration.silent
    ]
    window = window_for(model, parsed.context_window, calibration.peak)
    return Measurement(part_tokens=tokens, calibration=asdict(calibration), silent=silent, window_tokens=window.tokens)


def calibration_of(stored: Mapping[str, Any]) -> Calibration:
    """A stored calibration; one without figures means k = 1 and no hidden prefix."""
    known = {name: stored[name] for name in (f.name for f in fields(Calibration)) if name in stored}
    known["segments"] = tuple(Segment(**row) for row in known.get("segments", ()))
    known["silent"] = tuple(Fall(**row) for row in known.get("silent", ()))
    return Calibration(**known)


def from_parsed(parsed: ParsedSession, measurement: Measurement | None = None) -> Subject:
    """A parsed file as the engine sees it; no database is asked."""
    measurement = measurement or measure(parsed)
    messages = tuple(_parsed_message(i, message) for i, message in enumerate(parsed.messages))
    turns = tuple(
        Turn(
            index,
            turn.request_end,
            turn.response_end,
            turn.results_end,
            None
            if turn.usage is None or not turn.usage.context_tokens
            else Recorded(
                turn.usage.context_tokens,
                turn.usage.cache_read,
                turn.usage.cache_write,
                turn.usage.output,
                turn.usage.model,
                turn.usage.time,
                turn.usage.cache_write_1h,
            ),
            turn.time,
        )
        for index, turn in enumerate(parsed.turns)
    )
    transcript = Transcript(
        messages=messages,
        turns=turns,
        counts=tuple(tuple(counts) for counts in measurement.part_tokens),
        boundaries=_boundaries(boundary_records(parsed, measurement.silent), len(turns)),
        model=parsed.models[0] if parsed.models else "",
        context_window=parsed.context_window,
    )
    return Subject(transcript, calibration_of(measurement.calibration), parsed.key)


def _parsed_message(index: int, message: ParsedMessage) -> Message:
    parts = tuple(Part(**{name: getattr(part, name) for name in _PART_FIELDS}) for part in message.parts)
    return Message(
        index,
        message.role,
        parts,
        message.timestamp,
        message.source_id,
        message.response_id,
        frozenset(message.flags),
    )


def _boundaries(records: Iterable[Mapping[str, Any]], turns: int) -> tuple[Boundary, ...]:
    return tuple(
        Boundary(
            turn=record["turn"],
            kind=record["kind"],
            position=record["position"],
            summary_message=record.get("summary"),
            preserved=tuple(record.get("preserved", ())),
            cleared_call_ids=tuple(record.get("cleared_call_ids", ())),
            tokens_left=record.get("tokens_left", record.get("tokens_saved")),
            originals_in_file=record.get("originals_in_file", True),
        )
        for record in records
        if record["turn"] < turns
    )


def engine_messages(rows: Sequence[MessageRow]) -> list[tuple[Message, tuple[int, ...]]]:
    """Stored messages with the tokens of their parts; one query for the originals of all of them."""
    wanted = {part["original"] for row in rows for part in row.parts if "original" in part}
    texts = dict(Original.objects.filter(sha256__in=wanted).values_list("sha256", "text")) if wanted else {}
    found = []
    for row in rows:
        parts = tuple(_stored_part(part, texts) for part in row.parts)
        flags = frozenset(row.flags)
        message = Message(
            row.index, cast("Role", row.role), parts, row.timestamp, row.source_id, row.response_id, flags
        )
        found.append((message, tuple(part.get("tokens", 0) for part in row.parts)))
    return found


def _stored_part(stored: Mapping[str, Any], texts: Mapping[str, str]) -> Part:
    given = {name: value for name, value in stored.items() if name in _PART_FIELDS}
    if "original" in stored:
        given["text"] = texts.get(stored["original"], "")
        given["sha256"] = stored["original"]
    return Part(**given)


def engine_turns(rows: Iterable[TurnRow]) -> tuple[Turn, ...]:
    """Stored turns with what the provider recorded."""
    return tuple(
        Turn(
            row.index,
            row.request_end,
            row.response_end,
            row.results_end,
            Recorded(
                row.context_tokens, row.cache_read, row.cache_write, row.output, row.model, row.time, row.cache_write_1h
            )
            if row.has_usage and row.context_tokens
            else None,
            row.time,
        )
        for row in rows
    )


def from_session(session: Session) -> Subject:
    """A stored session as the engine sees it. Three queries, whatever its size, and one for its project's prices."""
    stored = engine_messages(list(session.messages.order_by("index")))
    turns = engine_turns(session.turns.order_by("index"))
    transcript = Transcript(
        messages=tuple(message for message, _ in stored),
        turns=turns,
        counts=tuple(counts for _, counts in stored),
        boundaries=_boundaries(session.boundaries, len(turns)),
        model=session.model,
        context_window=session.context_window,
    )
    prices = own_prices(session.project, transcript)
    return Subject(transcript, calibration_of(session.calibration), str(session.pk), prices)
