"""The policy of the example project: the chapter's, whose window of 100,000 tokens the story is about."""

from __future__ import annotations

from compression.engine.presets import PRESETS
from compression.models import PolicyVersion
from compression.policies import adopt, save_version
from compression.replays import stored_replay
from sessions.models import Project, Session


def adopt_chapter(project: Project) -> None:
    """Put ``chapter`` in force and work its replays out, so that the first page opens at once.

    Does nothing in a project that has a policy of its own (setting AGENT_SESSIONS_EXAMPLE_LOADED).
    """
    if PolicyVersion.objects.filter(project=project).exists():
        return
    policy = PRESETS["chapter"]
    note = "the chapter's figures, for its window of 100,000 tokens"
    adopt(
        version=save_version(project=project, policy=policy, author=None, note=note, origin="preset chapter"), by=None
    )
    for session in Session.objects.filter(project=project):
        stored_replay(session, policy)
