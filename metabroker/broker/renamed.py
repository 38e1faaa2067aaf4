"""Jobs that were renamed in their cluster (`scontrol update jobname=`, `qalter -N`, often by their
own scripts): found again by their ids, as if they still bore their tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from . import tokens
from .job import Component
from .observation import NativeJob, NativeState, Snapshot


def _own(component: Component, snapshot: Snapshot) -> NativeJob | None:
    """The component's own job, under another name. One that bears its token all the same was
    submitted again, before anybody knew of the first; or is somebody's imitation."""
    found = snapshot.unnamed.get(component.native_id or "")
    if found is not None and found.is_of(component.native):
        return found
    if component.writer is not None and component.writer == component.native_id:
        return None  # the id was given again; or nobody knows the cluster's clock
    # Its own word, which may name any job: one that is too small for it is not it.
    told = snapshot.unnamed.get(component.writer or "")
    large = told is not None and 0 < component.processors <= told.processors
    return told if large else None


def with_tokens(snapshot: Snapshot, live: Iterable[Component], instance: str) -> Snapshot:
    """The snapshot, with each renamed job of a live component under its token; those of which it is
    not certain that they are stay unnamed."""
    if not snapshot.unnamed:
        return snapshot
    jobs, ours = dict(snapshot.jobs), dict(snapshot.ours)
    live = list(live)
    for component in live:
        found = _own(component, snapshot)
        token = tokens.make(instance, component.ref)
        if found is None or (token in jobs and jobs[token].native_id == component.writer):
            continue
        jobs[token] = found
        if found.state is NativeState.RUNNING:
            ours[token] = ours.get(token, 0) + found.processors
    ids = {each.native_id for each in live if each.writer in (None, each.native_id)}
    found_again = {job.native_id for job in jobs.values()}
    doubtful = {
        n: job
        for n, job in snapshot.unnamed.items()
        if n in ids or (None in ids and n not in found_again)
    }
    return replace(snapshot, jobs=jobs, ours=ours, unnamed=doubtful)
