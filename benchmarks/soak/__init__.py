"""A soak: real clusters, thousands of jobs, and everything killed and stopped at random meanwhile.

`python -m benchmarks.soak --minutes 30 --seed 1`; `docs/soak.md` has what it checks and found.
"""
