"""Bytes of a session log -> plain dataclasses. No Django, no ORM, no app code."""
