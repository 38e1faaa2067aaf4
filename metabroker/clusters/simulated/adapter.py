"""The port's calls, answered by a model: what real-time and virtual-time clusters share."""

from __future__ import annotations

from typing import Any

from metabroker.broker.observation import (
    Coming,
    NativeJob,
    NativeReservation,
    NativeState,
    NodeKind,
    Snapshot,
    kinds,
)
from metabroker.broker.states import Cause
from metabroker.clusters.port import ClusterRefusal, ComponentRequest, ReserveRequest
from metabroker.clusters.reserved import Reserved, steps
from metabroker.policy.availability import Booked, Held, Wanted
from metabroker.submission.chunks import NodeRange

from .model import CAUSES, Denied, Model, SimulatedJob, State, of_names


def observe(model: Model, now: float, prefix: str) -> Snapshot:
    """A look at the model."""
    held: dict[str, int] = {}
    for job in of_names(model.jobs.values(), prefix):
        if job.state is State.RUNNING:
            held[job.name] = held.get(job.name, 0) + model.takes(job)
    for name, reservation in model.reservations.items():
        if name.startswith(prefix) and not reservation.ahead:
            held[name] = max(held.get(name, 0), reservation.processors)
    jobs: dict[str, NativeJob] = {}
    idle = model.idle()
    for job in of_names(model.jobs.values(), prefix):
        other = jobs.get(job.name)
        if other is None or other.state is NativeState.ENDED:
            jobs[job.name] = native(model, job)
    return Snapshot(
        taken_at=now,
        processors=model.processors,
        usable=model.processors - model.down,
        busy=model.busy(),
        ours=held,
        jobs=jobs,
        reservations={
            r.name: NativeReservation(r.processors, r.start, r.end)
            for r in model.reservations.values()
            if r.name.startswith(prefix)
        },
        coming=_coming(model),
        waiting=sum(model.takes(j) for j in _queued(model) if not j.name.startswith(prefix)),
        held=_in_use(model),
        wanted=[Wanted(model.takes(job), job.limit) for job in _queued(model)],
        reserved=_reserved(model, prefix),
        version="simulated",
        commands=1,
        nodes=_nodes_of(model, model.processors),
        idle=kinds((*_nodes_of(model, idle), *_part_of_one(model, idle))),
        free=_nodes_of(model, idle),
    )


def _nodes_of(model: Model, processors: int) -> tuple[NodeKind, ...]:
    """The whole nodes in so many processors, where nodes are known: as if jobs were packed on as
    few as can be. Of memory and GPUs they may have any."""
    count = processors // model.node if model.node > 1 else 0
    return (NodeKind(model.node, gpus=None, count=count),) if count else ()


def _part_of_one(model: Model, processors: int) -> tuple[NodeKind, ...]:
    """What is left then, of one more."""
    rest = processors % model.node
    return (NodeKind(rest, gpus=None),) if rest else ()


def _queued(model: Model) -> list[SimulatedJob]:
    """Those that wait for processors."""
    return [j for j in model.jobs.values() if j.state is State.PENDING and not j.reservation]


def _in_use(model: Model) -> list[Held]:
    """What runs, until its limit, and what is reserved now."""
    begun = {name: r for name, r in model.reservations.items() if not r.ahead}
    running = [
        Held(model.takes(job), job.start_time + job.limit)
        for job in model.jobs.values()
        if job.state is State.RUNNING
        and job.start_time is not None
        and job.reservation not in begun
    ]
    reserved = [
        Held(max(r.processors, model.held_by_jobs(name)), r.end) for name, r in begun.items()
    ]
    return running + reserved


def _coming(model: Model) -> tuple[Coming, ...]:
    """Reservations that have not begun, each without what those before it take."""
    room, idle, found = model.processors - model.down, model.idle(), []
    for r in sorted(model.reservations.values(), key=lambda each: each.start):
        if r.ahead:
            kept, free = min(room, r.processors), min(idle, r.processors)
            found.append(Coming(r.name, r.start, r.end, kept, free))
            room, idle = room - kept, idle - free
    return tuple(found)


def native(model: Model, job: SimulatedJob) -> NativeJob:
    """A model's job as the core reads it."""
    state = {State.PENDING: NativeState.PENDING, State.RUNNING: NativeState.RUNNING}
    return NativeJob(
        native_id=str(job.id),
        submit_time=job.submit_time,
        state=state.get(job.state, NativeState.ENDED),
        word=job.state.value,
        processors=model.takes(job),
        reason="Resources" if job.state is State.PENDING else "",
        start_time=job.start_time,
        end_time=job.end_time,
        exit_code=job.exit_code,
        cause=CAUSES.get(job.state),
    )


def reserve(model: Model, request: ReserveRequest, now: float) -> None:
    """Make the reservation, or find that it is there already, or move it."""
    existing = model.reservations.get(request.token)
    nodes = _nodes(model, request)
    try:
        if request.end is not None:
            model.end_reservation(request.token, request.end, now)
            return
        if request.move:
            model.move(request.token, now if request.start is None else request.start, now)
            return
        made = (request.processors, model.whole(request.processors, nodes))
        if existing is not None and existing.processors in made:
            return
        if request.start is not None:
            end = request.start + request.seconds
            model.promise(request.token, request.processors, request.start, end, now, nodes)
            return
        model.reserve(request.token, request.processors, now, now + request.seconds, nodes)
    except Denied as denied:
        raise ClusterRefusal(Cause.BUSY if denied.busy else Cause.INVALID, str(denied)) from denied


def _nodes(model: Model, request: ReserveRequest | ComponentRequest) -> int:
    """How many whole nodes its tasks need; 0: it shares them with others."""
    shape, reserving = request.shape, isinstance(request, ReserveRequest)
    kept = reserving and model.reserves_nodes and shape.beyond_processors
    if not (model.sole or shape.exclusive or kept):
        return 0
    cpus = shape.cpus_per_task
    per_node = max(1, model.node // cpus) * cpus
    return -(-request.processors // per_node)


def submit(
    model: Model, request: ComponentRequest, now: float, extra: dict[str, Any]
) -> SimulatedJob:
    """Queue the component's job, or with `again` adopt it."""
    if request.again:
        known = model.named(request.token)
        if known:
            return known[0]
    on = NodeRange.of(request.native, request.tasks)
    nodes = _nodes(model, request)
    try:
        return model.submit(
            request.token,
            request.processors,
            request.seconds,
            now,
            reservation=request.token if request.reservation else None,
            extra=extra,
            nodes=max(on.least, nodes) if nodes else 0,
            most=on.most,
        )
    except Denied as denied:
        gone = request.reservation and request.token not in model.reservations
        raise ClusterRefusal(Cause.LOST if gone else Cause.INVALID, str(denied)) from denied


def _reserved(model: Model, prefix: str) -> tuple[Booked, ...]:
    """What others' reservations keep that have not begun."""
    return steps(
        (
            Reserved(r.start, r.end, {"": r.processors})
            for r in model.reservations.values()
            if r.ahead and not r.name.startswith(prefix)
        ),
        {"": model.processors - model.down},
    )
