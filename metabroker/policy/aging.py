"""Aging: a bound on how often, or how long, a job may be overtaken.

BE03 says that it "has to be implemented in practice", DCS 2.4 that starvation "may be repaired by
putting a maximum to the number of times a job can be overtaken"; neither defines it. Our rule:

The start of a job B *overtakes* a waiting job A if B joined after A and B takes processors in a
cluster in which A could run: for a single-component job in a local queue its cluster, for an
ordered request its clusters, for an unordered one all of them. A job that was overtaken N times,
or has waited T seconds, is *protected*: it is not overtaken again. For a job that joined later,
the clusters of a protected one count as full; and a queue that holds a protected job is visited
before the others, also where the policy's own rule would keep it disabled.

A job that could not run even if all reachable clusters were empty is not protected: a cluster
that is down must not block the others (see reach.py). overtaking.py keeps the counts.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Aging:
    """Overtaken at most `overtaken` times, and only within the first `wait` seconds of waiting.

    None: no such bound. Raises ValueError for a negative bound.
    """

    overtaken: int | None = None
    wait: float | None = None

    def __post_init__(self) -> None:
        if self.overtaken is not None and self.overtaken < 0:
            raise ValueError(f"a job cannot be overtaken {self.overtaken} times")
        if self.wait is not None and not self.wait >= 0:
            raise ValueError(f"a job cannot wait {self.wait} seconds")
