"""Other people's compressors, measured beside ours: each in a virtual environment and a process of its own.

Nothing of them is imported here. ``python -m benchmarks.peers install`` makes the environments; where one is
missing, its rows say "not installed".
"""
