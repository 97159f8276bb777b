"""Texts to shorten, small and written by hand."""

from __future__ import annotations

from compression.engine.snapshots import digest
from compression.engine.summaries import Purpose, SummaryRequest

REPORT = """# Why the nightly export failed

The export of orders stopped at 02:14 because the disk of db-7 was full. The job export_orders writes to
/var/spool/export before it uploads, and nobody removes what an aborted run leaves there. We looked at the
spool and found files of the last 40 days. The upload itself works: a file of 812 MB went through by hand.

Two things were decided. First, export_orders gets a step that clears /var/spool/export when it begins.
Second, the alarm for free space on db-7 moves from 5 to 15 percent. Anna owns the first and Ravi the second.
It is still open whether the missing orders of that night have to be sent again, which the customer has to say.
Until then nothing is deleted on the receiving side, and the job stays switched off in the schedule.
"""


def request(
    text: str = REPORT, *, purpose: Purpose = "prose", budget_tokens: int = 60, focus: str = "", previous: str = ""
) -> SummaryRequest:
    return SummaryRequest(digest(text), purpose, text, budget_tokens, focus, previous)
