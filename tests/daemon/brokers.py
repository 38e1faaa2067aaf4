"""Several brokers over the same clusters and the same database, each with a folder of its own."""

from __future__ import annotations

import shutil
import signal
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metabroker.api.client import Client, ClientError
from tests.daemon.harness import PATIENCE, Json, Site, eventually
from tests.daemon.kinds import Kind
from tests.testbed.processes import start_time
from tests.testbed.testbed import SYSTEM_PATH

LEASE = 2.0  # seconds
_COMMANDS = ("sbatch", "scancel", "scontrol", "sinfo", "squeue")
# Which process has a command run, and when: what the clusters saw of each broker.
_WRAPPER = """#!/bin/sh
echo "$(date +%s.%N) $PPID {cluster} ${{0##*/}} $*" >> '{journal}'
exec '{real}' "$@"
"""


@dataclass(frozen=True)
class Ran:
    """A command that a broker has begun, or a step with a file (of no cluster's name)."""

    time: float
    cluster: str
    words: str


class Broker(Site):
    """One of them. `journal` has the commands that it has begun in the clusters, `steps` its steps
    with files there, gates among them."""

    def __init__(self, root: Path, name: str, kind: Kind, store: str) -> None:
        folder = root / name
        folder.mkdir()
        self.store = store
        self.journal = folder / "journal"
        self.steps = folder / "steps"
        super().__init__(folder, kind)
        self.work = root / "work"
        self.flags = root
        self.notes_steps = True  # else it is `metabroker serve` as users start it

    def configure(self, changes: Any) -> None:
        """The configuration, with commands that are written down."""
        clusters = self.kind.configuration(self.folder)
        for name, cluster in clusters.items():
            real = Path(cluster["env"]["PATH"].partition(":")[0])
            wrappers = self.folder / f"bin-{name}"
            wrappers.mkdir(exist_ok=True)
            for command in _COMMANDS:
                text = _WRAPPER.format(journal=self.journal, cluster=name, real=real / command)
                (wrappers / command).write_text(text)
                (wrappers / command).chmod(0o755)
            cluster["env"]["PATH"] = f"{wrappers}:{real}:{SYSTEM_PATH}"
        base = {
            "store": self.store,
            "lease": f"{LEASE}s",
            "audit": str(self.folder / "audit.log"),
            "clusters": clusters,
        }
        super().configure({**base, **changes})

    def start(self, *options: str, wait: bool = True) -> None:
        """See `Site.start`; its steps with files are written down."""
        noted = ["--files", str(self.steps)] if self.notes_steps else []
        super().start(*noted, *options, wait=wait)

    def status(self) -> Json:
        """What it says of itself; nothing where it does not answer."""
        try:
            return Client(self.socket, timeout=5.0, patience=0.0).get("status")
        except ClientError:
            return {"role": None, "term": None, "leader": None}

    def wait_role(self, role: str, seconds: float = PATIENCE) -> Json:
        """Wait until it leads, or stands by."""
        found: Json = {}

        def has_it() -> bool:
            nonlocal found
            found = self.status()
            return bool(found["role"] == role)

        try:
            eventually(has_it, f"a {role}", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.story()}") from None
        return found

    def led(self) -> bool:
        """Whether it leads, or has ended since."""
        return self.ended() or self.status()["role"] == "leader"

    def ran(self) -> list[Ran]:
        """The commands that it has begun, in order."""
        lines = [line.split(" ", 3) for line in _lines(self.journal)]
        return [Ran(float(moment), cluster, words) for moment, _pid, cluster, words in lines]

    def acted(self) -> list[Ran]:
        """These, and its steps with files, in order."""
        lines = [line.split(" ", 2) for line in _lines(self.steps)]
        steps = [Ran(float(moment), "", words) for moment, _pid, words in lines]
        return sorted([*self.ran(), *steps], key=lambda ran: ran.time)

    def zombies(self) -> list[int]:
        """Its children that have ended, and that it does not care for."""
        tasks = Path(f"/proc/{self.pid}/task").glob("*/children")
        pids = [int(pid) for task in tasks for pid in task.read_text().split()]
        # A zombie has no start time that anybody asks for.
        return [pid for pid in pids if Path(f"/proc/{pid}").exists() and start_time(pid) is None]


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


class Brokers:
    """They are made one by one, in one folder, and started by the test."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._root = Path(tempfile.mkdtemp(prefix="mb-"))
        self._root.chmod(0o755)
        (self._root / "work").mkdir()
        self.all: list[Broker] = []

    def make(self, store: str) -> Broker:
        """One more, that reaches the common database by this URL."""
        self.all.append(Broker(self._root, "abc"[len(self.all)], self._kind, store))
        return self.all[-1]

    def start(self, *stores: str, pausing: bool = False) -> list[Broker]:
        """So many; the first one leads. `pausing`: it stops short of letting the components of a
        co-allocated job go, in delft, until `go_on`."""
        made = [self.make(store) for store in stores]
        made[0].start_and_look(*(("--pause", "before:open:delft") if pausing else ()))
        for broker in made[1:]:
            broker.start(wait=False)
        for broker in made[1:]:
            broker.wait_role("standby")
            broker.serves()
        return made

    def leader(self, *among: Broker) -> Broker:
        """Who of these leads, as soon as one does."""

        def leads() -> Broker | None:
            return next((b for b in among if b.status()["role"] == "leader"), None)

        found = eventually(leads, "one of them leads")
        assert found is not None
        return found

    def close(self) -> None:
        """Leave nothing."""
        for broker in self.all:
            if broker.process is not None and broker.process.poll() is None:
                broker.process.send_signal(signal.SIGCONT)
            broker.close()
        shutil.rmtree(self._root, ignore_errors=True)
