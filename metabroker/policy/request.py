"""What a job asks for: processors per component (BE03 2.4, BE07 2.1, DCS 2.3)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf

Sizes = tuple[int, ...]
Placement = tuple[int, ...]
"""The cluster of each component, in the user's order of components."""


@dataclass(frozen=True, slots=True)
class Request:
    """An immutable request; jobs of the same shape may share one object.

    `sizes`: processors per component, in the user's order. `clusters`: the cluster of each
    component of an *ordered* request (DCS 2.3; repeats allowed), None for an *unordered* one.
    `exclude`: clusters, in increasing order, that an unordered request must not go to. `bounds`:
    (cluster, processors), in increasing order: it can have so many there at most, however many are
    idle (an unordered one). `groups`: if there are any, all its clusters are of one of these.
    `parts`: a policy may split its one component into so many at most (1: it must not), each of a
    multiple of `grain` processors. `costs`: for each cluster, the seconds that the input of a
    component takes to come there; (): that does not matter. They say where it goes, and never
    whether it fits. Raises ValueError for no component, a size below 1, a negative cluster or cost,
    a number of clusters that differs from the number of components, and where `parts` or `grain` is
    below 1 or what is to be split is not one unordered component.
    """

    sizes: Sizes
    clusters: tuple[int, ...] | None = None
    exclude: tuple[int, ...] = field(default=(), kw_only=True)
    bounds: tuple[tuple[int, int], ...] = field(default=(), kw_only=True)
    groups: tuple[tuple[int, ...], ...] = field(default=(), kw_only=True)
    parts: int = field(default=1, kw_only=True)
    grain: int = field(default=1, kw_only=True)
    costs: tuple[float, ...] = field(default=(), kw_only=True)

    total: int = field(init=False, compare=False, repr=False)
    single: bool = field(init=False, compare=False, repr=False)
    """One component: in a local queue it runs on that cluster only."""
    decreasing: Sizes = field(init=False, compare=False, repr=False)
    """The sizes in decreasing order."""
    order: tuple[int, ...] = field(init=False, compare=False, repr=False)
    """The component indices by decreasing size (equal sizes in the user's order)."""
    rank: tuple[int, ...] = field(init=False, compare=False, repr=False)
    """The place of each component in that order."""
    sorted: bool = field(init=False, compare=False, repr=False)
    """The user's order is already the decreasing one."""
    needs: tuple[tuple[int, int], ...] = field(init=False, compare=False, repr=False)
    """Ordered requests: (cluster, processors), several components on one cluster added up."""
    bounded: bool = field(init=False, compare=False, repr=False)
    """It excludes clusters, or has bounds or groups."""
    mask: int = field(init=False, compare=False, repr=False)
    """Ordered requests: the set of its clusters as bits; 0 for an unordered request."""
    ungrouped: "Request | None" = field(init=False, compare=False, repr=False)
    """The same without its groups, if it has any."""
    shape: tuple[object, ...] = field(init=False, compare=False, repr=False)
    """Equal for requests that fit on exactly the same states of the clusters."""

    def __post_init__(self) -> None:
        sizes, clusters = tuple(self.sizes), self.clusters
        if not sizes:
            raise ValueError("a request has at least one component")
        if min(sizes) < 1:
            raise ValueError(f"a component has at least one processor, not {min(sizes)}")
        if clusters is not None:
            clusters = tuple(clusters)
            if len(clusters) != len(sizes):
                raise ValueError(f"{len(sizes)} components but {len(clusters)} clusters")
            if min(clusters) < 0:
                raise ValueError(f"no cluster has the index {min(clusters)}")
        if min(self.parts, self.grain) < 1:
            raise ValueError(f"no job has {self.parts} parts of multiples of {self.grain}")
        if self.parts > 1 and (len(sizes) > 1 or clusters is not None):
            raise ValueError("only one component for which no cluster is named can be split")
        if not all(0 <= cost < inf for cost in self.costs):
            raise ValueError("what files take to come to a cluster is a number of seconds")
        order = tuple(sorted(range(len(sizes)), key=lambda i: -sizes[i]))
        decreasing = tuple(sizes[i] for i in order)
        needs = _needs(sizes, clusters)
        rank = [0] * len(order)
        for place, component in enumerate(order):
            rank[component] = place
        derived: dict[str, object] = {
            "sizes": sizes,
            "clusters": clusters,
            "total": sum(sizes),
            "single": len(sizes) == 1,
            "decreasing": decreasing,
            "order": order,
            "rank": tuple(rank),
            "sorted": decreasing == sizes,
            "needs": needs,
            "bounded": bool(self.exclude or self.bounds or self.groups),
            "ungrouped": replace(self, groups=()) if self.groups else None,
            "mask": sum(1 << cluster for cluster, _ in needs),
            "shape": ((), needs, (), (), self.groups)
            if needs
            else (decreasing, (), self.exclude, self.bounds, self.groups, self.parts, self.grain),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)


def _needs(sizes: Sizes, clusters: Sequence[int] | None) -> tuple[tuple[int, int], ...]:
    if clusters is None:
        return ()
    sums: dict[int, int] = {}
    for size, cluster in zip(sizes, clusters, strict=True):
        sums[cluster] = sums.get(cluster, 0) + size
    return tuple(sorted(sums.items()))
