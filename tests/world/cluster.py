"""One emulated cluster: its truth, its processes, its shared folder, and what is wrong with it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import partial

from metabroker.clusters.simulated.model import SimulatedJob, State
from metabroker.clusters.transports.base import Command, Completed

from .accounts import UNKNOWN, Accounts, home_of
from .asked import Asked
from .come_and_go import come_and_go
from .controller import FOREIGN, Controller, is_ours
from .files import HOME, ClusterFiles
from .late import LateModel
from .letters import Letters
from .local_users import OthersWaiting
from .openpbs import Server
from .processes import Process, Surroundings, Witness
from .scenario import COMES_AND_GOES, LIE, LOCALS, ClusterPlan
from .suspending import is_suspended, resume
from .virtual.meeting import without_meeting
from .virtual.processes import Moments

_GATE = re.compile(rb"^mb__gate='?([^'\n]+)'?$", re.M)
_TRAPS = re.compile(rb"METABROKER_TRAPS=(\d)")
_CLOCKS = 5.0  # seconds by which a file server and a controller may differ
_FRESH = 5.0  # seconds; younger things are lost by a controller that is killed
_SOON = 0.001
AGAIN = 6.0  # seconds after which a controller that has lost its state gives an id again


class WorldCluster:
    """The cluster of a plan. `witness` is told what becomes of its jobs' scripts."""

    def __init__(
        self,
        plan: ClusterPlan,
        rng: random.Random,
        moments: Moments,
        witness: Witness,
        letters: Letters,
    ) -> None:
        self.plan = plan
        self.offset = plan.offset
        self.jumped = float("-inf")  # when somebody has set its clock
        self._rng = rng
        self._users = random.Random(f"{plan.name} {plan.processors} users")
        self._moments = moments
        self._began = moments.now
        self.until: dict[str, float] = {}  # of faults that last
        self.since: dict[str, float] = {}  # of those of them that let nothing be seen
        self.struck = 0.0  # when a command met with trouble on its way here, last
        self.hidden = 0.0  # seconds of all its faults that hide ends
        self.how: dict[str, str] = {}
        late = random.Random(f"{plan.name} {plan.processors} late").choice((0.0, 1.5))
        self.model = LateModel(plan.processors, round=late)
        hung = partial(self.suffers, "files")
        self.files = ClusterFiles(self.local, hung)
        self.accounts = Accounts(plan, self.now)
        for account in self.accounts.table.values():
            self.files.give_home(home_of(account))
        self.controller: Controller | Server
        if plan.system == "slurm":
            self.controller = Controller(plan.name, self.model, self._taken, self._sized)
            self.controller.unknown = partial(self.accounts.suffers, trouble=UNKNOWN)
        else:
            history = plan.system == "openpbs"
            self.controller = Server(
                plan.name, self.model, self._taken, self._sized, history=history
            )
        self.runs: dict[int, Process] = {}
        self.orphans: set[Process] = set()
        self._around = Surroundings(
            plan.name,
            self.files,
            rng,
            self.now,
            moments.at,
            hung,
            witness,
            letters,
            wholes=rng.random() < 0.8,
        )
        self.asked = Asked()
        self._ids_again = 0.0, 0  # till when no other job gets an id that is lower
        self.disturbed: set[str] = set()  # reservations that a fault has deleted, or made
        self.guard: Callable[[WorldCluster, set[int]], None] | None = None
        self.cut_short: Callable[[WorldCluster, SimulatedJob], None] = lambda *_: None
        self.announced: dict[str, tuple[float, float]] = {}  # maintenance: when, and from when on
        self.others_waiting = OthersWaiting()
        self.stood: set[str] = set()  # jobs that ended with their reservations, and were suspended
        self.litter: set[str] = set()  # folders made too late, by a broker that was stopped

    def now(self) -> float:
        """The world's time."""
        return self._moments.now

    def local(self) -> float:
        """The cluster's own clock."""
        now = self.now()
        return now + self.offset + self.plan.drift * (now - self._began)

    @property
    def put_back(self) -> bool:
        """Whether one of our jobs waits here for another run, or did a while ago: after a restart
        of a broker it may hold processors again that others have meanwhile."""
        return any("requeued" in job.extra for job in self.ours())

    @property
    def busy(self) -> bool:
        """Whether it may have users of its own."""
        return self.plan.queue_every is not None

    def suffers(self, fault: str) -> bool:
        """Whether a fault is on now."""
        until = self.until.get(fault)
        return until is not None and until > self._moments.now

    def execute(self, command: Command) -> Completed:
        """The controller carries out a command now."""
        self.step()
        before = self._ending() if self.guard is not None else set()
        done = self.controller.execute(command, self.local())
        if self.guard is not None:
            self.guard(self, self._ending() - before)
        self.step()
        return done

    def _ending(self) -> set[int]:
        """Native jobs that were told to end."""
        return {number for number, job in self.model.jobs.items() if "ending" in job.extra}

    # --- time ---------------------------------------------------------------------------------

    @property
    def active(self) -> bool:
        """Whether anything of the broker's happens here by itself."""
        if self.orphans or self.runs:
            return True
        return any("gate" in j.extra and not j.state.ended for j in self.model.jobs.values())

    def step(self) -> None:
        """Catch up with the time."""
        now = self.local()
        if self.suffers(LOCALS):
            self._want(now)
        if COMES_AND_GOES in self.until:
            come_and_go(self, now)
        for job in self.model.advance(now):
            if "lasts" in job.extra:
                job.extra["until"] = now + job.extra["lasts"]
            if "gate" in job.extra:
                self.runs[job.id] = Process(job, self._around, partial(self._over, job))
        if self.suffers(LIE) and self._lie():
            self.until[LIE] = 0.0
        if not self.suffers("lax"):
            self._end_overdue(now)
        for job in [j for j in self.model.jobs.values() if j.state is State.RUNNING]:
            self._follow(job, now)
        if self.orphans:
            self.orphans -= {process for process in self.orphans if process.over}
        self.others_waiting.look(self.model, self.now())

    def _end_overdue(self, now: float) -> None:
        """Jobs over their time limit, and ours whose reservation is over, are told to end."""
        outlived = self._outlived()
        for job in outlived:
            if "ending" not in job.extra:
                self.cut_short(self, job)
        for job in [*self.model.overdue(now), *outlived]:
            if not is_suspended(job):
                job.extra.setdefault("ending", (State.TIMEOUT, now))

    def _outlived(self) -> list[SimulatedJob]:
        """Our running jobs whose reservation has come to its end: theirs has come, too."""
        return [
            job
            for job in self.model.jobs.values()
            if job.state is State.RUNNING and job.reservation is not None and "gate" in job.extra
            if job.reservation not in self.model.reservations
            if job.reservation not in self.disturbed
        ]

    def _want(self, now: float) -> None:
        """Local users always have two jobs waiting."""
        pending = [j for j in self.model.jobs.values() if j.state is State.PENDING]
        for _ in range(2 - sum(1 for job in pending if job.name == "local")):
            size = self._users.randint(1, max(1, self.model.processors // 2))
            lasts = self._users.uniform(2, 15)
            limit = 60.0 if self.plan.limited else 1e9
            self.skip_ids(now)
            self.model.submit("local", size, limit, now, extra={"lasts": lasts})

    def skip_ids(self, now: float, *, fresh: bool = False) -> None:
        """No id is given again within seconds, nor as long as what lost it is `fresh`."""
        if fresh or now < self._ids_again[0]:
            self.model.next_id = max(self.model.next_id, self._ids_again[1])

    def leave(self) -> None:
        """Local users go, and end all that they have."""
        now = self.local()
        self.until[LOCALS] = self.now()
        for job in [j for j in self.model.jobs.values() if j.name == "local"]:
            self.model.end(job, State.CANCELLED, now)
        self.step()

    def _follow(self, job: SimulatedJob, now: float) -> None:
        process = self.runs.get(job.id)
        if process is None:  # a local user's
            if "ending" in job.extra or now >= job.extra["until"]:
                self.model.end(job, State.COMPLETED, now)
        elif "ending" in job.extra:
            resume(self, job)
            state, since = job.extra["ending"]
            if job.extra["traps"] and not process.terminated:
                process.terminate()
            if not process.over and now >= since + job.extra["stubborn"]:
                process.kill()
                self.model.end(job, state, now)
            if process.over:
                self.runs.pop(job.id, None)

    def _over(self, job: SimulatedJob, status: int) -> None:
        """Its process has ended by itself."""
        if self.model.jobs.get(job.id) is not job or self.runs.pop(job.id, None) is None:
            return  # its controller has forgotten it, and may have given its id to another
        state = State.COMPLETED if status == 0 else State.FAILED
        if "ending" in job.extra:
            state = job.extra["ending"][0]
        self.model.end(job, state, self.local(), status)

    def _sized(self, processors: int) -> int:
        """How many processors a reservation gets for those asked for."""
        if self.suffers("missized") and self._rng.random() < 0.7:
            return processors + self._rng.choice((-1, 1, 1, 3))
        return processors

    def holds(self, token: str, processors: int) -> bool:
        """Whether a reservation is there with so many processors, or was before a fault; or before
        its end, if its job is not dead yet (or was let run beyond its limit), or could not see its
        gate for a while."""
        if any(_token(name) == token for name in self.disturbed):
            return True
        found = [r for name, r in self.model.reservations.items() if _token(name) == token]
        if found:
            return any(r.processors == processors for r in found)
        now = self.local()
        seen = self.until.get("files", 0.0) + now - self.now()
        late = [j for j in self.ours() if j.start_time is not None and j.start_time < seen]
        late += [*self.model.overdue(now), *self._outlived()]
        return any(_token(job.name) == token for job in late)

    def _taken(self, job: SimulatedJob, command: Command) -> None:
        text = command.stdin
        gate, traps = _GATE.search(text), _TRAPS.search(text)
        assert gate and traps
        job.extra = {
            "gate": gate[1].decode(),
            "text": without_meeting(text.decode()),
            "folder": HOME,
            "came": self.now(),
            "system": self.plan.system,
            "owner": command.account or "root",
            "traps": traps[1] == b"1",
            "stubborn": self._rng.choice((0.0, 0.5, 3.0, 30.0)),
        }
        self._moments.at(self.now() + self.model.wait(job) + _SOON, self.step)

    # --- faults of a moment -------------------------------------------------------------------

    def ours(self) -> list[SimulatedJob]:
        """The jobs that the brokers under test have submitted."""
        return [j for j in self.model.jobs.values() if "gate" in j.extra]

    def amnesia(self) -> list[str]:
        """The controller is killed and started again: what was fresh never was; ids come again."""
        now = self.local()
        lost = [j for j in self.ours() if now - j.submit_time < _FRESH and not j.state.ended]
        for job in lost:
            del self.model.jobs[job.id]
            run = self.runs.pop(job.id, None)
            if run is not None:
                self.orphans.add(run)
                self._moments.at(self.now() + self._rng.uniform(0, 4), run.kill)
        latest = max((job.submit_time for job in lost), default=0.0)
        self._ids_again = latest + AGAIN, self.model.next_id
        self.model.next_id = max(self.model.jobs, default=0) + 1
        for name, reservation in list(self.model.reservations.items()):
            used = any(j.reservation == name and not j.state.ended for j in self.ours())
            if now - reservation.start < _FRESH and not used:
                del self.model.reservations[name]
                self.disturbed.add(name)
        self.controller.unsettled_until = now + 4
        self.controller.started_again()
        return [job.name for job in lost]

    def hit_job(self, what: str) -> str | None:
        """One of our active jobs is killed, preempted and requeued, or loses its node."""
        now = self.local()
        jobs = [j for j in self.ours() if not j.state.ended]
        if not jobs:
            return None
        job = self._rng.choice(jobs)
        run = self.runs.pop(job.id, None)
        if run is not None:
            run.kill()
        if what == "requeue":
            job.state, job.start_time = State.PENDING, None
            job.extra["requeued"] = now
        else:
            self.model.end(job, State.NODE_FAIL if what == "node" else State.CANCELLED, now)
        return job.name

    def _lie(self) -> bool:
        """One of our jobs that run is called COMPLETED, though its script has not started; if that
        was about to, it never will. (None whose former run began just before: clocks differ.)"""
        before = self.local() - _CLOCKS
        early = [
            job
            for job in self.ours()
            if job.state is State.RUNNING and job.extra.get("requeued", before) <= before
            if job.id not in self.runs or self.runs[job.id].early
            if not self.files.has(job.extra["gate"], "started")  # it has said that it has
        ]
        if not early:
            return False
        job = self._rng.choice(early)
        run = self.runs.pop(job.id, None)
        if run is not None:
            run.kill()
        self.model.end(job, State.COMPLETED, self.local())
        return True

    def rename(self) -> str | None:
        """One of our active jobs is renamed (its script may do that itself)."""
        jobs = [job for job in self.ours() if not job.state.ended]
        if not jobs:
            return None
        job = self._rng.choice(jobs)
        job.extra["renamed"] = "my-run"
        return job.name

    def vanish(self) -> str | None:
        """One of our reservations is deleted behind our back."""
        names = [n for n in self.model.reservations if is_ours(n)]
        if not names:
            return None
        name = self._rng.choice(names)
        del self.model.reservations[name]
        self.disturbed.add(name)
        return name

    def lodge(self, until: float) -> None:
        """Another broker's job and reservation: nothing of ours to touch."""
        if self.model.processors > 3:
            now = self.local()
            ends = until - self.now() + now
            self.model.submit(f"{FOREIGN}-0", 1, 1e9, now, extra={"until": ends})
            self.model.reserve(f"{FOREIGN}-1", 1, now, ends)

    def reserve_ahead(self, later: float, until: float, *, half: bool) -> None:
        """In so many seconds its processors are kept for maintenance, until then; it does not care
        for what may still run."""
        now, number = self.local(), len(self.announced)
        processors = self.model.processors // 2 if half else self.model.processors
        name = f"maintenance#R{900_000 + number}"
        self.model.reserve_ahead(name, processors, now + later, now + until)
        self.announced[name] = (self.now(), self.now() + later)

    def shut_from(self, seen_at: float) -> float:
        """When all of it begins to be kept for others, of what was announced before `seen_at`."""
        whole = self.model.processors
        found = (
            self.announced[name]
            for name, r in self.model.reservations.items()
            if name in self.announced and r.processors == whole
        )
        return min((start for told, start in found if told < seen_at), default=float("inf"))

    def fill(self, until: float) -> None:
        """Local users take some of the processors."""
        idle = self.model.idle()
        if idle > 0:
            now = self.local()
            size = self._rng.randint(1, idle)
            self.skip_ids(now)
            job = self.model.submit(
                "local", size, 1e9, now, extra={"until": until - self.now() + now}
            )
            self.step()
            assert job.state is not State.FAILED


def _token(name: str) -> str:
    """The token that a reservation is called by."""
    return name.partition("#")[0]
