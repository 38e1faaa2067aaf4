"""All at one moment, and little of it however many jobs there are: what a page shows.

Jobs under way come first, then the first ones of each queue, each with the reason why it waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from metabroker.broker import tokens
from metabroker.broker.view import BrokerView

from . import reasons
from .survey import Survey

Json = dict[str, Any]

MOST_WAITING = 100  # jobs of all queues together
_LEAST_OF_A_QUEUE = 5


@dataclass(frozen=True, slots=True)
class Selection:
    """The numbers of the jobs that are shown, and why those in queues wait."""

    jobs: tuple[int, ...]
    waiting: dict[int, reasons.Waiting]


def choose(view: BrokerView, found: Survey, now: float) -> Selection:
    """Which jobs are shown. To be asked in the core's thread."""
    first = _of_each_queue(view)
    places = reasons.first(view, now, first) | reasons.of(view, now, found.arrays[:first])
    shown = (*found.under_way, *islice(places, 2 * MOST_WAITING), *found.held[:first])
    return Selection(tuple(dict.fromkeys(shown)), places)


def _of_each_queue(view: BrokerView) -> int:
    """How many waiting jobs of each queue are shown."""
    used = sum(1 for length in view.in_queues.waiting().values() if length)
    return max(_LEAST_OF_A_QUEUE, MOST_WAITING // max(1, used))


def reservations(view: BrokerView) -> list[Json]:
    """The broker's own reservations as the last polls showed them: those of components that have
    neither ended nor gone. To be asked in the core's thread."""
    return list(_reservations(view))


def _reservations(view: BrokerView) -> Iterator[Json]:
    instance = view.settings.instance
    for index, entry in enumerate(view.entries):
        if entry.snapshot is None:
            continue
        for token, held in entry.snapshot.reservations.items():
            ref = tokens.parse(instance, token)
            component = None if ref is None else view.component(ref)
            if ref is None or component is None or component.over:
                continue
            yield {
                "job": ref.job,
                "component": ref.component,
                "cluster": view.settings.clusters[index].name,
                "processors": held.processors,
                "start_time": held.start_time,
                "end_time": held.end_time,
            }
