from pathlib import Path

from sessions.importers import read_sessions
from sessions.importers.parsed import ParsedBoundary, Usage
from tests.sessions.importers.files import outline, read_one, write_lines


def test_only_response_items_are_messages() -> None:
    session = read_one("codex.jsonl")

    assert outline(session) == [
        "system:text",
        "user:text",
        "user:text",
        "assistant:thinking+opaque+tool_call+tool_call",
        "tool:tool_result",
        "tool:tool_result",
        "assistant:tool_call",
        "tool:tool_result",
        "user:text+opaque",
        "assistant:text",
    ]
    assert session.source_messages == 3


def test_usage_counts_changes_of_the_total_and_separates_cached_input() -> None:
    session = read_one("codex.jsonl")

    usage = [turn.usage for turn in session.turns]

    assert [(item.uncached, item.cache_read, item.output, item.reasoning) for item in usage if item] == [
        (2000, 3000, 90, 40),
        (400, 5000, 60, 0),
        (3000, 0, 20, 0),
    ]
    assert (session.context_window, session.models) == (272000, ["gpt-5-codex"])


def test_injected_context_is_flagged_and_is_no_title() -> None:
    session = read_one("codex.jsonl")

    assert session.messages[1].flags == {"injected"}
    assert session.title == "Add an alarm"


def test_output_stays_as_the_model_saw_it() -> None:
    assert read_one("codex.jsonl").messages[4].parts[0].text == '{"output":"clock.py\\n","metadata":{"exit_code":0}}'


def test_a_compaction_is_one_boundary_with_a_summary_message() -> None:
    session = read_one("codex.jsonl")

    assert session.boundaries == [ParsedBoundary(8, "compact", summary=8, preserved=(2,))]
    assert session.messages[8].parts[0].text == "The user wants an alarm; clock.py was patched."
    assert session.messages[8].flags == {"compact_summary"}


def test_every_record_of_a_rollout_is_accounted_for() -> None:
    session = read_one("codex.jsonl")

    counted = session.message_records + session.boundary_records + session.metadata.total() + session.skipped.total()
    assert (session.records, counted) == (22, 22)


def test_an_old_rollout_is_read_without_its_state_records() -> None:
    session = read_one("codex-old.jsonl")

    assert outline(session) == [
        "system:text",
        "user:text",
        "assistant:tool_call",
        "tool:tool_result",
        "assistant:text",
    ]
    assert session.key == "old-codex-1"
    assert session.metadata["record_type/state"] == 3


def _line(kind: str, second: float, **payload: object) -> dict[str, object]:
    return {"timestamp": f"2026-04-01T12:00:{second:06.3f}Z", "type": kind, "payload": payload}


def _usage(second: float, total: int, last: int) -> dict[str, object]:
    info = {
        "total_token_usage": {"input_tokens": total},
        "last_token_usage": {"input_tokens": last, "output_tokens": 1},
    }
    return _line("event_msg", second, type="token_count", info=info)


def test_totals_that_follow_the_items_belong_to_the_items_before_them(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "after.jsonl",
        _line("session_meta", 0, id="c1"),
        _line("response_item", 1, role="user", content="Go"),
        _line("response_item", 2, type="function_call", name="shell", arguments="{}", call_id="1"),
        _usage(3, 100, 100),
        _line("response_item", 4, type="function_call_output", call_id="1", output="ok"),
        _line("response_item", 5, type="message", role="assistant", content="Done"),
        _usage(6, 250, 150),
    )

    (session,) = read_sessions(path)

    assert [(turn.request_end, turn.usage.uncached if turn.usage else None) for turn in session.turns] == [
        (1, 100),
        (3, 150),
    ]


def test_events_give_the_text_when_there_are_no_message_items(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "events.jsonl",
        _line("session_meta", 0, id="c2"),
        _line("event_msg", 1, type="user_message", message="Go"),
        _line("event_msg", 2, type="agent_message", message="Done"),
    )

    (session,) = read_sessions(path)

    assert outline(session) == ["user:text", "assistant:text"]
    assert session.source_messages == 2


def test_what_a_fork_replays_is_inherited_and_counts_no_usage(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "fork.jsonl",
        _line("session_meta", 0, id="child", forked_from_id="parent"),
        _line("session_meta", 0, id="parent"),
        _line("response_item", 0.1, role="user", content="Old prompt"),
        _line("response_item", 0.1, role="assistant", content="Old answer"),
        _usage(0.1, 900, 900),
        _line("response_item", 30, role="user", content="New prompt"),
        _line("response_item", 31, role="assistant", content="New answer"),
        _usage(32, 1000, 100),
    )

    (session,) = read_sessions(path)

    assert [sorted(message.flags) for message in session.messages] == [["inherited"], ["inherited"], [], []]
    assert [turn.usage for turn in session.turns] == [Usage(100, output=1, time=1775044832.0)]
    assert (session.key, session.parent) == ("child", "parent")
