"""Real clusters of several releases, and simulated ones beside them, as one kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.daemon.kinds import Held, Simulated, Slurm
from tests.testbed import ClusterSpec, Testbed

RELEASES = {"delft": "bookworm", "leiden": "trixie", "lab": "forky"}
"""The suite of Debian whose Slurm each cluster is: 22.05, 24.11, 26.05."""
_NODES, _CORES = 4, 32
_QUIET = {"MessageTimeout": "4", "SlurmdTimeout": "30"}


@dataclass
class Everywhere(Slurm):
    """Real clusters, and `simulated` ones by their processors."""

    simulated: dict[str, int] = field(default_factory=dict)

    def configuration(self, folder: Path) -> dict[str, dict[str, Any]]:
        return {
            **super().configuration(folder),
            **{
                name: {"system": "simulated", "processors": processors, "run": True}
                for name, processors in self.simulated.items()
            },
        }

    def held(self, folder: Path, cluster: str) -> Held:
        if cluster in self.simulated:
            return Simulated().held(folder, cluster)
        return super().held(folder, cluster)


@contextmanager
def everywhere(simulated: Mapping[str, int]) -> Iterator[Everywhere]:
    """A cluster of each release of Slurm, started and in the end stopped, and simulated ones."""
    with ExitStack() as stack:
        clusters = {}
        for name, suite in RELEASES.items():
            spec = ClusterSpec(name, _NODES, _CORES, _QUIET)
            clusters[name] = stack.enter_context(Testbed([spec], suite=suite))[name]
        sizes = {name: cluster.processors for name, cluster in clusters.items()}
        yield Everywhere(
            clusters, name="everywhere", sizes={**sizes, **simulated}, simulated=dict(simulated)
        )
