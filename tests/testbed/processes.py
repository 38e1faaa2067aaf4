"""Daemons as plain processes: started in the foreground, known by pid and start time.

A pid alone may be issued again; pid and start time together name one process for ever. They
are kept in a file, so that another process (`make clusters-down`) can stop what this one began.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

# In the environment of every daemon (and so of slurmstepd), never in a user's: by it `sweep`
# knows what belongs to a test-bed.
MARK = "METABROKER_TESTBED"


class TestbedError(Exception):
    """The test-bed did not do what it was asked; the text holds the daemons' own words."""

    __test__ = False


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Poll `condition` until it holds; past `seconds` raise `TestbedError` naming `what`."""
    deadline = time.monotonic() + seconds
    pause = 0.005
    while not condition():
        if time.monotonic() > deadline:
            raise TestbedError(f"not within {seconds:g} s: {what}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)


def captured(
    argv: Sequence[str | Path], *, timeout: float = 150, check: bool = False, **given: Any
) -> subprocess.CompletedProcess[str]:
    """A program run to its end, with what it printed. `given`: as to `subprocess.run`."""
    return subprocess.run(
        argv, capture_output=True, text=True, timeout=timeout, check=check, **given
    )


def start_time(pid: int) -> str | None:
    """When the process began, in clock ticks since boot; None if it is gone or a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


class Daemon:
    """One daemon: how it is started, and whether it runs."""

    def __init__(
        self, name: str, argv: Sequence[str | Path], folder: Path, env: Mapping[str, str]
    ) -> None:
        self.name = name
        self.argv = [str(word) for word in argv]
        self.env = dict(env)
        self.log = folder / f"{name}.out"
        self._file = folder / f"{name}.process"
        self._child: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it (in its own session: a terminal's Ctrl-C is not for it)."""
        if self.running():
            return
        with self.log.open("ab") as log:
            self._child = subprocess.Popen(
                self.argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.env,
                cwd=self.log.parent,
                start_new_session=True,
            )
        content = {"pid": self._child.pid, "started": start_time(self._child.pid)}
        self._file.write_text(json.dumps(content) + "\n")

    @property
    def pid(self) -> int | None:
        """Its pid while it runs, else None."""
        if self._child is not None and self._child.poll() is not None:
            self._child = None
        try:
            known = json.loads(self._file.read_text())
        except (OSError, ValueError):
            return None
        pid = int(known["pid"])
        return pid if start_time(pid) == known["started"] else None

    def running(self) -> bool:
        return self.pid is not None

    def send(self, number: int) -> None:
        """Send it a signal, if it runs."""
        if (pid := self.pid) is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self, number: int = signal.SIGKILL, seconds: float = 60) -> None:
        """Send a deadly signal and wait for the end."""
        self.send(number)
        wait_until(lambda: not self.running(), seconds, f"end of {self.name} by signal {number}")

    def stop(self, seconds: float = 60) -> None:
        """End it in good order; by force if it does not."""
        self.send(signal.SIGCONT)
        try:
            self.kill(signal.SIGTERM, seconds)
        except TestbedError:
            self.kill(signal.SIGKILL)
        self._file.unlink(missing_ok=True)


def owned_processes(folder: Path) -> Iterator[int]:
    """The processes of the test-bed in `folder`: daemons, slurmstepd, and jobs' processes.

    Not every process that mentions the folder: a person's shell may hold its SLURM_CONF.
    """
    marks = tuple(f"\0{MARK}={folder}{end}".encode() for end in ("\0", "/"))
    for pid, environment in _environments():
        if (
            any(mark in environment for mark in marks)
            or (b"\0SLURM_JOB_ID=" in environment and _configured_in(folder, environment))
            or _is_helper(pid, folder)
        ):
            yield pid


def job_processes(folder: Path) -> Iterator[int]:
    """The processes of jobs only: scripts and what they started."""
    for pid, environment in _environments():
        if _configured_in(folder, environment) and b"\0SLURM_JOB_ID=" in environment:
            yield pid


def step_processes(folder: Path) -> Iterator[int]:
    """The processes of jobs, and the slurmstepd over them."""
    yield from job_processes(folder)
    for pid, _ in _environments():
        if _is_helper(pid, folder) and Path(f"/proc/{pid}/exe").readlink().name == "slurmstepd":
            yield pid


def _environments() -> Iterator[tuple[int, bytes]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            # One that is gone, or another user's, cannot be read; nor is it ours to kill.
            with contextlib.suppress(OSError):
                yield int(entry.name), b"\0" + (entry / "environ").read_bytes()


def _configured_in(folder: Path, environment: bytes) -> bool:
    return f"\0SLURM_CONF={folder}/".encode() in environment


def _is_helper(pid: int, folder: Path) -> bool:
    """slurmstepd and slurmscriptd write their titles over their environment; they are known by
    their program and by where they run.
    """
    process = Path(f"/proc/{pid}")
    try:
        program, place = (process / "exe").readlink().name, (process / "cwd").readlink()
    except OSError:
        return False
    return program.startswith("slurm") and place.is_relative_to(folder)


def kill_all(pids: Iterable[int]) -> list[int]:
    """SIGKILL to each; return those that lived."""
    living = [pid for pid in pids if start_time(pid) is not None]
    for pid in living:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return living


def sweep(folder: Path, seconds: float = 60) -> None:
    """Kill, by pid, whatever is left of the test-bed in `folder`."""
    wait_until(
        lambda: not kill_all(owned_processes(folder)), seconds, f"end of all processes of {folder}"
    )


def tails(files: Iterable[Path], lines: int) -> str:
    """The last lines of each file that has any, under its name."""
    parts = []
    for path in sorted(files):
        with path.open(errors="replace") as file:
            tail = "".join(deque(file, lines))
        if tail:
            parts.append(f"--- {path}\n{tail}")
    return "\n".join(parts)
