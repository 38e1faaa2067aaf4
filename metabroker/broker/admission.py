"""From what a user wrote to a request that can run, or a refusal that says what could.

A request that can never run is refused at once: by the configured limits, and by
the sizes of the clusters, as far as they are known. A flexible request is split here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from metabroker.policy import Limit, Limits, Place, Request, RequestRefusal, split_total, why_never
from metabroker.submission.model import Processors
from metabroker.submission.shape import ANY_PROCESSORS, Shape

from .job import Split
from .links import Links, groups, too_far
from .nodes import gpus_for, largest, most
from .observation import NodeKind
from .rejected import Rejected

# A cluster that was never seen may be of any size: it is asked when it answers.
_UNKNOWN_SIZE = 10**9


@dataclass(frozen=True, slots=True)
class Admission:
    """What requests are held against. `sizes` are processors in all, 0 where not known yet; `nodes`
    those of each cluster, empty where not known; `units`: processors of a node, where only whole
    nodes are given (1: they are not). `closed`: clusters that the job cannot go to at all. `links`:
    what was measured between clusters; `max_latency`: milliseconds that it wants at most. `splits`:
    the policy itself splits flexible requests, when it starts them."""

    names: Sequence[str]
    sizes: Sequence[int]
    limits: Limits
    place: Place
    nodes: Sequence[Sequence[NodeKind]] = ()
    units: Sequence[int] = ()
    closed: frozenset[int] = frozenset()
    links: Links = field(default_factory=Links)
    max_latency: float | None = None
    splits: bool = False

    def request(
        self, wanted: Processors, shape: Shape = ANY_PROCESSORS
    ) -> tuple[Request, int | None]:
        """The request in processors, and the cluster that the user chose for a single-component
        job.

        Raises:
            Rejected: it names an unknown cluster, or can never run.
        """
        rooms = self._rooms(shape)
        request, local = self._in_processors(wanted, shape, rooms)
        self._check_near(request, self.split(wanted, shape), rooms)
        return request, local

    def split(self, wanted: Processors, shape: Shape = ANY_PROCESSORS) -> Split | None:
        """How the policy may split the request; None: not at all."""
        clusters = len(self.names) - len(self.closed)
        parts = min(self.limits.components or clusters, clusters)
        if wanted.total is None or not self.splits or parts < 2:
            return None
        most = self.limits.component
        return Split(parts, None if most is None else max(most, shape.cpus_per_task))

    def _check_near(self, request: Request, split: Split | None, rooms: Sequence[int]) -> None:
        """Whether there are clusters for it that are near enough to each other.

        Raises:
            Rejected: there are none, or that is not known.
        """
        most = self.max_latency
        if most is None or (request.single and split is None):
            return
        sets, parts = groups(self.names, self.links, most), split.parts if split else 1
        near = Request(request.sizes, request.clusters, groups=sets, parts=parts)
        if self.place(near, self._capacities(rooms)) is not None:
            return
        able = [c for c in range(len(self.names)) if c not in self.closed]
        where = able if request.clusters is None else request.clusters
        why, advice = too_far([self.names[c] for c in where], self.links, most)
        raise Rejected(
            f"no clusters that are at most {most:g} ms apart could run the request: {why}", advice
        )

    def _in_processors(
        self, wanted: Processors, shape: Shape, rooms: Sequence[int]
    ) -> tuple[Request, int | None]:
        if wanted.total is not None:
            self._check_task(shape, rooms, None)
            if self.split(wanted, shape) is not None:
                return Request((self._unsplit(wanted.total, shape, rooms),)), None
            return Request(self._split(wanted.total, shape.cpus_per_task, rooms)), None
        request, local = self._asked(wanted, shape.cpus_per_task)
        self._check_task(shape, rooms, request.clusters)
        refusal = self.limits.check(request.sizes) or why_never(
            request, self._capacities(rooms), self.place
        )
        if refusal is not None:
            raise self._with_advice(self._rejected(refusal, rooms), wanted, shape, rooms)
        return request, local

    def _with_advice(
        self, rejected: Rejected, wanted: Processors, shape: Shape, rooms: Sequence[int]
    ) -> Rejected:
        """The same; for one component that is too large for any one cluster, and not for all of
        them together, with how to ask for that."""
        if wanted.single is None or wanted.cluster is not None:
            return rejected
        try:
            self._in_processors(Processors(total=wanted.single), shape, rooms)
        except Rejected:
            return rejected
        more = f"or let the broker split it over several clusters: --total {wanted.single}"
        return Rejected(rejected.message, f"{rejected.advice}; {more}")

    def _asked(self, wanted: Processors, cpus: int) -> tuple[Request, int | None]:
        """Tasks of so many processors each."""
        if wanted.on is not None:
            where = tuple(self._index(name) for name, _tasks in wanted.on)
            sizes = tuple(tasks * cpus for _name, tasks in wanted.on)
            return Request(sizes, where), where[0] if len(where) == 1 else None
        if wanted.components is not None:
            return Request(tuple(tasks * cpus for tasks in wanted.components)), None
        assert wanted.single is not None
        local = self._index(wanted.cluster) if wanted.cluster is not None else None
        # A single component on a chosen cluster is an ordered request, whatever the queues.
        return Request((wanted.single * cpus,), None if local is None else (local,)), local

    def _split(self, tasks: int, cpus: int, rooms: Sequence[int]) -> tuple[int, ...]:
        """No task is split."""
        limits = Limits(
            component=_tasks(self.limits.component, cpus),
            components=self.limits.components,
            total=_tasks(self.limits.total, cpus),
        )
        split = split_total(tasks, [room // cpus for room in self._capacities(rooms)], limits)
        if isinstance(split, RequestRefusal):
            refusal = replace(split, asked=split.asked * cpus, largest=split.largest * cpus)
            raise self._rejected(refusal, rooms)
        return tuple(size * cpus for size in split)

    def _unsplit(self, tasks: int, shape: Shape, rooms: Sequence[int]) -> int:
        """The processors of a request that the policy will split."""
        cpus = shape.cpus_per_task
        split = self.split(Processors(total=tasks), shape)
        assert split is not None
        most = split.component or _UNKNOWN_SIZE
        parts = sorted(min(room, most) // cpus * cpus for room in self._capacities(rooms))
        largest, asked = sum(parts[-split.parts :]), tasks * cpus
        total = self.limits.total
        if total is not None and asked > total and total <= largest:
            raise self._rejected(RequestRefusal(Limit.TOTAL, asked, total), rooms)
        if asked > largest:
            raise self._rejected(RequestRefusal(Limit.CAPACITY, asked, largest), rooms)
        return asked

    def _rooms(self, shape: Shape) -> Sequence[int]:
        """Processors that tasks of this shape could have in each cluster; 0: none, or not known."""
        if not shape or not self.nodes:
            return self.sizes
        units = self.units or [1] * len(self.sizes)
        clusters = zip(self.nodes, self.sizes, units, strict=True)
        return [most(kinds, shape, size, unit) for kinds, size, unit in clusters]

    def _check_task(self, shape: Shape, rooms: Sequence[int], where: Sequence[int] | None) -> None:
        """Whether one task at least has room on a node of some cluster, or of each that is named.

        Raises:
            Rejected: it does not; says which node comes nearest.
        """
        chosen = sorted(set(range(len(self.sizes)) if where is None else where) - self.closed)
        without = [c for c in chosen if self.sizes[c] and not rooms[c]]
        if not without or (where is None and len(without) < len(chosen)):
            return
        names, nodes = [self.names[c] for c in without], [self.nodes[c] for c in without]
        never = "the request can never run: no"
        gpus = [gpus_for(kinds, shape) for kinds in nodes]
        if max(gpus):
            raise Rejected(
                f"{never} cluster{_of(names, where)} has {shape.gpus} GPUs for one component",
                f"the largest that could run is {max(gpus)}, in {names[gpus.index(max(gpus))]}",
            )
        raise Rejected(
            f"{never} node{_of(names, where)} has room for {shape}",
            f"the largest node has {largest(names, nodes, shape)}",
        )

    def _capacities(self, rooms: Sequence[int]) -> list[int]:
        """Of a cluster that was never seen: any number."""
        known = enumerate(zip(rooms, self.sizes, strict=True))
        return [
            0 if c in self.closed else room if size else _UNKNOWN_SIZE for c, (room, size) in known
        ]

    def _index(self, name: str) -> int:
        if name not in self.names:
            known = ", ".join(self.names)
            raise Rejected(f"there is no cluster named {name!r}", f"choose one of: {known}")
        return self.names.index(name)

    def _rejected(self, refusal: RequestRefusal, rooms: Sequence[int]) -> Rejected:
        shaped = list(rooms) != list(self.sizes)
        what = "processors for such tasks" if shaped else "processors"
        if refusal.limit is Limit.CLUSTER and refusal.cluster is not None:
            name = self.names[refusal.cluster]
            return Rejected(
                f"{name} has {refusal.largest} {what} and can never run {refusal.asked}",
                f"ask for at most {refusal.largest} there, or let the broker choose the cluster",
            )
        asked = _ASKED[refusal.limit].format(refusal.asked)
        if refusal.component is not None and refusal.limit is not Limit.PLACES:
            asked += f" in component {refusal.component}"
        known = ", ".join(
            f"{name} {room if size else '?'}"
            for c, (name, room, size) in enumerate(zip(self.names, rooms, self.sizes, strict=True))
            if c not in self.closed
        )
        return Rejected(
            f"the request can never run: it asks for {asked}",
            f"the largest that could run is {refusal.largest} ({what}: {known})",
        )


def _tasks(limit: int | None, cpus: int) -> int | None:
    """A limit of processors as one of tasks; a task alone is not refused for it here."""
    return None if limit is None else max(1, limit // cpus)


def _of(names: Sequence[str], where: Sequence[int] | None) -> str:
    return "" if where is None else f" of {' or '.join(names)}"


_ASKED: Mapping[Limit, str] = {
    Limit.COMPONENT: "{} processors",
    Limit.CAPACITY: "{} processors",
    Limit.CLUSTER: "{} processors",
    Limit.TOTAL: "{} processors in all",
    Limit.COMPONENTS: "{} components",
    Limit.PLACES: "{} components, not all of which fit into a cluster",
}
