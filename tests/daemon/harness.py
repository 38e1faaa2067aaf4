"""One daemon in a folder of its own, as its users and its operator have it: started, killed,
stopped, asked by the real command line, and compared with the truth of its clusters."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml

from metabroker.api.client import ENDED, Client, ClientError
from tests.daemon import empty_store
from tests.daemon.kinds import Held, Kind
from tests.testbed import forked
from tests.testbed.accounts import open_code
from tests.testbed.processes import captured

REPOSITORY = Path(__file__).resolve().parents[2]
Json = dict[str, Any]
T = TypeVar("T")

# Only a failure waits so long: wide enough for a slow machine that is busy with other things.
PATIENCE = 150.0  # seconds
# Says that it started, when, and as which component of which attempt (the folder's name).
RECORD = 'echo "$METABROKER_PEERS_FILE $(date +%s.%N)" >> runs\n'
# Waits until all components of its attempt have said so: they run at the same time.
MEET = """gate=${METABROKER_PEERS_FILE%/*}; naps=0
attempt=$(echo "${gate##*/}" | cut -d - -f 1-5)
until [ "$(grep -c "/$attempt-" runs)" -ge "$METABROKER_COMPONENTS" ]; do
    naps=$((naps + 1)); [ $naps -lt 1000 ] || exit 98; sleep 0.1
done
echo "$METABROKER_PEERS_FILE $(date +%s.%N)" >> met
"""
# The broker's own deadlines must not be what a slow machine runs into.
QUICK: Json = {
    "metrics": None,
    "poll_interval": "1s",
    "timeouts": {"command": "20s", "reserve": "60s", "submit": "120s", "barrier": "120s"},
}


def eventually(found: Callable[[], T], what: str = "it comes true", seconds: float = PATIENCE) -> T:
    """The first true answer; AssertionError with the last one if none comes in time."""
    deadline, pause = time.monotonic() + seconds, 0.005
    while not (answer := found()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} s: {what} (last: {answer!r})")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)
    return answer


def recording(body: str = f"{MEET}sleep 0.2") -> str:
    """A script that records its start; without a body, all components wait for each other's."""
    return f"#!/bin/sh\n{RECORD}{body}\n"


def until(file: str | Path) -> str:
    """Shell: wait for a file in the job's folder."""
    nap = "naps=$((naps + 1)); [ $naps -lt 1500 ] || exit 98; sleep 0.1"
    return f"naps=0; until [ -e {file} ]; do {nap}; done"


@dataclass(frozen=True)
class Run:
    """A start of the user's script, by the script's own record."""

    job: int
    attempt: int
    component: int
    time: float


