from __future__ import annotations

from compression.engine.policy import Policy
from compression.engine.snapshots import digest
from compression.engine.stubs import Stubber, first_line
from compression.engine.tokens import default_counter
from compression.engine.transcript import Part
from tests.compression.engine.builders import stubber, words


def log(lines: int) -> str:
    rows = [f"2026-03-01T10:{n // 60:02}:{n % 60:02} INFO request {n} served in {n % 40} ms\n" for n in range(lines)]
    rows[lines // 2] = "2026-03-01T10:30:00 ERROR pool exhausted at src/pool.py:88\n"
    return "".join(rows)


def test_the_first_line_is_the_documented_one() -> None:
    line = first_line("log", 2_001, 15_012, 198, "hermes:2d711642b726")

    assert line == "[compressed log · 2,001 lines · 15,012 -> 198 tokens · original hermes:2d711642b726]"


def test_one_line_is_not_plural() -> None:
    assert (
        first_line("prose", 1, 900, 9, "hermes:0")
        == "[compressed prose · 1 line · 900 -> 9 tokens · original hermes:0]"
    )


def test_a_stub_says_what_it_is_and_where_the_original_lies() -> None:
    text = log(400)
    tokens = default_counter().count(text)

    stub = Stubber().stub(Part("tool_result", text, "c", "Bash"), tokens, Policy())

    assert stub is not None
    line, _, body = stub.text.partition("\n")
    assert line == first_line("log", 400, tokens, default_counter().count(body), f"hermes:{digest(text)[:12]}")
    assert stub.tokens == default_counter().count(stub.text)
    assert stub.body_tokens == default_counter().count(body)
    assert "ERROR pool exhausted at src/pool.py:88" in body
    assert stub.body_tokens <= Policy().stub_budget(tokens)


def test_there_is_no_stub_that_is_not_shorter() -> None:
    assert stubber().stub(Part("tool_result", "a b c", "c", "Bash"), 3, Policy()) is None


def test_fewer_tokens_in_more_bytes_are_no_stub() -> None:
    part = Part("tool_result", "a " * 30, "c", "Bash")

    assert stubber().stub(part, 30, Policy(result_floor=20)) is None


def test_a_stub_is_made_once() -> None:
    maker = stubber()
    part = Part("tool_result", words(900), "c", "Bash")

    assert maker.stub(part, 900, Policy()) is maker.stub(part, 900, Policy(name="other", trigger_ratio=0.9))


def test_another_budget_gives_another_stub_of_the_same_original() -> None:
    maker = stubber()
    part = Part("tool_result", words(900), "c", "Bash")

    small, large = maker.stub(part, 900, Policy(result_floor=20)), maker.stub(part, 900, Policy())

    assert small is not None
    assert large is not None
    assert (small.address, small.sha256) == (large.address, large.sha256)
    assert small.tokens < large.tokens
