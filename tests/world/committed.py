"""Whether what is durable allows the start of a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metabroker.broker.states import JobState
from metabroker.broker.tokens import Ref

if TYPE_CHECKING:
    from .world import World

_BEFORE = (JobState.RESERVING.value, JobState.SUBMITTING.value, JobState.WAITING.value)


def not_committed(world: World, ref: Ref) -> str:
    """Whether the store still says that a co-allocated job waits, as its first script starts: the
    commit is durable before any gate is opened; "": not so."""
    if len(world.siblings(ref)) < 2 or world.back.happened:
        return ""
    (row,) = world.store.jobs.rows(ids=[ref.job])
    if row["attempt"] != ref.attempt or row["state"] not in _BEFORE:
        return ""
    return f"P3: {ref} was started, and its job is {row['state']} in the store"
