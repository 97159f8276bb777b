"""Walks a session under a policy and says what it would have saved, turn by turn."""

from __future__ import annotations

from argparse import ArgumentParser
from time import perf_counter
from typing import Any

from compression.command_line import EngineCommand, add_subject, bad_input_exits_with_2, replay_of, turn_of
from compression.engine.document import replay_document


class Command(EngineCommand):
    help = "Replay a session file or a stored session under a policy."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_subject(parser)
        parser.add_argument("--turn", type=int, metavar="N", help="only this turn's row")
        parser.add_argument("--json", action="store_true", help="one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        started = perf_counter()
        with bad_input_exits_with_2():
            done, name = replay_of(options)
            turn = turn_of(done, options["turn"])
        document = replay_document(done, session=name, counter=done.stubber.counter.name, turn=turn)
        if options["json"]:
            self.write_json(document)
        else:
            self.write_shown(as_text(document))
        self.stderr.write(f"replayed in {1_000 * (perf_counter() - started):.0f} ms", self.style.SUCCESS)


def as_text(document: dict[str, Any]) -> str:
    """A replay in words."""
    summary = document["summary"]
    saved = [
        f"{name.replace('_', ' ')} {100 * value:.1f} %"
        for name in ("session_saved", "request_saved", "tool_saved")
        if (value := summary[name]) is not None
    ]
    lines = [
        f"policy {document['policy']['name']}: {summary['turns']} turns, window {summary['context_window']:,}",
        f"peak {summary['peak_before']:,} -> {summary['peak_after']:,} tokens; {', '.join(saved) or 'nothing saved'}",
        overflow_text(summary),
        cost_text(summary),
    ]
    for event in document["events"]:
        what = f"{len(event['edits'])} blocks, " if event["edits"] else ""
        lines.append(
            f"  turn {event['turn']}: {event['kind']} {event['before']:,} -> {event['after']:,} "
            f"({what}{event['reason']})"
        )
    lines += [f"alarm: {alarm}" for alarm in summary["alarms"]]
    lines.append(
        f"{summary['violations']} violations; {summary['addresses']} addresses, "
        f"{summary['claims']} names and numbers in stubs checked"
    )
    return "\n".join(lines)


def overflow_text(summary: dict[str, Any]) -> str:
    """Where the window would have overflowed, without and with the policy."""

    def at(turn: int | None) -> str:
        return "every turn fits" if turn is None else f"overflows at turn {turn}"

    return f"without compression {at(summary['overflow_turn_none'])}; under the policy {at(summary['overflow_turn'])}"


def cost_text(summary: dict[str, Any]) -> str:
    """Dollars and the prompt cache."""
    rate, cost = summary["hit_rate"], summary["cost_usd"]
    spent = "no price is known for the model" if cost is None else f"${cost}"
    read = "" if rate is None else f"; {100 * rate:.1f} % of the input read from the cache"
    return f"{spent}{read}; {summary['rewrites']} rewrites, {summary['expiries']} expiries of the cached prefix"
