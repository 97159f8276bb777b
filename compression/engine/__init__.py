"""Four questions about a transcript and a policy, answered in plain Python.

What is sacred, what would be changed, what would each turn have looked like, and what
did it cost and lose. No Django, no I/O, no clock, no randomness: the same input gives
the same bytes in any process.
"""

ENGINE_VERSION = 14
"""Raised whenever the same input gives other output: what was stored of a replay is then worked out anew."""
