from pathlib import Path

from sessions.importers import read_sessions
from sessions.importers.parsed import ParsedBoundary, ParsedTurn, Usage
from tests.sessions.importers.files import (
    LOGS,
    call,
    claude_answer,
    claude_user,
    outline,
    read_one,
    result,
    text,
    write_lines,
)


def test_lines_of_one_response_become_one_message_followed_by_its_results() -> None:
    session = read_one("claude-code.jsonl")

    assert outline(session) == [
        "user:text",
        "user:text",
        "assistant:thinking+tool_call+tool_call",
        "tool:tool_result",
        "tool:tool_result+media",
        "user:text",
        "assistant:text",
        "assistant:text",
    ]


def test_a_result_is_named_after_its_call_and_the_structured_copy_is_not_read() -> None:
    session = read_one("claude-code.jsonl")

    results = [message.parts[0] for message in session.messages if message.role == "tool"]

    assert [(part.name, part.call_id, part.is_error) for part in results] == [
        ("Read", "toolu_A", False),
        ("Bash", "toolu_B", True),
    ]
    assert results[0].text == "1→def total(items):\n2→    return sum(items)\n"


def test_arguments_are_the_text_of_a_json_object_and_thinking_keeps_its_signature() -> None:
    thinking, reading, _ = read_one("claude-code.jsonl").messages[2].parts

    assert (thinking.text, thinking.signature) == ("Look at the test and the code.", "c2lnbmVk")
    assert reading.text == '{"file_path":"cart.py"}'


def test_an_image_keeps_its_size_and_pixels_but_not_its_bytes() -> None:
    image = read_one("claude-code.jsonl").messages[4].parts[1]

    assert (image.media_type, image.width, image.height, image.text) == ("image/png", 2, 3, "")
    assert image.size == 69
    assert len(image.sha256) == 64


def test_usage_of_a_response_is_the_maximum_over_its_lines() -> None:
    first, second = read_one("claude-code.jsonl").turns

    assert first.usage == Usage(12, 0, 21000, 20000, 95, model="claude-opus-4-5", time=first.time)
    assert second.usage is not None
    assert second.usage.context_tokens == 21417


def test_a_turn_names_its_request_its_response_and_its_results() -> None:
    turns = read_one("claude-code.jsonl").turns

    assert [(turn.request_end, turn.response_end, turn.results_end) for turn in turns] == [(2, 3, 5), (6, 7, 7)]


def test_a_message_that_the_client_wrote_is_no_model_call_and_no_model() -> None:
    session = read_one("claude-code.jsonl")

    assert session.messages[-1].flags == {"synthetic"}
    assert session.models == ["claude-opus-4-5"]


def test_a_skill_body_is_flagged_and_the_title_is_the_first_prompt() -> None:
    session = read_one("claude-code.jsonl")

    assert session.messages[1].flags == {"injected", "skill"}
    assert session.title == "Why does the checkout test fail?"
    assert session.key == "11111111-aaaa"


def test_records_that_are_no_messages_are_counted_by_type() -> None:
    session = read_one("claude-code.jsonl")

    assert dict(session.metadata) == {
        "file-history-snapshot": 1,
        "progress/bash_progress": 1,
        "system/turn_duration": 1,
    }
    assert session.records == 12


def test_compactions_become_boundaries_with_their_summary_and_what_stayed() -> None:
    session = read_one("claude-code-compacted.jsonl")

    assert session.boundaries == [
        ParsedBoundary(2, "micro", cleared_call_ids=("t1",), tokens_before=78208, tokens_saved=38535),
        ParsedBoundary(4, "compact", summary=4, preserved=(3,), tokens_before=155000),
    ]
    assert session.messages[4].flags == {"compact_summary"}


def test_a_micro_compaction_counts_for_the_very_next_request() -> None:
    session = read_one("claude-code-compacted.jsonl")

    affected = [turn.request_end > session.boundaries[0].position for turn in session.turns]

    assert affected == [False, True, True]


def test_the_summary_of_another_session_is_no_title() -> None:
    assert read_one("claude-code-compacted.jsonl").title == "Port the parser to Rust"


def test_a_session_that_continues_another_has_no_originals_before_its_summary(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "continued.jsonl",
        {"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": None, "logicalParentUuid": "gone"},
        claude_user("u1", "b", "What happened before", isCompactSummary=True),
        claude_answer("a1", "u1", "m1", text("Going on.")),
    )

    (session,) = read_sessions(path)

    assert session.boundaries == [ParsedBoundary(0, "compact", summary=0, originals_in_file=False)]


def test_damaged_lines_cost_themselves_and_are_all_accounted_for() -> None:
    session = read_one("claude-code-damaged.jsonl")

    assert outline(session) == [
        "user:text",
        "assistant:tool_call",
        "tool:tool_result",
        "assistant:text",
        "user:text",
    ]
    assert dict(session.skipped) == {
        "damaged record": 2,
        "not an object": 2,
        "message is not an object": 1,
        "repeated uuid": 1,
        "truncated last line": 1,
    }
    assert session.warnings == ["damaged record: first in line 1", "truncated last line: first in line 10"]


