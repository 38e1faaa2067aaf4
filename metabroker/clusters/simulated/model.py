"""A cluster as a pure model: processors, reservations, jobs, and a first-come-first-served queue.

Nodes are alike, and may be given whole; they are counted, but which of them a job has is not told.

Nothing here reads a clock: every call is told the time, in Unix seconds, and first lets the model
catch up with it. Its owner starts and ends what the model says has started or must end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from metabroker.broker.states import Cause


class State(Enum):
    """A simulated job's state."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    TIMEOUT = "TIMEOUT"
    NODE_FAIL = "NODE_FAIL"

    @property
    def ended(self) -> bool:
        """Whether the job is over."""
        return self is not State.PENDING and self is not State.RUNNING


CAUSES: dict[State, Cause | None] = {
    State.COMPLETED: None,
    State.FAILED: None,
    State.CANCELLED: Cause.KILLED,
    State.TIMEOUT: Cause.OVERTIME,
    State.NODE_FAIL: Cause.NODE,
}


class Denied(Exception):
    """The model says no. `busy`: it might say yes later."""

    def __init__(self, what: str, *, busy: bool = False) -> None:
        super().__init__(what)
        self.busy = busy


@dataclass(slots=True)
class SimulatedJob:
    """A job of anybody. Times in Unix seconds, `limit` in seconds. `nodes`: it is given
    so many whole ones at least, `most`: more than these, up to so many, if they are idle; `held`:
    processors that it was given with them (0: it has not started, or has those it asked for)."""

    id: int
    name: str
    processors: int
    limit: float
    submit_time: float
    reservation: str | None = None
    state: State = State.PENDING
    start_time: float | None = None
    end_time: float | None = None
    exit_code: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)  # its owner's
    nodes: int = 0
    most: int = 0
    held: int = 0


@dataclass(slots=True)
class SimulatedReservation:
    """Processors kept for the jobs that name it, from `start` until `end`. `ahead`: it has not
    begun; jobs that are over by then may have its processors."""

    name: str
    processors: int
    start: float
    end: float
    ahead: bool = False


