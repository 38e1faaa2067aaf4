"""How many processors the jobs in each cluster's local queue wait for.

By this a job's queue is chosen, among others (`queues.choose_local`). Each job counts once, and as
it was when it joined: the policy may split it meanwhile.
"""

from __future__ import annotations

from .job import Job


class Demand:
    """`processors`: waited for, by cluster."""

    def __init__(self, clusters: int) -> None:
        self.processors = [0] * clusters
        self._jobs: dict[int, tuple[int, int]] = {}

    def add(self, job: Job) -> None:
        """It waits in its queue, if that is a cluster's own."""
        if job.queue < len(self.processors):
            wanted = sum(job.request.sizes)
            self._jobs[job.id] = job.queue, wanted
            self.processors[job.queue] += wanted

    def remove(self, number: int) -> None:
        """It waits there no more, if it did."""
        found = self._jobs.pop(number, None)
        if found is not None:
            cluster, wanted = found
            self.processors[cluster] -= wanted
