"""Really runs simulated jobs, as local processes that outlive the daemon.

A process is known by its number and its start time, so that a number issued again is never taken
for it. How a script ended is in its gate's record, also when somebody else reaped the process.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from metabroker import openfiles
from metabroker.clusters.transports.local import scrubbed

_GRACE = 2.0  # seconds between SIGTERM and SIGKILL


@dataclass(frozen=True, slots=True)
class Process:
    """A process by number and start time (in clock ticks since boot)."""

    pid: int
    born: str

    def alive(self) -> bool:
        """Whether it runs (a zombie does not)."""
        status = _status(self.pid)
        return status is not None and status[1] == self.born and status[0] not in "ZX"

    def signal(self, number: int) -> None:
        """Send a signal to it and its children, if it is still the same."""
        if self.alive():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)


def start(
    script: Path, *, cwd: str, output: str, error: str | None, env: Mapping[str, str]
) -> Process:
    """Run a shell script in a session of its own.

    Raises:
        OSError: its folder or its output cannot be used.
    """
    with contextlib.ExitStack() as files:
        out = files.enter_context(Path(output).open("ab"))
        err = files.enter_context(Path(error).open("ab")) if error else subprocess.STDOUT
        child = subprocess.Popen(
            openfiles.words(["/bin/sh", str(script)]),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=cwd,
            env=scrubbed(env),
            start_new_session=True,
        )
    status = _status(child.pid)
    _children[child.pid] = child
    return Process(child.pid, status[1] if status is not None else "")


def find(script: Path) -> Process | None:
    """A process that runs this script: one that was started just before its starter died.

    It leads its session; a child of the shell that is about to become a command looks like it
    for a moment, and ends with that command.
    """
    wanted = f"/bin/sh\0{script}\0".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            pid = int(folder.name)
            if (folder / "cmdline").read_bytes() == wanted and os.getsid(pid) == pid:
                status = _status(pid)
                if status is not None and status[0] not in "ZX":
                    return Process(pid, status[1])
    return None


_children: dict[int, subprocess.Popen[bytes]] = {}


def reap() -> None:
    """Take notice of children that have ended."""
    for pid, child in list(_children.items()):
        if child.poll() is not None:
            _children.pop(pid, None)  # another cluster's thread may have come first


def end(process: Process, since: float, now: float) -> None:
    """Ask it to end, from `since` on; insist after a while."""
    process.signal(signal.SIGTERM if now < since + _GRACE else signal.SIGKILL)


def _status(pid: int) -> tuple[str, str] | None:
    """State letter and start time of a process; None if there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return (fields[0], fields[19]) if len(fields) > 19 else None
