"""What brokers tell of their clusters, and remember over a restart, against what is so."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from metabroker.broker import tokens
from metabroker.broker.core import Broker
from metabroker.broker.outbox import OutboxEntry
from metabroker.broker.states import JobState
from metabroker.broker.tokens import Ref
from metabroker.policy.scheduler import PolicyState

from .adapters import CLOCK_EVERY
from .oracle import Violation

if TYPE_CHECKING:
    from .world import World

_LOST = "its cluster no longer knows it"
_THERE = 10.0  # seconds
_LISTINGS = 2  # that leave out what is lost


def lost(world: World, entry: OutboxEntry) -> None:
    """A component is said to be in its cluster no more.

    Raises:
        Violation: its job is there, under its name, and was all along; or it was left out by one
            listing only of those that were asked for after it had been submitted.
    """
    if entry.what != "not in its cluster" or entry.detail["why"] != _LOST or world.back.happened:
        return
    cluster = world.by_name[entry.detail["cluster"]]
    for job in cluster.model.jobs.values():
        ref = tokens.parse(world.store.instance, job.name)
        if ref is None or job.state.ended or "renamed" in job.extra:
            continue
        same = (entry.job, entry.attempt, entry.detail["component"])
        if ref[:3] == same and job.extra["came"] < world.now - _THERE:
            raise Violation(f"told: {ref} is lost, and {cluster.plan.name} has it")
        if ref[:3] == same and cluster.plan.system == "slurm":
            since = world.settings.visible_after
            if cluster.asked.listings_since(job.name, since) < _LISTINGS:
                raise Violation(f"told: {ref} is lost by one listing")


def chosen(left: Collection[Ref], entry: OutboxEntry) -> None:
    """A sibling is chosen.

    Raises:
        Violation: it had `left` its gate before its broker began to look.
    """
    same = (entry.job, entry.attempt, entry.detail.get("component"))
    if entry.what == "chosen" and any(ref[:3] == same for ref in left):
        raise Violation(f"told: the sibling {same} is chosen, and has left its gate long before")


def where(between: Collection[Ref], entry: OutboxEntry) -> None:
    """A component's script is said to have started.

    Raises:
        Violation: nobody is told on which hosts. Its note of the start has them, once it is whole;
            who was killed `between` gate and script may not have come so far.
    """
    if entry.what != "started" or entry.detail["hosts"]:
        return
    same = (entry.job, entry.attempt, entry.detail["component"])
    if all(ref[:3] != same for ref in between):
        raise Violation(f"told: job {entry.job} has started, and nobody knows where")


def clean(world: World, ref: Ref) -> None:
    """A component is said to be clean.

    Raises:
        Violation: a job of it that could be found is still there.
    """
    token = tokens.make(world.store.instance, ref)
    jobs = (job for cluster in world.clusters for job in cluster.model.jobs.values())
    if not any(job.name == token and not job.state.ended for job in jobs):
        return
    rows = world.back.store_of(ref).jobs.attempt(ref.job, ref.attempt)
    row = next((r for r in rows if (r["component"], r["term"]) == (ref.component, ref.term)), None)
    for cluster in world.clusters:
        unsure = cluster.jumped, cluster.jumped + CLOCK_EVERY
        job = cluster.asked.left(token, cluster.model.jobs.values(), row, unsure)
        if job is not None:
            raise Violation(f"P4: {ref} was cleaned, and its job {job.id} is {job.state.value}")


def remembered(world: World, broker: Broker) -> None:
    """A broker has begun: who was overtaken, and how often, it knows from the life before.

    Raises:
        Violation: of those who wait together as they did then it does not; or it knows of fewer
            than have overtaken one, as it was watched.
    """
    said = [batch.memory for batch in world.store.written.values() if batch.memory is not None]
    if not said or world.back.happened:
        return
    before: PolicyState = said[-1]["memory"]
    watch = broker._queues.scheduler._watch
    for mask, overtakers in before.overtakers:
        group = None if watch is None else watch._groups.get(mask)
        if group is not None and group.count and tuple(group.overtakers) != tuple(overtakers):
            known = tuple(group.overtakers)
            raise Violation(f"who has overtaken in {mask:b} was {overtakers}, and is {known}")
    waiting, bound = broker._queues.scheduler._waiting, world.scenario.overtaken or 0
    for key, (seq, times) in world.oracle.overtaken.items():
        entry = waiting.get(key)
        if watch is not None and entry is not None and entry.seq == seq:
            known_times = watch.overtaken(entry)
            if known_times < min(times, bound):
                raise Violation(f"job {key} was overtaken {times} times, and is {known_times}")


def waits(broker: Broker) -> None:
    """A turn is durable.

    Raises:
        Violation: a job that is held, or under way, waits for its start too.
    """
    decided, scheduler = broker.view.decided, broker._queues.scheduler
    for job in broker.view.jobs.values():
        if job.state is not JobState.QUEUED and (job.id in scheduler or job.id in decided):
            raise Violation(f"told: job {job.id} is {job.state.value}, and waits for its start")
