"""A component's wrapper, really run."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from metabroker.clusters.gate import wrapper
from metabroker.clusters.port import ComponentRequest

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
