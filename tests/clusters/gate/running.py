"""A component's wrapper, really run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from metabroker.clusters.gate import wrapper
from metabroker.clusters.port import ComponentRequest

from .making import gates, order

SECONDS = 120.0
_NOTES = ("arrived", "ready", "started")


def _heeds_signals() -> None:
    """Whoever runs the tests in the background may have them ignore these, and what they start."""
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


class Running:
    """A wrapper that runs, as a cluster runs it: in a session of its own."""

    def __init__(
        self,
        it: ComponentRequest,
        shell: list[str],
        env: Mapping[str, str],
        system: str = "slurm",
    ) -> None:
        self.gate = Path(it.gate)
        self.script = Path(it.chdir) / f"native-{time.monotonic_ns()}"
        self.script.write_bytes(wrapper(it, "delft", system=system))
        self.process = subprocess.Popen(
            [*shell, str(self.script)],
            cwd=it.chdir,
            env={"PATH": os.environ["PATH"], **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=_heeds_signals,
        )

    def end(self) -> tuple[int, bytes, bytes]:
        """Its exit code and what it wrote."""
        out, err = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, out, err

    def until(self, *names: str) -> None:
        """Wait for one of the gate's files; for a note, until it is whole."""
        deadline = time.monotonic() + SECONDS
        while not any(_is_whole(self.gate / name) for name in names):
            assert time.monotonic() < deadline, f"none of {names} came"
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.005)

    def kill(self) -> None:
        """Leave nothing behind."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()


def _is_whole(file: Path) -> bool:
    try:
        return file.exists() if file.name not in _NOTES else file.read_bytes().endswith(b"\n")
    except FileNotFoundError:
        return False


SLEEP = shutil.which("sleep")


MV = shutil.which("mv")


KNOWN = [["/bin/sh"], ["dash"], ["bash"], ["bash", "--posix"], ["busybox", "sh"], ["ksh"]]


# Each that is here, once: /bin/sh is mostly one of the others.
SHELLS = list(
    {
        (os.path.realpath(path), *options): [name, *options]
        for name, *options in reversed(KNOWN)
        if (path := shutil.which(name)) is not None
    }.values()
)


class Wrappers:
    """Wrappers that one shell runs."""

    def __init__(self, shell: list[str]) -> None:
        self.shell = shell
        self.system = "slurm"
        self._started: list[Running] = []

    def start(self, it: ComponentRequest, **env: str) -> Running:
        """Run a component whose gate is made."""
        self._started.append(Running(it, self.shell, env, self.system))
        return self._started[-1]

    def single(self, it: ComponentRequest, **env: str) -> tuple[int, bytes, bytes]:
        """Run a single component to its end."""
        it = replace(it, barrier_seconds=None, peers=it.peers[:1])
        gates().prepare(it)
        return self.start(it, **env).end()

    def waiting(self, it: ComponentRequest, **env: str) -> Running:
        """A component that has come to the barrier."""
        gates().prepare(it)
        running = self.start(it, **env)
        running.until("arrived")
        return running

    def up(self, folder: Path, script: bytes) -> tuple[ComponentRequest, Running]:
        """A single component whose script has made the file `up` in the folder."""
        it = order(folder, script=b"#!/bin/sh\n" + script, patience=None)
        gates().prepare(it)
        running = self.start(it)
        running.gate = folder
        running.until("up")
        return it, running

    def kill(self) -> None:
        """Leave nothing behind."""
        for running in self._started:
            running.kill()


def with_tool(folder: Path, name: str, script: str) -> str:
    """Put a program of that name before all others; the PATH by which it is found."""
    (folder / "tools").mkdir()
    (folder / "tools" / name).write_text(f"#!/bin/sh\n{script}")
    (folder / "tools" / name).chmod(0o755)
    return f"{folder}/tools:{os.environ['PATH']}"
