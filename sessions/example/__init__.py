"""The example project: a few sessions of our own, written in the formats of real agents.

Everything is invented and deterministic. ``write_example`` is the way in; README.md tells the story.
"""

from sessions.example.writing import write_example

__all__ = ["write_example"]
