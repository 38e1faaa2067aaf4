"""The test-bed: one munged and some clusters in a folder, started and stopped together."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from tests.testbed.cluster import ClusterSpec, SlurmCluster
from tests.testbed.guard import Guard
from tests.testbed.munge import Munge
from tests.testbed.packages import DEFAULT_SUITE, Installation, install, readable_by_all
from tests.testbed.ports import PortBlock, require_network
from tests.testbed.processes import TestbedError, sweep

DEFAULT_CLUSTERS = (
    ClusterSpec("delft", nodes=3, cores=48),
    ClusterSpec("leiden", nodes=2, cores=32),
    ClusterSpec("lab", nodes=2, cores=16),
)
STATE = "testbed.json"
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


def default_suite() -> str:
    """The release tests use: METABROKER_TESTBED_RELEASE, a Debian suite."""
    return os.environ.get("METABROKER_TESTBED_RELEASE") or DEFAULT_SUITE


class Testbed:
    """Real clusters: `with Testbed() as testbed: testbed["delft"].run("sinfo")`.

    Everything is in `folder` (default: a temporary one, removed at the end, and ended by a
    guard if this process is killed). A folder that holds a test-bed already, of this process
    or another, is taken over with `attach`.
    """

    __test__ = False

    def __init__(
        self,
        specs: Sequence[ClusterSpec] = DEFAULT_CLUSTERS,
        *,
        suite: str | None = None,
        folder: Path | None = None,
        installation: Installation | None = None,
        ports: Sequence[int] | None = None,
    ) -> None:
        require_network()
        found = installation or install(suite or default_suite())
        self._temporary = folder is None
        self._guard: Guard | None = None
        self.folder = (folder or _temporary_folder()).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.installation = readable_by_all(found, self.folder / "slurm")
        count = sum(1 + spec.nodes for spec in specs)
        self._block = PortBlock(count) if ports is None else None
        self.ports = list(ports or (self._block.ports if self._block else ()))
        self.munge = Munge(self.installation, self.folder / "munge")
        self.clusters = self._make_clusters(specs)

    @classmethod
    def attach(cls, folder: Path) -> Testbed:
        """The test-bed that another process started in `folder`."""
        try:
            state = json.loads((folder / STATE).read_text())
        except OSError as error:
            raise TestbedError(f"no test-bed in {folder}") from error
        known = state["installation"]
        installation = Installation(known["suite"], known["version"], Path(known["prefix"]))
        specs = [ClusterSpec(**spec) for spec in state["clusters"]]
        return cls(specs, folder=folder, installation=installation, ports=state["ports"])

    def __getitem__(self, name: str) -> SlurmCluster:
        return self.clusters[name]

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start everything; return once every node of every cluster is idle."""
        self._forget_earlier()
        self._write_state()
        if self._temporary and self._guard is None:
            self._guard = Guard(self.folder)
        try:
            self.munge.start()
            self._each(lambda cluster: cluster.start(wait=False))
            for cluster in self.clusters.values():
                cluster.wait_idle()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop everything by its pids; no process is left, and no temporary folder."""
        self._each(SlurmCluster.stop)
        self.munge.stop()
        sweep(self.folder)
        if self._block is not None:
            self._block.release()
        (self.folder / STATE).unlink(missing_ok=True)
        if self._guard is not None:
            self._guard.dismiss()
            self._guard = None
        if self._temporary:
            shutil.rmtree(self.folder, ignore_errors=True)

    def reset(self, names: Collection[str] | None = None) -> None:
        """Clean these clusters or all (see `SlurmCluster.reset`), at once."""
        self.munge.start()
        self._each(SlurmCluster.reset, names)

    def log_tail(self, lines: int = 30) -> str:
        return "\n".join(cluster.log_tail(lines) for cluster in self.clusters.values())

    def metabroker_configuration(self, folder: Path | None = None) -> dict[str, Any]:
        """A configuration of metabroker for these clusters, its store and socket in `folder`."""
        place = folder or self.folder
        return {
            "store": f"sqlite:///{place / 'metabroker.db'}",
            "socket": str(place / "metabroker.sock"),
            "metrics": None,
            "allow_root": os.geteuid() == 0,
            "clusters": {
                name: {
                    "system": "slurm",
                    "via": "local",
                    "env": {**cluster.env(), "PATH": f"{cluster.bin}:{SYSTEM_PATH}"},
                    "partition": "batch",
                    "claim": "reservation",
                    "run_as": "self",
                }
                for name, cluster in self.clusters.items()
            },
        }

    def write_metabroker_configuration(self, path: Path) -> Path:
        """Write `metabroker_configuration` as YAML to `path`."""
        content = self.metabroker_configuration(path.parent)
        path.write_text(yaml.safe_dump(content, sort_keys=False, width=10_000))
        return path

    def _each(self, verb: Any, names: Collection[str] | None = None) -> None:
        chosen = [self.clusters[name] for name in self.clusters if names is None or name in names]
        with ThreadPoolExecutor(max(1, len(chosen))) as pool:
            list(pool.map(verb, chosen))

    def _make_clusters(self, specs: Sequence[ClusterSpec]) -> dict[str, SlurmCluster]:
        clusters, ports = {}, iter(self.ports)
        for spec in specs:
            own = [next(ports) for _ in range(1 + spec.nodes)]
            clusters[spec.name] = SlurmCluster(
                spec, self.installation, self.folder / spec.name, self.munge.socket, own
            )
        return clusters

    def _forget_earlier(self) -> None:
        """A new test-bed in a used folder begins anew: state of another release would not load."""
        if not (self.folder / STATE).exists():
            for cluster in self.clusters.values():
                if cluster.slurm_conf.exists():
                    shutil.rmtree(cluster.folder)

    def _write_state(self) -> None:
        state = {
            "installation": {
                "suite": self.installation.suite,
                "version": self.installation.version,
                "prefix": str(self.installation.prefix),
            },
            "clusters": [asdict(cluster.spec) for cluster in self.clusters.values()],
            "ports": self.ports,
        }
        (self.folder / STATE).write_text(json.dumps(state, indent=1) + "\n")


def _temporary_folder() -> Path:
    """A temporary folder that other users may enter: they read slurm.conf in it."""
    folder = Path(tempfile.mkdtemp(prefix="metabroker-testbed-"))
    folder.chmod(0o755)
    return folder