class Site:
    """A configuration, its daemon, and `work`, where its jobs run."""

    def __init__(self, folder: Path, kind: Kind, configuration: Mapping[str, Any] | None = None):
        self.folder = folder
        self.kind = kind
        self.work = folder / "work"
        self.gates_in: list[Path] = []  # beside that
        self.work.mkdir(exist_ok=True)
        self.socket = folder / "mb.sock"
        self.config = folder / "metabroker.yaml"
        self.log = folder / "daemon.log"
        self.flags = folder  # where a daemon that pauses says so, and is told to go on
        self.client = Client(self.socket, timeout=60.0, patience=60.0)
        self.process: forked.Process | None = None
        self.prefix: list[str] = []  # words before the daemon's own, such as `prlimit ...`
        self.words: list[str] = []  # of `serve` itself, beside the configuration
        self.module = "tests.daemon.killing"  # what `start` runs when it is given options
        self.forks = True  # or else its daemon is a Python of its own, as it is for users
        self.instance = "unknown"
        self.configure(configuration or {})

    # --- the operator -------------------------------------------------------------------------

    def configure(self, changes: Mapping[str, Any]) -> None:
        """Write the configuration file, with `changes` of what tests usually take."""
        base: Json = {
            "store": f"sqlite:///{self.folder / 'metabroker.db'}",
            "socket": str(self.socket),
            **QUICK,
            "allow_root": True,
            "clusters": self.kind.configuration(self.folder),
        }
        self.config.write_text(yaml.safe_dump(merged(base, changes), sort_keys=False))

    @contextlib.contextmanager
    def changing(self) -> Iterator[Json]:
        """The configuration file as it is, to be changed."""
        text: Json = yaml.safe_load(self.config.read_text())
        yield text
        self.config.write_text(yaml.safe_dump(text))

    def start(self, *options: str, wait: bool = True) -> None:
        """Start `metabroker serve`; with options, the one that dies or pauses at a point."""
        module, *words = [self.module] if options else ["metabroker", "serve"]
        words += ["--config", str(self.config), *self.words, *options]
        words += ["--flags", str(self.flags)] if options else []
        with self.log.open("ab") as log, open(os.devnull) as nothing:
            if forked.FORKS and self.forks and not self.prefix:
                empty_store.lay(self.folder / "metabroker.db", self.config)
                streams = (nothing.fileno(), log.fileno(), log.fileno())
                self.process = forked.start(module, words, streams=streams, cwd=REPOSITORY)
            else:
                self.process = subprocess.Popen(
                    [*self.prefix, sys.executable, "-m", module, *words],
                    stdin=nothing,
                    stdout=log,
                    stderr=log,
                    cwd=open_code() if self.prefix and not options else REPOSITORY,
                    start_new_session=True,
                )
        if wait:
            eventually(lambda: self.serves() or self.ended(), "the daemon serves")
            assert options or not self.ended(), f"the daemon does not start\n{self.story()}"

    def serves(self) -> bool:
        """Whether the daemon answers."""
        try:
            status = Client(self.socket, timeout=5.0, patience=0.0).get("status")
        except ClientError:
            return False
        self.instance = status["instance"]
        return True

    def start_and_look(self, *options: str) -> None:
        """Start it, and wait until it has seen every cluster."""
        self.start(*options)
        self.look_at_clusters()

    def wait_pause(self) -> None:
        """Wait until the daemon has come to the point at which it pauses (see `killing`)."""
        eventually((self.flags / "paused").exists, "the daemon pauses")

    def go_on(self) -> None:
        """It pauses no longer."""
        (self.flags / "go-on").touch()

    def signal(self, number: signal.Signals) -> None:
        """Send the daemon a signal."""
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        """kill -9."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def died(self, seconds: float = PATIENCE) -> int:
        """The daemon ends by itself; how."""
        assert self.process is not None
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            what = f"the daemon still runs after {seconds} s"
            raise AssertionError(f"{what}\n{self.story()}") from None

    def stop(self, seconds: float = PATIENCE) -> int:
        """SIGTERM, and the exit code."""
        self.signal(signal.SIGTERM)
        return self.died(seconds)

    def look_at_clusters(self, *, anew: bool = False) -> None:
        """Wait until the daemon has seen every cluster; `anew`: by looks begun from now on."""
        began = time.monotonic()

        def seen() -> bool:
            passed, found = time.monotonic() - began, self.clusters().values()
            return all(c["reachable"] and (not anew or c["age_seconds"] < passed) for c in found)

        eventually(seen, "all clusters are looked at")

    def ended(self) -> bool:
        """Whether the daemon has ended."""
        return self.process is not None and self.process.poll() is not None

    @property
    def pid(self) -> int:
        """The daemon's process."""
        assert self.process is not None
        return self.process.pid

    # --- users --------------------------------------------------------------------------------

    def cli(
        self, *words: str, environment: Mapping[str, str] | None = None, seconds: float = PATIENCE
    ) -> subprocess.CompletedProcess[str]:
        """The real command line."""
        env = {
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "METABROKER_SOCKET": str(self.socket),
            **(environment or {}),
        }
        if forked.FORKS and self.forks:
            return forked.run("metabroker", words, cwd=self.work, env=env, seconds=seconds)
        return captured(
            [sys.executable, "-m", "metabroker", *words], timeout=seconds, cwd=self.work, env=env
        )

    def submit(
        self,
        options: str | Sequence[str],
        script: str | None = None,
        args: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> int:
        """Submit a script; the job's number."""
        file = self.folder / "script"
        # Others may submit it at this moment: whole when it is there.
        part = self.folder / f"script.{threading.get_ident()}"
        part.write_text(script if script is not None else recording())
        part.replace(file)
        words = shlex.split(options) if isinstance(options, str) else list(options)
        done = self.cli("submit", *words, str(file), *args, environment=environment)
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    def submit_in_the_end(self, options: str) -> int:
        """Submit, and where no reply comes repeat that as one is told to: with the same id."""
        file = self.folder / "script"
        file.write_text(recording())
        words = ("submit", "--request-id", "again", *shlex.split(options), str(file))
        deadline = time.monotonic() + PATIENCE
        while (done := self.cli(*words)).returncode != 0:
            told = "--request-id again" in done.stderr or "cannot reach" in done.stderr
            assert told and time.monotonic() < deadline, done.stderr
        return int(done.stdout)

    def job(self, number: int) -> Json:
        """The job as the API shows it."""
        return self.client.get(f"jobs/{number}")

    def show(self, number: int) -> Json:
        """The job as `show --json` prints it."""
        done = self.cli("show", str(number), "--json")
        assert done.returncode == 0, done.stderr
        found: Json = json.loads(done.stdout)
        return found

    def clusters(self) -> dict[str, Json]:
        """The clusters as the API shows them, by name."""
        return {c["name"]: c for c in self.client.get("clusters")["clusters"]}

    def wait_state(self, number: int, *states: str, seconds: float = PATIENCE) -> Json:
        """Wait until the job is in one of the states; any end ends the wait too."""
        job: Json = {}

        def reached() -> bool:
            nonlocal job
            job = self.job(number)
            return job["state"] in states or job["state"] in ENDED

        try:
            eventually(reached, f"job {number} is {' or '.join(states)}", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{json.dumps(job, indent=1)}\n{self.story()}") from None
        assert job["state"] in states, f"{job['state']}: {job['reason']}\n{self.story()}"
        return job

    def wait_end(self, number: int, *states: str, seconds: float = PATIENCE) -> Json:
        """Wait for the job's end (in one of `states`, if any are given)."""
        return self.wait_state(number, *(states or tuple(ENDED)), seconds=seconds)

    # --- the truth ----------------------------------------------------------------------------

    def runs(self, job: int | None = None) -> list[Run]:
        """Every start of a script that was ever recorded, in order."""
        return self.recorded("runs", job)

    def met(self, job: int | None = None) -> list[Run]:
        """Every script that has met all the others of its attempt (see `MEET`)."""
        return self.recorded("met", job)

    def recorded(self, file: str, job: int | None = None) -> list[Run]:
        """Every line that scripts have written to a file in `work`, in order."""
        try:
            lines = (self.work / file).read_text().splitlines()
        except FileNotFoundError:
            return []
        found = [_run(*line.split()) for line in lines]
        return [run for run in found if job in (None, run.job)]

    def held(self, cluster: str) -> Held:
        """What this broker has in a cluster, by the cluster's own word."""
        return self.kind.held(self.folder, cluster).of(self.instance)

    def left(self) -> list[str]:
        """All that the broker has in its clusters, and all gates and processes of components."""
        found = []
        for cluster in self.kind.sizes:
            held = self.held(cluster)
            found += [f"{cluster}: job {name}" for name in held.jobs]
            found += [f"{cluster}: reservation {name}" for name in held.reservations]
        for place in (self.work, *self.gates_in):
            found += [f"gate {path}" for path in place.glob(".metabroker*")]
        found += self.component_processes()
        return found

    def component_processes(self) -> list[str]:
        """Users' scripts that run."""
        return [f"process {pid}: {line}" for pid, line in self._processes("/.metabroker-mb-")]

    def _processes(self, mark: str) -> Iterator[tuple[int, str]]:
        """Processes that run something in this folder, or where jobs run, whose path holds
        `mark`."""
        places = [str(place) for place in (self.folder, self.work, *self.gates_in)]
        for path in (p / "cmdline" for p in Path("/proc").iterdir() if p.name.isdigit()):
            with contextlib.suppress(OSError):
                line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                if mark in line and any(place in line for place in places):
                    yield int(path.parent.name), line

    def wait_clean(self, seconds: float = PATIENCE) -> None:
        """Wait until nothing is left anywhere (promise P4)."""
        last: list[str] = ["not looked at"]

        def clean() -> bool:
            nonlocal last
            last = self.left()
            return not last

        try:
            eventually(clean, "nothing is left behind", seconds)
        except AssertionError:
            raise AssertionError("left behind: " + "; ".join(last) + f"\n{self.story()}") from None

    def story(self, lines: int = 60) -> str:
        """What the daemon knows, and its last words."""
        known = "nothing: it does not answer"
        with contextlib.suppress(ClientError):
            asked = Client(self.socket, timeout=5.0, patience=0.0)
            found = [asked.get("status"), *(self.job(n) for n in self._numbers())]
            known = "\n".join(json.dumps(part) for part in found)
        text = self.log.read_text("utf-8", "replace") if self.log.exists() else ""
        return f"--- the daemon knows\n{known}\n--- its log\n" + "\n".join(
            text.splitlines()[-lines:]
        )

    def _numbers(self) -> list[int]:
        found = [*self.client.get("jobs")["jobs"], *self.client.get("history")["jobs"]]
        return sorted(job["job"] for job in found)

    def close(self) -> None:
        """Kill the daemon and whatever its simulated clusters still run."""
        self.kill()
        for pid, _ in [*self._processes("/.metabroker-mb-"), *self._processes(".jobs/")]:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> Json:
    """Nested mappings, `changes` over `base`."""
    result = dict(base)
    for key, value in changes.items():
        old = result.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            value = merged(old, value)
        result[key] = value
    return result


def _run(gate: str, moment: str) -> Run:
    """`.../.metabroker-mb-INSTANCE-JOB-ATTEMPT-COMPONENT[-TERM]-SECRET/peers.json TIME`."""
    _, _, _, job, attempt, component, *_ = Path(gate).parent.name.split("-")
    return Run(int(job), int(attempt), int(component), float(moment))
