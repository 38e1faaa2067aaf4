"""AFCFS and AFCFS-BS: Adapted First Come First Served (KH 2.2).

"When a processor or a set of processors become idle, all jobs in the queue are examined in
sequence for execution on the available processors." With blocking of sequential jobs: AFCFS-BS.
"""

from metabroker.policy.job_mix import JobMix, JobMixQueue


class Afcfs(JobMix):
    """The queue is in order of arrival."""

    def _rank(self, line: JobMixQueue) -> int:
        return line.jobs[0].order
