"""One emulated cluster: its truth, its processes, its shared folder, and what is wrong with it."""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from metabroker.broker.settings import Settings
from metabroker.clusters.file_transfer import work_folder
from metabroker.clusters.simulated.actor import Actor
from metabroker.clusters.simulated.model import Model, SimulatedJob, State
from metabroker.clusters.slurm import SlurmCluster, SlurmOptions
from metabroker.clusters.transports.base import Command, Completed, Files

from .controller import FOREIGN, Controller, is_ours
from .files import MemoryFiles
from .home import RESULT
from .scenario import ClusterPlan
from .slipping import SlippingFiles

if TYPE_CHECKING:
    from .host import Host

_GATE = re.compile(rb"^mb__gate='?([^'\n]+)'?$", re.M)
_PATIENCE = re.compile(rb"^mb__patience=(\d*)$", re.M)
_RUN_TIME = re.compile(rb"METABROKER_RUN_TIME=([0-9.]+)")
_EXITS = re.compile(rb"METABROKER_EXITS=([0-9.]+)")
_TRAPS = re.compile(rb"METABROKER_TRAPS=(\d)")
_RESULT = re.compile(rb"^mb__work='?(yes)'?$", re.M)
_FRESH = 5.0  # seconds; younger things are lost by a controller that is killed


@dataclass(slots=True)
class Run:
    """A job's process."""

    token: str
    actor: Actor
    traps: bool
    works: bool = False
    answered: bool = False
    dies_at: float | None = None  # an orphan that its node is about to end

    @property
    def early(self) -> bool:
        """Whether it may still start the script, and has not."""
        return self.actor.running_since is None and self.actor.over is None


class NoTransport:
    """The world runs the commands; the adapter only needs the files."""

    def __init__(self, files: Files) -> None:
        self.files = files

    def run(self, command: Command) -> Completed:
        """Never called."""
        raise AssertionError(command)

    def close(self) -> None:
        """Nothing."""


