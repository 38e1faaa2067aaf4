"""Were the promises kept? What users were told, what scripts wrote down, and what the daemon says.

| | a violation is |
|---|---|
| P1 | a job that was acknowledged and is not there, ends in no state or in two; a request id with two jobs |
| P2 | a component's script that started twice in one attempt, or in two attempts |
| P3 | a co-allocated job of which only a part started, though its barrier was not opened, or though it is COMPLETED |
| P6 | COMPLETED without each script's own word that it ended well; FAILED though all did and no fault hid that, or a broker ended one by its id alone (nobody renames any here); CANCELLED unasked; TIMEOUT before the time limit, by the users' own clocks where the database's was stepped |

P3 has its documented limit: once all components have answered at the barrier, one that is killed
before its own gate is opened, or is ended as another has failed, is a failed component. Such jobs
are counted (`partly started`). So are jobs that are FAILED as the cluster could not say how they
ended, since a fault hit it meanwhile (`end unknown`).
"""  # noqa: E501

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from metabroker.api.client import ENDED
from tests.daemon.harness import Run

from .faults import CLOCK, Fault
from .users import Told

Json = dict[str, Any]
_HIDDEN = 15.0  # seconds after a fault in which a cluster may not know of an end yet
_WHOLE = 1.0  # seconds: Slurm counts whole ones, from the one in which a job starts
_LAUNCHED = 5.0  # seconds from a job's start, as Slurm counts, to its script's
_LAUNCHED_LATE = 20.0  # the same where a node daemon stood still


@dataclass(frozen=True, slots=True)
class EndedById:
    """A native job that a broker ended by its id, as one does that bears its name no more; when, in
    Unix seconds."""

    cluster: str
    native_id: str
    time: float


@dataclass
class Truth:
    """What scripts wrote down: who started, and who ended with which code."""

    starts: list[Run]
    ends: Mapping[int, list[Run]]
    single: Collection[int] = frozenset()  # jobs of one component: siblings in line are the same
    ended_by_id: Collection[EndedById] = ()

    def started(self, job: int) -> dict[int, set[int]]:
        """Components that started, by attempt."""
        found: dict[int, set[int]] = defaultdict(set)
        for run in self._starts.get(job, ()):
            found[run.attempt].add(run.component)
        return found

    def began(self, job: int) -> float | None:
        """When the first script of its last attempt started, in Unix seconds; None: none has."""
        runs = self._starts.get(job, ())
        last = max((run.attempt for run in runs), default=0)
        return min((run.time for run in runs if run.attempt == last), default=None)

    def codes(self, job: int) -> dict[int, int]:
        """Exit codes of components that came to their own end."""
        return self._codes.get(job, {})

    def taken_for_another(self, one: Told, job: Json) -> bool:
        """Whether a broker ended one of its native jobs by the id, while it was there."""
        mine = {(part["cluster"], part["native_id"]) for part in job["components"]}
        until = time.time() if one.heard is None else one.heard
        return any(
            (ended.cluster, ended.native_id) in mine and one.submitted <= ended.time <= until
            for ended in self.ended_by_id
        )

    def __post_init__(self) -> None:
        self._starts: dict[int, list[Run]] = defaultdict(list)
        self._codes: dict[int, dict[int, int]] = defaultdict(dict)
        self.starts = [self._own(run) for run in self.starts]
        for run in self.starts:
            self._starts[run.job].append(run)
        for code, runs in self.ends.items():
            for run in runs:
                self._codes[run.job][self._own(run).component] = code

    def _own(self, run: Run) -> Run:
        return replace(run, component=0) if run.job in self.single else run

    def twice(self) -> list[Run]:
        """Starts of components that had started before, in this attempt or another."""
        seen: set[tuple[int, int]] = set()
        again = []
        for run in self.starts:
            if (run.job, run.component) in seen:
                again.append(run)
            seen.add((run.job, run.component))
        return again


@dataclass
class Verdict:
    """Violations, each with its job, and what is counted besides."""

    violations: list[tuple[int | None, str]] = field(default_factory=list)
    partly_started: int = 0
    end_unknown: int = 0

    def broken(self, job: int | None, what: str) -> None:
        """A promise was broken."""
        self.violations.append((job, what))


