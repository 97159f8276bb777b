"""The script that runs in a peer's environment: close the network, read jobs, warm up, time, answer.

``serving.py DRIVER ANSWERS``: jobs come on standard input, answers go to a file, because peers print. A driver is the
module beside this one that calls its peer: DISTRIBUTION, HANDLERS, WARM_UP. Importing the peer is not timed: the
warm-up does it. Knows the standard library only.
"""

from __future__ import annotations

import json
import logging
import socket
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any


def close_network() -> None:
    """Every connection from here on is refused, as on a machine without a network."""

    def refuse(*_: object, **__: object) -> None:
        raise ConnectionRefusedError("no network in a benchmark")

    socket.socket.connect = refuse  # type: ignore[method-assign]  # that is the point
    socket.getaddrinfo = refuse  # type: ignore[assignment]  # that is the point


def timed(make: Callable[[], Any], run: Callable[[Any], Any], rounds: int = 1) -> tuple[Any, float]:
    """What ``run`` gave last, and the median of its milliseconds of CPU; ``make`` builds its argument, untimed."""
    times = []
    result = None
    for _ in range(rounds):
        given = make()
        started = time.process_time()
        result = run(given)
        times.append(1e3 * (time.process_time() - started))
    return result, median(times)


def main(driver: str, answers_file: str) -> None:
    """Run the driver's warm-up unanswered, then the jobs. What raised is answered by its message."""
    close_network()
    logging.disable(logging.CRITICAL)
    calls = import_module(driver)
    jobs = json.load(sys.stdin)["jobs"]
    answers = []
    for job in [*calls.WARM_UP, *jobs]:
        try:
            answers.append(calls.HANDLERS[job["call"]](job, timed))
        except Exception as error:  # noqa: BLE001 - a peer may raise anything, and the other jobs still count
            answers.append({"error": f"{type(error).__name__}: {error}"})
    found = {"version": version(calls.DISTRIBUTION), "answers": answers[len(calls.WARM_UP) :]}
    Path(answers_file).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
