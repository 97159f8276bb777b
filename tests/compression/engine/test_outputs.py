"""Tokens of answers: recorded where the record can be true, else counted."""

from __future__ import annotations

from compression.engine.calibration import Calibration
from compression.engine.outputs import Output, outputs_of
from compression.engine.transcript import Message, Part, Recorded, Transcript, Turn

K = Calibration(k=1.5)


def answer(recorded: int | None, *parts: tuple[Part, int]) -> Transcript:
    usage = None if recorded is None else Recorded(1_000, output=recorded)
    messages = (Message(0, "user", (Part("text", "go"),)), Message(1, "assistant", tuple(part for part, _ in parts)))
    return Transcript(messages, (Turn(0, 1, 2, 2, usage),), ((1,), tuple(tokens for _, tokens in parts)))


TEXT = Part("text", "an answer")


def test_the_record_counts() -> None:
    assert outputs_of(answer(170, (TEXT, 100)), K) == (Output(170, "recorded"),)


def test_without_a_record_the_answer_is_counted_in_the_providers_tokens() -> None:
    assert outputs_of(answer(None, (TEXT, 100)), K) == (Output(150, "counted"),)


def test_the_figure_of_a_streams_first_piece_is_no_record() -> None:
    assert outputs_of(answer(3, (TEXT, 100)), K) == (Output(150, "counted"),)


def test_a_record_of_half_of_what_was_counted_counts() -> None:
    assert outputs_of(answer(50, (TEXT, 100)), K) == (Output(50, "recorded"),)


def test_encrypted_parts_are_not_counted() -> None:
    assert outputs_of(answer(None, (TEXT, 100), (Part("opaque", size=9_000), 3_000)), K) == (Output(150, "counted"),)
