"""A session of a Hermes Agent that watches a server's disk, compacted once by the agent itself. Ten model calls."""

from __future__ import annotations

from dataclasses import dataclass

from sessions.example.outputs import ledger_rows, timings
from sessions.example.script import Call, Exchange, Response

SYSTEM = (
    "You are Hermes, an assistant with a terminal. Be careful with what cannot be undone. Answer in short sentences."
)
SUMMARY = """[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were summarised to free space. Do not act on them \
again.

## Goal
Find out why /var on orderdesk-1 is 91 % full and free space without losing an import log.

## Completed Actions
- df and du: /var/lib/staging holds 61 GB, /var/log/import 9 GB.
- staging keeps files of batches that are in the ledger; the newest 14 nights must stay (deduplication window).

## Remaining Work
- List staging folders older than 14 nights and ask before removing them.
--- END OF CONTEXT SUMMARY — respond to the message below, not to the summary above ---"""


@dataclass(frozen=True, slots=True)
class WatchSession:
    """What was said before the compaction, what the agent kept of it, and what came after."""

    before: Exchange
    after: Exchange
    kept_head_messages: int = 3
    kept_tail_messages: int = 3


def terminal(command: str, output: str) -> Call:
    """A terminal call; results are JSON strings in this agent."""
    return Call("terminal", {"command": command}, output)


def watch_session() -> WatchSession:
    """The plan of the session."""
    sizes = "\n".join(
        f"{size} G\t/var/lib/staging/{batch}" for batch, size in zip(range(2240, 2292), [1, 1, 2, 1] * 13, strict=True)
    )
    before = Exchange(
        0,
        16,
        "orderdesk-1 warns that /var is almost full. What is it?",
        (
            Response(
                "",
                "Sizes first.",
                (
                    terminal(
                        "df -h /var",
                        "Filesystem      Size  Used Avail Use% Mounted on\n/dev/vda2        80G   73G  7.0G  91% /var",
                    ),
                ),
            ),
            Response(
                "", "", (terminal("du -sh /var/*", "61G\t/var/lib\n9.1G\t/var/log\n2.2G\t/var/cache\n640M\t/var/tmp"),)
            ),
            Response("Most of it is in /var/lib.", "", (terminal("du -sh /var/lib/staging/*", sizes),)),
            Response(
                "",
                "What do the old folders hold?",
                (terminal("psql orderdesk -c 'select * from staging limit 70'", ledger_rows(70, "staging")),),
            ),
            Response("", "", (terminal("orderdesk-import timings --last 60", timings(60, "watch")),)),
            Response(
                "staging keeps the files of 52 batches. Those older than 14 nights are in the ledger and are not "
                "needed for the deduplication window."
            ),
        ),
    )
    after = Exchange(
        19,
        27,
        "Then list what could go. Do not remove anything yet.",
        (
            Response(
                "",
                "Only older than 14 nights, and only when the ledger has the batch.",
                (
                    terminal(
                        "orderdesk-import staging --older-than 14 --in-ledger",
                        "\n".join(f"{batch} in ledger" for batch in range(2240, 2277)),
                    ),
                ),
            ),
            Response("", "", (terminal("du -shc /var/lib/staging/22{40..76} | tail -n 1", "46G\ttotal"),)),
            Response("", "The logs as well?", (terminal("ls /var/log/import | wc -l", "412"),)),
            Response(
                "Batches 2240 to 2276 are in the ledger and older than 14 nights: 46 GB. /var would be at 34 %. The "
                "412 import logs stay. Shall I remove the 37 folders?"
            ),
        ),
    )
    return WatchSession(before, after)
