"""A run's results as CSV and as JSON, piece by piece: nothing here holds all of them.

Pieces are made between two queries, so that neither a cursor nor a transaction stays open while a slow
reader takes its time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from typing import Any

import orjson
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse

from compression.csv_rows import csv_text
from compression.engine.money import dollars
from compression.models import Run, RunResult
from compression.run_results import every, found, is_moved
from compression.run_totals import totals_of

COLUMNS = (
    "session_id", "key", "title", "agent", "model", "state", "reused", "session_revision", "turns", "sent_before",
    "sent_after", "session_saved", "request_tokens", "request_freed", "request_saved", "tool_before", "tool_after",
    "tool_saved", "rlr_n", "rlr_kept", "rlr_reached", "rlr_view", "overflow_turn_none", "overflow_turn", "events",
    "thrash", "violations", "counter_error", "ladder", "cost_usd", "cost_usd_none", "saved_usd", "hit_rate",
    "cache_read", "cache_write", "cache_uncached", "rewrites", "expiries", "unforced_breaks", "break_even", "error",
)  # fmt: skip
OF_SESSION = frozenset({"key", "title", "agent", "model"})


def row_of(result: RunResult) -> dict[str, Any]:
    """One line, the same in CSV, JSON and the API; what was not worked out is None, never 0. Money is Decimal.

    Of a session that was moved to another project the figures remain, not what it is.
    """
    is_done = result.state == RunResult.State.DONE
    hidden = {"session_id", *OF_SESSION} if is_moved(result) else set()
    kept = {"session_id", "state", "error", *OF_SESSION}
    return {
        name: getattr(result.session if name in OF_SESSION else result, name)
        if (is_done or name in kept) and name not in hidden
        else None
        for name in COLUMNS
    }


def plain_row(result: RunResult) -> dict[str, Any]:
    """The same for JSON, which knows no exact numbers: money as text."""
    return {name: dollars(value) if isinstance(value, Decimal) else value for name, value in row_of(result).items()}


def run_row(run: Run) -> dict[str, Any]:
    """What a run is: enough to tell whether figures of two runs may be compared."""
    return {
        "id": run.pk,
        "project": run.project.slug,
        "policy": run.label,
        "policy_digest": run.policy_digest,
        "engine_version": run.engine_version,
        "prices_digest": run.prices_digest,
        "state": run.state,
        "started_at": run.created_at.isoformat(),
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
    }


def csv_pieces(run: Run, *, text: str = "", only: str = "") -> Iterator[bytes]:
    names = (*COLUMNS, "policy", "policy_digest", "engine_version")
    of_run = (run.label, run.policy_digest, run.engine_version)
    yield csv_text([names]).encode()
    for batch in every(run, text=text, only=only):
        yield csv_text((*row_of(result).values(), *of_run) for result in batch).encode()


def json_pieces(run: Run, *, text: str = "", only: str = "") -> Iterator[bytes]:
    """``{"run", "policy", "totals", "results": [...]}``, each result with the whole summary of its replay."""
    head = {"run": run_row(run), "policy": run.fields, "totals": totals_of(found(run, text=text, only=only)).as_dict()}
    yield orjson.dumps(head)[:-1] + b',"results":['
    is_first = True
    for batch in every(run, text=text, only=only):
        rows = b",\n".join(orjson.dumps({**plain_row(result), "summary": result.summary}) for result in batch)
        yield rows if is_first else b",\n" + rows
        is_first = False
    yield b"]}\n"


def download(request: HttpRequest, pieces: Iterator[bytes], *, name: str, content_type: str) -> StreamingHttpResponse:
    """A file that is sent while it is made, on either kind of server."""
    body = _asynchronous(pieces) if isinstance(request, ASGIRequest) else pieces
    response = StreamingHttpResponse(body, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


async def _asynchronous(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    following = sync_to_async(lambda: next(pieces, None))
    while (piece := await following()) is not None:
        yield piece
