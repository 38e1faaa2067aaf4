"""The driver that lives in virtual time: it plays a workload to a policy (models, section 4).

The same `policy` package as in the daemon decides; nothing of clusters, stores or the daemon is
known here.
"""

from metabroker.simulation.engine import EVENT_ORDERS, simulate
from metabroker.simulation.errors import Impossible, Overbooked
from metabroker.simulation.job import SimJob
from metabroker.simulation.stream import CHUNK, Finished, Sink

__all__ = [
    "CHUNK",
    "EVENT_ORDERS",
    "Finished",
    "Impossible",
    "Overbooked",
    "SimJob",
    "Sink",
    "simulate",
]