def test_half_surrogates_and_nul_in_a_result_are_replaced() -> None:
    assert read_one("claude-code-damaged.jsonl").messages[2].parts[0].text == "half a pair \ufffd and ␀ here"


def test_only_sibling_prompts_are_a_fork_and_the_branch_with_the_last_line_is_kept(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "fork.jsonl",
        claude_user("u1", None, "Start"),
        claude_answer("a1", "u1", "m1", text("Ready.")),
        claude_user("u2", "a1", "Go left"),
        claude_answer("a2", "u2", "m2", call("t1"), call("t2")),
        claude_user("r1", "a2", [result("t1")]),
        claude_user("r2", "a2", [result("t2")]),
        claude_user("u3", "a1", "Go right"),
        claude_answer("a3", "u3", "m3", call("t3"), call("t4")),
        claude_user("r3", "a3", [result("t3")]),
        claude_user("r4", "a3", [result("t4")]),
    )

    (session,) = read_sessions(path)

    assert [part.text for message in session.messages for part in message.parts if part.kind == "text"] == [
        "Start",
        "Ready.",
        "Go right",
    ]
    assert dict(session.skipped) == {"abandoned branch": 4}
    assert session.records == 10
    assert session.message_records == 6


def test_prompts_without_any_parent_are_no_branches(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "roots.jsonl",
        claude_user("u1", None, "One"),
        claude_user("u2", None, "Two"),
        claude_answer("a1", "u2", "m1", text("Yes.")),
    )

    (session,) = read_sessions(path)

    assert len(session.messages) == 3


def test_a_result_stays_with_its_call_when_other_records_stand_between(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "gap.jsonl",
        claude_user("u1", None, "Start"),
        claude_answer("a1", "u1", "m1", call("t1")),
        claude_user("u2", "a1", "<system-reminder>be careful</system-reminder>", isMeta=True),
        claude_user("r1", "a1", [result("t1")]),
        claude_answer("a2", "r1", "m2", text("Done.")),
    )

    (session,) = read_sessions(path)

    assert outline(session) == ["user:text", "assistant:tool_call", "tool:tool_result", "user:text", "assistant:text"]
    assert session.turns[0] == ParsedTurn(1, 2, 3, model="claude-x")


def test_calls_without_result_and_results_without_call_are_kept_and_flagged(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "pairs.jsonl",
        claude_user("r0", "gone", [result("t0")]),
        claude_answer("a1", "r0", "m1", call("t1")),
    )

    (session,) = read_sessions(path)

    assert [message.flags for message in session.messages] == [{"orphan_result"}, {"missing_result"}]


def test_a_sidechain_is_a_session_of_its_own_that_knows_who_called_it(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "agents.jsonl",
        claude_user("u1", None, "Start"),
        claude_answer("a1", "u1", "m1", call("t1", "Task", prompt="Find the bug")),
        claude_user("x1", None, "Find the bug", isSidechain=True),
        claude_answer("x2", "x1", "m2", text("It is in line 3."), isSidechain=True),
        claude_user("r1", "a1", [result("t1", "It is in line 3.")]),
    )

    main, agent = read_sessions(path)

    assert outline(main) == ["user:text", "assistant:tool_call", "tool:tool_result"]
    assert outline(agent) == ["user:text", "assistant:text"]
    assert (agent.key, agent.parent, agent.spawned_by) == ("s:x1", "s", "t1")
    assert main.records + agent.records == 5


def test_the_file_of_a_sub_agent_names_the_session_that_it_belongs_to(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "agent-7.jsonl",
        claude_user("x1", None, "Find the bug", isSidechain=True, agentId="7"),
        claude_answer("x2", "x1", "m2", text("Found."), isSidechain=True, agentId="7"),
    )

    (agent,) = read_sessions(path)

    assert (agent.key, agent.parent) == ("s:7", "s")


def test_a_longer_version_of_a_file_has_the_same_key(tmp_path: Path) -> None:
    whole = (LOGS / "claude-code.jsonl").read_bytes().split(b"\n")
    keys = set()
    for count in range(2, len(whole)):
        path = tmp_path / "part.jsonl"
        path.write_bytes(b"\n".join(whole[:count]))
        keys.add(read_sessions(path)[0].key)

    assert keys == {"11111111-aaaa"}


def test_text_that_no_database_takes_is_mended_while_reading(tmp_path: Path) -> None:
    log = write_lines(
        tmp_path / "log",
        claude_user("1", None, "go\x00on"),
        claude_answer("2", "1", "r", call("c", name="Ba\x00sh", command="a\x00b")),
        claude_user("3", "2", [result("c", "x\x00y")]),
    )

    (session,) = read_sessions(log)

    assert [part.text for message in session.messages for part in message.parts] == [
        "go␀on",
        '{"command":"a\\u0000b"}',
        "x␀y",
    ]
    assert [message.parts[0].name for message in session.messages] == ["", "Ba␀sh", "Ba␀sh"]
