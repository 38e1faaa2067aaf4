"""Makes a store of an older schema, by the real code that had it: a daemon over simulated clusters
is killed in the middle of its work.

    git archive COMMIT metabroker | tar x -C FOLDER
    python -m tests.store.schemas.making FOLDER > tests/store/schemas/REVISION.sql

To be done once for each revision, before the first change to its tables, with the last commit that
had them. Jobs in it: one that ended well, one that failed, one cancelled; a single and a
co-allocated one that run; one that does not end though it was cancelled (a debt); waiting and
held ones; where the code has them, one with files, one that waits for others, and an access token.
`@FOLDER@` stands for the folder in which all of it was.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.testbed.processes import captured

CONFIGURATION = """
store: sqlite:///{0}/metabroker.db
socket: {0}/mb.sock
metrics: null
poll_interval: 500ms
policy: GS
clusters:
  delft: {{system: simulated, processors: 16}}
  leiden: {{system: simulated, processors: 8}}
"""
SCRIPT = (
    '#!/bin/sh\ntrap "" TERM\nwhile [ -n "$2" ] && [ ! -e "$2" ]; do sleep 0.05; done\nexit $1\n'
)
_PATIENCE = 60.0  # seconds


class Life:
    """One daemon of the older code, and those who ask it."""

    def __init__(self, code: Path, folder: Path) -> None:
        self.folder = folder
        self._code = code
        root = "allow_root: true\n" if self.knows("allow_root", "config/model.py") else ""
        (folder / "metabroker.yaml").write_text(root + CONFIGURATION.format(folder))
        (folder / "job.sh").write_text(SCRIPT)
        (folder / "input").write_text("some data\n")
        self.daemon = subprocess.Popen(
            self._words("serve", "--config", str(folder / "metabroker.yaml")),
            env=self._environment(),
            cwd=folder,
            stdout=sys.stderr,
        )

    def knows(self, word: str, file: str) -> bool:
        """Whether its code has that word."""
        path = self._code / "metabroker" / file
        return path.exists() and word in path.read_text()

    def _words(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "metabroker", *words]

    def _environment(self) -> dict[str, str]:
        socket = str(self.folder / "mb.sock")
        path = os.environ["PATH"]
        return {"PATH": path, "PYTHONPATH": str(self._code), "METABROKER_SOCKET": socket}

    def ask(self, *words: str, must: bool = True) -> str:
        """One command; what it prints."""
        done = captured(self._words(*words), env=self._environment(), cwd=self.folder)
        if must and done.returncode != 0:
            raise RuntimeError(f"{words}: {done.stderr}")
        return done.stdout

    def submit(self, *words: str, code: int = 0, until: str = "") -> int:
        """A job whose script ends with `code`, once there is a file `until`."""
        return int(self.ask("submit", *words, "job.sh", str(code), until))

    def state(self, job: int) -> str:
        """Of a job."""
        return str(json.loads(self.ask("show", str(job), "--json"))["state"])

    def wait(self, job: int, *states: str) -> None:
        """Until it is in one of them."""
        _eventually(lambda: self.state(job) in states, f"job {job} is {' or '.join(states)}")

    def end(self) -> None:
        """kill -9, and what its simulated clusters still run."""
        self.daemon.kill()
        self.daemon.wait()
        for pid in list(_processes(str(self.folder))):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def live(life: Life) -> None:
    """All that a store should have seen."""
    _eventually(lambda: life.ask("clusters", must=False) != "", "the daemon serves")
    for wanted, code in (("COMPLETED", 0), ("FAILED", 3)):
        life.wait(life.submit("-n", "2", code=code), wanted)
    together = life.submit("--components", "4,4")
    life.wait(together, "COMPLETED")
    cancelled = life.submit("-n", "1", "--hold")
    life.ask("cancel", str(cancelled))
    if life.knows("def sending", "clusters/file_transfer.py"):
        life.wait(life.submit("-n", "2", "--stage-in", "input", "--stage-out", "*"), "COMPLETED")
    if life.knows("create", "cli/token.py"):
        life.ask("token", "create", "--scope", "submit", "--name", "login3", "--user", "daemon")
    for words in (("-n", "2"), ("--components", "4,4"), ("-n", "2", "--request-id", "once")):
        life.wait(life.submit(*words, until="end"), "RUNNING")
    stubborn = life.submit("-n", "1", until="end")
    life.wait(stubborn, "RUNNING")
    life.submit("-n", "16")
    life.submit("--components", "8,8")
    life.submit("--on", "leiden:8")
    life.submit("-n", "2", "--hold")
    if life.knows("DEPENDENCY", "cli/types.py"):
        life.submit("-n", "2", "--dependency", f"afterok:{together}:{stubborn}")
    time.sleep(1.5)  # a look or two: what runs was seen to run
    life.ask("cancel", str(stubborn))


def dump(folder: Path) -> Iterator[str]:
    """The store as SQL."""
    with contextlib.closing(sqlite3.connect(folder / "metabroker.db")) as connection:
        for line in connection.iterdump():
            yield line.replace(str(folder), "@FOLDER@")


def _eventually(found: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not found():
        if time.monotonic() > deadline:
            raise RuntimeError(f"not in time: {what}")
        time.sleep(0.1)


def _processes(mark: str) -> Iterator[int]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if mark.encode() in path.read_bytes():
                yield int(path.parent.name)


def main() -> None:
    code = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="mb-schema-") as name:
        life = Life(code, Path(name))
        try:
            live(life)
        finally:
            life.end()
        print(*dump(Path(name)), sep="\n")


if __name__ == "__main__":
    main()
