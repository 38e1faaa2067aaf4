"""What is told of a job that has ended, and of its components, against what has happened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from metabroker.broker.states import JobState
from metabroker.broker.tokens import Ref

from .oracle import Violation
from .scenario import JobPlan

if TYPE_CHECKING:
    from .world import World

_HAVE_REASONS = frozenset({JobState.FAILED, JobState.TIMEOUT, JobState.CANCELLED})


def check(world: World, row: Mapping[str, Any], plan: JobPlan) -> None:
    """To be asked at the end. (Where the store went back nobody may know.)

    Raises:
        Violation: something else has happened, or nothing is told of it.
    """
    if world.back.happened:
        return
    state = JobState(row["state"])
    if state is JobState.CANCELLED:
        asked = {row["id"], row["of"]} & world.users.asked_to_cancel
        if not (asked or plan.after or plan.joins >= 0):
            raise Violation(f"told: job {row['id']} is CANCELLED, and nobody has asked for that")
    if state in _HAVE_REASONS and not row["reason"]:
        raise Violation(f"told: job {row['id']} is {state.value}, and nobody is told why")
    events = [event["what"] for event in world.store.jobs.events(row["id"])]
    submitted = row["of"] or "submitted" in events
    if state.value.lower() not in events or not submitted:
        raise Violation(f"told: job {row['id']} is {state.value}, and its history is {events}")
    for part in row["components"]:
        ref = Ref(row["id"], part["attempt"], part["component"], part["term"])
        latest = part["attempt"] == row["attempt"] and part["processors"]
        if latest and ref not in world.oracle.lost:
            _part(world, state, ref, part)


def _part(world: World, state: JobState, ref: Ref, part: Mapping[str, Any]) -> None:
    """A component of the last attempt."""
    code = world.oracle.exits.get(ref)
    if code is not None and part["exit_code"] not in (None, code):
        raise Violation(f"told: {ref} has ended with {part['exit_code']}, and not with {code}")
    unknown = part["start_time"] is None or part["end_time"] is None
    if state is JobState.COMPLETED and unknown:
        raise Violation(f"told: {ref} is COMPLETED, and nobody knows when it began and ended")
    hosts = set((part["hosts"] or "").replace(",", " ").split())
    if not hosts <= _hosts_of(part["cluster"]):
        raise Violation(f"told: {ref} ran on {part['hosts']}")


def _hosts_of(cluster: str) -> frozenset[str]:
    """As jobs of this world may be told where they run."""
    own = {f"{cluster}n{number}" for number in range(4)}
    return frozenset({*own, f"{cluster}n[1-3]", "n1", "n2"})
