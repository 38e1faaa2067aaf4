"""JOB-SHARING: all jobs of a grid in one queue, each on a single machine (ER 2.4)."""

from collections.abc import Sequence

from metabroker.policy.best_fit import best_fit
from metabroker.policy.easy import Easy
from metabroker.policy.placement import Place


class JobSharing(Easy):
    """The machine by Best Fit when a job starts, backfilling over all machines.

    "In the first step the machine is selected and in the second step the allocation in time for
    this machine takes place." Our reading: one central queue, EASY's promise holds for the machine
    that Best Fit finds for the head.
    """

    def __init__(self, processors: Sequence[int], place: Place = best_fit) -> None:
        super().__init__(processors, place)
