"""The figures that the example's README and the chapter's session tell, as the engine really gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from compression.engine.cache_comparison import Compared, compare_caching
from compression.engine.presets import PRESETS
from compression.engine.replay import Replay, replay
from compression.engine.summary import summarize
from compression.engine.turns import tabulate
from compression.transcripts import Subject, from_parsed
from sessions import example
from sessions.example import write_example
from sessions.importers import read_sessions


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    folder: Path = tmp_path_factory.mktemp("example")
    write_example(folder)
    [parsed] = read_sessions(folder / "two-hour-coding-session.jsonl")
    return from_parsed(parsed)


@pytest.fixture(scope="module")
def chapter(subject: Subject) -> Replay:
    return replay(subject.transcript, PRESETS["chapter"], subject.calibration)


def minute(subject: Subject, turn: int) -> float:
    times = [t.time or 0.0 for t in subject.transcript.turns]
    started = subject.transcript.messages[0].timestamp or 0.0
    return round((times[turn] - started) / 60, 1)


def test_without_compression_it_overflows_the_chapters_window_before_minute_60(
    subject: Subject, chapter: Replay
) -> None:
    first = next(t for t, tokens in enumerate(chapter.windows_before) if tokens > 100_000)

    assert (first, chapter.windows_before[first]) == (21, 100_555)
    assert minute(subject, first) < 60


def test_under_chapter_every_turn_fits(chapter: Replay) -> None:
    assert all(chapter.fits(turn) for turn in range(len(chapter.windows_after)))
    assert (max(chapter.windows_after), chapter.windows_after[-1]) == (74_625, 73_411)


def test_chapter_makes_four_events(chapter: Replay) -> None:
    events = [(e.turn, e.before, e.after, len(e.edits)) for e in chapter.events if e.edits]

    assert events == [
        (16, 92_742, 48_754, 1),
        (33, 78_507, 48_102, 4),
        (53, 76_932, 51_687, 18),
        (69, 75_246, 64_938, 8),
    ]


def test_the_three_kinds_of_saving_are_three_figures(chapter: Replay) -> None:
    summary = summarize(chapter, tabulate(chapter))

    assert [summary[name] for name in ("session_saved", "request_saved", "tool_saved")] == [
        0.515609,
        0.353857,
        0.507829,
    ]


def test_nothing_that_must_stay_was_touched(chapter: Replay) -> None:
    summary = summarize(chapter, tabulate(chapter))

    assert (summary["violations"], summary["recall_integrity"], summary["fidelity"]) == (0, 1.0, 1.0)


def test_in_its_models_own_window_one_event_is_enough(subject: Subject) -> None:
    done = replay(subject.transcript, PRESETS["hermes"], subject.calibration)

    assert [(e.turn, e.before, e.after) for e in done.events if e.edits] == [(53, 151_325, 72_766)]


def test_the_readme_of_the_example_tells_these_figures(subject: Subject, chapter: Replay) -> None:
    told = (Path(example.__file__).parent / "README.md").read_text(encoding="utf-8")
    rows = [
        f"| {minute(subject, e.turn):.0f} | {e.turn} | {e.before:,} | {e.after:,} | {len(e.edits)} "
        for e in chapter.events
        if e.edits
    ]

    assert [row for row in rows if row not in told] == []
    assert f"The largest window that is sent has {max(chapter.windows_after):,} tokens" in told


COSTS = {
    "no compression, no cache": ("none", 0, 10_626_393, 0.0, "32.60"),
    "compression, no cache": ("chapter", 4, 5_147_332, 0.0, "16.16"),
    "no compression, cache": ("none", 0, 10_626_393, 0.970, "4.99"),
    "sliding window, cache": ("sliding-window", 21, 5_551_231, 0.718, "7.79"),
    "compression, cache": ("chapter", 4, 5_147_332, 0.920, "3.69"),
}


def told(row: Compared) -> tuple[str, int, int, float, str]:
    return (row.policy, row.events, row.tokens, round(row.hit_rate or 0, 3), f"{row.cost_usd:.2f}")


def test_a_sliding_window_is_dearer_than_no_compression(subject: Subject) -> None:
    rows = compare_caching(subject.transcript, PRESETS["chapter"], subject.calibration)

    assert {row.name: told(row) for row in rows} == COSTS


@pytest.mark.parametrize(
    ("preset", "changes", "expected"),
    [
        (
            "chapter",
            {"trigger_ratio": 0.9, "target_ratio": 0.3, "recent_tokens": 8_000},
            ("chapter", 2, 5_185_408, 0.941, "3.32"),
        ),
        ("recall-first", {}, ("recall-first", 2, 5_650_892, 0.967, "3.05")),
    ],
)
def test_a_wide_margin_is_cheaper(subject: Subject, preset: str, changes: dict[str, object], expected: object) -> None:
    policy = PRESETS[preset].model_copy(update=changes)

    rows = compare_caching(subject.transcript, policy, subject.calibration)

    assert told(next(row for row in rows if row.name == "compression, cache")) == expected


def test_the_readme_tells_these_costs() -> None:
    readme = (Path(example.__file__).parent / "README.md").read_text(encoding="utf-8").replace("*", "")

    for _, events, tokens, hit_rate, dollars in COSTS.values():
        share = f"{100 * hit_rate:.1f} %" if hit_rate else "0 %"
        assert f" | {events} | {tokens:,} | {share} | {dollars} |\n" in readme
