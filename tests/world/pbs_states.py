"""How an OpenPBS server shows the states of jobs: letter, substate, exit status."""

from __future__ import annotations

from metabroker.clusters.simulated.model import SimulatedJob, State

from .suspending import is_suspended

_STATES = {
    State.PENDING: ("Q", 10, None),
    State.RUNNING: ("R", 42, None),
    State.COMPLETED: ("F", 92, 0),
    State.FAILED: ("F", 93, 1),
    State.CANCELLED: ("F", 91, 271),
    State.TIMEOUT: ("F", 93, -29),
    State.NODE_FAIL: ("F", 93, -4),
}


def state_of(job: SimulatedJob) -> tuple[str, int, int | None]:
    """Of one job; its exit status unless it has one of its own, None: it has not ended."""
    if is_suspended(job):
        return "S", 43, None
    if job.extra.get("ending") and job.state is State.RUNNING:
        return "E", 51, None
    return _STATES[job.state]
