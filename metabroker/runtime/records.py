"""From what components have written down to events: arrival, start, end.

There is no thread and no lock here: the watcher looks in real time, the worlds of the storm in
virtual time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from metabroker.broker.events import Arrived, Ended, Event, GaveUp, Started
from metabroker.broker.tokens import Ref
from metabroker.clusters.port import ComponentRecord

UNWRITTEN = 5.0
"""Seconds after which a start that is not written down (its disk is full) is told all the same."""


class Records:
    """The components that are watched, and what was seen of each."""

    def __init__(self) -> None:
        self._seen: dict[Ref, ComponentRecord] = {}
        self._begun: dict[Ref, float] = {}  # seen to have started, not when

    def __contains__(self, ref: object) -> bool:
        return ref in self._seen

    def __bool__(self) -> bool:
        return bool(self._seen)

    def watch(self, ref: Ref) -> None:
        """Look at this component from now on."""
        self._seen[ref] = ComponentRecord()

    def unwatch(self, ref: Ref) -> None:
        """No need any more."""
        self._seen.pop(ref, None)
        self._begun.pop(ref, None)

    def watched(self) -> list[Ref]:
        """All that are watched now."""
        return list(self._seen)

    def latest(self, most: int, *, running: bool) -> dict[Ref, ComponentRecord]:
        """What was seen last of so many that are not over: of those that have not started yet, and
        with `running` of others beside them."""
        left = {ref: r for ref, r in self._seen.items() if r.exit_code is None and not r.gave_up}
        first = sorted(left, key=lambda ref: left[ref].started is not None)
        return {ref: left[ref] for ref in first[:most] if running or left[ref].started is None}

    @property
    def on_its_way(self) -> bool:
        """Whether a component has not started yet."""
        return any(record.started is None for record in self._seen.values())

    def told(self, found: Mapping[Ref, ComponentRecord], now: float, steady: float) -> list[Event]:
        """What is new in records that were just read; components no longer watched are left out.

        `now` in Unix seconds; `steady` in seconds of a clock that never steps.
        """
        events: list[Event] = []
        for ref, record in found.items():
            before = self._seen.get(ref)
            if before is None:
                continue
            after = self._dated(ref, before, record, now, steady)
            if after != before:
                self._seen[ref] = after
                events += news(ref, before, after)
        return events

    def _dated(
        self, ref: Ref, before: ComponentRecord, record: ComponentRecord, now: float, steady: float
    ) -> ComponentRecord:
        """The record, with a start that is not written down for long, or was told before. When it
        was is as good as the looks then; a job that runs must not be taken for one that waits."""
        if not record.begun or (record.started is not None and before.started is None):
            return record
        if before.started is not None:
            return replace(record, started=before.started)
        since = self._begun.setdefault(ref, steady)
        over = steady - since >= UNWRITTEN or record.exit_code is not None
        return replace(record, started=record.ended or now) if over else record


def news(ref: Ref, before: ComponentRecord, after: ComponentRecord) -> list[Event]:
    """What has happened between two looks. Who has come to the barrier and left it meanwhile is not
    told to have come: it would be counted on."""
    events: list[Event] = []
    hosts = " ".join(after.hosts)
    if after.arrived and not before.arrived and not after.gave_up:
        events.append(Arrived(ref, hosts, after.begun))
    if after.started is not None and before.started is None:
        writer = None if after.writer is None else after.writer.native_id
        events.append(Started(ref, after.started, hosts, writer))
    if after.exit_code is not None and before.exit_code is None:
        assert after.ended is not None
        events.append(Ended(ref, after.ended, after.exit_code, after.signalled))
    if after.gave_up and not before.gave_up:
        events.append(GaveUp(ref))
    return events
