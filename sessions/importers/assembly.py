"""The last step of every importer: pairs, turns, times, models, title, and text that databases accept."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from sessions.importers.fields import one_line
from sessions.importers.parsed import ParsedMessage, ParsedSession, Usage
from sessions.importers.storable_text import make_storable
from sessions.importers.turns import build_turns, link_results

SUMMARY_PREFIXES = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:", "[PRIOR CONTEXT")
_NO_PROMPT = frozenset({"injected", "compact_summary", "memory", "skill"})


def finish(session: ParsedSession, usage: Mapping[str, Usage], uncounted: frozenset[str] = frozenset()) -> None:
    """Complete ``session`` from its messages; every importer calls this once, last."""
    make_storable(session)
    if not session.key:
        session.key = session.beginning = key_of(session.messages)
    link_results(session.messages)
    session.turns = build_turns(session.messages, usage, uncounted | {"synthetic", "compact_summary"})
    own = [message for message in session.messages if "inherited" not in message.flags] or session.messages
    times = [message.timestamp for message in own if message.timestamp is not None]
    if times:
        session.started_at = min(times) if session.started_at is None else min(session.started_at, *times)
        session.ended_at = max(times) if session.ended_at is None else max(session.ended_at, *times)
    used = dict.fromkeys(turn.model for turn in session.turns if turn.model)
    session.models = list(dict.fromkeys([*used, *session.models])) if used or session.models else []
    session.title = one_line(session.title) or first_prompt(session.messages)
    if not session.turns:
        session.warnings.append("No model call was found in this session, so there is nothing to replay.")


def first_prompt(messages: list[ParsedMessage]) -> str:
    """The first words that a person typed, on one line; empty when there are none."""
    fallback = ""
    for message in messages:
        if message.role != "user" or not _NO_PROMPT.isdisjoint(message.flags):
            continue
        words = one_line(next((part.text for part in message.parts if part.kind == "text"), ""))
        if words and not words.startswith("<command-"):
            return words
        fallback = fallback or words
    return fallback


def key_of(messages: list[ParsedMessage]) -> str:
    """A name for a session that has none: the sha256 of everything up to its first user prompt.

    That part never changes while the file grows. Two recordings that begin with the same system text and the
    same prompt get the same key.
    """
    digest = hashlib.sha256()
    for message in messages:
        for part in message.parts:
            digest.update(f"{message.role}\x1f{part.kind}\x1f{part.text}\x1e".encode("utf-8", "replace"))
        if message.role == "user" and "injected" not in message.flags:
            break
    return digest.hexdigest()[:32]


def make_keys_distinct(sessions: list[ParsedSession]) -> None:
    """Number the repeated keys of one file in file order: ``key``, ``key-2``, ``key-3``."""
    seen: dict[str, int] = {}
    for session in sessions:
        count = seen[session.key] = seen.get(session.key, 0) + 1
        if count > 1:
            session.key = f"{session.key}-{count}"
