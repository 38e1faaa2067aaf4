"""What every queue policy is made with, in one piece."""

from dataclasses import dataclass

from metabroker.policy.aging import Aging
from metabroker.policy.placement import Place, Rng


@dataclass(frozen=True, slots=True)
class Options:
    """Where the papers leave a choice open: our reading is the default, the others have a name.

    Raises ValueError for an unknown value.
    """

    ls_do: str = "all"
    """LS-DO: "all" disablings count for the order, or only those at "departures"."""
    gp: str = "same-pass"
    """GP: local queues are enabled in the "same-pass" in which the global queue becomes empty, or
    at the "next-departure"."""
    lq: str = "start"
    """LQ: the rule is evaluated after each "start", once per "departure", or after each start and
    at every "arrival"."""
    ties: str = "lowest"
    """Worst Fit: ties between equally idle clusters go to the "lowest" index, or are "random"."""

    def __post_init__(self) -> None:
        for name, known in (
            ("ls_do", ("all", "departures")),
            ("gp", ("same-pass", "next-departure")),
            ("lq", ("start", "departure", "arrival")),
            ("ties", ("lowest", "random")),
        ):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} is {getattr(self, name)!r}; it can be {' or '.join(known)}"
                )


DISCIPLINES = ("FCFS", "FPFS")
"""The names of the disciplines of a queue."""

READINGS = Options()
"""Our readings of what the papers leave open."""


@dataclass(frozen=True, slots=True)
class Context:
    """A system of `clusters` clusters, and how its queues decide.

    `place` is the placement rule and `discipline` FCFS or FPFS, of every queue. `aging`: when a job
    may not be overtaken any more; None: never. `rng` is used by the randomised policies, one draw
    per departure pass where it makes a difference. Raises ValueError for a system without clusters
    and for an unknown discipline.
    """

    clusters: int
    place: Place
    discipline: str = "FCFS"
    aging: Aging | None = None
    rng: Rng | None = None
    options: Options = READINGS

    def __post_init__(self) -> None:
        if self.clusters < 1:
            raise ValueError(f"a system has at least one cluster, not {self.clusters}")
        if self.discipline not in DISCIPLINES:
            known = " and ".join(DISCIPLINES)
            raise ValueError(f"no discipline is called {self.discipline!r}; there are {known}")
