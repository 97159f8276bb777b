"""What the engine's commands share: their options, one JSON document on stdout, exit status 2 for bad input."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from compression.engine.policy import InvalidPolicy, Policy, UnknownPolicy, load
from compression.engine.replay import Replay, replay
from compression.engine.snapshots import BadSlice, UnknownAddress
from compression.engine.stubs import Stubber
from compression.snapshot_files import SnapshotFolder
from compression.subjects import NoSubject, is_stored, subject_of
from sessions.importers.parsed import ImportFailure
from sessions.terminal import TerminalCommand


class EngineCommand(TerminalCommand):
    """A command that works without a server, and on files without a database."""


@contextmanager
def bad_input_exits_with_2() -> Iterator[None]:
    """Turns every known complaint about input into one line and exit status 2."""
    try:
        yield
    except (NoSubject, UnknownPolicy, InvalidPolicy, UnknownAddress, BadSlice) as complaint:
        raise CommandError(str(complaint), returncode=2) from None
    except ImportFailure as failure:
        raise CommandError(failure.sentences, returncode=2) from None


def add_subject(parser: ArgumentParser) -> None:
    """FILE or SESSION_ID, and which session of it, under which policy."""
    parser.add_argument("target", metavar="FILE|SESSION_ID", help="a session file, or the number of a stored session")
    parser.add_argument("--session", metavar="KEY", help="which session of a file that holds several")
    parser.add_argument("--format", metavar="NAME", help="do not detect the format, read this one")
    parser.add_argument("--policy", metavar="NAME|FILE", default="hermes", help="a preset, or a .toml or .json file")
    parser.add_argument("--history", choices=["uncompacted", "as-recorded"], default="uncompacted")
    add_store(parser)


def add_store(parser: ArgumentParser) -> None:
    """Where originals of files are kept."""
    parser.add_argument("--store", type=Path, metavar="DIR", help="folder of originals (default: in HERMES_DATA_DIR)")


def store_of(options: dict[str, Any]) -> SnapshotFolder:
    """The folder of originals that the options name."""
    return SnapshotFolder(options["store"] or Path(settings.HERMES_DATA_DIR) / "snapshots")


def replay_of(options: dict[str, Any]) -> tuple[Replay, str]:
    """The replay that the options ask for, and the session's name; originals of a file's stubs are stored first."""
    policy: Policy = load(options["policy"])
    subject = subject_of(options["target"], key=options["session"], format_name=options["format"])
    if is_stored(options["target"]):
        done = replay(
            subject.transcript, policy, subject.calibration, history=options["history"], prices=subject.prices
        )
        return done, subject.name
    store = store_of(options)
    stubber = Stubber(addresses=store.addresses())
    done = replay(subject.transcript, policy, subject.calibration, history=options["history"], stubber=stubber)
    try:
        for event in done.events:
            for edit in event.edits:
                if edit.kind == "stub":
                    store.put(done.transcript.messages[edit.message].parts[edit.part].text, edit.address)
    except OSError as error:
        why = f"{store.folder}: originals cannot be kept there ({error.strerror}); --store DIR names another folder"
        raise NoSubject(why) from None
    return done, subject.name


def turn_of(done: Replay, number: int | None) -> int | None:
    """A turn that exists, or a complaint that names the range."""
    if number is not None and not 0 <= number < len(done.transcript.turns):
        last = len(done.transcript.turns) - 1
        raise NoSubject(f"there is no turn {number}; this session has " + (f"0-{last}" if last >= 0 else "no turns"))
    return number
