"""GS with First Come First Served on one cluster (BE07 2.1: total requests, SC)."""

from metabroker.policy.gs import GlobalScheduler


class PoolFcfs(GlobalScheduler):
    """Decides as GS does. The type says what a driver may rely on, whatever runs:

    jobs start strictly in the order of arrival, each as soon as the one in front of it has started
    and its processors are idle. (A simulator then needs no events at all.)
    """
