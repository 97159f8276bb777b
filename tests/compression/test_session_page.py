from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from compression import replays
from compression.engine.presets import PRESETS
from compression.engine.replay import replay
from compression.engine.summary import summarize
from compression.engine.turns import tabulate
from compression.message_texts import SLICE_LINES
from compression.policies import adopt, save_version
from compression.replays import stored_replay
from compression.session_facts import across
from compression.templatetags.costs import exactly
from compression.transcripts import from_session
from sessions.importers.parsed import ParsedMessage, ParsedTurn, Part
from sessions.models import Project, Session
from sessions.templatetags.figures import percent, short
from tests.compression.sessions import log_text, parsed, store, with_event

NODES = 1_200
"""What the server sends at most; plotly adds up to 300 nodes of its own."""


class Nodes(HTMLParser):
    """Counts the elements of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.count = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count += 1


def page(client: Client, session: Session, query: str = "") -> str:
    response = client.get(session.get_absolute_url() + query)
    assert response.status_code == 200
    return response.content.decode()


def fragment(client: Client, address: str) -> str:
    response = client.get(address, headers={"HX-Request": "true"})
    assert response.status_code == 200
    return response.content.decode()


# what it says


def test_the_facts_are_the_engines(signed_in: Client, project: Project) -> None:
    session = with_event(project)
    subject = from_session(session)
    replayed = replay(subject.transcript, PRESETS["chapter"], subject.calibration)
    summary = summarize(replayed, tabulate(replayed))

    facts = signed_in.get(session.get_absolute_url() + "?policy=chapter").context["facts"]

    assert [(fact.figure, fact.word) for fact in facts] == [
        ("60", "turns"),
        ("60", "tool calls"),
        (f"~{short(summary['peak_before'])}", "peak, estimated"),
        (f"turn {replayed.events[0].turn}", f"passes the trigger, {percent(0.75)}"),
        ("m-1", "100K window"),
        (exactly(summary["hit_rate"]), f"of {short(summary['sent_after'])} input from cache, simulated"),
        (
            percent(summary["session_saved"]),
            f"saved of all tokens sent, {short(summary['sent_before'])}, under chapter",
        ),
        (
            percent(summary["request_saved"]),
            f"saved of the windows at events, {short(summary['request_tokens'])}, under chapter",
        ),
        (
            percent(summary["tool_saved"]),
            f"saved of tool results at events, {short(summary['tool_before'])}, under chapter",
        ),
        (f"{summary['addresses']} / {summary['addresses']}", "addresses resolve, 0 violations"),
    ]


@pytest.mark.parametrize(("figures", "in_a_row"), [(7, 7), (8, 4), (11, 6)])
def test_the_second_row_of_facts_is_as_full_as_the_first(figures: int, in_a_row: int) -> None:
    assert across(figures) == in_a_row


def test_the_diff_before_the_first_event_leads_to_it(signed_in: Client, project: Project) -> None:
    session = with_event(project)
    turn = stored_replay(session, PRESETS["chapter"]).events[0].turn

    html = signed_in.get(session.get_absolute_url() + "?policy=chapter&side=diff&turn=3").content.decode()

    assert "No difference at this turn: the first event is at" in html
    assert f">turn {turn}</a>.</span>" in html


def test_the_diff_of_a_policy_that_never_acts_says_so(signed_in: Client, project: Project) -> None:
    response = signed_in.get(with_event(project).get_absolute_url() + "?policy=none&side=diff")

    assert "The policy never acts here" in response.content.decode()


def test_the_diff_of_a_changed_window_says_no_such_thing(signed_in: Client, project: Project) -> None:
    response = signed_in.get(with_event(project).get_absolute_url() + "?policy=chapter&side=diff")

    assert "gone alike" not in response.content.decode()


def test_only_owners_are_led_to_move_and_delete(signed_in: Client, user: User, project: Project) -> None:
    session = with_event(project)
    path = f"/projects/{project.slug}/sessions/delete/?session={session.pk}"

    before = signed_in.get(session.get_absolute_url()).content.decode()
    project.memberships.filter(user=user).update(role="member")
    after = signed_in.get(session.get_absolute_url()).content.decode()

    assert (path in before, path in after) == (True, False)


def test_the_window_shows_the_engines_tokens_on_both_sides(signed_in: Client, project: Project) -> None:
    session = with_event(project)
    document = stored_replay(session, PRESETS["chapter"])

    strips = signed_in.get(session.get_absolute_url() + "?policy=chapter&turn=59").context["strips"]

    assert [(name, strip.tokens) for name, strip in strips] == [
        ("before", document.table.before[59]),
        ("after", document.table.after[59]),
    ]


def test_the_biggest_eater_is_tokens_times_the_requests_that_held_it(signed_in: Client, project: Project) -> None:
    session = store(parsed(4, lines=40), project)

    eater = signed_in.get(session.get_absolute_url()).context["eaters"][0]

    tokens = session.messages.get(index=2).tokens
    assert (eater["message"], eater["turn"], eater["turns"], eater["sent"]) == (2, 1, 3, 3 * tokens)


def test_a_session_below_the_trigger_says_why_nothing_was_saved(signed_in: Client, project: Project) -> None:
    html = page(signed_in, store(parsed(3), project))

    assert "0 saved: the window peaked at" in html
    assert "never passed the trigger" in html


def test_the_policy_none_says_that_it_never_compresses(signed_in: Client, project: Project) -> None:
    assert "0 saved: this policy never compresses." in page(signed_in, store(parsed(3), project), "?policy=none")


def test_a_session_without_turns_says_so(signed_in: Client, project: Project) -> None:
    empty = parsed(0)

    html = page(signed_in, store(empty, project))

    assert "No model call in this session" in html
    assert 'id="window"' not in html


def test_a_leading_answer_without_usage_or_times_is_shown(signed_in: Client, project: Project) -> None:
    odd = parsed(2, with_times=False)
    odd.messages.insert(0, ParsedMessage("assistant", [Part("text", "I begin")]))
    odd.turns = [
        ParsedTurn(0, 1, 1),
        *(ParsedTurn(t.request_end + 1, t.response_end + 1, t.results_end + 1) for t in odd.turns),
    ]

    html = page(signed_in, store(odd, project), "?turn=2")

    assert "no minutes: the log gives no times, or only one" in html
    assert "I begin" in html


# the address


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ("?turn=3", "turn: the session has turns 0 to 2"),
        ("?turn=-1", "turn: "),
        ("?turn=one", "turn: "),
        ("?turn=99999999999999999999", "turn: "),
        ("?policy=%3Cscript%3E", "policy: there is no policy &#x27;&lt;script&gt;&#x27;"),
        ("?side=left", "side: left is none of them"),
        ("?axis=miles", "axis: miles is none of them"),
        ("?open=x", "open: "),
    ],
)
def test_a_query_that_makes_no_sense_is_a_page_that_says_so(
    signed_in: Client, project: Project, query: str, fault: str
) -> None:
    response = signed_in.get(store(parsed(3), project).get_absolute_url() + query)

    assert response.status_code == 400
    assert fault in response.content.decode()


def test_the_window_alone_comes_to_htmx_and_names_its_address(signed_in: Client, project: Project) -> None:
    session = store(parsed(5), project)

    response = signed_in.get(session.get_absolute_url() + "?turn=2&side=after", headers={"HX-Request": "true"})

    assert response.content.decode().lstrip().startswith('<section id="window"')
    assert response["HX-Replace-Url"] == f"{session.get_absolute_url()}?turn=2&policy=hermes&side=after&axis=turns"


# who may see it


@pytest.mark.parametrize(
    "path", ["", "timeline/", "turns/", "events/", "messages/0/0/", "originals/hermes:abcdef012345/"]
)
def test_whoever_is_not_signed_in_is_sent_to_sign_in(client: Client, project: Project, path: str) -> None:
    response = client.get(store(parsed(2), project).get_absolute_url() + path)

    assert response.status_code == 302
    assert response["Location"].startswith("/signin/")


@pytest.mark.parametrize(
    "path", ["", "timeline/", "turns/", "events/", "messages/0/0/", "originals/hermes:abcdef012345/"]
)
def test_a_session_of_another_project_is_not_found(client: Client, stranger: User, project: Project, path: str) -> None:
    client.force_login(stranger)

    assert client.get(store(parsed(2), project).get_absolute_url() + path).status_code == 404


def test_a_session_is_not_found_under_another_project(
    signed_in: Client, project: Project, other_project: Project
) -> None:
    session = store(parsed(2), project)

    assert signed_in.get(f"/projects/{other_project.slug}/sessions/{session.pk}/").status_code == 404


# policies


def test_the_policy_in_force_is_the_one_that_is_shown(signed_in: Client, project: Project, user: User) -> None:
    session = with_event(project)
    mild = PRESETS["chapter"].model_copy(update={"name": "mild", "trigger_ratio": 0.9})
    adopt(version=save_version(project=project, policy=mild, author=user), by=user)

    response = signed_in.get(session.get_absolute_url())

    assert response.context["state"].policy == mild
    assert response.context["document"].table.after == stored_replay(session, mild).table.after
    assert '<option value="v1" selected>v1 · mild · in force</option>' in response.content.decode()


def test_a_version_is_named_in_the_address(signed_in: Client, project: Project, user: User) -> None:
    session = with_event(project)
    mild = PRESETS["chapter"].model_copy(update={"name": "mild", "trigger_ratio": 0.9})
    save_version(project=project, policy=PRESETS["chapter"], author=user)
    save_version(project=project, policy=mild, author=user, note="later")

    context = signed_in.get(session.get_absolute_url() + "?policy=v2").context

    assert context["state"].policy == mild
    assert context["state"].url() == f"{session.get_absolute_url()}?turn=59&policy=v2&side=both&axis=turns"
    assert context["tune_url"] == f"/projects/apollo/policy/?session={session.pk}&from=v2"
    assert context["compare_url"] == f"/projects/apollo/compare/?session={session.pk}&a=hermes&b=v2"


def test_the_menu_lists_the_newest_versions_and_the_one_that_is_looked_at(
    signed_in: Client, project: Project, user: User
) -> None:
    session = store(parsed(2), project)
    for _ in range(25):
        save_version(project=project, policy=PRESETS["chapter"], author=user)

    groups = signed_in.get(session.get_absolute_url() + "?policy=v2").context["policies"]

    assert [option.key for option in groups[0][1]] == [*(f"v{n}" for n in range(25, 5, -1)), "v2"]
    assert [option.key for _, options in groups[1:] for option in options] == list(PRESETS)


def test_a_version_of_another_project_is_unknown(signed_in: Client, project: Project, other_project: Project) -> None:
    session = store(parsed(2), project)
    save_version(project=other_project, policy=PRESETS["chapter"], author=None)

    assert signed_in.get(session.get_absolute_url() + "?policy=v1").status_code == 400


# what fills the window


@pytest.mark.parametrize(("of", "column"), [("before", "before"), ("after", "after")])
def test_what_fills_the_window_adds_up_to_it_on_both_sides(
    signed_in: Client, project: Project, of: str, column: str
) -> None:
    session = with_event(project)
    document = stored_replay(session, PRESETS["chapter"])

    response = signed_in.get(f"{session.get_absolute_url()}composition/?policy=chapter&of={of}&as=table")

    shares = response.context["fills"]["shares"]
    assert sum(share.tokens for share in shares) == getattr(document.table, column)[59]
    assert response.content.decode().count("<tr><td><i class") == len(shares)


# texts on demand


def test_a_long_text_comes_in_slices_that_join_to_the_whole(signed_in: Client, project: Project) -> None:
    session = store(parsed(2, lines=1_000), project)
    address = f"{session.get_absolute_url()}messages/2/0/"

    pieces, first = [], 0
    while True:
        piece = signed_in.get(f"{address}?first={first}").context["slice"]
        pieces.append(piece.text)
        if not piece.has_more:
            break
        first = piece.end

    assert "".join(pieces) == log_text(0, 1_000)
    assert max(piece.count("\n") for piece in pieces) == SLICE_LINES


def test_an_address_recalls_the_original(signed_in: Client, project: Project) -> None:
    session = with_event(project)
    edit = stored_replay(session, PRESETS["chapter"]).events[0].edits[0]

    response = signed_in.get(f"{session.get_absolute_url()}originals/{quote(edit.address)}/?policy=chapter")

    number = (edit.message - 2) // 2
    assert response.context["slice"].text == log_text(number, 76)


@pytest.mark.parametrize("address", ["hermes:000000000000", "nonsense", "hermes:zz"])
def test_an_address_that_leads_nowhere_is_not_found(signed_in: Client, project: Project, address: str) -> None:
    session = store(parsed(2), project)

    assert signed_in.get(f"{session.get_absolute_url()}originals/{address}/").status_code == 404


@pytest.mark.parametrize("path", ["messages/999/0/", "messages/0/9/", "messages/99999999999999999999/0/"])
def test_a_part_that_is_not_there_is_not_found(signed_in: Client, project: Project, path: str) -> None:
    assert signed_in.get(store(parsed(2), project).get_absolute_url() + path).status_code == 404


def test_the_table_twin_pages_through_all_turns(signed_in: Client, project: Project) -> None:
    session = store(parsed(50, lines=2), project)

    first = signed_in.get(session.get_absolute_url() + "turns/").context["turns_page"]
    second = signed_in.get(f"{session.get_absolute_url()}turns/?first={first.next_first}").context["turns_page"]

    assert [row.turn for row in (*first.rows, *second.rows)] == list(range(50))


# size


def test_queries_do_not_grow_with_the_session(signed_in: Client, project: Project) -> None:
    small = store(parsed(40, lines=60, key="small"), project)
    large = store(parsed(400, lines=60, key="large"), project)

    counts = []
    for session in (small, large):
        for warm_up in (True, False):
            replays._shelf.clear()
            with CaptureQueriesContext(
                connection,
            ) as queries:
                page(signed_in, session, "?policy=chapter")
            if not warm_up:
                counts.append(len(queries))

    assert counts == [9, 9]


@pytest.mark.parametrize(("policy", "exchanges"), [("chapter", 1_000), ("sliding-window", 300)])
def test_a_page_of_thousands_of_messages_stays_small(
    signed_in: Client, project: Project, policy: str, exchanges: int
) -> None:
    session = store(parsed(exchanges, lines=40), project)
    queries = ["", "&side=after", "&side=diff", "&side=before", "&open=200", "&open=590", "&turn=250&open=40"]

    pages = [page(signed_in, session, f"?policy={policy}{query}") for query in queries]

    assert max(Nodes(html).count for html in pages) <= NODES
    assert max(map(len, pages)) <= 250_000


# hostile text


HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:alert(1)) \x1b[31mred \u202egnp.exe"


def test_hostile_text_is_escaped_and_made_visible_everywhere(signed_in: Client, project: Project) -> None:
    hostile = parsed(3)
    hostile.title = HOSTILE
    hostile.models = [HOSTILE]
    hostile.warnings = [HOSTILE]
    hostile.metadata[HOSTILE] = 1
    hostile.skipped[HOSTILE] = 1
    prompt, call, result = hostile.messages[:3]
    prompt.parts[0] = Part("text", HOSTILE)
    call.parts[1] = replace(call.parts[1], name=HOSTILE)
    result.parts[0] = replace(result.parts[0], name=HOSTILE, text=HOSTILE)
    session = store(hostile, project)

    html = page(signed_in, session, "?turn=2") + fragment(signed_in, session.get_absolute_url() + "turns/")
    html += fragment(signed_in, session.get_absolute_url() + "messages/2/0/")

    assert "<script>alert" not in html
    assert "<img src=x" not in html
    assert 'href="javascript:' not in html
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "‹ESC›[31mred ‹U+202E›gnp.exe" in html
