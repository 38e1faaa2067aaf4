"""Jobs that were renamed in their cluster (`scontrol update jobname=`, `qalter -N`, often by their
own scripts): found again by their ids, as if they still bore their tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from . import tokens
from .job import Component, Job
from .observation import NativeJob, NativeState, Snapshot


def _own(component: Component, job: Job | None, snapshot: Snapshot) -> NativeJob | None:
    """The component's own job, under another name. One that bears its token all the same was
    submitted again, before anybody knew of the first; or is somebody's imitation."""
    found = snapshot.unnamed.get(component.native_id or "")
    if found is not None and found.is_of(component.native):
        return found
    if component.writer is not None and component.writer == component.native_id:
        return None  # the id was given again; or nobody knows the cluster's clock
    # Its own word, which may name any job: one that is too small for it is not it.
    told = snapshot.unnamed.get(component.writer or "")
    large = told is not None and 0 < _asked(component, job) <= told.processors
    return told if large else None


def _asked(component: Component, job: Job | None) -> int:
    """The processors that its job asks for there. It may hold more, of whole nodes, which not every
    cluster shows."""
    if job is None or job.attempt != component.ref.attempt or component.processors == 0:
        return component.processors
    sizes = job.request.sizes
    return sizes[0 if job.single else component.ref.component]


def with_tokens(
    snapshot: Snapshot, live: Iterable[Component], known: Mapping[int, Job], instance: str
) -> Snapshot:
    """The snapshot, with each renamed job of a live component under its token; those of which it is
    not certain that they are stay unnamed. `known`: jobs that are not over."""
    if not snapshot.unnamed:
        return snapshot
    jobs, ours = dict(snapshot.jobs), dict(snapshot.ours)
    live = list(live)
    for component in live:
        found = _own(component, known.get(component.ref.job), snapshot)
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
