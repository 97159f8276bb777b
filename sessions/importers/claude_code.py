"""Claude Code session logs (JSONL): which record belongs to which conversation, and which branch is the live one.

Rebuilds from file order, never by walking parents: a walk from leaf to root loses parallel results.
The structured copy of a result (``toolUseResult``) and progress records are never read as messages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from sessions.importers.assembly import finish
from sessions.importers.claude_thread import WRITTEN_BY_CLIENT, Thread
from sessions.importers.fields import JsonObject, mapping, sequence, string, tally
from sessions.importers.parsed import Detection, ParsedSession
from sessions.importers.reader import Reader

_BOUNDARIES = ("compact_boundary", "microcompact_boundary")


def read(values: Iterator[Any], reader: Reader, detection: Detection) -> list[ParsedSession]:
    """The conversation of the file, then each sub-agent that was recorded in it (older versions)."""
    log = _Log()
    for record in reader.objects(values):
        log.take(record)
    return log.sessions(reader, detection)


class _Log:
    """One file: routes records to threads and remembers just enough of the tree to find forks."""

    def __init__(self) -> None:
        self.main = Thread()
        self.agents: dict[str, Thread] = {}
        self._session_id = ""
        self._agent_of: dict[str, str] = {}
        self._spawned_by: dict[str, str] = {}
        self._seen: set[str] = set()
        self._parents: dict[str, str] = {}
        self._prompts: defaultdict[str, list[str]] = defaultdict(list)
        self._titles: dict[str, str] = {}
        self._summaries: dict[str, str] = {}

    def take(self, record: JsonObject) -> None:
        uuid = string(record.get("uuid"))
        if uuid in self._seen:
            tally(self.main.skipped, "repeated uuid")
            return
        kind = record.get("type")
        is_message = kind in ("user", "assistant")
        thread = self._thread_of(record, uuid) if record.get("isSidechain") is True else self.main
        if uuid and thread is self.main:
            self._parents[uuid] = string(record.get("parentUuid")) or string(record.get("logicalParentUuid"))
        if is_message:
            if not self._session_id:
                self._session_id = string(record.get("sessionId"))
            if not thread.add(record):
                return  # a damaged record does not stand in the way of a whole one with the same uuid
            if kind == "user" and thread is self.main and uuid and _is_prompt(record):
                self._prompts[string(record.get("parentUuid"))].append(uuid)
        elif kind == "system" and record.get("subtype") in _BOUNDARIES:
            thread.add_boundary(record)
        else:
            self._take_metadata(record, kind, thread)
        if uuid:
            self._seen.add(uuid)

    def sessions(self, reader: Reader, detection: Detection) -> list[ParsedSession]:
        main = self._main_session(detection)
        found = [main] if main.messages or not self.agents else []
        for name, thread in self.agents.items():
            agent = ParsedSession("", detection.format, detection, agent="Claude Code", parent=main.key)
            agent.spawned_by = self._spawned_by.get(name, "")
            thread.fill(agent)
            agent.key = f"{main.key}:{name}"
            agent.beginning = f"{main.beginning}:{name}" if main.beginning else ""
            finish(agent, thread.usage())
            found.append(agent)
        first = found[0]
        if first is not main:  # the file of a sub-agent: what belongs to no conversation is kept with the first
            first.metadata.update(main.metadata)
            first.skipped.update(main.skipped)
            first.records += main.records
        first.skipped.update(reader.skipped)
        first.records += reader.skipped.total()
        return found

    def _main_session(self, detection: Detection) -> ParsedSession:
        session = ParsedSession("", detection.format, detection, agent="Claude Code")
        abandoned = self._abandoned()
        if abandoned:
            count = self.main.leave_out(abandoned)
            tally(self.main.skipped, "abandoned branch", count)
            session.warnings.append(
                f"{count} records lie on branches that were left by going back to an earlier prompt; they are left out."
            )
        progress = self.main.metadata["progress/agent_progress"]
        if progress:
            session.warnings.append(
                f"{progress} progress records of sub-agents are left out; import the files in subagents/ to see them."
            )
        self.main.fill(session)
        session.key = self._session_id
        session.title = self._title()
        finish(session, self.main.usage())
        return session

    def _thread_of(self, record: JsonObject, uuid: str) -> Thread:
        name = (
            string(record.get("agentId")) or self._agent_of.get(string(record.get("parentUuid")), "") or uuid or "agent"
        )
        if uuid:
            self._agent_of[uuid] = name
        if name not in self.agents:
            self.agents[name] = Thread()
            prompt = mapping(record.get("message")).get("content")
            if isinstance(prompt, list):
                prompt = string(mapping(prompt[0]).get("text")) if prompt else ""
            self._spawned_by[name] = (
                string(record.get("parentToolUseID"))
                or string(record.get("parent_tool_use_id"))
                or self.main.prompts_of_calls.get(string(prompt), "")
            )
        return self.agents[name]

    def _take_metadata(self, record: JsonObject, kind: object, thread: Thread) -> None:
        name = string(kind)
        detail = record.get("subtype") if name == "system" else mapping(record.get("data")).get("type")
        tally(thread.metadata, f"{name}/{detail}" if isinstance(detail, str) else name)
        if name == "summary":
            self._summaries[string(record.get("leafUuid"))] = string(record.get("summary"))
        elif name in ("ai-title", "custom-title"):
            words = record.get("aiTitle") or record.get("customTitle") or record.get("title")
            if string(record.get("sessionId")) in ("", self._session_id) or not self._session_id:
                self._titles[name] = string(words)

    def _title(self) -> str:
        """A title that was given to this session; a summary may belong to another one, its leaf tells."""
        own = [text for leaf, text in self._summaries.items() if leaf in self._parents]
        return self._titles.get("custom-title") or self._titles.get("ai-title") or (own[-1] if own else "")

    def _abandoned(self) -> set[str]:
        """The uuids below every user prompt that has a sibling prompt nearer to the end of the file."""
        forks = {parent: prompts for parent, prompts in self._prompts.items() if parent and len(prompts) > 1}
        if not forks:
            return set()
        live = self._live_chain()
        children: defaultdict[str, list[str]] = defaultdict(list)
        for uuid, parent in self._parents.items():
            children[parent].append(uuid)
        abandoned: set[str] = set()
        for prompts in forks.values():
            active = next((uuid for uuid in prompts if uuid in live), prompts[-1])
            waiting = [uuid for uuid in prompts if uuid != active]
            while waiting:
                uuid = waiting.pop()
                if uuid not in abandoned and uuid not in live:
                    abandoned.add(uuid)
                    waiting.extend(children[uuid])
        return abandoned

    def _live_chain(self) -> set[str]:
        """The last record and its ancestors; where a parent was never written, the record before it in the file."""
        order = list(self._parents)
        place = {uuid: at for at, uuid in enumerate(order)}
        live: set[str] = set()
        at = len(order) - 1
        while at >= 0 and order[at] not in live:
            live.add(order[at])
            at = place.get(self._parents[order[at]], at - 1)
        return live


def _is_prompt(record: JsonObject) -> bool:
    if record.get("isMeta") is True or record.get("isCompactSummary") is True:
        return False
    content = mapping(record.get("message")).get("content")
    if isinstance(content, str):
        return not content.startswith(WRITTEN_BY_CLIENT)
    blocks = [mapping(block) for block in sequence(content)]
    if any(block.get("type") == "tool_result" for block in blocks):
        return False
    return bool(blocks) and not string(blocks[0].get("text")).startswith(WRITTEN_BY_CLIENT)
