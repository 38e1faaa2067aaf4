"""The policies by name: those that a daemon can drive (`make`), and the others (`make_planner`)."""

from collections.abc import Iterable, Mapping, Sequence

from metabroker.policy.afcfs import Afcfs
from metabroker.policy.aging import Aging
from metabroker.policy.backfilling import Backfilling
from metabroker.policy.best_fit import best_fit, fewest_clusters
from metabroker.policy.close_to_files import close_to_files, close_to_files_reuse
from metabroker.policy.conservative import Conservative
from metabroker.policy.context import READINGS, Context, Options
from metabroker.policy.easy import Easy
from metabroker.policy.eq import EqualQueues, EqualQueuesGlobalFirst, EqualQueuesRandom
from metabroker.policy.gp import GlobalPriority
from metabroker.policy.gs import GlobalScheduler
from metabroker.policy.job_sharing import JobSharing
from metabroker.policy.lg_ss import LgSs
from metabroker.policy.lp import LocalPriority, LocalPriorityGlobalFirst, LocalPriorityRandom
from metabroker.policy.lq import LongestQueue
from metabroker.policy.ls import (
    DisableOrderLocalSchedulers,
    LocalSchedulers,
    RandomLocalSchedulers,
    ReleaseOrderLocalSchedulers,
)
from metabroker.policy.multi_site import MultiSite
from metabroker.policy.multi_site_live import LiveMultiSite
from metabroker.policy.placement import PLACEMENTS, Place, Rng, one_cluster, worst_fit_random_ties
from metabroker.policy.planner import LivePlanner, Planner
from metabroker.policy.scheduler import Scheduler

_SCHEDULERS: Mapping[str, type[Scheduler]] = {
    "GS": GlobalScheduler,
    "LS-OR": LocalSchedulers,
    "LS-RD": RandomLocalSchedulers,
    "LS-RO": ReleaseOrderLocalSchedulers,
    "LS-DO": DisableOrderLocalSchedulers,
    "GP": GlobalPriority,
    "LP-LF": LocalPriority,
    "LP-GF": LocalPriorityGlobalFirst,
    "LP-RD": LocalPriorityRandom,
    "EQ-LF": EqualQueues,
    "EQ-GF": EqualQueuesGlobalFirst,
    "EQ-RD": EqualQueuesRandom,
    "LQ": LongestQueue,
    "FCFS": GlobalScheduler,
    "FPFS": GlobalScheduler,
}

_LOOKED_AT: Mapping[str, int] = {
    "EASY": 256,
    "CONSERVATIVE": 64,
    "JOB-SHARING": 256,
    "MULTI-SITE": 256,
}
"""Of how many waiting jobs a daemon tells these: a pass must be short."""

POLICIES: tuple[str, ...] = tuple(_SCHEDULERS)
"""The names of the queue policies, which know nothing of run times."""

BACKFILLING: tuple[str, ...] = tuple(_LOOKED_AT)
"""The planners that `make` knows, too: a daemon can drive them as it does the queue policies."""

SPLITTING: frozenset[str] = frozenset({"MULTI-SITE"})
"""The policies of `make` that split jobs, those whose requests may be (`Request.parts`)."""

RANDOMISED: frozenset[str] = frozenset({"LS-RD", "LP-RD", "EQ-RD"})
"""The policies that need a source of randomness."""


_PLANNERS: Mapping[str, str] = {
    "EASY": "worst-fit",
    "CONSERVATIVE": "worst-fit",
    "AFCFS": "worst-fit",
    "AFCFS-BS": "worst-fit",
    "LG-SS": "worst-fit",
    "LG-SS-BS": "worst-fit",
    "JOB-SHARING": "best-fit",
    "MULTI-SITE": "fewest-clusters",
}
"""The placement that the paper gives each."""

PLANNERS: tuple[str, ...] = tuple(_PLANNERS)
"""The names that `make_planner` knows."""

ALL_PLACEMENTS: Mapping[str, Place] = {
    **PLACEMENTS,
    "close-to-files": close_to_files,
    "close-to-files-reuse": close_to_files_reuse,
    "best-fit": best_fit,
    "fewest-clusters": fewest_clusters,
}
"""Those, the ones close to files, and the ones of ER 2.4."""