class WorldCluster:
    """The cluster of a plan. `started` and `ended` are told when a script starts and ends."""

    def __init__(
        self,
        plan: ClusterPlan,
        rng: random.Random,
        clock: Callable[[], float],
        started: Callable[[str, float], None],
        ended: Callable[[str, int | None], None],
        gave_up: Callable[[str], None],
        answers: Callable[[str], None],
        fell: Callable[[str], None],
    ) -> None:
        self.plan = plan
        self.offset = plan.offset
        self._rng = rng
        self._clock = clock
        self._started = started
        self._ended = ended
        self._gave_up = gave_up
        self._answers = answers
        self._fell = fell
        self.model = Model(plan.processors)
        self.files = MemoryFiles(self.local)
        self.controller = Controller(plan.name, self.model, self._taken, self._sized)
        self._began = clock()
        self.runs: dict[int, Run] = {}
        self.orphans: list[Run] = []
        self.until: dict[str, float] = {}  # of faults that last
        self.disturbed: set[str] = set()  # reservations that a fault has deleted
        self.litter: set[str] = set()  # folders made too late, by a broker that was stopped

    def local(self) -> float:
        """The cluster's own clock."""
        now = self._clock()
        return now + self.offset + self.plan.drift * (now - self._began)

    def adapter(self, settings: Settings, host: Host) -> SlurmCluster:
        """A broker's adapter for it; a new one after each of the broker's crashes."""
        options = SlurmOptions("root", name=self.plan.name, instance=settings.instance)
        files = self.files if host.alone else SlippingFiles(self.files, host.about_to)
        adapter = SlurmCluster(options, NoTransport(files))
        adapter.part = 4
        return adapter

    def suffers(self, fault: str) -> bool:
        """Whether a fault is on now."""
        return self.until.get(fault, 0.0) > self._clock()

    def execute(self, command: Command) -> Completed:
        """The controller carries out a command now."""
        self.step()
        done = self.controller.execute(command, self.local())
        self.step()
        return done

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
        self.files.broken = False
        hung = self.suffers("files")
        for job in self.model.advance(now):
            if "gate" in job.extra:
                self.runs[job.id] = self._run(job, now)
        if not self.suffers("lax"):
            for job in self.model.overdue(now):
                job.extra.setdefault("ending", (State.TIMEOUT, now))
        for job in [j for j in self.model.jobs.values() if j.state is State.RUNNING]:
            self._follow(job, now, hung)
        for orphan in list(self.orphans):
            if orphan.dies_at is not None and orphan.dies_at <= now:
                self._kill(orphan)
                self.orphans.remove(orphan)
            elif not hung and self._act(orphan, now):
                self.orphans.remove(orphan)
        self.files.broken = hung

    def _follow(self, job: SimulatedJob, now: float, hung: bool) -> None:
        run = self.runs.get(job.id)
        if run is None:  # a local user's
            if "ending" in job.extra or now >= job.extra["until"]:
                self.model.end(job, State.COMPLETED, now)
            return
        if "ending" in job.extra:
            state, since = job.extra["ending"]
            if now >= since + job.extra["stubborn"]:
                if run.traps and run.actor.running_since is not None and not hung:
                    self.files.write(f"{run.actor.gate}/ended", b"143 signalled\n")
                self._kill(run)
                del self.runs[job.id]
                self.model.end(job, state, now)
        elif not hung and self._act(run, now):
            del self.runs[job.id]
            code = run.actor.over
            self.model.end(job, State.COMPLETED if code == 0 else State.FAILED, now, code)

    def _act(self, run: Run, now: float) -> bool:
        """Let a process go on; whether it is over."""
        before = run.actor.running_since
        waited = self._at_barrier(run)
        ends = before is not None and now >= before + run.actor.run_time
        if run.works and ends and run.actor.over is None:
            self._leave_result(run)
        try:
            run.actor.step(self.files, now)
        except FileNotFoundError:
            run.actor.over = run.actor.over or 1  # its folder is gone
        if run.actor.arrived and not run.answered and self._at_gate(run, "ready"):
            run.answered = True
            self._answers(run.token)
        if waited and run.actor.over is not None:
            self._gave_up(run.token)
        if before is None and run.actor.running_since is not None:
            self._started(run.token, self._clock())
        if run.actor.over is not None and run.actor.running_since is not None:
            self._ended(run.token, run.actor.over)
        return run.actor.over is not None

    def _leave_result(self, run: Run) -> None:
        """What the script has made is there before its end is written down."""
        with contextlib.suppress(FileNotFoundError):
            folder = f"{work_folder(run.actor.gate)}/{RESULT}".rpartition("/")[0]
            if run.actor.gate in self.files.folders:
                self.files.make_folder(folder)
                self.files.write(f"{work_folder(run.actor.gate)}/{RESULT}", run.token.encode())

    def _at_barrier(self, run: Run) -> bool:
        """Whether its gate is still where nobody has decided anything."""
        entries = self.files.list(run.actor.gate) or ()
        return run.actor.arrived and any(entry.name == "wait" for entry in entries)

    def _kill(self, run: Run) -> None:
        if run.actor.running_since is not None and run.actor.over is None:
            self._ended(run.token, None)
        elif run.answered and not self._at_gate(run, "abort"):
            self._fell(run.token)  # and not because the broker has ended it

    def _at_gate(self, run: Run, name: str) -> bool:
        broken, self.files.broken = self.files.broken, False
        entries = self.files.list(run.actor.gate) or ()
        self.files.broken = broken
        return any(entry.name == name for entry in entries)

    def _sized(self, processors: int) -> int:
        """How many processors a reservation gets for those asked for."""
        if self.suffers("missized") and self._rng.random() < 0.7:
            return processors + self._rng.choice((-1, 1, 1, 3))
        return processors

    def holds(self, token: str, processors: int) -> bool:
        """Whether a reservation is there with so many processors, or was before a fault."""
        found = self.model.reservations.get(token)
        return token in self.disturbed or (found is not None and found.processors == processors)

    def _taken(self, job: SimulatedJob, command: Command) -> None:
        text = command.stdin
        gate, patience = _GATE.search(text), _PATIENCE.search(text)
        run_time, exits = _RUN_TIME.search(text), _EXITS.search(text)
        traps = _TRAPS.search(text)
        assert gate and patience and run_time and exits and traps
        attempt = int(job.name.split("-")[3])
        codes = [int(code) for code in exits[1].split(b".")]
        job.extra = {
            "gate": gate[1].decode(),
            "patience": float(patience[1]) if patience[1] else None,
            "run_time": float(run_time[1]),
            "exit_code": codes[min(attempt, len(codes)) - 1],
            "traps": traps[1] == b"1",
            "works": _RESULT.search(text) is not None,
            "stubborn": self._rng.choice((0.0, 0.5, 3.0, 30.0)),
        }

    def _run(self, job: SimulatedJob, now: float) -> Run:
        extra = job.extra
        actor = Actor(
            gate=extra["gate"],
            host=f"{self.plan.name}n1",
            started_at=now + self._rng.choice((0.0, 0.3, 2.0)),
            patience=extra["patience"],
            run_time=max(0.001, extra["run_time"]),  # what a script leaves it leaves in its time
            exit_code=extra["exit_code"],
        )
        return Run(job.name, actor, extra["traps"], extra["works"])

    # --- faults of a moment -------------------------------------------------------------------

    def _ours(self) -> list[SimulatedJob]:
        return [j for j in self.model.jobs.values() if "gate" in j.extra]

    def amnesia(self) -> list[str]:
        """The controller is killed and started again: what was fresh never was; ids come again."""
        now = self.local()
        lost = [j for j in self._ours() if now - j.submit_time < _FRESH and not j.state.ended]
        for job in lost:
            del self.model.jobs[job.id]
            run = self.runs.pop(job.id, None)
            if run is not None:
                run.dies_at = now + self._rng.uniform(0, 4)
                self.orphans.append(run)
        self.model.next_id = max(self.model.jobs, default=0) + 1
        for name, reservation in list(self.model.reservations.items()):
            used = any(j.reservation == name and not j.state.ended for j in self._ours())
            if now - reservation.start < _FRESH and not used:
                del self.model.reservations[name]
                self.disturbed.add(name)
        self.controller.unsettled_until = now + 4
        return [job.name for job in lost]

    def hit_job(self, what: str) -> str | None:
        """One of our active jobs is killed, preempted and requeued, or loses its node."""
        now = self.local()
        jobs = [j for j in self._ours() if not j.state.ended]
        if not jobs:
            return None
        job = self._rng.choice(jobs)
        run = self.runs.pop(job.id, None)
        if run is not None:
            self._kill(run)
        if what == "requeue":
            job.state, job.start_time = State.PENDING, None
        else:
            self.model.end(job, State.NODE_FAIL if what == "node" else State.CANCELLED, now)
        return job.name

    def lie(self) -> str | None:
        """One of our jobs that run is called COMPLETED, though its script has not started; if that
        was about to, it never will."""
        early = [
            job
            for job in self._ours()
            if job.state is State.RUNNING and (job.id not in self.runs or self.runs[job.id].early)
        ]
        if not early:
            return None
        job = self._rng.choice(early)
        run = self.runs.pop(job.id, None)
        if run is not None:
            self._kill(run)
        self.model.end(job, State.COMPLETED, self.local())
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
            ends = until - self._clock() + now
            self.model.submit(f"{FOREIGN}-0", 1, 1e9, now, extra={"until": ends})
            self.model.reserve(f"{FOREIGN}-1", 1, now, ends)

    def fill(self, until: float) -> None:
        """Local users take some of the processors."""
        idle = self.model.idle()
        if idle > 0:
            now = self.local()
            size = self._rng.randint(1, idle)
            job = self.model.submit(
                "local", size, 1e9, now, extra={"until": until - self._clock() + now}
            )
            self.step()
            assert job.state is not State.FAILED
