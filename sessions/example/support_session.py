"""A short session of a support assistant with three functions, for the OpenAI chat format. Seven model calls."""

from __future__ import annotations

import json

from sessions.example.outputs import run_report
from sessions.example.script import Call, Exchange, Response

SYSTEM = """You answer questions about orders of the shop. Use the functions; never invent an order number, an \
amount or a date. Amounts are in minor units. If an order belongs to another feed, say so and stop."""


def function(name: str, arguments: dict[str, object], result: object) -> Call:
    """A function call whose result is JSON."""
    return Call(name, arguments, json.dumps(result, indent=1))


def support_session() -> tuple[Exchange, ...]:
    """The plan of the session."""
    order = {
        "number": "HB-24077",
        "feed": "harbour",
        "customer_ref": "C-2093",
        "currency": "EUR",
        "total_minor": 48210,
        "state": "dropped as duplicate",
        "duplicate_of": "AT-31552",
        "dedupe_key": "7c1f09a4be21",
        "history": [
            {"at": f"2025-10-14T02:0{minute}:30Z", "what": what}
            for minute, what in enumerate(("received", "read", "understood", "refused: duplicate key"), start=2)
        ],
    }
    other = {
        "number": "AT-31552",
        "feed": "atlas",
        "customer_ref": "C-2093",
        "currency": "USD",
        "total_minor": 48210,
        "state": "rolled back",
    }
    report = json.loads(run_report(1909, 3, [], rows=4))
    return (
        Exchange(
            0,
            3,
            "Where is my order HB-24077? I paid on Monday.",
            (
                Response("", "", (function("get_order", {"number": "HB-24077"}, order),)),
                Response(
                    "",
                    "",
                    (
                        function("get_order", {"number": "AT-31552"}, other),
                        function("get_batch", {"batch": 2291}, report),
                    ),
                ),
                Response(
                    "Your order HB-24077 arrived, but the import took it for a repeat of another order and did not "
                    "write it. It is not lost: the batch "
                    "2291 is repeated tonight, and 482.10 euros stay reserved until then."
                ),
            ),
        ),
        Exchange(
            5,
            8,
            "And if it is not there tomorrow?",
            (
                Response(
                    "",
                    "",
                    (
                        function(
                            "list_rules",
                            {"topic": "late orders"},
                            {
                                "rules": [
                                    {"id": 7, "text": "An order that is two nights late may be refunded at once."},
                                    {"id": 9, "text": "A refund never exceeds total_minor."},
                                ]
                            },
                        ),
                    ),
                ),
                Response(
                    "Then it is two nights late, and rule 7 lets us refund the 482.10 euros at once. Shall I note "
                    "that for tomorrow morning?"
                ),
            ),
        ),
        Exchange(
            9,
            11,
            "Yes please.",
            (
                Response(
                    "",
                    "",
                    (
                        function(
                            "add_note",
                            {
                                "number": "HB-24077",
                                "text": "If not written by 2025-10-15, refund 48210 EUR cents (rule 7).",
                            },
                            {"note": 5518},
                        ),
                    ),
                ),
                Response("Noted as 5518: if HB-24077 is not written by tomorrow, 482.10 euros are refunded."),
            ),
        ),
    )