def make(
    policy: str,
    clusters: int,
    *,
    placement: str | None = None,
    discipline: str | None = None,
    aging: Aging | None = None,
    rng: Rng | None = None,
    options: Options = READINGS,
    overhead: float = 0.0,
) -> Scheduler:
    """The scheduler of a policy over `clusters` clusters.

    `placement`: None is the paper's: Worst Fit with reuse for FCFS and FPFS (DCS 2.4), Worst Fit
    for the others. `discipline`: FCFS (the papers', the default) or FPFS in every queue; the
    policies FCFS and FPFS are one global queue with that discipline. `rng`: for LS-RD, LP-RD,
    EQ-RD and random ties. Those of `BACKFILLING` have no discipline and no aging, and follow a book
    of what runs. `overhead`: as for `make_planner`. Raises ValueError for an unknown name (it says
    the nearest known one), for what the policy cannot do, and for a missing `rng`.
    """
    if policy in BACKFILLING:
        return _backfilling(policy, clusters, placement, discipline, overhead)
    if policy not in _SCHEDULERS:
        raise ValueError(_unknown("policy", policy, (*POLICIES, *BACKFILLING)))
    single_queue = policy in {"FCFS", "FPFS"}
    if single_queue and discipline not in {None, policy}:
        raise ValueError(f"the policy {policy} has the discipline {policy}, not {discipline}")
    if discipline is None:
        discipline = policy if single_queue else "FCFS"
    if placement is None:
        placement = "worst-fit-reuse" if single_queue else "worst-fit"
    place = _placement(placement, options, rng)
    context = Context(clusters, place, discipline, aging, rng, options)
    return _SCHEDULERS[policy](context)


def _backfilling(
    policy: str,
    clusters: int,
    placement: str | None,
    discipline: str | None,
    overhead: float,
) -> Backfilling:
    if discipline not in {None, "FCFS"}:
        raise ValueError(f"the policy {policy} has no discipline, so not {discipline} either")
    usual = _PLANNERS[policy]
    _check(policy, placement, overhead)
    place = _placement(usual if placement is None else placement, READINGS, None)

    def planner(processors: Sequence[int], place: Place) -> LivePlanner:
        if policy == "CONSERVATIVE":
            return Conservative(processors, place)
        if policy == "MULTI-SITE":
            return LiveMultiSite(processors, place, overhead)
        return Easy(processors, place)  # JOB-SHARING is EASY with Best Fit

    return Backfilling(Context(clusters, place), planner, _LOOKED_AT[policy])


def make_planner(
    policy: str,
    processors: Sequence[int],
    *,
    placement: str | None = None,
    overhead: float = 0.0,
) -> Planner:
    """The planner of a policy over clusters of `processors[c]` processors.

    `placement`: None is the paper's. EASY, CONSERVATIVE and JOB-SHARING take any; AFCFS, LG-SS
    and their versions with blocking have one cluster, so nothing is to be placed, and MULTI-SITE
    splits jobs over the fewest clusters, or is nothing. `overhead`: what is added to the run time
    of a job that MULTI-SITE splits, as a share of it; the others split none. Raises ValueError for
    an unknown name (it says the nearest known one) and for what the policy cannot do.
    """
    if policy not in _PLANNERS:
        raise ValueError(_unknown("policy", policy, PLANNERS))
    usual = _PLANNERS[policy]
    _check(policy, placement, overhead)
    place = _placement(usual if placement is None else placement, READINGS, None)
    if policy == "JOB-SHARING":
        return JobSharing(processors, place)
    if policy in {"EASY", "CONSERVATIVE"}:
        kind = Easy if policy == "EASY" else Conservative
        return kind(processors, one_cluster if len(processors) == 1 else place)
    if policy == "MULTI-SITE":
        return MultiSite(processors, overhead)
    mix = Afcfs if policy.startswith("AFCFS") else LgSs
    return mix(processors, blocking=policy.endswith("-BS"))


def _check(policy: str, placement: str | None, overhead: float) -> None:
    """Raises ValueError for a placement that the policy cannot have, or a negative overhead."""
    if not overhead >= 0:
        raise ValueError(f"the overhead of a split job is at least 0, not {overhead}")
    usual, free = _PLANNERS[policy], {"EASY", "CONSERVATIVE", "JOB-SHARING"}
    if policy in free or placement in {None, usual}:
        return
    if placement not in ALL_PLACEMENTS:
        raise ValueError(_unknown("placement", str(placement), ALL_PLACEMENTS))
    raise ValueError(f"the policy {policy} has the placement {usual}, not {placement}")


def _placement(name: str, options: Options, rng: Rng | None) -> Place:
    if name not in ALL_PLACEMENTS:
        raise ValueError(_unknown("placement", name, ALL_PLACEMENTS))
    if options.ties == "lowest":
        return ALL_PLACEMENTS[name]
    if name != "worst-fit":
        raise ValueError(f"random ties are an option of worst-fit, not of {name}")
    if rng is None:
        raise ValueError("random ties need a source of randomness")
    return worst_fit_random_ties(rng)


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    word = name.upper()
    nearest = min(known, key=lambda o: (not o.upper().startswith(word), _distance(word, o.upper())))
    return f"no {kind} is called {name!r}; the nearest is {nearest}"


def _distance(one: str, other: str) -> int:
    """The number of letters to insert, delete or replace to make one word of the other."""
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        diagonal, row[0] = row[0], i
        for j, another in enumerate(other, 1):
            diagonal, row[j] = (
                row[j],
                min(row[j] + 1, row[j - 1] + 1, diagonal + (letter != another)),
            )
    return row[-1]
