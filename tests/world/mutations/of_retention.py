"""Mistakes in what removes ended jobs."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from metabroker.store import ended

from .planting import among, mutation, swap


@mutation
@among("kept-results")
def removed_though_a_step_is_owed(stack: contextlib.ExitStack) -> None:
    """A job that has ended goes, whatever its clusters still hold of it."""

    def extent(*given: Any) -> tuple[int, ...]:
        jobs, parts, _held, *events = old(*given)
        return jobs, parts, 0, *events

    old = swap(stack, ended, "_extent", extent)
    swap(stack, ended, "holds_something", lambda _parts, _events: False)


@mutation
def events_removed_with_the_script(stack: contextlib.ExitStack) -> None:
    """Events go when the script does, before they are archived."""

    def drop(connection: Any, jobs: Sequence[ended.EndedJob]) -> None:
        old(connection, jobs)
        ended._drop_events(connection, [job.number for job in jobs])

    old = swap(stack, ended, "_drop_scripts", drop)
