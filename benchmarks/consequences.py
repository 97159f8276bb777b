"""What typing into the policy form costs: all consequences of a draft, against one replay of it.

One replay is what a rerun of a session works out: the walk, its table and its summary, everything warm.
The server's time is that of the whole answer to a keystroke, the preview of the page, under the policy that every
project starts with. A made session of 300 turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from benchmarks.database import fresh
from benchmarks.measuring import Row, medians
from benchmarks.session_page import made

TURNS = 300
LIMIT = 1.5
LIMIT_MS = 300


def rows() -> list[Row]:
    with TemporaryDirectory() as name:
        return measured(Path(name))


def measured(folder: Path) -> list[Row]:
    project = fresh(folder / "bench.sqlite3")
    from django.contrib.auth import get_user_model
    from django.test import Client

    from compression.consequences import consequences
    from compression.engine.policy import Policy
    from compression.engine.presets import PRESETS
    from compression.engine.replay import replay
    from compression.engine.summary import summarize
    from compression.engine.turns import tabulate
    from compression.policy_form import form_data
    from compression.project_peaks import project_peaks
    from compression.replays import stored_replay
    from compression.warm_sessions import warm_session
    from sessions.ingest import FileFacts, ingest

    session = ingest(made(TURNS), project=project, file=FileFacts(name="made", sha256="0" * 64, size=1)).session
    warm, policy, peaks = warm_session(session), PRESETS["hermes"], project_peaks(project)
    before, none = stored_replay(session, policy), stored_replay(session, PRESETS["none"])

    def drafts() -> Iterator[Policy]:
        trigger = 600
        while True:
            trigger = 601 + (trigger - 600) % 200
            yield policy.model_copy(update={"trigger_ratio": trigger / 1_000})

    typed, plain, sent = drafts(), drafts(), drafts()
    client = Client(SERVER_NAME="localhost")
    client.force_login(get_user_model().objects.create_superuser("bench"))

    def form() -> None:
        consequences(warm, next(typed), in_force=policy, before=before, none=none, peaks=peaks)

    def one_replay() -> None:
        done = replay(warm.subject.transcript, next(plain), warm.subject.calibration, stubber=warm.stubber)
        summarize(done, tabulate(done), lost=())

    def keystroke() -> None:
        data = {**form_data(next(sent)), "session": str(session.pk)}
        answer = client.post(f"/projects/{project.slug}/policy/preview/", data, headers={"HX-Request": "true"})
        assert answer.status_code == 200

    form()
    one_replay()
    keystroke()
    ours, floor = medians(form, one_replay, rounds=15)
    served, worked = keystrokes(keystroke)
    detail = f"{TURNS} turns: {1e3 * ours:.0f} ms against {1e3 * floor:.0f} ms"
    return [
        Row("consequences of a draft / one replay", ours / floor, "x", LIMIT, detail),
        Row(
            "server's time for a keystroke in the form",
            1e3 * worked,
            "ms",
            LIMIT_MS,
            f"{TURNS} turns, preset hermes; of the processor, {1e3 * served:.0f} ms by the clock",
        ),
    ]


def keystrokes(action: Callable[[], None], rounds: int = 15) -> tuple[float, float]:
    """Median seconds of one answer, by the clock and of the processor: other programs slow down the clock's only."""
    by_clock, of_processor = [], []
    for _ in range(rounds):
        started, worked = perf_counter(), process_time()
        action()
        by_clock.append(perf_counter() - started)
        of_processor.append(process_time() - worked)
    return median(by_clock), median(of_processor)