@dataclass(slots=True)
class Model:
    """One cluster. `down` processors take no jobs; `remember` is how long ended jobs are shown;
    `node`: processors of a node (1: nothing is known of nodes); `sole`: no two jobs share one;
    `reserves_nodes`: whole ones are reserved for memory and GPUs, as Slurm must be asked for."""

    processors: int
    down: int = 0
    remember: float = 300.0
    next_id: int = 1
    jobs: dict[int, SimulatedJob] = field(default_factory=dict)
    reservations: dict[str, SimulatedReservation] = field(default_factory=dict)
    node: int = 1
    sole: bool = False
    reserves_nodes: bool = False

    # --- counting -----------------------------------------------------------------------------

    def whole(self, processors: int, nodes: int = 0) -> int:
        """Processors that are given to who asks for so many, on so many whole nodes at least (0: on
        whole ones only where all are)."""
        if not nodes and not self.sole:
            return processors
        return max(nodes, -(-processors // self.node)) * self.node

    def takes(self, job: SimulatedJob) -> int:
        """Processors that a job has; of one that is pending, that it must have to start."""
        if job.held or job.state is not State.PENDING:
            return job.held or job.processors  # also one that started when nodes were shared
        found = self.reservations.get(job.reservation or "")
        needed = self.whole(job.processors, job.nodes)
        return needed if found is None else min(needed, found.processors)

    def held_by_jobs(self, reservation: str | None = None) -> int:
        """Processors of running jobs, of all or of those in one reservation."""
        return sum(
            self.takes(job)
            for job in self.jobs.values()
            if job.state is State.RUNNING and reservation in (None, job.reservation)
        )

    def busy(self) -> int:
        """Processors that jobs hold or reservations keep free."""
        outside, inside = 0, dict.fromkeys(self.reservations, 0)
        for job in self.jobs.values():
            if job.state is not State.RUNNING:
                continue
            if job.reservation is not None and job.reservation in inside:
                inside[job.reservation] += self.takes(job)
            else:
                outside += self.takes(job)
        return outside + sum(
            max(reservation.processors, inside[name])
            for name, reservation in self.reservations.items()
            if not reservation.ahead
        )

    def idle(self, until: float = 0.0) -> int:
        """Processors that a new job or reservation can have now, and until that moment."""
        kept = sum(r.processors for r in self.reservations.values() if r.ahead and r.start < until)
        return max(0, self.processors - self.down - self.busy() - kept)

    # --- what is asked of it ------------------------------------------------------------------

    def reserve(
        self, name: str, processors: int, start: float, end: float, nodes: int = 0
    ) -> SimulatedReservation:
        """Keep processors free, of so many whole nodes, all or nothing.

        Raises:
            Denied: the name is taken, or the processors are not idle.
        """
        if name in self.reservations:
            raise Denied(f"a reservation named {name} exists")
        processors = self.whole(processors, nodes)
        if processors > (idle := self.idle(end)):
            raise Denied(f"{processors} processors asked for, {idle} idle", busy=True)
        made = SimulatedReservation(name, processors, start, end)
        self.reservations[name] = made
        return made

    def promise(
        self, name: str, processors: int, start: float, end: float, now: float, nodes: int = 0
    ) -> None:
        """Keep processors free from `start` on, all or nothing. Running jobs count to their limits,
        and pending ones not at all.

        Raises:
            Denied: the name is taken, the time is past, or they will not be free.
        """
        if start <= now:
            raise Denied(f"{start} is past", busy=True)
        if name in self.reservations:
            raise Denied(f"a reservation named {name} exists")
        processors = self.whole(processors, nodes)
        if processors > (free := self._free(start, end)):
            raise Denied(f"{processors} processors asked for, {free} free then", busy=True)
        self.reservations[name] = SimulatedReservation(name, processors, start, end, ahead=True)

    def move(self, name: str, start: float, now: float) -> None:
        """Let a reservation that has not begun begin at that time; it ends when it would have.

        Raises:
            Denied: there is none, or its processors are not free from then on.
        """
        found = self.reservations.get(name)
        if found is None:
            raise Denied(f"there is no reservation {name}")
        if not found.ahead:
            return
        del self.reservations[name]
        free = self._free(max(start, now), found.end)
        if start <= now:
            free = min(free, self.idle(found.end))
        self.reservations[name] = found
        if found.processors > free:
            raise Denied(f"{found.processors} processors asked for, {free} free", busy=True)
        found.start, found.ahead = max(start, now), start > now

    def end_reservation(self, name: str, end: float, now: float) -> None:
        """Let a reservation end at that time.

        Raises:
            Denied: there is none, or that is past.
        """
        found = self.reservations.get(name)
        if found is None or end <= now:
            raise Denied(f"there is no reservation {name} that could end then")
        found.end = end

    def _free(self, start: float, end: float) -> int:
        """Processors that nobody has from `start` to `end`, if jobs run to their limits."""
        running = sum(
            self.takes(job)
            for job in self.jobs.values()
            if job.state is State.RUNNING and job.reservation not in self.reservations
            if job.start_time is None or job.start_time + job.limit > start
        )
        kept = sum(
            r.processors for r in self.reservations.values() if r.start < end and r.end > start
        )
        return self.processors - self.down - running - kept

    def reserve_ahead(self, name: str, processors: int, start: float, end: float) -> None:
        """Keep processors for others from `start` on, whoever has them by then."""
        self.reservations[name] = SimulatedReservation(name, processors, start, end, ahead=True)

    def unreserve(self, name: str) -> None:
        """Delete a reservation; fine if there is none.

        Raises:
            Denied: a job refers to it.
        """
        if any(j.reservation == name and not j.state.ended for j in self.jobs.values()):
            raise Denied("reservation in use", busy=True)
        self.reservations.pop(name, None)

    def submit(
        self,
        name: str,
        processors: int,
        limit: float,
        now: float,
        *,
        reservation: str | None = None,
        extra: dict[str, Any] | None = None,
        nodes: int = 0,
        most: int = 0,
    ) -> SimulatedJob:
        """Queue a job.

        Raises:
            Denied: it could never run.
        """
        if reservation is not None and reservation not in self.reservations:
            raise Denied(f"there is no reservation {reservation}")
        room, needed = self.processors, self.whole(processors, nodes)
        if reservation is not None:  # whose nodes are its own, as many as they are
            room, needed = self.reservations[reservation].processors, processors
        if needed > room:
            raise Denied(f"{needed} processors asked for, at most {room} can be had")
        job = SimulatedJob(
            *(self.next_id, name, processors, limit, now, reservation),
            extra=extra or {},
            nodes=nodes,
            most=most,
        )
        self.next_id += 1
        self.jobs[job.id] = job
        return job

    def end(
        self, job: SimulatedJob, state: State, now: float, exit_code: int | None = None
    ) -> None:
        """A job is over."""
        if not job.state.ended:
            job.state, job.end_time, job.exit_code = state, now, exit_code

    def named(self, name: str) -> list[SimulatedJob]:
        """The jobs of that name, the liveliest first, then the latest."""
        found = [job for job in self.jobs.values() if job.name == name]
        return sorted(found, key=lambda job: (job.state.ended, job.state.value, -job.id))

    # --- time ---------------------------------------------------------------------------------

    def advance(self, now: float) -> list[SimulatedJob]:
        """Catch up with the time; answers the jobs that start now, in order.

        Reservations begin and end, and with them their running jobs; ended jobs are forgotten in
        time. Jobs outside reservations start first come first served, but not one that would run
        into a reservation: others pass it. Jobs over their limit are for
        `overdue` to tell: their owner ends them.
        """
        for name in [n for n, r in self.reservations.items() if r.end <= now]:
            del self.reservations[name]
        for number in [
            job.id
            for job in self.jobs.values()
            if job.end_time is not None and job.end_time + self.remember < now
        ]:
            del self.jobs[number]
        for reservation in self.reservations.values():
            reservation.ahead = reservation.ahead and reservation.start > now
        started = []
        blocked = False
        for job in self.jobs.values():
            if job.state is not State.PENDING:
                continue
            if job.reservation is not None:
                fits = self._fits_reservation(job, now)
            else:
                fits = not blocked and self.takes(job) <= self.idle()
                blocked = blocked or not fits
                fits = fits and self.takes(job) <= self.idle(now + job.limit)
            if fits:
                if job.nodes or self.sole:
                    job.held = self._given(job, now)
                job.state, job.start_time = State.RUNNING, now
                started.append(job)
        return started

    def _given(self, job: SimulatedJob, now: float) -> int:
        """Processors of the whole nodes that a job starts on."""
        needed = self.takes(job)
        if job.reservation is not None:
            return needed
        most = min(job.most, self.idle(now + job.limit) // self.node) * self.node
        return max(needed, most)

    def _fits_reservation(self, job: SimulatedJob, now: float) -> bool:
        reservation = self.reservations.get(job.reservation or "")
        if reservation is None or reservation.start > now:
            return False
        if self.takes(job) > self.processors - self.held_by_jobs():
            return False  # a job that is over its limit has not been ended yet
        return self.takes(job) <= reservation.processors - self.held_by_jobs(job.reservation)

    def overdue(self, now: float) -> list[SimulatedJob]:
        """Running jobs over their time limit."""
        return [
            job
            for job in self.jobs.values()
            if job.state is State.RUNNING
            and job.start_time is not None
            and job.start_time + job.limit <= now
        ]

    # --- keeping it ---------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The model as plain data."""
        return {
            "next_id": self.next_id,
            "jobs": [asdict(job) | {"state": job.state.value} for job in self.jobs.values()],
            "reservations": [asdict(r) for r in self.reservations.values()],
        }

    def from_json(self, data: dict[str, Any]) -> None:
        """Take over what `to_json` said."""
        self.next_id = data["next_id"]
        self.jobs = {
            j["id"]: SimulatedJob(**(j | {"state": State(j["state"])})) for j in data["jobs"]
        }
        self.reservations = {r["name"]: SimulatedReservation(**r) for r in data["reservations"]}


def of_names(jobs: Iterable[SimulatedJob], prefix: str) -> list[SimulatedJob]:
    """The jobs whose name begins with `prefix`."""
    return [job for job in jobs if job.name.startswith(prefix)]
