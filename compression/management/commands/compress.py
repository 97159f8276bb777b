"""Compresses the messages in a file once and writes the new array; what left it is kept behind addresses."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from compression.command_line import EngineCommand, add_store, bad_input_exits_with_2, store_of
from compression.dialects.request import DIALECTS, Request
from compression.engine.planner import Known
from compression.engine.policy import load
from compression.engine.snapshots import digest
from compression.engine.stubs import Stubber
from compression.live_window import Outcome, compress_request, edit_place
from compression.message_files import request_of
from compression.snapshot_files import SnapshotFolder
from compression.stub_files import StubFolder, write_whole
from compression.subjects import NoSubject


class Command(EngineCommand):
    help = "Compress a messages array once, whatever its size, and write it to a file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="a JSON array of messages, or a request with one")
        parser.add_argument(
            "--policy", metavar="NAME|FILE", default="hermes", help="a preset, or a .toml or .json file"
        )
        parser.add_argument("--out", type=Path, metavar="FILE", required=True, help="where the new array is written")
        parser.add_argument("--dialect", choices=DIALECTS, help="do not find out what it is written in, read this")
        parser.add_argument("--session", metavar="KEY", help="which request of a file that holds several")
        parser.add_argument("--ladder", action="store_true", help="climb the fallback ladder when it is needed")
        add_store(parser)
        parser.add_argument("--json", action="store_true", help="one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        with bad_input_exits_with_2():
            policy = load(options["policy"])
            request = request_of(options["file"], dialect=options["dialect"], key=options["session"])
            store = store_of(options)
            try:
                known = StubFolder(store)
                outcome = compress_request(
                    request,
                    policy.model_copy(update={"ladder": options["ladder"]}),
                    force=True,
                    known=Known(known.known(_texts(request)), known.original),
                    stubber=Stubber(addresses=store.addresses()),
                )
                _keep(outcome, store, known)
            except OSError as error:
                why = f"{store.folder}: originals cannot be kept there ({error.strerror}); --store names another folder"
                raise NoSubject(why) from None
            try:
                write_whole(options["out"], _whole(request, outcome.body))
            except OSError as error:
                raise NoSubject(f"{options['out']}: cannot be written ({error.strerror})") from None
        document = {
            "before": outcome.before,
            "after": outcome.after,
            "edits": [edit_place(request, edit) for edit in outcome.edits],
            "addresses": outcome.addresses,
            "left": len(outcome.change.left),
            "fits": outcome.fits,
            "alarms": outcome.alarms,
            "dialect": request.dialect,
        }
        if options["json"]:
            self.write_json(document)
        else:
            self.write_shown(as_text(document))


def as_text(document: dict[str, Any]) -> str:
    """The outcome in words."""
    kinds = ", ".join(sorted({edit["kind"] for edit in document["edits"]})) or "nothing"
    lines = [f"{document['before']:,} -> {document['after']:,} tokens; {len(document['edits'])} edits ({kinds})"]
    lines += [f"  {address}" for address in document["addresses"]]
    return "\n".join(lines + [f"alarm: {alarm}" for alarm in document["alarms"]])


def _texts(request: Request) -> set[str]:
    return {digest(part.text) for message in request.messages for part in message.parts if part.text}


def _keep(outcome: Outcome, store: SnapshotFolder, known: StubFolder) -> None:
    """Originals first, then what stands for them."""
    addresses = {edit.sha256: edit.address for edit in outcome.edits if edit.sha256}
    for sha, text in outcome.snapshots.items():
        store.put(text, addresses.get(sha, ""))
    for stub, sha in outcome.stubs.items():
        known.put(stub, sha)


def _whole(request: Request, body: bytes) -> bytes:
    """The array with what stood around it, where the file was nothing but the array."""
    array = request.array
    around = request.raw[: array.start] + request.raw[array.end :]
    return body + b"\n" if around.strip() else request.raw[: array.start] + body + request.raw[array.end :]
