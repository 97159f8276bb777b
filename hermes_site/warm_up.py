"""Loads the tokenizer's vocabulary in the background, while Django starts and files are read.

Loading takes about as long as everything else that an import of one session does, and it
leaves the interpreter free meanwhile.
"""

from __future__ import annotations

from sessions import measures

# The commands that are sure to count.
COUNTING_COMMANDS = frozenset({"ingest"})


def warm_up() -> None:
    measures.prepare(load_vocabulary)


def load_vocabulary() -> None:
    from compression.engine.tokens import ToktokCounter

    ToktokCounter().count_many(["a"])
