"""A PostgreSQL database of an early version, with rows in it, is brought up to date by `migrate`."""

from __future__ import annotations

from pathlib import Path

from tests.integration.machines import machines
from tests.integration.servers import Servers

FILL = """
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone
state = MigrationExecutor(connection).loader.project_state(
    [("agent_sessions", "0003_original_of_a_message"), ("compression", "0003_runs")]
)
model = state.apps.get_model
project = model("agent_sessions", "Project").objects.create(name="Apollo", slug="apollo")
original = model("agent_sessions", "Original").objects.create(sha256="a" * 64, text="two words", size_bytes=9, lines=1)
session = model("agent_sessions", "Session").objects.create(
    project=project, key="k-1", title="The batch", format="made-up", content_sha256="c" * 64, file_size=3,
    detection_score=1.0, source_messages=3, message_count=3, turn_count=1, counted_tokens=9,
    calibration={"k": 1.0, "hidden": 0, "points": 0},
    boundaries=[{"index": 2, "kind": "recorded"}], recorded={}, models=["m-1"],
)
rows = [
    ("user", [{"kind": "text", "text": "Go", "tokens": 1}]),
    ("assistant", [{"kind": "tool_call", "text": "{}", "call_id": "c", "name": "Bash", "tokens": 1}]),
    ("tool", [{"kind": "tool_result", "original": "a" * 64, "call_id": "c", "is_error": True, "tokens": 2}]),
]
for index, (role, parts) in enumerate(rows):
    model("agent_sessions", "Message").objects.create(
        session=session, index=index, role=role, turn=0, tokens=4, parts=parts, flags=[]
    )
run = model("compression", "Run").objects.create(
    project=project, label="chapter", fields={}, policy_digest="d" * 64, engine_version=1, state="running"
)
model("compression", "RunResult").objects.create(run=run, session=session)
"""
LOOK = """
from compression.models import Run, RunResult
from sessions.models import Message, Session
session = Session.objects.get()
print(session.title, session.boundary_count, session.tool_error_count, session.project.slug)
print(list(Message.objects.order_by("index").values_list("original__text", flat=True)))
print(Run.objects.get().queued_at, RunResult.objects.get().claims, RunResult.objects.get().state)
"""


def test_what_an_early_version_stored_is_there_after_the_upgrade(servers: Servers, tmp_path: Path) -> None:
    with machines(servers, tmp_path) as old:
        old.manage("migrate", "agent_sessions", "0003", "--verbosity", "0", "--skip-checks")
        old.manage("migrate", "compression", "0003", "--verbosity", "0", "--skip-checks")
        old.shell(FILL)

        old.manage("migrate", "--verbosity", "0", "--skip-checks")

        assert old.shell(LOOK).splitlines() == [
            "The batch 1 1 apollo",
            "[None, None, 'two words']",
            "None 0 waiting",
        ]
        assert old.manage("migrate", "--plan") == "Planned operations:\n  No planned migration operations.\n"
