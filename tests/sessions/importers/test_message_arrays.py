import json
from pathlib import Path

from sessions.importers import read_sessions
from tests.sessions.importers.files import LOGS, outline, read_one, write_lines


def test_an_anthropic_request_gives_system_tools_and_results_of_their_own() -> None:
    session = read_one("anthropic.json")

    assert outline(session) == [
        "system:text",
        "user:text",
        "assistant:opaque+tool_call+tool_call",
        "tool:tool_result",
        "tool:tool_result",
        "user:text",
        "assistant:text",
    ]
    assert (session.source_messages, session.models, session.system_in_log) == (4, ["claude-haiku-4-5"], True)
    assert json.loads(session.tools_json)[0]["name"] == "pet_name"


def test_every_run_of_a_file_is_a_session_with_a_key_of_its_own() -> None:
    first, second = read_sessions(LOGS / "openai-runs.json")

    assert (first.source_messages, second.source_messages) == (7, 5)
    assert first.key != second.key
    assert [first.title, second.title] == ["One ticket to Bern", "Is this the right platform?"]


def test_an_id_that_repeats_pairs_by_position() -> None:
    first, _ = read_sessions(LOGS / "openai-runs.json")

    results = [message for message in first.messages if message.role == "tool"]

    assert [(message.parts[0].name, message.flags) for message in results] == [("search", set()), ("book", set())]


def test_arguments_that_are_no_json_stay_raw() -> None:
    first, _ = read_sessions(LOGS / "openai-runs.json")

    assert first.messages[2].parts[0].text == '{"to": "Bern"'


def test_a_legacy_function_call_and_parts_of_content_are_read() -> None:
    _, second = read_sessions(LOGS / "openai-runs.json")

    assert outline(second) == [
        "system:text",
        "user:text+media",
        "assistant:tool_call",
        "tool:tool_result",
        "assistant:text",
    ]
    image = second.messages[1].parts[1]
    assert (image.media_type, image.width, image.height) == ("image/gif", 3, 2)
    assert second.messages[3].flags == set()


def test_runs_that_begin_alike_still_have_distinct_keys(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Same"}, {"role": "assistant", "content": "Yes", "tool_calls": []}]
    path = write_lines(tmp_path / "runs.jsonl", {"messages": messages}, {"messages": messages})

    first, second = read_sessions(path)

    assert second.key == f"{first.key}-2"


def test_the_key_of_an_array_stays_while_it_grows(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi"},
        {"role": "user", "content": "Bye"},
    ]
    keys = set()
    for count in (2, 3, 4):
        path = tmp_path / f"{count}.json"
        path.write_text(json.dumps(messages[:count]))
        keys.add(read_sessions(path)[0].key)

    assert len(keys) == 1


def test_a_text_only_array_is_read_as_generic_chat(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]))

    (session,) = read_sessions(path)

    assert (session.detection.format, session.detection.score) == ("openai-chat", 0.4)
    assert session.detection.why == "a generic chat: text-only messages with role and content"


def test_a_summary_in_a_plain_list_is_a_boundary_without_originals(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "[CONTEXT SUMMARY]: they greeted"},
        {"role": "assistant", "content": "Hi", "usage": {"prompt_tokens": 50, "completion_tokens": 2}},
    ]
    path.write_text(json.dumps({"messages": messages, "model": "gpt-5"}))

    (session,) = read_sessions(path)

    (boundary,) = session.boundaries
    assert (boundary.position, boundary.summary, boundary.preserved, boundary.originals_in_file) == (1, 1, (0,), False)
    assert session.turns[0].usage is not None
    assert session.turns[0].usage.context_tokens == 50
