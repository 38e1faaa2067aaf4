"""LG-SS and LG-SS-BS: Largest Gang First Served / Shortest Sequential Job First Served (KH 2.2).

Gangs come before sequential jobs, larger gangs first; of the sequential jobs, those with fewer
tasks first, because their number indicates the service time. Equals in order of arrival. With
blocking of sequential jobs: LG-SS-BS.
"""

from metabroker.policy.job_mix import JobMix, JobMixQueue


class LgSs(JobMix):
    """The queue is in order of kind and size."""

    def _rank(self, line: JobMixQueue) -> int:
        return -line.tasks if line.gang else line.tasks
