"""What jobs hold in clusters, in processors: what limits count, and not what jobs ask for.

Where nodes are given whole, a job of one processor holds a node: in a cluster that gives nothing
else (`ClusterSettings.unit`, `whole`), and for a job that asks for nodes of its own. Its user's own
options may put few tasks on many nodes. So the same job weighs more in one cluster than in another.
Of a component that runs its cluster tells what it holds; before that it is worked out from the
nodes that the cluster was seen to have. Where those are not known it counts as it asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from metabroker.submission.shape import Shape

from . import nodes
from .job import Component, Job, NewJob
from .ledger import Ledger
from .observation import NodeKind
from .settings import Settings

Sizes = list[tuple[int, tuple[NodeKind, ...]]]
"""Of each cluster its processors, and its nodes, as it was seen last."""
_ANY = 10**9  # a cluster that was never seen may be of any size
_MOST_TRIES = 1000  # of putting components into clusters
_MOST_KNOWN = 4096  # jobs of which that is remembered


class Holdings:
    """What jobs hold, and would hold, by cluster. `apart`: the policy puts the components of an
    unordered job into different clusters."""

    def __init__(self, settings: Settings, ledger: Ledger) -> None:
        self._settings = settings
        self._ledger = ledger
        self.apart = False
        self._seen: Sizes = []  # of which `_known` is
        self._known: dict[tuple[Any, ...], int] = {}  # the least of jobs of several components
        self._whole = any(cluster.unit > 1 or cluster.whole for cluster in settings.clusters)

    def sizes(self) -> Sizes:
        """The clusters as far as what jobs hold there depends on them."""
        return [(entry.processors, entry.nodes) for entry in self._ledger.entries]

    def as_asked(self, job: Job | NewJob) -> bool:
        """Whether the job holds in every cluster what it asks for, as far as can be told before it
        runs."""
        return not (self._whole or job.shape.beyond_processors)

    # --- one component ------------------------------------------------------------------------

    def would(self, cluster: int, processors: int, job: Job | NewJob) -> int:
        """What a component that asks for so many processors may hold there: of nodes that differ,
        the largest ones."""
        kinds = self._kinds(cluster, job)
        if kinds is None:
            return self._rounded(cluster, processors, job, job.nodes.most)
        all_of_it = sum(kind.processors * kind.count for kind in kinds)
        found = [self._on(kind, processors, job, job.nodes.most) for kind in kinds]
        return max(processors, min(max(found, default=0), all_of_it))

    def at_least(self, cluster: int, processors: int, job: Job | NewJob) -> int:
        """What it holds there for certain, whichever nodes it is given."""
        kinds = self._kinds(cluster, job)
        if kinds is None:
            return self._rounded(cluster, processors, job, job.nodes.least)
        if len(kinds) == 1:
            return max(processors, self._on(kinds[0], processors, job, job.nodes.least))
        shape, smallest = job.shape, min((kind.processors for kind in kinds), default=0)
        tasks = processors // shape.cpus_per_task
        rates = ((kind.processors, nodes.tasks_on(kind, shape)) for kind in kinds)
        full = min((-(-tasks * held // room) for held, room in rates), default=0)
        return max(processors, full, smallest * max(1, job.nodes.least))

    def of(self, component: Component, job: Job) -> int:
        """What a component counts for: what its cluster shows it to hold, or more, if more is its
        claim."""
        held, cluster = component.processors, component.cluster
        if component.sibling or component.shown or self.as_asked(job):
            return max(held, component.shown) if held else 0
        unit = self._settings.clusters[cluster].unit
        return max(held, job.nodes.most * unit) if unit > 1 else self.would(cluster, held, job)

    def _rounded(self, cluster: int, processors: int, job: Job | NewJob, on: int) -> int:
        settings = self._settings.clusters[cluster]
        held = settings.held(processors, job.shape.cpus_per_task)
        return max(held, on * settings.unit if settings.unit > 1 else 0)

    def _on(self, kind: NodeKind, processors: int, job: Job | NewJob, on: int) -> int:
        """What it holds on nodes of this kind alone."""
        shape = job.shape
        wanted = -(-processors // (nodes.tasks_on(kind, shape) * shape.cpus_per_task))
        gpus = -(-shape.gpus // kind.gpus) if kind.gpus else 0
        return max(wanted, gpus, on) * kind.processors

    def _kinds(self, cluster: int, job: Job | NewJob) -> list[NodeKind] | None:
        """The nodes that it may be given there, whole; None: that is not so, or not known."""
        settings, known = self._settings.clusters[cluster], self._ledger.entries[cluster].nodes
        if settings.unit > 1 or not known or not self._gets_nodes(cluster, job.shape, job.alone):
            return None
        return [kind for kind in known if nodes.tasks_on(kind, job.shape)]

    def _gets_nodes(self, cluster: int, shape: Shape, alone: bool) -> bool:
        """Whether nodes are its own there; Slurm reserves whole ones for memory and GPUs, too."""
        settings = self._settings.clusters[cluster]
        if settings.whole or shape.exclusive:
            return True
        slurm = (settings.twin_of or settings.system) == "slurm"
        return settings.reserves and slurm and not alone and shape.beyond_processors

    # --- a job --------------------------------------------------------------------------------

    def placed(self, job: Job | NewJob, placement: Sequence[int]) -> int:
        """What the whole job may hold in these clusters, one for each component."""
        if self.as_asked(job):
            return job.request.total
        pairs = zip(placement, job.request.sizes, strict=True)
        return sum(self.would(cluster, size, job) for cluster, size in pairs)

    def lightest(self, job: Job | NewJob, *, certain: bool = False) -> int:
        """What it holds where that is the least, of the clusters that it may go to. `certain`: by
        what it holds at least in each."""
        if self.as_asked(job):
            return job.request.total
        weigh, request = self.at_least if certain else self.would, job.request
        if request.single or request.clusters is not None or _in_parts(job):
            return sum(self._lightest(job, certain=certain))
        key = (request.sizes, job.shape, job.nodes, _barred(job), certain)
        seen = self.sizes()
        if seen != self._seen or len(self._known) >= _MOST_KNOWN:
            self._seen, self._known = seen, {}
        found = self._known.get(key)
        if found is None:
            weights = [
                sorted((weigh(cluster, size, job), cluster) for cluster in self._open(job, size))
                for size in request.sizes
            ]
            rooms = [processors or _ANY for processors, _ in seen]
            found = _cheapest(weights, rooms, apart=self.apart)
            found = self._known[key] = found or sum(self._lightest(job, certain=certain))
        return found

    def by_cluster(self, job: Job | NewJob, *, certain: bool = False) -> dict[int, int]:
        """What it holds with its smallest component in each cluster, and the others where they hold
        the least; {}: it has no choice, or holds in all of them what it asks for. `certain`: by
        what it holds at least in each."""
        if self.as_asked(job) or job.request.clusters is not None or _in_parts(job):
            return {}
        each, sizes = self._lightest(job, certain=certain), job.request.sizes
        smallest = min(range(len(sizes)), key=sizes.__getitem__)
        others = sum(each) - each[smallest]
        weigh, clusters = self.at_least if certain else self.would, len(self._settings.clusters)
        return {c: others + weigh(c, sizes[smallest], job) for c in range(clusters)}

    def heaviest(self, job: Job | NewJob, placement: Sequence[int]) -> int | None:
        """Of these clusters the one in which it may hold the most beyond what it asks for; None: it
        holds no more in any, or has no choice."""
        if self.as_asked(job) or job.request.clusters is not None:
            return None
        pairs = zip(placement, job.request.sizes, strict=True)
        more = {cluster: self.would(cluster, size, job) - size for cluster, size in pairs}
        found = max(more, key=more.__getitem__)
        return found if more[found] else None

    def _lightest(self, job: Job | NewJob, *, certain: bool = False) -> list[int]:
        """Of each component."""
        weigh, request = self.at_least if certain else self.would, job.request
        if request.clusters is not None:
            pairs = zip(request.clusters, request.sizes, strict=True)
            return [weigh(cluster, size, job) for cluster, size in pairs]
        if _in_parts(job):  # which may fill their nodes
            return list(request.sizes)
        return [
            min((weigh(cluster, size, job) for cluster in self._open(job, size)), default=size)
            for size in request.sizes
        ]

    def _open(self, job: Job | NewJob, size: int) -> Iterable[int]:
        """Clusters that may be large enough, and that it may go to."""
        barred = _barred(job)
        for cluster, entry in enumerate(self._ledger.entries):
            large = not entry.processors or entry.processors >= size
            if large and cluster not in barred and self._has_nodes(cluster, job.shape):
                yield cluster

    def _has_nodes(self, cluster: int, shape: Shape) -> bool:
        known = self._ledger.entries[cluster].nodes
        return not (shape and known) or any(nodes.tasks_on(kind, shape) for kind in known)


def _cheapest(weights: list[list[tuple[int, int]]], rooms: list[int], *, apart: bool) -> int:
    """What components hold together at least that fit into clusters with so much room (`apart`: one
    into each); of each its weights and their clusters, the least first. 0: they do not fit, or it
    is too much to find out."""
    weights = sorted(weights, key=lambda of: of[-1:], reverse=True)
    left = [0]  # what those from each on hold at least
    for of in reversed(weights):
        left.append(left[-1] + (of[0][0] if of else _ANY))
    left.reverse()
    best, tries = _ANY, _MOST_TRIES

    def put(index: int, total: int) -> None:
        nonlocal best, tries
        if index == len(weights):
            best = min(best, total)
            return
        for weight, cluster in weights[index]:
            if total + weight + left[index + 1] >= best or tries <= 0:
                return
            room = rooms[cluster]
            if room >= weight:
                tries -= 1
                rooms[cluster] = 0 if apart else room - weight
                put(index + 1, total + weight)
                rooms[cluster] = room

    put(0, 0)
    return best if best < _ANY and tries > 0 else 0


def _barred(job: Job | NewJob) -> frozenset[int]:
    return job.excluded if isinstance(job, Job) else job.closed


def _in_parts(job: Job | NewJob) -> bool:
    """Whether it is the policy's to say in how many components it is; also where it has."""
    return job.split is not None and job.request.clusters is None
