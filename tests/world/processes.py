"""The processes of components: each runs the text that its cluster was given, in a shell."""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from metabroker.clusters.simulated.model import SimulatedJob

from .files import ClusterFiles
from .home import RESULT
from .letters import Letters, letter, moments
from .suspending import is_suspended
from .virtual.expansion import Running, Script
from .virtual.shell import Node, Shell

_HUNG = 1.0  # seconds after which a process looks again whether the shared folder is back
_SOON = 0.001
_AFTER = 0.005  # seconds after a script's own signal that its wrapper has it, at times


class Witness(Protocol):
    """What the oracle is told of a component, by its token; `there`: the time by the clock of its
    cluster's files."""

    def started(self, token: str, now: float, there: float, passed: tuple[float, float]) -> None:
        """Its script has started; `passed`: when it went through its gate, by both clocks."""

    def stopped(self, token: str, exit_code: int | None, now: float, there: float) -> None:
        """Its script is over: by itself, or killed (None)."""

    def yielded(self, token: str) -> None:
        """Its script was told to end, and did so with exit code 0."""

    def gave_up(self, token: str) -> None:
        """It has left the barrier by itself."""

    def answers(self, token: str) -> None:
        """It has said that it is armed."""

    def fell(self, token: str) -> None:
        """It was killed after it had said so."""

    def fell_before_its_script(self, token: str) -> None:
        """It was killed when it had gone through its gate, and had not started its script."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a process lives in. `at` does something at a moment of the world's; `hung`: whether
    whoever touches the shared folder waits now."""

    name: str
    files: ClusterFiles
    rng: random.Random
    now: Callable[[], float]
    at: Callable[[float, Callable[[], None]], None]
    hung: Callable[[], bool]
    witness: Witness
    letters: Letters
    wholes: bool

    def times(self) -> tuple[float, float]:
        """Now, and what time it is by the clock of the cluster's files."""
        return self.now(), self.files.clock()


