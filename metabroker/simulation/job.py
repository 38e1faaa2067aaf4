"""A job of a stream: what a workload consists of.

A workload is an iterable of jobs in order of `submit`; the key of a job is its index in it, from 0.
A sequential job of the job mix (KH 2.1) is a job whose request is a `policy.Sequential`: one
processor, and the number of its tasks; `run_time` is then the time of all its tasks together.
"""

from typing import NamedTuple

from metabroker.policy import Request


class SimJob(NamedTuple):
    """One job; times and durations are in the workload's unit (seconds, for traces)."""

    submit: float
    """When it is submitted; never before the job in front of it in the stream."""
    request: Request
    """What it asks for; equal shapes share one object."""
    local: int
    """The cluster (index from 0) at whose local queue it is submitted; 0 where there is none."""
    run_time: float
    """How long it runs, at least 0, with its own components and any extension factor in it. If the
    policy splits it further, the run-time overhead is added by the engine."""
    estimate: float
    """How long its user said that it would run, at least 0. Backfilling believes it; a job that
    runs longer is not stopped."""
