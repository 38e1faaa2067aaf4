"""Jobs that were renamed in their cluster (`scontrol update jobname=`, `qalter -N`, often by their
own scripts): found again by their ids, as if they still bore their tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from . import tokens
from .job import Component
from .observation import NativeState, Snapshot


def with_tokens(snapshot: Snapshot, live: Iterable[Component], instance: str) -> Snapshot:
    """The snapshot, with each renamed job of a live component under its token; those of which it is
    not certain that they are stay unnamed."""
    if not snapshot.unnamed:
        return snapshot
    jobs, ours = dict(snapshot.jobs), dict(snapshot.ours)
    live = list(live)
    for component in live:
        found = snapshot.unnamed.get(component.native_id or "")
        token = tokens.make(instance, component.ref)
        if found is None or token in jobs or not found.is_of(component.native):
            continue
        jobs[token] = found
        if found.state is NativeState.RUNNING:
            ours[token] = ours.get(token, 0) + found.processors
    ids = {component.native_id for component in live}
    found_again = {job.native_id for job in jobs.values()}
    doubtful = {
        n: job
        for n, job in snapshot.unnamed.items()
        if n in ids or (None in ids and n not in found_again)
    }
    return replace(snapshot, jobs=jobs, ours=ours, unnamed=doubtful)
