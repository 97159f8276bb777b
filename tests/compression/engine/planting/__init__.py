"""Generators of the planted fixtures: programs' output grown from arithmetic, facts beside it."""
