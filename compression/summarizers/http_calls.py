"""What the clients of both protocols share: one bounded request, and failures in our own words.

No retries (a client that waits as long as a server tells it to would outlive its time), no redirects
(a session's text goes where the operator said and nowhere else), no answer above two megabytes, and none
that trickles in after its time.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any, NamedTuple

import httpx2

from compression.summarizers.protocol import SummaryFailed

LARGEST_ANSWER = 2 * 1024 * 1024
NO_ANSWER = "what came back is no answer of this protocol"

_DEADLINE = "hermes_deadline"
_STATUS_REASONS = {
    400: "the server found the request wrong (400): is the model's name right?",
    401: "the server refused the key (401): look at HERMES_SUMMARIZER_API_KEY",
    403: "the key may not use this model (403)",
    404: "no such model or address (404): look at HERMES_SUMMARIZER_MODEL and HERMES_SUMMARIZER_BASE_URL",
    413: "the server found the request too large (413)",
    429: "the server's rate limit is reached (429)",
}
# Whoever gets one of these gets it again with the next text.
_FINAL = frozenset({401, 403, 404, 429})


class ErrorTypes(NamedTuple):
    """An SDK's exceptions: no answer in time, an error status, no connection, and the base of all."""

    timeout: type[Exception]
    status: type[Exception]
    connection: type[Exception]
    base: type[Exception]


class GivenUp(httpx2.TransportError):
    """An answer was not read to its end; says why."""


class _Bounded(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for chunk in self._stream:
            size += len(chunk)
            if size > LARGEST_ANSWER:
                raise GivenUp(f"the answer is larger than {LARGEST_ANSWER // 1024:,} KB")
            if monotonic() > self._deadline:
                raise httpx2.ReadTimeout("the answer came too slowly")
            yield chunk

    def close(self) -> None:
        self._stream.close()


def client_settings() -> dict[str, Any]:
    """What an SDK's HTTP client is made with; its proxies and sockets stay the SDK's own."""
    return {
        "follow_redirects": False,
        "headers": {"Accept-Encoding": "identity"},
        "event_hooks": {"request": [_starts], "response": [_bound]},
    }


def keep_texts_from_logs(sdk: str) -> None:
    """At DEBUG an SDK logs whole requests, and the HTTP library addresses with their passwords: neither does."""
    for name in (sdk, "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)


def _starts(request: httpx2.Request) -> None:
    # A client's time limit is one for each read: a server that sends a byte now and then would never run into it.
    request.extensions[_DEADLINE] = monotonic() + request.extensions["timeout"]["read"]


def _bound(response: httpx2.Response) -> None:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise GivenUp("the answer is packed, which was not asked for")
    if isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = _Bounded(response.stream, response.request.extensions[_DEADLINE])


@contextmanager
def failures_in_words(errors: ErrorTypes) -> Iterator[None]:
    """Whatever a call of an SDK raises, as SummaryFailed."""
    try:
        yield
    except errors.timeout:
        raise SummaryFailed("no answer in time") from None
    except errors.status as error:
        status = getattr(error, "status_code", 0)
        reason = _STATUS_REASONS.get(status, f"the server answered with status {status}")
        raise SummaryFailed(reason, final=status in _FINAL) from None
    except errors.connection as error:
        if isinstance(error.__cause__, GivenUp):
            raise SummaryFailed(str(error.__cause__)) from None
        if isinstance(error.__cause__, httpx2.ConnectError):
            raise SummaryFailed("nobody answers at the server's address", final=True) from None
        raise SummaryFailed("the connection broke") from None
    except (errors.base, ValueError, RecursionError):
        raise SummaryFailed(NO_ANSWER) from None
