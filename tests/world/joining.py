"""Jobs that join others: what their users ask for, and what must be so of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metabroker.broker.core import Broker
from metabroker.broker.job import Goal
from metabroker.broker.tokens import Ref

from .oracle import Violation

if TYPE_CHECKING:
    from .world import World

_BOUND = 30.0  # seconds in which each is being ended, once a broker is able to act


def to_join(world: World, index: int) -> int | None:
    """The job that the job of a plan is to join; 0: none; None: its number is not known yet."""
    jobs, users = world.scenario.jobs, world.users
    other = jobs[index].joins
    # Of a scenario that was made smaller there may be none, or another one.
    if not 0 <= other < len(jobs) or jobs[other].at >= jobs[index].at or jobs[other].joins >= 0:
        return 0
    return 0 if other in users.refused else users.acknowledged.get(other)


def too_soon(world: World, ref: Ref) -> str:
    """Whether a job that starts now has joined one whose script has not started; "": no."""
    joins = world.joining.of.get(ref.job)
    if joins is None or any(started.job == joins for started in world.oracle.starts):
        return ""
    return f"{ref} was started before job {joins}, which it has joined"


class Joining:
    """Who has joined whom, by what users were told."""

    def __init__(self) -> None:
        self.of: dict[int, int] = {}
        self._since: dict[int, float] = {}  # since when the other one has ended

    def told(self, job: int, joins: int | None) -> None:
        """A submission has become this job."""
        if joins:
            self.of[job] = joins

    def in_time(self, broker: Broker, now: float, able_since: float) -> None:
        """Whoever has joined a job that has ended has ended, or is being ended.

        Raises:
            Violation: not so, and it should be by now.
        """
        jobs = broker.view.jobs
        for number, joins in self.of.items():
            job = jobs.get(number)
            if job is None or joins in jobs or broker.view.starting:
                continue
            since = self._since.setdefault(number, now)
            if job.goal is not Goal.CANCEL and now > max(since, able_since) + _BOUND:
                what = f"job {joins} has ended at {since}, and job {number}, which had joined it"
                raise Violation(f"{what}, is {job.state.value}")
