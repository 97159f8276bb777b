"""Benchmarks: ratios to a floor measured in the same run decide, absolute figures inform."""
