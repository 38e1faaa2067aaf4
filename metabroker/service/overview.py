"""All at one moment, and little of it however many jobs there are: what a page shows.

Jobs under way come first, then the first ones of each queue, each with the reason why it waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from metabroker.broker import tokens
from metabroker.broker.core import Broker
from metabroker.broker.states import JobState

from . import reasons

Json = dict[str, Any]

MOST_UNDER_WAY = 150  # jobs
MOST_WAITING = 100  # jobs of all queues together
_LEAST_OF_A_QUEUE = 5


@dataclass(frozen=True, slots=True)
class Selection:
    """The numbers of the jobs that are shown, and why those in queues wait."""

    jobs: tuple[int, ...]
    waiting: dict[int, reasons.Waiting]


def choose(broker: Broker, now: float) -> Selection:
    """Which jobs are shown. To be asked in the core's thread."""
    first = _of_each_queue(broker)
    under_way: list[tuple[float, int]] = []
    held: list[int] = []
    for number, job in broker.jobs.items():
        if job.state is JobState.HELD:
            held.append(number)
        elif job.state is not JobState.QUEUED:
            under_way.append((job.start_time or now, number))
    shown = [number for _start, number in sorted(under_way)[:MOST_UNDER_WAY]]
    places = reasons.waiting(broker, now, most=first)
    shown += islice(places, 2 * MOST_WAITING)
    shown += islice(sorted(held), first)
    return Selection(tuple(shown), places)


def _of_each_queue(broker: Broker) -> int:
    """How many waiting jobs of each queue are shown."""
    used = sum(1 for length in broker.scheduler.waiting().values() if length)
    return max(_LEAST_OF_A_QUEUE, MOST_WAITING // max(1, used))


def reservations(broker: Broker) -> list[Json]:
    """The broker's own reservations as the last looks showed them: those of components that have
    neither ended nor gone. To be asked in the core's thread."""
    return list(_reservations(broker))


def _reservations(broker: Broker) -> Iterator[Json]:
    instance = broker.settings.instance
    for index, account in enumerate(broker.ledger.accounts):
        if account.snapshot is None:
            continue
        for token, held in account.snapshot.reservations.items():
            ref = tokens.parse(instance, token)
            component = None if ref is None else broker.saga.component(ref)
            if ref is None or component is None or component.over:
                continue
            yield {
                "job": ref.job,
                "component": ref.component,
                "cluster": broker.settings.clusters[index].name,
                "processors": held.processors,
                "start_time": held.start_time,
                "end_time": held.end_time,
            }
