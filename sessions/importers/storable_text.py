"""Text as every database takes it, and as it is counted: no NUL character, no lone surrogate.

A NUL becomes U+2400 (the picture of it) and a lone surrogate U+FFFD, so that what was there stays
visible. Nothing else of a session's text is ever changed.
"""

from __future__ import annotations

from dataclasses import replace

from sessions.importers.parsed import ParsedMessage, ParsedSession, Part

_MESSAGE_NAMES = ("source_id", "response_id", "model")
_SESSION_NAMES = ("key", "beginning", "title", "agent", "parent", "spawned_by", "tools_json")


def storable_text(text: str) -> str:
    """The very same object where nothing had to change."""
    if "\x00" in text:
        text = text.replace("\x00", "\u2400")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def make_storable(parsed: ParsedSession) -> None:
    """Change, in place, the text that could not be stored, so that what is counted is what is kept."""
    for message in parsed.messages:
        for position, part in enumerate(message.parts):
            if not _is_storable(part):
                message.parts[position] = replace(
                    part,
                    text=storable_text(part.text),
                    name=storable_text(part.name),
                    call_id=storable_text(part.call_id),
                    signature=storable_text(part.signature),
                )
        _mend(message, _MESSAGE_NAMES)
    _mend(parsed, _SESSION_NAMES)
    parsed.models = [storable_text(model) for model in parsed.models]


def _is_storable(part: Part) -> bool:
    return (
        storable_text(part.text) is part.text
        and storable_text(part.name) is part.name
        and storable_text(part.call_id) is part.call_id
        and storable_text(part.signature) is part.signature
    )


def _mend(item: ParsedMessage | ParsedSession, names: tuple[str, ...]) -> None:
    for name in names:
        value: str = getattr(item, name)
        if (storable := storable_text(value)) is not value:
            setattr(item, name, storable)
