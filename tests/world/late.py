"""A cluster whose own scheduler comes by only now and then, as real ones do."""

from __future__ import annotations

from dataclasses import dataclass

from metabroker.clusters.simulated.model import Model, SimulatedJob, State

_SPREAD = 0.618034  # of an id: where in the scheduler's round its job comes


@dataclass
class LateModel(Model):
    """Jobs wait for the scheduler for up to `round` seconds, however much is idle."""

    round: float = 0.0

    def wait(self, job: SimulatedJob) -> float:
        """For how many seconds."""
        return self.round * (job.id * _SPREAD % 1.0)

    def advance(self, now: float) -> list[SimulatedJob]:
        """As in any model, for those that the scheduler has seen."""
        if not self.round:
            return super().advance(now)
        every = self.jobs
        fresh = {
            number
            for number, job in every.items()
            if job.state is State.PENDING and now < job.submit_time + self.wait(job)
        }
        if not fresh:
            return super().advance(now)
        self.jobs = {number: job for number, job in every.items() if number not in fresh}
        started = super().advance(now)
        self.jobs = {n: job for n, job in every.items() if n in fresh or n in self.jobs}
        return started
