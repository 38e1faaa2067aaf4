"""From what a user wrote to a request that can run, or a refusal that says what could.

A request that can never run is refused at once: by the configured limits, and by
the sizes of the clusters, as far as they are known. A flexible request is split here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metabroker.policy import Limit, Limits, Place, Request, RequestRefusal, split_total, why_never
from metabroker.submission.model import Processors

from .rejected import Rejected

# A cluster that was never seen may be of any size: it is asked when it answers.
_UNKNOWN_SIZE = 10**9


@dataclass(frozen=True, slots=True)
class Admission:
    """What requests are held against. `sizes` are processors in all, 0 where not known yet."""

    names: Sequence[str]
    sizes: Sequence[int]
    limits: Limits
    place: Place

    def request(self, wanted: Processors) -> tuple[Request, int | None]:
        """The request, and the cluster that the user chose for a single-component job.

        Raises:
            Rejected: it names an unknown cluster, or can never run.
        """
        if wanted.on is not None:
            sizes = tuple(processors for _name, processors in wanted.on)
            where = tuple(self._index(name) for name, _processors in wanted.on)
            request = Request(sizes, where)
            local = where[0] if len(where) == 1 else None
        elif wanted.components is not None:
            request, local = Request(wanted.components), None
        elif wanted.total is not None:
            return Request(self._split(wanted.total)), None
        else:
            assert wanted.single is not None
            local = self._index(wanted.cluster) if wanted.cluster is not None else None
            # A single component on a chosen cluster is an ordered request, whatever the queues.
            request = Request((wanted.single,), None if local is None else (local,))
        refusal = self.limits.check(request.sizes) or why_never(
            request, self._capacities(), self.place
        )
        if refusal is not None:
            raise self._rejected(refusal)
        return request, local

    def _split(self, total: int) -> tuple[int, ...]:
        sizes = split_total(total, self._capacities(), self.limits)
        if isinstance(sizes, RequestRefusal):
            raise self._rejected(sizes)
        return sizes

    def _capacities(self) -> list[int]:
        return [size or _UNKNOWN_SIZE for size in self.sizes]

    def _index(self, name: str) -> int:
        if name not in self.names:
            known = ", ".join(self.names)
            raise Rejected(f"there is no cluster named {name!r}", f"choose one of: {known}")
        return self.names.index(name)

    def _rejected(self, refusal: RequestRefusal) -> Rejected:
        if refusal.limit is Limit.CLUSTER and refusal.cluster is not None:
            name = self.names[refusal.cluster]
            return Rejected(
                f"{name} has {refusal.largest} processors and can never run {refusal.asked}",
                f"ask for at most {refusal.largest} there, or let the broker choose the cluster",
            )
        what = _ASKED[refusal.limit].format(refusal.asked)
        if refusal.component is not None and refusal.limit is not Limit.PLACES:
            what += f" in component {refusal.component}"
        known = ", ".join(f"{n} {s or '?'}" for n, s in zip(self.names, self.sizes, strict=True))
        return Rejected(
            f"the request can never run: it asks for {what}",
            f"the largest that could run is {refusal.largest} (processors: {known})",
        )


_ASKED: Mapping[Limit, str] = {
    Limit.COMPONENT: "{} processors",
    Limit.CAPACITY: "{} processors",
    Limit.CLUSTER: "{} processors",
    Limit.TOTAL: "{} processors in all",
    Limit.COMPONENTS: "{} components",
    Limit.PLACES: "{} components, not all of which fit into a cluster",
}
