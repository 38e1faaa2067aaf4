"""Real Slurm clusters for tests and for use by hand: no root, nothing installed.

`Testbed` starts them, `SlurmCluster` is one of them, `packages` has the programs.
"""

from tests.testbed.apt import SlurmUnavailable
from tests.testbed.cluster import ClusterSpec, Job, Reservation, SlurmCluster
from tests.testbed.packages import Installation, PackagesUnavailable, install
from tests.testbed.processes import TestbedError
from tests.testbed.testbed import DEFAULT_CLUSTERS, Testbed

__all__ = [
    "DEFAULT_CLUSTERS",
    "ClusterSpec",
    "Installation",
    "Job",
    "PackagesUnavailable",
    "Reservation",
    "SlurmCluster",
    "SlurmUnavailable",
    "Testbed",
    "TestbedError",
    "install",
]
