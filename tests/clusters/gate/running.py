"""A component's wrapper, really run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.clusters.gate import wrapper
from metabroker.clusters.port import ComponentRequest

from .making import gates

SECONDS = 120.0


def _hears_interrupts() -> None:
    """A test run in the background ignores some, and a shell cannot trap what it inherits so."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Running:
    """A wrapper that runs, as a cluster runs it: in a session of its own."""

    def __init__(self, it: ComponentRequest, shell: list[str], env: Mapping[str, str]) -> None:
        self.gate = Path(it.gate)
        self.script = Path(it.chdir) / f"native-{time.monotonic_ns()}"
        self.script.write_bytes(wrapper(it, "delft"))
        self.process = subprocess.Popen(
            [*shell, str(self.script)],
            cwd=it.chdir,
            env={"PATH": os.environ["PATH"], **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=_hears_interrupts,
        )

    def end(self) -> tuple[int, bytes, bytes]:
        """Its exit code and what it wrote."""
        out, err = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, out, err

    def until(self, *names: str) -> None:
        """Wait for one of the gate's files."""
        deadline = time.monotonic() + SECONDS
        while not any((self.gate / name).exists() for name in names):
            assert time.monotonic() < deadline, f"none of {names} came"
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.005)

    def kill(self) -> None:
        """Leave nothing behind."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()


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


@pytest.fixture(params=SHELLS, ids=" ".join)
def shell(request: pytest.FixtureRequest) -> list[str]:
    found: list[str] = request.param
    return found


@pytest.fixture
def started(shell: list[str]) -> Iterator[list[Running]]:
    """Wrappers started in a test."""
    found: list[Running] = []
    yield found
    for running in found:
        running.kill()


def single(it: ComponentRequest, shell: list[str], **env: str) -> tuple[int, bytes, bytes]:
    """Run a single component to its end."""
    it = replace(it, barrier_seconds=None, peers=it.peers[:1])
    gates().prepare(it)
    return Running(it, shell, env).end()


def waiting(it: ComponentRequest, shell: list[str], started: list[Running], **env: str) -> Running:
    """A component that has come to the barrier."""
    gates().prepare(it)
    running = Running(it, shell, env)
    started.append(running)
    running.until("arrived")
    return running
