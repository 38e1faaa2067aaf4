"""Live OpenPBS servers for tests, named by METABROKER_TEST_PBS, and the kinds made of them.

METABROKER_TEST_PBS names three servers, separated by colons: of 144, 64 and 32 processors, with
nothing on them that may not be lost. Each is a pbs.conf file, or a folder of client commands that
know their server. A fourth one, where it is named too, has three nodes of 8 processors, each a host
of its own with `sharing = default_excl`. The account that runs the tests must be one that may
submit and reserve (root, where `acl_roots` allows it) and delete what others have.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.kinds import SIZES, Held, Kind, local_script, somebody
from tests.testbed.processes import captured
from tests.testbed.testbed import SYSTEM_PATH

VARIABLE = "METABROKER_TEST_PBS"
NODES = {"processors": 8, "count": 3}  # of the fourth server


def live(*values: object, marks: Sequence[pytest.MarkDecorator] = ()) -> Any:
    """Parameters of a test of live OpenPBS: all by one worker."""
    return pytest.param(*values, marks=[*marks, pytest.mark.xdist_group("openpbs")])


@dataclass(frozen=True)
class PbsServer:
    """One server, by its own client commands."""

    bin: Path
    env: Mapping[str, str]

    def run(
        self,
        *argv: str,
        stdin: str = "",
        user: str | None = None,
        fine: Sequence[int] = (0, 35, 153, 236),
    ) -> str:
        """What a command printed; AssertionError if it failed."""
        done = captured(
            [str(self.bin / argv[0]), *argv[1:]],
            input=stdin,
            cwd="/tmp",
            env={"PATH": SYSTEM_PATH, "TZ": "UTC", **self.env},
            user=user,
        )
        assert done.returncode in fine, f"{argv}: {done.stderr}"
        return done.stdout

    def nodes(self) -> dict[str, int]:
        """Names and processors."""
        found = json.loads(self.run("pbsnodes", "-a", "-v", "-F", "json"))["nodes"]
        return {str(n): int(has["resources_available"]["ncpus"]) for n, has in found.items()}

    def node_states(self) -> dict[str, str]:
        """Names and what their states are called."""
        found = json.loads(self.run("pbsnodes", "-a", "-v", "-F", "json"))["nodes"]
        return {str(name): str(has["state"]) for name, has in found.items()}

    def jobs(self) -> dict[str, str]:
        """Names and states of the jobs that are not over."""
        found = json.loads(self.run("qstat", "-f", "-F", "json")).get("Jobs", {})
        return {str(job["Job_Name"]): str(job["job_state"]) for job in found.values()}

    def reservations(self) -> dict[str, int]:
        """Names and processors."""
        text = self.run("pbs_rstat", "-F")
        names = re.findall(r"^Reserve_Name = (.*)$", text, re.MULTILINE)
        sizes = re.findall(r"^Resource_List.ncpus = (.*)$", text, re.MULTILINE)
        return {name: int(size) for name, size in zip(names, sizes, strict=True)}

    def reset(self) -> None:
        """Nothing is left on it."""
        deadline = time.monotonic() + 120
        while True:
            jobs = self.run("qselect").split()
            kept = re.findall(r"^Resv ID: (.*)$", self.run("pbs_rstat", "-B"), re.MULTILINE)
            if not jobs and not kept:
                return
            assert time.monotonic() < deadline, f"not to be emptied: {jobs} {kept}"
            if jobs:  # one that is just ending can be in no state to be deleted (168)
                self.run("qdel", *jobs, fine=(0, 35, 153, 168, 236))
            elif kept:
                self.run("pbs_rdel", *kept)
            time.sleep(0.3)


def servers() -> dict[str, PbsServer]:
    """The live servers, empty, by the names of the scenarios' clusters; skips where none are
    named."""
    named = _named()
    if len(named) < len(SIZES):
        pytest.skip(f"left out: {VARIABLE} names no live OpenPBS servers")
    found = {name: server_at(Path(path)) for name, path in zip(SIZES, named, strict=False)}
    for name, server in found.items():
        size = sum(server.nodes().values())
        assert size == SIZES[name], f"{VARIABLE}: {name} has {size} processors, not {SIZES[name]}"
        server.reset()
    return found


def server_of_nodes() -> PbsServer:
    """The fourth server, empty; skips where none is named."""
    named = _named()
    if len(named) <= len(SIZES):
        pytest.skip(f"left out: {VARIABLE} names no fourth live OpenPBS server, of several nodes")
    server = server_at(Path(named[len(SIZES)]))
    nodes = sorted(server.nodes().values())
    assert nodes == [NODES["processors"]] * NODES["count"], f"{VARIABLE}: its nodes are {nodes}"
    server.reset()
    return server


def _named() -> list[str]:
    return [path for path in os.environ.get(VARIABLE, "").split(":") if path]


def server_at(path: Path) -> PbsServer:
    """The server that a pbs.conf file, or a folder of client commands, leads to."""
    if path.is_dir():
        return PbsServer(path, {})
    folder = re.search(r"^PBS_EXEC=(.*)$", path.read_text(), re.MULTILINE)
    assert folder is not None, f"{path}: no PBS_EXEC"
    return PbsServer(Path(folder[1]) / "bin", {"PBS_CONF_FILE": str(path)})


@dataclass
class OpenPBS:
    """Live servers."""

    servers: dict[str, PbsServer]
    name: str = "openpbs"
    sizes: dict[str, int] = field(default_factory=lambda: dict(SIZES))

    def configuration(self, folder: Path) -> dict[str, dict[str, Any]]:
        return {
            name: {
                "system": "openpbs",
                "env": {**server.env, "PATH": f"{server.bin}:{SYSTEM_PATH}"},
            }
            for name, server in self.servers.items()
        }

    def local_job(self, folder: Path, name: str, cluster: str, processors: int) -> None:
        self.servers[cluster].run(
            *("qsub", "-f", "-N", name, "-S", "/bin/sh", "-o", "/dev/null", "-e", "/dev/null"),
            *("-l", f"select={processors}:ncpus=1", "-l", "place=free", "-l", "walltime=600"),
            stdin=local_script(folder, name),
            user=somebody(),
        )

    def reservation(self, folder: Path, name: str, cluster: str, processors: int) -> None:
        start = time.strftime("%Y%m%d%H%M.%S", time.gmtime(time.time() + 4))
        said = self.servers[cluster].run(
            *("pbs_rsub", "-I", "-20", "-N", name, "-R", start, "-D", "3600"),
            *("-l", f"select={processors}:ncpus=1", "-l", "place=free"),
        )
        assert "CONFIRMED" in said, said

    def running(self, folder: Path, name: str, cluster: str) -> bool:
        return self.servers[cluster].jobs().get(name) == "R"

    def held(self, folder: Path, cluster: str) -> Held:
        server = self.servers[cluster]
        # Jobs first: a reservation outlives the job that uses it.
        jobs = tuple(server.jobs())
        return Held(jobs, server.reservations())


@dataclass
class Mixed:
    """Clusters of several kinds, each by its own."""

    kinds: Mapping[str, Kind]
    name: str = "mixed"
    sizes: dict[str, int] = field(default_factory=lambda: dict(SIZES))

    def configuration(self, folder: Path) -> dict[str, dict[str, Any]]:
        return {name: kind.configuration(folder)[name] for name, kind in self.kinds.items()}

    def local_job(self, folder: Path, name: str, cluster: str, processors: int) -> None:
        self.kinds[cluster].local_job(folder, name, cluster, processors)

    def reservation(self, folder: Path, name: str, cluster: str, processors: int) -> None:
        self.kinds[cluster].reservation(folder, name, cluster, processors)

    def running(self, folder: Path, name: str, cluster: str) -> bool:
        return self.kinds[cluster].running(folder, name, cluster)

    def held(self, folder: Path, cluster: str) -> Held:
        return self.kinds[cluster].held(folder, cluster)


def mixed(slurm: Callable[[], Kind]) -> Mixed:
    """The second cluster under OpenPBS, the others under Slurm."""
    pbs = OpenPBS(servers())
    other = slurm()
    return Mixed({"delft": other, "leiden": pbs, "lab": other})
