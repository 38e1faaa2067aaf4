"""Real clusters reached over SSH, each by a way of its own that can be broken."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.daemon.kinds import Slurm
from tests.daemon.pbs import OpenPBS
from tests.testbed import ClusterSpec
from tests.testbed.proxy import Proxy
from tests.testbed.sshd import Sshd, account

SIZES = {"delft": 8, "leiden": 8}


def specs() -> tuple[ClusterSpec, ...]:
    """Clusters whose operator is the account that logs in: it may reserve."""
    extra = {"SlurmUser": account().name}
    return tuple(ClusterSpec(name, 1, cores, extra) for name, cores in SIZES.items())


@dataclass(frozen=True)
class Roads:
    """How clusters are reached, each by a way of its own."""

    via: str
    sshd: Sshd
    ways: dict[str, Proxy]

    def lead_to(self, clusters: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """The configuration of these clusters as a daemon elsewhere has it."""
        for name, cluster in clusters.items():
            cluster |= {
                "via": self.via,
                **self.sshd.settings(),
                "port": self.ways[name].port,
                "connect_timeout": "10s",
                "keepalive": "2s",
                "reconnect_pause": "200ms",
            }
            if self.via == "openssh":
                cluster["ssh_config"] = "/dev/null"  # not that of whoever runs the tests
        return clusters


@dataclass
class FarSlurm(Slurm):
    """The clusters as a daemon elsewhere has them."""

    name: str = "far slurm"
    roads: Roads | None = None

    def configuration(self, folder: Path) -> dict[str, dict[str, Any]]:
        assert self.roads is not None
        return self.roads.lead_to(super().configuration(folder))


@dataclass
class FarOpenPBS(OpenPBS):
    """Live servers, as a daemon elsewhere has them."""

    name: str = "far openpbs"
    roads: Roads | None = None

    def configuration(self, folder: Path) -> dict[str, dict[str, Any]]:
        assert self.roads is not None
        return self.roads.lead_to(super().configuration(folder))
