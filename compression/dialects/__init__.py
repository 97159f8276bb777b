"""Requests of live agents: read in the provider's dialect, written back byte for byte but for what was edited.

Plain Python without Django. ``bodies.read_request`` reads, ``writing.write`` writes, ``validation.violations`` says
whether the outcome may leave.
"""
