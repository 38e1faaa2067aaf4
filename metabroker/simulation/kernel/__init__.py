"""The simulator's hot loops, compiled by numba: small programs on arrays.

`play.py` says what they cover and plays it. The policies in `metabroker.policy` remain the
specification, and what a daemon runs; a program here makes the same starts as they do, to the last
bit, randomised policies included (`tests/simulation/kernel`).

- `layout.py`: the arrays that all programs work on.
- `events.py`: the loop over ends and submissions; a policy is four functions that it calls.
- `visits.py`, `queues.py`: GS, LS, GP, LP, EQ and LQ, by their queues; `placing.py`: Worst Fit.
- `easy.py`, `conservative.py`, `job_mix.py`: the others, on one pool of processors.
- `machine.py`: feeds the programs with blocks of jobs, and takes what has finished.

The programs import numba, so nothing outside of this folder imports them but `play.py`, late.
"""