def judge(
    told: Iterable[Told],
    jobs: Mapping[int, Json],
    events: Mapping[int, list[Json]],
    truth: Truth,
    faults: list[Fault],
) -> Verdict:
    """`jobs`: all that the daemon knows in the end; `events`: of those that started in part."""
    verdict = Verdict()
    known = {one.job: one for one in told}
    for number in sorted(jobs.keys() - known.keys()):
        verdict.broken(number, "P1: a job that nobody was told of")
    for run in truth.twice():
        verdict.broken(run.job, f"P2: component {run.component} was started twice")
    for number, one in known.items():
        if len(one.numbers) > 1:
            verdict.broken(number, f"P1: one request id, several jobs: {sorted(one.numbers)}")
        if (job := jobs.get(number)) is None:
            verdict.broken(number, "P1: it was acknowledged, and is not known")
        elif job["state"] not in ENDED or one.state not in (None, job["state"]):
            verdict.broken(number, f"P1: it ended as {one.state}, and is {job['state']}")
        else:
            _together(verdict, job, events.get(number, []), truth)
            _honest(verdict, one, job, truth, faults)
    return verdict


def in_part(jobs: Mapping[int, Json], truth: Truth) -> list[int]:
    """Co-allocated jobs of which some components started and others did not."""
    return [
        number
        for number, job in jobs.items()
        if any(len(some) != len(job["components"]) for some in truth.started(number).values())
    ]


def _together(verdict: Verdict, job: Json, events: list[Json], truth: Truth) -> None:
    wanted = len(job["components"])
    for attempt, started in truth.started(job["job"]).items():
        if len(started) == wanted:
            continue
        opened = any(e["event"] == "opened" and e["attempt"] == attempt for e in events)
        if job["state"] == "COMPLETED" or not opened:
            what = f"attempt {attempt}: only {sorted(started)} of {wanted} components started"
            verdict.broken(job["job"], f"P3: {what}, and it is {job['state']}")
        else:
            verdict.partly_started += 1


def _honest(verdict: Verdict, one: Told, job: Json, truth: Truth, faults: list[Fault]) -> None:
    number, state = job["job"], job["state"]
    codes = truth.codes(number)
    indices = [part["index"] for part in job["components"]]
    well = all(codes.get(index) == 0 for index in indices)
    if state == "COMPLETED" and not (well and job["exit_code"] == 0):
        verdict.broken(number, f"P6: COMPLETED, but its scripts ended with {codes}")
    if state == "CANCELLED" and not one.cancelled:
        verdict.broken(number, "P6: CANCELLED, and nobody asked for that")
    hidden = _hidden(one, job, faults)
    late = _WHOLE
    if _stepped(faults):  # its script's own start counts
        late += _LAUNCHED_LATE if hidden else _LAUNCHED
    if state == "TIMEOUT" and _ran(one, job, truth, faults) < one.plan.limit - late:
        verdict.broken(number, "P6: TIMEOUT before its time limit")
    if state != "FAILED":
        return
    if well and truth.taken_for_another(one, job):
        verdict.broken(number, f"P6: FAILED ({job['reason']}), and a broker had ended it by its id")
    elif well and not hidden:
        verdict.broken(number, f"P6: FAILED ({job['reason']}), but all its scripts ended well")
    elif well:
        verdict.end_unknown += 1
    elif job["exit_code"] == 0:
        verdict.broken(number, "P6: FAILED with exit code 0")


def _ran(one: Told, job: Json, truth: Truth, faults: list[Fault]) -> float:
    """For how many seconds a job was there at most. Times are told by the database's clock: where
    that was stepped, its scripts and its user tell, by the machine's."""
    if not _stepped(faults):
        return float(job["end_time"] - job["submit_time"])
    began = truth.began(one.job) or one.submitted
    return (time.time() if one.heard is None else one.heard) - began


def _hidden(one: Told, job: Json, faults: list[Fault]) -> bool:
    """Whether a fault hit one of the job's clusters while it was there, or just before; by its
    user's clock where the database's was stepped."""
    clusters = {part["cluster"] for part in job["components"]}
    began, ended = job["submit_time"], job["end_time"]
    if _stepped(faults):
        began, ended = one.submitted, time.time() if one.heard is None else one.heard
    return any(fault.where in clusters for fault in between(faults, began - _HIDDEN, ended))


def between(faults: Iterable[Fault], began: float, ended: float) -> list[Fault]:
    """Those of a time."""
    return [fault for fault in faults if fault.began <= ended and fault.ended >= began]


def _stepped(faults: list[Fault]) -> bool:
    return any(fault.what == CLOCK for fault in faults)


def by_state(jobs: Iterable[Json]) -> dict[str, int]:
    """Jobs by the state in which they ended."""
    return dict(sorted(Counter(job["state"] for job in jobs).items()))
