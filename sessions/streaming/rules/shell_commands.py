"""Every command in a text of shell code, with what flows into it. The text is parsed, never run.

Code in code is followed (``sh -c``, ``eval``, here-documents of shells, echo piped into a shell), at most DEEPEST
levels. Of a text that is still growing the last word is left out, and what is open is closed on a copy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import islice

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from sessions.streaming.rules.shell_words import expanded, source, value_of
from sessions.streaming.rules.wrappers import Words, unwrapped

DEEPEST = 5
LONGEST = 50_000
"""Characters of a command that are looked at."""

MOST_COMMANDS = 2_000
MOST_READ = 4 * LONGEST
"""Characters that one look reads in all, code in code counted at every level."""

MOST_NODES = 300
"""Nodes of one word or pipeline stage that are looked at."""

FARTHEST = 40
"""Levels of the tree that are climbed to see what flows into a command."""

SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "fish"})
INTERPRETERS = SHELLS | {"python", "python3", "node", "perl", "ruby", "php"}
DOWNLOADERS = frozenset({"curl", "wget", "fetch"})

_REDIRECTS = ("herestring_redirect", "heredoc_redirect")
_BRACED_COMMAND = re.compile(r"((?:^|[;&|(\n])[ \t]*)\{([^{}\s'\",]+(?:,[^{}\s'\",]*)+)\}")
_BOUNDARIES = " \t\n;&|)"
_CLOSINGS = ("", '"', "'", ")", "`", "}", " :; }", '")', "')", '`"', ')"', "; done", " :; done", " do :; done", "; fi")
_MORE_CLOSINGS = (" :; fi", " then :; fi", ";; esac", " :;; esac", " x) :;; esac", " in x) :;; esac", '" ; done', "]]")


@dataclass(frozen=True, slots=True)
class Command:
    """One command, its wrappers taken off.

    ``text`` and ``at`` (characters from the field's start) say where it stands. ``flows_in`` are the commands before
    it in its pipeline, ``stdin`` the texts it reads that are known. ``downloads``: a substitution among its words runs
    a download, ``runs_download``: its very name or code is one. ``ended``: no word can follow any more.
    """

    words: Words
    text: str
    at: int
    ended: bool
    stdin: tuple[str, ...] = ()
    flows_in: tuple[Words, ...] = ()
    downloads: bool = False
    writes_to: tuple[str, ...] = ()
    bomb: bool = False
    cut: bool = False
    """No command: says that there was more than a look reads."""

    @property
    def name(self) -> str | None:
        return self.words[0] if self.words else None


@dataclass(slots=True)
class _Budget:
    """What a look may still read, shared by all levels of its code."""

    characters: int = MOST_READ
    commands: int = MOST_COMMANDS

    def allows(self, text: str) -> bool:
        self.characters -= len(text)
        return self.characters >= 0 and self.commands > 0


@dataclass(slots=True)
class _Scan:
    limit: int
    """Bytes of the text that really came."""

    whole: bytes
    final: bool
    shift: int
    depth: int
    budget: _Budget
    found: list[Command] = field(default_factory=list)
    stages: dict[int, tuple[tuple[Words, ...], list[Node]]] = field(default_factory=dict)
    """Commands and redirects of pipeline stages, read once however many commands they flow into."""

    def stage(self, node: Node) -> tuple[tuple[Words, ...], list[Node]]:
        if node.id not in self.stages:
            flows = tuple(unwrapped(_words(self, one)) for one in _below(node, "command"))
            self.stages[node.id] = flows, [one for kind in _REDIRECTS for one in _below(node, kind)]
        return self.stages[node.id]


def commands_in(text: str, *, final: bool) -> list[Command]:
    """The commands of the text; ``final``: nothing more will come."""
    longer, text = len(text) > LONGEST, text[:LONGEST]
    budget = _Budget()
    if final:
        found = _scan(text, "", final=True, shift=0, depth=0, budget=budget)
        return [*found, Command((), "", 0, True, cut=True)] if longer or not budget.allows("") else found
    cut = max(map(text.rfind, _BOUNDARIES)) + 1
    text = text[:cut]
    if not text.strip():
        return []
    closing = _closing(text)
    return [] if closing is None else _scan(text, closing, final=False, shift=0, depth=0, budget=budget)


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


def _parse(text: str) -> Node:
    """The tree; the grammar takes ``{rm,-rf,x}`` for a group, so the words that it becomes are put there, as long."""
    text = _BRACED_COMMAND.sub(lambda found: f"{found[1]} {found[2].replace(',', ' ')} ", text)
    return _parser().parse(text.encode("utf-8", "replace")).root_node


def _closing(text: str) -> str | None:
    """What closes the text without an error; None where nothing tried does."""
    heredocs = tuple(f"\n{word}\n" for word in _pending_heredocs(text))
    for closing in (*heredocs, *_CLOSINGS, *_MORE_CLOSINGS):
        if not _parse(text + closing).has_error:
            return closing
    return None


def _pending_heredocs(text: str) -> list[str]:
    start = text.rfind("<<")
    if start < 0 or text[start : start + 3] == "<<<" or "\n" not in text[start:]:
        return []
    word = text[start + 2 :].lstrip("-").split(None, 1)
    name = word[0].strip("'\"\\").rstrip(";|&)") if word else ""
    return [name] if name.replace("_", "").isalnum() else []


def _scan(text: str, closing: str, *, final: bool, shift: int, depth: int, budget: _Budget) -> list[Command]:
    if not budget.allows(text):
        return []
    whole = text.encode("utf-8", "replace")
    scan = _Scan(len(whole), whole, final, shift, depth, budget)
    for place in _places(_parse(text + closing)):
        node = place.node
        if budget.commands <= 0:
            break
        if node.start_byte >= scan.limit:
            continue
        if node.type == "command":
            _add(scan, place)
        elif node.type == "function_definition":
            _add_bomb(scan, node)
        elif node.type == "redirected_statement":
            _add_redirect(scan, node)
    return scan.found


@dataclass(frozen=True, slots=True)
class _Place:
    """A node with its way to the root, which the tree itself would search anew for every question."""

    node: Node
    above: _Place | None = None
    siblings: tuple[Node, ...] = ()
    index: int = 0


def _places(root: Node) -> Iterator[_Place]:
    """Every named node in the order of the text, without recursion: nesting is the stranger's choice."""
    waiting = [_Place(root)]
    while waiting:
        place = waiting.pop()
        yield place
        inner = tuple(place.node.named_children)
        waiting.extend(_Place(inner[n], place, inner, n) for n in reversed(range(len(inner))))


def _nodes(root: Node) -> Iterator[Node]:
    return (place.node for place in _places(root))


def _words(scan: _Scan, node: Node) -> list[str | None]:
    """Values of the words that are complete."""
    name = node.child_by_field_name("name")
    words: list[str | None] = []
    for word in ([name] if name else []) + node.children_by_field_name("argument"):
        if not scan.final and word.end_byte >= scan.limit:
            break
        value = value_of(word)
        words += [None] if value is None else expanded(value, source(word))
    return words


def _add(scan: _Scan, place: _Place) -> None:
    node = place.node
    scan.budget.commands -= 1
    raw = _words(scan, node)
    words = unwrapped(raw)
    if not words:
        return
    before = _before(place)
    flows = tuple(flow for stage in before for flow in scan.stage(stage)[0])
    redirects = [one for stage in before for one in scan.stage(stage)[1]]
    stdin = list(_stdin(scan, [*_own_redirects(place), *redirects]))
    stdin += [" ".join(word or "" for word in flow[1:]) for flow in flows if flow and flow[0] in ("echo", "printf")]
    at = scan.shift + len(scan.whole[: node.start_byte].decode("utf-8", "replace"))
    downloads = any(_downloads(child) for child in node.named_children if child.end_byte <= scan.limit)
    command = Command(words, source(node), at, _ended(scan, node), tuple(stdin), flows, downloads)
    scan.found.append(command)
    if scan.depth < DEEPEST:
        for code in _codes(command, raw):
            # Code in code is closed with the word that holds it.
            scan.found += _scan(code, "", final=True, shift=at, depth=scan.depth + 1, budget=scan.budget)
        for inner in _inner(command):
            scan.found.append(Command(inner, command.text, at, command.ended))


def _codes(command: Command, raw: list[str | None]) -> Iterator[str]:
    """Texts that the command runs as shell code."""
    words, name = command.words, command.name
    rest = [word or "" for word in words[1:]]
    if name in SHELLS or name == "su":
        for place, word in enumerate(rest[:-1]):
            if (word.startswith("-") and not word.startswith("--") and word.endswith("c")) or word == "--command":
                yield rest[place + 1]
                break
    elif name == "eval":
        yield " ".join(rest)
    elif name == "ssh" and len(rest) > 1:
        place = 0
        while place < len(rest) and rest[place].startswith("-"):
            place += 2 if rest[place][-1] in "bcDEeFIiJLlmOopQRSWw" else 1
        yield " ".join(rest[place + 1 :])
    elif name == "trap" and len(rest) > 1:
        yield rest[0]
    elif name == "env":
        for place, word in enumerate(rest):
            if word in ("-S", "--split-string"):
                yield " ".join(rest[place + 1 :])
            elif word.startswith(("-S", "--split-string=")):
                yield " ".join([word.removeprefix("--split-string=").removeprefix("-S"), *rest[place + 1 :]])
    if name in SHELLS or name == "ssh":
        yield from command.stdin


def _inner(command: Command) -> Iterator[Words]:
    """Commands that ``find`` or ``fd`` runs."""
    if command.name not in ("find", "fd"):
        return
    words = command.words
    for place, word in enumerate(words):
        if word in ("-exec", "-execdir", "-ok", "-okdir", "-x", "--exec", "-X", "--exec-batch"):
            rest = words[place + 1 :]
            end = next((n for n, one in enumerate(rest) if one in (";", "+")), len(rest))
            if rest[:end]:
                # What find fills in is known as little as an expansion.
                yield unwrapped([None if one == "{}" else one for one in rest[:end]])


def _ended(scan: _Scan, node: Node) -> bool:
    if scan.final:
        return True
    rest = scan.whole[node.end_byte : scan.limit].lstrip(b" \t")
    return rest[:1] in (b";", b"&", b"|", b")", b"\n", b"`", b"}") and bool(rest)


def _before(place: _Place) -> list[Node]:
    """Stages of pipelines whose output flows into this command."""
    found: list[Node] = []
    for _ in range(FARTHEST):
        above = place.above
        if above is None or above.node.type in ("program", "command_substitution", "process_substitution"):
            break
        if above.node.type == "pipeline":
            found += place.siblings[max(0, place.index - FARTHEST) : place.index]
        elif above.node.type == "heredoc_redirect" and above.above is not None:
            # The grammar hangs what follows "<<E |" below the here-document.
            found += [*above.above.node.children_by_field_name("body"), above.node]
        place = above
    return found[:FARTHEST]


def _below(node: Node, kind: str) -> list[Node]:
    if node.type == "heredoc_redirect":
        return [node] if kind == node.type else []
    return [one for one in islice(_nodes(node), MOST_NODES) if one.type == kind]


def _own_redirects(place: _Place) -> list[Node]:
    redirects = [child for child in place.node.named_children if child.type in _REDIRECTS]
    if place.above is not None and place.above.node.type == "redirected_statement":
        redirects += place.above.node.children_by_field_name("redirect")
    return redirects


def _stdin(scan: _Scan, redirects: list[Node]) -> Iterator[str]:
    """Texts of here-strings and here-documents."""
    for redirect in redirects:
        if redirect.type not in _REDIRECTS or (not scan.final and redirect.end_byte >= scan.limit):
            continue
        for child in redirect.named_children:
            if redirect.type == "herestring_redirect":
                yield value_of(child) or ""
            elif child.type == "heredoc_body":
                yield source(child)


def _downloads(node: Node) -> bool:
    """A substitution in a word runs a download."""
    return any(
        one.type == "command"
        and (name := one.child_by_field_name("name")) is not None
        and (value_of(name) or "").rsplit("/", 1)[-1] in DOWNLOADERS
        for one in islice(_nodes(node), MOST_NODES)
    )


def _add_redirect(scan: _Scan, node: Node) -> None:
    targets = []
    for redirect in node.children_by_field_name("redirect"):
        target = redirect.child_by_field_name("destination")
        if target is None or not any(child.type in (">", ">>", ">|", "&>", "&>>") for child in redirect.children):
            continue
        if scan.final or target.end_byte < scan.limit:
            targets.append(value_of(target) or "")
    if targets:
        at = scan.shift + len(scan.whole[: node.start_byte].decode("utf-8", "replace"))
        scan.found.append(Command((), source(node), at, True, writes_to=tuple(targets)))


def _add_bomb(scan: _Scan, node: Node) -> None:
    """A function that pipes itself into itself in the background."""
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None or body is None:
        return
    for pipeline in _nodes(body):
        if pipeline.type == "pipeline" and pipeline.end_byte < scan.limit:
            itself = [source(child) for child in pipeline.named_children].count(source(name))
            if itself >= 2 and scan.whole[pipeline.end_byte :].lstrip().startswith(b"&"):
                at = scan.shift + len(scan.whole[: node.start_byte].decode("utf-8", "replace"))
                scan.found.append(Command((), source(node), at, True, bomb=True))
                return
