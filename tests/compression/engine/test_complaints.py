"""What users of other agents suffered, each as something that does not happen here. The source of a need stands above
its test (project#number); the need is ours to meet, the code is nobody's but our own.

Not here, because they are not the engine's:

- Breakpoints and dollars belong to the cost figures: anthropics/claude-code#63930, headroomlabs-ai/headroom#2438,
  #2671.
- Byte-faithful requests and cache_control belong to the dialects and the proxy: headroom#1042, PR#2651.
- What a page shows, and when, belongs to the dashboard: OpenHands/OpenHands#17263, openai/codex#43648's status line,
  NousResearch/hermes-agent 1091, 94001, 23798, 74047, 86424, 48404, 70846, 105256, 86234, 44913, 55588.
- Export and import have tests of their own: hermes-agent 119933, 89223, hermes-webui#3133 and the like.
- So have counters (hermes-agent 58784: CJK), compressors (PR 27414: error lines), retention (openclaw PR#128148: what
  is read again after an event), and the policy pages (hermes-agent PR 89399, 919).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from compression.engine.calibration import Calibration
from compression.engine.document import replay_document
from compression.engine.economy import Economy
from compression.engine.invariants import prove
from compression.engine.live import compress_window
from compression.engine.planner import Known
from compression.engine.policy import InvalidPolicy, PinRule, Policy, parse
from compression.engine.presets import PRESETS
from compression.engine.rendering import rendered
from compression.engine.replay import Replay
from compression.engine.snapshots import digest
from compression.engine.transcript import Message, Part
from compression.engine.turns import tabulate
from compression.engine.windows import window_for
from tests.compression.engine.builders import SessionBuilder, run, small_policy, stubber, words


def full(**fields: Any) -> Policy:
    """All that the engine can do, in a window of 4,000 words."""
    return small_policy(**({"ladder": True, "superseded": True} | fields))


def calls(*sizes: int, text: str = "ok") -> SessionBuilder:
    session = SessionBuilder()
    session.system("You are careful.")
    session.user("fix the pool")
    for n, size in enumerate(sizes):
        session.turn(("Bash", words(size, f"r{n}w")), text=text)
    session.turn()
    return session


def crowded() -> SessionBuilder:
    """Rules, a request, and so much that every rung of the ladder is climbed."""
    session = SessionBuilder()
    session.system("You are careful.")
    session.user("# CLAUDE.md\nNever push to main. Always run ruff.", "memory")
    session.user("fix the race in src/pool.py")
    session.turn(("Read", words(90, "pool")), arguments='{"file_path": "/repo/src/pool.py"}')
    session.turn(("todo_write", words(2_250, "todo")))
    session.user("You must not delete the lock file. Now make the tests pass.")
    for n in range(30):
        session.turn(("Bash", words(40, f"a{n}x")), ("Bash", words(30, f"b{n}x")))
    session.turn(("Bash", words(1_400, "big")))
    for n in range(10):
        session.turn(("Bash", words(40, f"c{n}x")), ("Bash", words(30, f"d{n}x")))
    session.turn()
    return session


@cache
def climbed() -> Replay:
    done = run(crowded(), full(recent_tokens=1_560))
    assert {"aggressive", "truncate", "archive"} <= {event.kind for event in done.events}
    return done


def sent(done: Replay, turn: int) -> list[Message]:
    """The messages of a request as a model gets them, what stands for those that left among them."""
    standing = done.standing_at(turn)
    request, note = list(standing.request(turn).indexes()), standing.note(turn)
    messages = [
        replace(
            done.transcript.messages[i],
            parts=tuple(
                replace(part, text=standing.edits[i, j].text) if (i, j) in standing.edits else part
                for j, part in enumerate(done.transcript.messages[i].parts)
            ),
        )
        for i in request
    ]
    if note is not None:
        messages.insert(note.ordinal, Message(-1, note.role, (Part("text", note.text),)))
    return messages


def turns(done: Replay) -> range:
    return range(len(done.windows_after))


def texts(messages: list[Message]) -> str:
    return "\n".join(part.text for message in messages for part in message.parts)


# -- when, how often, on which figures


# anthropics/claude-code#60600, #82131, #72857
def test_a_compressed_window_is_not_full_again_within_three_calls() -> None:
    done = run(calls(*[150] * 80), full(min_reclaim_tokens=500))

    acting = [event.turn for event in done.events if event.changes]
    assert len(acting) >= 3
    assert all(later - earlier > 3 for earlier, later in pairwise(acting))


# anthropics/claude-code#60600: one new output fills the window again
def test_a_new_output_that_would_fill_the_window_again_is_capped_before_it_is_sent() -> None:
    done = run(calls(600, 600, 2_500), full(arrival_limit_tokens=1_000))

    assert [event.kind for event in done.events] == ["arrival"]
    assert done.windows_after[3] < 0.5 * 4_000


# anthropics/claude-code#94481: an event at 12 % of the window, again and again
def test_a_window_is_as_large_as_its_model_and_nothing_happens_far_below_the_trigger() -> None:
    session = calls(*[2_000] * 12)
    session.model = "claude-sonnet-4-5"

    done = run(session, full(context_window="auto"))

    assert done.context_window == window_for("claude-sonnet-4-5").tokens >= 200_000
    assert done.events == ()


# anthropics/claude-code#94481: a session that was longer than the assumed window shows that it is larger
def test_a_recorded_context_beyond_the_table_raises_the_window() -> None:
    assert window_for("unheard-of", peak=310_000).tokens == 310_000


# anthropics/claude-code#78757: never triggers
def test_every_call_over_the_trigger_has_an_event_or_says_why_not() -> None:
    done = run(calls(*[150] * 60), full(), Calibration(hidden=2_000))

    covered = {turn for event in done.events for turn in range(event.turn, event.turn + event.repeats + 1)}
    stopped = next((event.turn for event in done.events if event.kind == "stopped"), len(done.windows_after))
    over = {turn for turn in turns(done) if done.usage(done.windows_after[turn]) > 0.75}
    assert over
    assert {turn for turn in over if turn <= stopped} <= covered


# anthropics/claude-code#31806: an override silently clamped
def test_a_setting_out_of_bounds_is_refused_and_never_clamped() -> None:
    with pytest.raises(InvalidPolicy, match="trigger_ratio: Input should be less than or equal to 1"):
        parse("trigger_ratio = 1.2\n", "mine.toml")
    assert parse("trigger_ratio = 0.97\n", "mine.toml").trigger_ratio == 0.97


# openai/codex#43648: 317,972 on one page and 400,990 in another place
def test_the_figure_that_triggers_is_the_figure_that_is_reported() -> None:
    done = run(calls(*[500] * 8), full(), Calibration(k=1.2, hidden=300))
    document = replay_document(done, session="s", counter="words")

    for event, row in ((e, document["turns"][e.turn]) for e in done.events):
        assert row["tokens"]["after"] == event.after
        assert event.usage_ratio == round(event.before / done.context_window, 6)
    assert document["counter"] == {"encoding": "words", "k": 1.2, "hidden": 300, "basis": "none"}


# openai/codex#24779: anywhere from 70 % to 98 %
@pytest.mark.parametrize("size", [40, 90, 130, 310])
def test_an_event_comes_with_the_first_call_over_the_trigger(size: int) -> None:
    done = run(calls(*[size] * 80), full(min_result_tokens=20, min_reclaim_tokens=0))

    first = done.events[0]
    assert first.usage_ratio > 0.75
    assert done.usage(done.windows_after[first.turn - 1]) <= 0.75


# aaif-goose/goose#11072: looked at only when the user's turn was over
def test_a_long_run_of_tools_is_looked_at_before_every_call() -> None:
    done = run(calls(*[400] * 40), full())

    assert all(map(done.fits, turns(done)))


# langchain-ai/langchain#34664: tools and system prompt not counted; hermes-agent 27566: counted twice
def test_what_the_log_does_not_hold_counts_once() -> None:
    done = run(calls(*[400] * 4), full(), Calibration(hidden=1_500))

    assert [window - 1_500 for window in done.windows_before] == list(run(calls(*[400] * 4), full()).windows_before)
    assert done.events[0].before == done.windows_before[done.events[0].turn] > 3_000


# diegosouzapw/OmniRoute PR#8599, openai/codex#33493: base64 counted as text
def test_a_picture_costs_what_its_provider_says_and_stays_itself() -> None:
    session = SessionBuilder()
    picture = Part("media", media_type="image/png", size=900_000, sha256="ab", width=750, height=1_000)
    session.add("user", Part("text", "look"), picture)
    session.turn(("Bash", "ok"))
    session.turn()

    done = run(session, full())

    assert done.transcript.counts[0][1] == 1_000
    assert done.events == ()


# OpenHands/OpenHands#7023: input and answer together over the limit
def test_room_for_the_answer_is_part_of_what_must_fit() -> None:
    done = run(calls(*[400] * 20), full(reserve_output=800, trigger_ratio=1.0))

    assert done.events != ()
    assert all(done.windows_after[turn] + 800 <= 4_000 for turn in turns(done))


# hermes-agent 10617: tools were half of the prompt and nobody saw it
def test_every_call_says_what_its_tokens_are() -> None:
    done = run(calls(*[400] * 4), full(), Calibration(hidden=1_500))
    table = tabulate(done)

    for turn in turns(done):
        assert sum(column[turn] for column in table.sources_after.values()) + table.hidden == table.after[turn]


# hermes-agent 10295: which policy ran?
def test_a_result_names_its_policy_and_all_its_settings() -> None:
    policy = full(name="mine")
    document = replay_document(run(calls(400), policy), session="s", counter="words")

    assert document["policy"] == {"name": "mine", "digest": policy.digest, "history": "uncompacted"}


# -- loops


# openai/codex#13279, PR#23585: what was read back is compressed again, and read back again
def test_what_an_agent_recalled_stays_while_it_works_with_it() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", words(1_000)))
    session.turn(("mcp__hermes__recall", words(900, "back")))
    session.turn(("Bash", words(800, "a")))
    session.turn(("Bash", words(800, "b")))
    session.turn()

    done = run(session, full())

    assert done.events != ()
    assert 4 not in {edit.message for event in done.events for edit in event.edits}


# openai/codex#13279; hermes-agent 58745, 53008, 98722, 114689: 245 messages become 243
def test_three_events_without_progress_stop_and_raise_an_alarm() -> None:
    policy = full(context_window=10_000, trigger_ratio=0.5, target_ratio=0.45, recent_tokens=130, min_reclaim_tokens=0)

    done = run(calls(*[120] * 20), policy, Calibration(hidden=4_500))

    assert [event.kind for event in done.events][-1] == "stopped"
    assert len(done.alarms) == 1


# OpenHands/OpenHands#8630, #9023, #10873: endless condensation, "forgetting 0 events"
def test_an_event_without_progress_is_none() -> None:
    session = calls(*[30] * 150)
    session.add("user", Part("text", words(4_100, "huge")))
    session.turn()

    done = run(session, full())

    assert all(event.reclaimed > 0 for event in done.events if event.changes)
    assert [event.kind for event in done.events].count("incompressible") == 1


# itayinbarr/little-coder#68: "nothing to compact" ends the session
def test_where_nothing_can_be_compressed_the_session_goes_on_and_says_so() -> None:
    done = run(calls(3_500, 10, 10), full(pins=(PinRule(tool="*", reason="all"),)))

    assert len(done.windows_after) == 4
    assert {event.kind for event in done.events} == {"skip"}
    assert done.events[0].reason in ("everything is sacred", "nothing left to compress")


# google-gemini/gemini-cli#14766: over the limit and refuses to compress
def test_a_window_over_the_limit_ends_under_it_or_is_said_not_to_fit() -> None:
    for session in (crowded(), calls(*[900] * 3, 3_000), calls(*[30] * 200), calls(4_500)):
        done = run(session, full(recent_tokens=1_560))
        told = {t for e in done.events if e.kind == "incompressible" for t in range(e.turn, e.turn + e.repeats + 1)}

        assert {turn for turn in turns(done) if not done.fits(turn)} == told


# google-gemini/gemini-cli#4442, #3984, PR#7047: "compressed" 905,405 -> 1,811,387
def test_no_event_leaves_a_larger_window() -> None:
    assert all(event.after < event.before for event in climbed().events if event.changes)


# hermes-agent 7955: success reported where nothing was done
def test_what_was_skipped_reports_nothing_freed() -> None:
    done = run(calls(150, 2_950, 20), full(recent_tokens=3_000, min_reclaim_tokens=3_000))

    (event,) = done.events
    assert (event.kind, event.reclaimed, event.changes) == ("skip", 0, False)


# -- what must not be lost


# openai/codex#31822, #36642: compaction silently drops everything
def test_after_every_event_head_pins_and_the_newest_messages_are_there() -> None:
    done = climbed()
    messages = done.transcript.messages

    for event in done.events:
        held = {m.index: m for m in sent(done, event.turn)}
        newest = done.course.windows[event.turn].end - 1
        assert [held[i] for i in (0, 1, 2, 3)] == list(messages[:4])
        assert held[newest] == messages[newest]
        assert held[6] == messages[6]  # the pinned list


# anthropics/claude-code#6354, #19471, #68636, #19736: the rules of CLAUDE.md are lost
def test_instructions_stay_byte_for_byte_through_every_rung() -> None:
    done = climbed()

    rules = done.transcript.messages[1]
    assert all(rules in sent(done, turn) for turn in turns(done))


# anthropics/claude-code#22376: the last request is partly lost
def test_the_latest_request_stays_word_for_word_through_every_rung() -> None:
    done = climbed()

    request = done.transcript.messages[7]
    assert request.role == "user"
    assert all(request in sent(done, turn) for turn in turns(done) if done.course.windows[turn].end > 7)


# anthropics/claude-code#15258; hermes-agent 84718, PR 96869, evolution#1657, #362: constraints are forgotten
def test_constraints_are_in_the_window_after_an_archive() -> None:
    done = climbed()

    turn = next(event.turn for event in done.events if event.kind == "archive")
    told = texts(sent(done, turn))
    for constraint in ("Never push to main.", "You must not delete the lock file."):
        assert constraint in told
    note = done.note_at(turn)
    assert note is not None
    assert "Never push to main." in note.text


# vshulcz/deja-vu#3453: 28 actions until the first edit after a compaction
def test_a_new_window_says_what_the_work_is_at() -> None:
    session = crowded()
    done = run(session, full(recent_tokens=1_560))

    note = next(event.note for event in done.events if event.kind == "archive")
    assert note is not None
    titles = [line for line in note.text.split("\n") if line.endswith(":") or "newest first" in line]
    assert {"Goal:", "Latest requests:", "Constraints:", "Last calls, oldest first:"} <= {*titles}
    assert "/repo/src/pool.py" in note.text


# hermes-agent 113537, 11475: a stale task comes back as if it were the current one
def test_the_state_of_the_work_is_in_the_words_of_the_session() -> None:
    done = climbed()

    note = next(event.note for event in done.events if event.kind == "archive")
    assert note is not None
    said = texts(list(done.transcript.messages))
    lines = note.text.split("\n")
    at = lines.index("Latest requests:")
    assert lines[at + 1].removeprefix("- ") in said


# openai/codex#42393, #31742; hermes-agent 29559, 12131, 79391: the model that should summarise fails
def test_no_rung_needs_a_model() -> None:
    assert PRESETS["hermes"].summaries == "extractive"
    assert prove(climbed()).violations == ()


# hermes-agent PR 89208: the summary reads what was pruned before
def test_the_snapshot_of_what_left_holds_the_originals_and_not_their_stubs() -> None:
    done = climbed()

    stubbed = {edit.message for event in done.events for edit in event.edits if edit.kind == "stub"}
    event = next(event for event in done.events if stubbed.intersection(event.left))
    text = rendered(done.transcript.messages[i] for i in event.left)
    left = stubbed.intersection(event.left)
    assert all(part.text in text for i in left for part in done.transcript.messages[i].parts)


# -- calls and results, signed blocks, order


def _parted(messages: list[Message]) -> Iterator[str]:
    """Calls without a result right behind them and results without a call right before them."""
    for at, message in enumerate(messages):
        asked = [part.call_id for part in message.parts if part.kind == "tool_call"]
        behind = messages[at + 1 : at + 1 + len(asked)]
        answered = [part.call_id for other in behind for part in other.parts if part.kind == "tool_result"]
        if asked != answered:
            yield from asked
        if message.role == "tool":
            before = next(m for m in reversed(messages[:at]) if m.role != "tool")
            called = [part.call_id for part in before.parts if part.kind == "tool_call"]
            yield from (part.call_id for part in message.parts if part.call_id not in called)


# openclaw/openclaw#4739, #8525: an orphan result ends the session
# langchain-ai/langchain#38352, #34282, deepagents#270: a cut goes through parallel calls
# earendil-works/pi#8667: a note lands inside a pair, calls later
def test_at_no_call_is_a_result_without_its_call_or_a_note_between_them() -> None:
    done = climbed()

    assert [list(_parted(sent(done, turn))) for turn in turns(done)] == [[] for _ in turns(done)]


# anomalyco/opencode#41738, PR#14393; claude-code#12362: "thinking blocks cannot be modified"; openclaw#90108, #97645:
# stale signatures sent again
def test_signed_and_opaque_blocks_stay_as_they_are_and_where_they_are() -> None:
    session = SessionBuilder()
    session.user()
    for n in range(30):
        session.turn(("Bash", words(60, f"r{n}w")), text=words(60, f"t{n}x"))
        call = session.messages[-2]
        own = (Part("thinking", words(30, f"h{n}x"), signature=f"s{n}"), Part("opaque", size=200), *call.parts)
        session.messages[-2] = replace(call, parts=own)
    session.turn()

    done = run(session, full(clear_thinking=True, max_argument_tokens=50))

    assert done.events != ()
    for turn in turns(done):
        messages = [m for m in sent(done, turn) if m.index >= 0]
        assert [m.index for m in messages] == sorted(m.index for m in messages)
        for message in messages:
            logged = done.transcript.messages[message.index].parts
            assert [p for p in message.parts if p.signature or p.kind == "opaque"] == [
                p for p in logged if p.signature or p.kind == "opaque"
            ]


# -- the prompt cache


# ranxianglei/opencode-acp PR#26; Tarquinen/opencode-dynamic-context-pruning#410; yvgude/lean-ctx#448: something changes
# within the prefix at every call
def test_between_events_every_request_begins_with_the_one_before() -> None:
    done = climbed()

    acting = {event.turn for event in done.events if event.changes}
    quiet = [turn for turn in turns(done) if turn and turn not in acting]
    assert len(quiet) > len(acting)
    for turn in quiet:
        before = sent(done, turn - 1)
        assert sent(done, turn)[: len(before)] == before


# headroomlabs-ai/headroom#3379: recompressed in the background, hit rate 90 % -> 52 %
def test_a_block_once_sent_as_a_stub_is_never_compressed_better_later() -> None:
    done = run(calls(*[300] * 60), full(ladder=False))

    places = [(edit.message, edit.part) for event in done.events for edit in event.edits]
    assert len([event for event in done.events if event.edits]) > 3
    assert len(places) == len({*places})


# anomalyco/opencode#32515: cached 219k -> 0, dearer for a smaller request
def test_an_event_that_does_not_pay_back_is_not_made_while_the_window_is_safe() -> None:
    dear = Economy(lambda prospect: 60.0, lambda turn: False)

    done = run(calls(1_000, 1_000, 1_000, 20), full(dollar_gate=True), economy=dear)

    assert [event.kind for event in done.events] == ["skip"]


# hermes-agent 91830: what an event does to the cache is not shown
def test_an_event_says_what_of_the_cached_prefix_survives_it() -> None:
    done = run(calls(300, 1_200, 700, 900), full())

    (event,) = done.events
    before, after = sent(done, event.turn - 1), sent(done, event.turn)
    same = next(n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b)
    assert event.first_changed_message == before[same].index
    assert 0 < event.cache_prefix_survival < 1


# esengine/DeepSeek-Reasonix PR#3968: early folding costs more, but nothing while the cache is cold
def test_an_event_comes_early_when_the_cache_is_cold_anyway() -> None:
    idle = Economy(lambda prospect: None, lambda turn: turn == 3)

    done = run(calls(1_000, 1_000, 500), full(prefer_idle=True), economy=idle)

    assert [(event.turn, event.reason) for event in done.events] == [(3, "the cache is cold")]


# -- originals


# headroom PR#2703 (#2694), #1209: the store held markers instead of originals; hermes-agent PR 70730
def test_what_is_handed_out_to_be_kept_are_originals_by_their_own_hash() -> None:
    session = calls(1_500, 1_000, 1_000)
    done = compress_window(session.build(), full(), Calibration(), stubber=stubber())

    originals = {part.text for message in session.messages for part in message.parts}
    assert done.snapshots
    for sha, text in done.snapshots.items():
        assert digest(text) == sha
        assert text in originals


# headroom#3544: markers break JSON
def test_shortened_arguments_are_json_with_their_keys() -> None:
    session = SessionBuilder()
    session.user()
    session.turn(("Bash", "ok"))
    for n in range(4):
        arguments = json.dumps({"file_path": f"/a{n}.py", "content": 'say "x"\\\n' * 400 + words(600, f"a{n}x")})
        session.turn(("Write", "done"), arguments=arguments)
    session.turn(("Bash", words(400)))
    session.turn()

    edits = [e for event in run(session, full(max_argument_tokens=100)).events for e in event.edits]

    assert {edit.kind for edit in edits} == {"arguments"}
    assert all({*json.loads(edit.text)} == {"file_path", "content"} for edit in edits)


# headroom#2836: foreign markers adopted by their shape
def test_a_marker_that_nobody_here_wrote_is_text_like_any_other() -> None:
    marker = "[compressed log · 90 lines · 900 -> 90 tokens · original hermes:0123456789ab]\n"
    session = calls(1_000, 1_200)
    session.messages[3] = replace(
        session.messages[3], parts=(replace(session.messages[3].parts[0], text=marker + words(1_200, "f")),)
    )

    strange = run(session, full(context_window=3_000))
    own = run(session, full(context_window=3_000), known=Known({digest(marker + words(1_200, "f")): "0" * 64}))

    assert 3 in {edit.message for event in strange.events for edit in event.edits}
    assert 3 not in {edit.message for event in own.events for edit in event.edits}


# NousResearch/hermes-agent#101648: unchanged files read again and again; 90949, 112763, 84857: "unchanged" after the
# content was pruned
def test_a_result_that_was_read_again_points_at_the_newer_one_which_stays() -> None:
    session = SessionBuilder()
    session.user()
    file = words(900, "file")
    for _ in range(3):
        session.turn(("Read", file), arguments='{"file_path": "/repo/pool.py"}')
    session.turn(("Bash", words(300)))
    session.turn()

    done = run(session, full())

    (event,) = done.events
    assert [(edit.message, edit.kind) for edit in event.edits] == [(4, "superseded"), (2, "superseded")]
    assert file in texts(sent(done, event.turn))


# hermes-agent 118360: shortened arguments are not among what was counted
def test_every_change_is_counted_arguments_too() -> None:
    session = calls(700)
    for n in range(3):
        arguments = json.dumps({"file_path": f"/a{n}.py", "content": words(700, f"a{n}x")})
        session.turn(("Write", words(120, f"w{n}x")), arguments=arguments, text=words(400, f"t{n}x"))
    session.turn()
    done = run(session, full(max_argument_tokens=100))

    assert {"stub", "arguments"} <= {edit.kind for event in done.events for edit in event.edits}
    for turn in turns(done):
        held = sent(done, turn)
        changed = {m.index for m in held if m.index >= 0 and m != done.transcript.messages[m.index]}
        edited = {edit.message for event in done.events if event.turn <= turn for edit in event.edits}
        assert changed == edited & {m.index for m in held}
    freed = sum(event.reclaimed for event in done.events)
    assert done.windows_before[-1] - done.windows_after[-1] == freed


# hermes-agent 92570: a preview that really compresses
def test_a_preview_changes_nothing_in_the_session() -> None:
    transcript = crowded().build()
    before = digest(repr(transcript))

    compress_window(transcript, full(), Calibration(), stubber=stubber(), force=True)

    assert digest(repr(transcript)) == before


# hermes-agent 108647, 61932: the tail is six times over its budget, or alone larger than the window
def test_a_recent_zone_over_its_budget_says_why_and_gives_way_when_it_alone_is_too_large() -> None:
    over = run(calls(400, 1_000), full(recent_tokens=300))
    assert over.zones_at(2).overrun_reason == "the newest message alone has 1,004 tokens; the budget is 300"

    session = SessionBuilder()
    session.user()
    session.turn(("Bash", "ok"))
    session.turn(*[("Bash", words(700, f"s{n}x")) for n in range(6)])
    session.turn()
    alone = run(session, full(recent_tokens=5_000))
    assert [event.kind for event in alone.events] == ["rezone"]
    assert alone.fits(2)
