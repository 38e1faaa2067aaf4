"""Load: many submissions at once, many waiting jobs, many clusters of which some are slow, many
users. `python -m benchmarks.load`; `docs/load.md` has what it measured.
"""
