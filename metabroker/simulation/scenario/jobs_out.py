"""What became of each job, as CSV, written while the run goes on."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import TextIO

from metabroker.simulation.engine import Finished
from metabroker.simulation.workloads.replay import Replay

from .loader import Plan

COLUMNS = ("job", "submit", "start", "end", "processors", "clusters")


class JobsOut:
    """A sink of the engine that writes one line per job, in the order of their ends.

    `job` counts the submissions from 1; of a log it is the log's own number (parts of a wide job
    share it). Times are in the workload's unit, from the first submission on for a log.
    `clusters` are joined by `;`, one name per component.
    """

    def __init__(self, plan: Plan, file: TextIO) -> None:
        self._names = list(plan.scenario.clusters)
        self._numbers = _numbers(plan)
        self._writer = csv.writer(file, lineterminator="\n")
        self._writer.writerow(COLUMNS)

    def __call__(self, done: list[Finished]) -> None:
        """Write jobs that have finished."""
        names, numbers = self._names, self._numbers
        self._writer.writerows(
            (
                key + 1 if numbers is None else numbers[key],
                job.submit,
                start,
                end,
                job.request.total,
                ";".join([names[cluster] for cluster in clusters]),
            )
            for end, _, key, job, clusters, _, start in done
        )


def _numbers(plan: Plan) -> list[int] | None:
    replay = plan.run.workload
    if not isinstance(replay, Replay):
        return None
    found: Iterator[int] = (entry.number for entry in replay.entries(plan.run.jobs))
    return list(found)
