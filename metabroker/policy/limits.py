"""Limits on the shape of requests, and flexible requests split by them (BE07 2.4.1, 4.2, 4.3, 5.1).

The coallocation rules of BE07 5.1 are limits: [no] components=1; [co] none; [rco] component = half
a cluster; [fco] that and components=2. Sizes and capacities are numbers of processors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from metabroker.policy.placement import Place, worst_fit
from metabroker.policy.request import Request, Sizes


class Limit(Enum):
    """What a request that cannot be accepted is beyond."""

    COMPONENT = "processors in one component"
    COMPONENTS = "components"
    TOTAL = "processors in one job"
    CAPACITY = "processors that a component can get"
    CLUSTER = "processors of the cluster"
    PLACES = "components that find a place"


@dataclass(frozen=True, slots=True)
class RequestRefusal:
    """A request that can never run: `asked` is beyond `limit`; `largest` is the most that could."""

    limit: Limit
    asked: int
    largest: int
    component: int | None = None
    """The component that it is about (index in the user's order)."""
    cluster: int | None = None
    """For CLUSTER: the cluster."""

    def __str__(self) -> str:
        about = "" if self.component is None else f" for component {self.component}"
        where = "" if self.cluster is None else f" in cluster {self.cluster}"
        return f"{self.asked} {self.limit.value}{where}{about}; the largest that could run is " + (
            f"{self.largest}"
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest component, number of components and total size; None: no limit.

    Raises ValueError for a limit below 1.
    """

    component: int | None = None
    components: int | None = None
    total: int | None = None

    def __post_init__(self) -> None:
        for name in ("component", "components", "total"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"the limit {name} is at least 1, not {value}")

    def check(self, sizes: Sizes) -> RequestRefusal | None:
        """The limit that the components `sizes` are beyond, if any.

        Not for the answer of `split_total`, which may be above the component limit.
        """
        if self.components is not None and len(sizes) > self.components:
            return RequestRefusal(Limit.COMPONENTS, len(sizes), self.components)
        largest = max(sizes)
        if self.component is not None and largest > self.component:
            return RequestRefusal(Limit.COMPONENT, largest, self.component, sizes.index(largest))
        if self.total is not None and sum(sizes) > self.total:
            return RequestRefusal(Limit.TOTAL, sum(sizes), self.total)
        return None


def split_total(total: int, capacities: Sequence[int], limits: Limits) -> Sizes | RequestRefusal:
    """The components of a flexible request, in decreasing size (BE07 2.4.1).

    As few components as possible; none above the component limit while there are fewer than
    clusters; sizes as equal as possible (64 with a limit of 24: 22, 21, 21). A split that could
    not run on the empty system is no answer: then more components are taken, and if no equal
    sizes can run, all clusters that may be used are filled as evenly as possible (200 over
    144, 64, 32: 104, 64, 32). Raises ValueError for a total below 1.
    """
    if total < 1:
        raise ValueError(f"a job has at least one processor, not {total}")
    rooms = sorted((capacity for capacity in capacities if capacity > 0), reverse=True)
    most = len(rooms) if limits.components is None else min(limits.components, len(rooms))
    largest = _largest_total(rooms, most, limits)
    if total > largest:
        return _too_large(total, largest, limits)
    for count in range(1, most + 1):
        sizes = _equal(total, count)
        if all(map(int.__le__, sizes, _usable(rooms, count, limits))):
            return sizes
    return _filled(total, _usable(rooms, most, limits))


def _usable(rooms: Sequence[int], count: int, limits: Limits) -> list[int]:
    """What each of `count` components can have at most, on the largest clusters."""
    limit = limits.component
    if limit is None or count == len(rooms):
        return list(rooms[:count])
    return [min(room, limit) for room in rooms[:count]]


def _largest_total(rooms: Sequence[int], most: int, limits: Limits) -> int:
    largest = sum(_usable(rooms, most, limits))
    return largest if limits.total is None else min(largest, limits.total)


def _too_large(total: int, largest: int, limits: Limits) -> RequestRefusal:
    by_total = limits.total is not None and largest == limits.total
    return RequestRefusal(Limit.TOTAL if by_total else Limit.CAPACITY, total, largest)


def _equal(total: int, count: int) -> Sizes:
    size, more = divmod(total, count)
    return (size + 1,) * more + (size,) * (count - more)


def _filled(total: int, rooms: Sequence[int]) -> Sizes:
    """`total` over decreasing `rooms` that can hold it, as evenly as possible."""
    sizes: list[int] = []
    left = total
    for index in range(len(rooms) - 1, -1, -1):
        size = min(rooms[index], left // (index + 1))
        sizes.append(size)
        left -= size
    return tuple(sorted(sizes, reverse=True))


def ever_fits(request: Request, capacities: Sequence[int], place: Place = worst_fit) -> bool:
    """Could the request run on the empty system?"""
    return place(request, capacities) is not None


def why_never(
    request: Request, capacities: Sequence[int], place: Place = worst_fit
) -> RequestRefusal | None:
    """Why a request could not run even on the empty system, and the largest that could."""
    if ever_fits(request, capacities, place):
        return None
    for cluster, processors in request.needs:
        capacity = capacities[cluster] if cluster < len(capacities) else 0
        if capacity < processors:
            return RequestRefusal(Limit.CLUSTER, processors, capacity, cluster=cluster)
    decreasing = request.decreasing
    first = next(
        index
        for index in range(len(decreasing))
        if place(Request(decreasing[: index + 1]), capacities) is None
    )
    largest = _largest_next(decreasing[:first], decreasing[first], capacities, place)
    if not largest:
        return RequestRefusal(Limit.PLACES, len(decreasing), first)
    return RequestRefusal(Limit.CAPACITY, decreasing[first], largest, request.order[first])


def _largest_next(placed: Sizes, size: int, capacities: Sequence[int], place: Place) -> int:
    """The largest size below `size` that could run beside the components `placed`; 0 if none."""
    fits, fails = 0, size
    while fails - fits > 1:
        middle = (fits + fails) // 2
        if place(Request((*placed, middle)), capacities) is None:
            fails = middle
        else:
            fits = middle
    return fits
