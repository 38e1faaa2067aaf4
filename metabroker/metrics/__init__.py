"""What Prometheus sees. A scrape reads memory and never touches a cluster.

`meters` has what is counted as it happens, told by `of_jobs` (what has become durable) and
`of_clusters` (what is carried out); `of_broker` what a broker that stands by tells too; `exporter`
has what is read at each scrape.
`metabroker.web` serves both.
"""

from .exporter import Exporter, StandbyExporter
from .meters import Meters
from .of_broker import OfBroker
from .of_clusters import OfCluster
from .of_jobs import OfJobs

__all__ = ["Exporter", "Meters", "OfBroker", "OfCluster", "OfJobs", "StandbyExporter"]
