"""Real clusters reached over SSH, each by a way of its own that can be broken."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.daemon.kinds import Slurm
from tests.testbed import ClusterSpec
from tests.testbed.proxy import Proxy
from tests.testbed.sshd import Sshd, account

SIZES = {"delft": 8, "leiden": 8}


def specs() -> tuple[ClusterSpec, ...]:
    """Clusters whose operator is the account that logs in: it may reserve."""
    extra = {"SlurmUser": account().name}
    return tuple(ClusterSpec(name, 1, cores, extra) for name, cores in SIZES.items())


@dataclass
class FarSlurm(Slurm):
    """The clusters as a daemon elsewhere has them."""

    name: str = "far slurm"
    via: str = "ssh"
    sshd: Sshd | None = None
    ways: dict[str, Proxy] = field(default_factory=dict)

    def configuration(self, folder: Path) -> dict[str, dict[str, Any]]:
        assert self.sshd is not None
        found = super().configuration(folder)
        for name, cluster in found.items():
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
        return found