class Process:
    """The process of one job. `ended` is called with its exit status when it ends by itself."""

    def __init__(
        self, job: SimulatedJob, around: Surroundings, ended: Callable[[int], None]
    ) -> None:
        self.token = job.name
        self.gate: str = job.extra["gate"]
        self.answered = False
        self.over = False
        self._job = job
        self._around = around
        self._ended = ended
        self._script: Script | None = None
        self._began = self._signalled = False
        self._passed: tuple[float, float] | None = None
        self._turn = 0
        self._others = 1
        self._joined = 0
        self._since = 0.0  # since when its script runs
        # How its script ends when it is sent SIGTERM.
        told = random.Random(f"{self.token} {around.now()}")
        self._when_told = told.choice((0, 143))
        self._first = told.random() < 0.3  # before its wrapper has had the signal
        variables = self._native_variables(job)
        node = Node(f"{around.name}n1", around.files, self._pace, around.wholes, self._moved)
        self._shell = Shell(node, variables, set(variables), folder=job.extra["folder"])
        self._running: Running = self._shell.run(job.extra["text"])
        self._later(around.rng.choice((0.0, 0.3, 2.0)), None)

    def _native_variables(self, job: SimulatedJob) -> dict[str, str]:
        around = self._around
        several = around.rng.random() < 0.5
        if job.extra["system"] == "slurm":
            names = f"{around.name}n[1-3]" if several else f"{around.name}n1"
            return {"SLURM_JOB_NODELIST": names, "SLURM_JOB_ID": str(job.id)}
        folder = "/var/spool/pbs/aux"
        with around.files.mended():
            around.files.make_folders(folder)
            lines = "n2\nn1\nn2\n" if several else "n1\n"
            around.files.write(f"{folder}/{job.id}", lines.encode())
        return {"PBS_NODEFILE": f"{folder}/{job.id}", "PBS_JOBID": f"{job.id}.{around.name}"}

    @property
    def early(self) -> bool:
        """Whether it may still start the script, and has not."""
        return not self._began and not self.over

    @property
    def terminated(self) -> bool:
        """Whether it was sent SIGTERM."""
        return self._signalled or self.over

    @property
    def _suspended(self) -> bool:
        return is_suspended(self._job)

    def kill(self) -> None:
        """SIGKILL, to all of it."""
        if self.over:
            return
        self.over = True
        if self._began:
            self._around.witness.stopped(self.token, None, *self._around.times())
        elif self.answered and not self._around.files.has(self.gate, "abort"):
            self._around.witness.fell(self.token)  # and not because the broker has ended it
        if self._passed is not None and not self._began:
            self._around.witness.fell_before_its_script(self.token)

    def terminate(self) -> None:
        """SIGTERM, to all of it."""
        if self.over or self._signalled:
            return
        if "TERM" not in self._shell.traps:
            self.kill()
            self._ended(143)
            return
        self._signalled = True
        if self._script is None or not self._first:
            self._shell.signalled("TERM")
        else:
            self._around.at(self._around.now() + _AFTER, self._is_told)
        if self._script is not None:
            self._later(0.0, self._when_told)

    def _is_told(self) -> None:
        if not self.over:
            self._shell.signalled("TERM")

    # --- its life -------------------------------------------------------------------------------

    def _later(self, seconds: float, answer: int | None) -> None:
        self._turn += 1
        turn = self._turn
        self._around.at(self._around.now() + seconds, lambda: self._go_on(turn, answer))

    def _go_on(self, turn: int, answer: int | None) -> None:
        if self.over or turn != self._turn:
            return
        if self._around.hung() or self._suspended:
            self._later(_HUNG, answer)
            return
        if answer is not None:
            self._script_ends(answer)
        try:
            step = next(self._running) if answer is None else self._running.send(answer)
        except StopIteration as end:
            self._ends(end.value)
            return
        if isinstance(step, Script):
            self._begins(step)
        else:
            self._later(max(step, _SOON), None)

    def _begins(self, script: Script) -> None:
        self._script, self._began = script, True
        attempt, component = (int(number) for number in self.token.split("-")[3:5])
        codes = [int(code) for code in script.environment["METABROKER_EXITS"].split(".")]
        fails = script.environment["METABROKER_LONE"] in ("-1", str(component))
        code = codes[min(attempt, len(codes)) - 1] if fails else 0
        seconds = float(script.environment["METABROKER_RUN_TIME"])
        seconds += component * float(script.environment["METABROKER_APART"])
        times = self._around.times()
        self._around.witness.started(self.token, *times, self._passed or times)
        if self.over:
            return
        self._others = int(script.environment["METABROKER_COMPONENTS"])
        self._joined = int(script.environment.get("METABROKER_JOINED_JOB", "0"))
        self._since = self._around.now()
        if self._others > 1 or self._joined:
            now = self._around.now()
            for version, moment in enumerate(moments(self.token, seconds), 1):
                self._around.at(now + moment, partial(self._puts, version))
        self._later(max(_SOON, seconds), code)

    def _puts(self, version: int) -> None:
        """It tells the others something, unless its folder is away, or full."""
        if self.over or self._script is None or self._around.hung() or self._suspended:
            return
        with contextlib.suppress(OSError):
            path = f"{self.gate}/out.{version}"
            self._around.files.write(path, letter(self.token, version))
            self._around.letters.puts(self.token, version, self._around.now())

    def _hears(self) -> None:
        """What it has of the others in the end."""
        own = int(self.token.split("-")[4])
        with self._around.files.mended():
            inboxes = {
                n: self._around.files.read(f"{self.gate}/in.{n}")
                for n in range(self._others)
                if n != own
            }
        self._around.letters.has(self.token, inboxes, self._around.now())

    def _hears_others(self) -> None:
        """What it has of other jobs in the end: of those that have joined its own, or of that which
        it has joined."""
        with self._around.files.mended():
            names = [re.fullmatch(r"in\.(\d+)\.(\d+)", n) for n in self._names()]
            found = {
                (int(told[1]), int(told[2])): self._around.files.read(f"{self.gate}/{told[0]}")
                for told in names
                if told is not None
            }
        inboxes = {key: content for key, content in found.items() if content is not None}
        if inboxes or self._joined:
            whose = self.token, inboxes, self._joined
            self._around.letters.of_others(*whose, self._since, self._around.now())

    def _names(self) -> list[str]:
        return list(self._around.files.names(self.gate) or ())

    def _script_ends(self, _status: int) -> None:
        """What the script has made is there before its end is written down."""
        script, self._script = self._script, None
        assert script is not None
        # One that is being ended is told nothing any more, however long it takes to go.
        if not self._signalled and "ending" not in self._job.extra:
            if self._others > 1:
                self._hears()
            self._hears_others()
        well = not self._signalled or self._when_told == 0
        if "METABROKER_WORK_DIR" in script.environment and well:
            path = f"{script.folder}/{RESULT}"
            if self._around.files.find(script.folder) is not None:
                self._around.files.make_folders(path.rpartition("/")[0])
                self._around.files.write(path, self.token.encode())

    def _ends(self, status: int) -> None:
        self.over = True
        if self._began:
            own = None if self._signalled else status
            self._around.witness.stopped(self.token, own, *self._around.times())
            if own is None and status == 0:
                self._around.witness.yielded(self.token)
        elif self.answered and any(self._around.files.has(self.gate, n) for n in ("armed", "go")):
            self._around.witness.gave_up(self.token)  # though it has said that it waits on
        self._ended(status)

    def _moved(self, old: str, new: str) -> None:
        """It has renamed something in its gate."""
        if old == f"{self.gate}/go":
            self._passed = self._around.times()
        if new == f"{self.gate}/ready":
            self.answered = True
            self._around.witness.answers(self.token)
        elif (old, new) == (f"{self.gate}/wait", f"{self.gate}/abort"):
            self._around.witness.gave_up(self.token)

    def _pace(self) -> float:
        return self._around.rng.choice((0.001, 0.002, 0.004))
