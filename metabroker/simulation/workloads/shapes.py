"""What the jobs of a synthetic workload ask for: components and their sizes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from metabroker.policy import Limits, Request, RequestRefusal, split_total

from .blocks import Wholes, padded
from .distributions import Discrete
from .streams import Floats


class Shapes(ABC):
    """A law of requests. `columns` uniform numbers are used for each job."""

    columns: int

    @abstractmethod
    def requests(self, uniforms: Floats) -> list[Request]:
        """The request that each line of `columns` numbers in [0, 1) stands for."""

    @abstractmethod
    def sizes_of(self, uniforms: Floats) -> Wholes:
        """The same as sizes: a line for each job, its components in decreasing order, then 0."""

    @abstractmethod
    def work(self, extension: float) -> float:
        """The expected number of processors of a job, each job of several components counted
        `extension` times (BE07 2.2: 1 for the net, the extension factor for the gross one)."""


@dataclass(frozen=True)
class Composition(Shapes):
    """A number of components by `percent` (index 0: one component), each of a size of its own from
    `sizes` (BE03 2.4). Raises ValueError if the percentages do not add up to 100."""

    percent: tuple[float, ...]
    sizes: Discrete
    _known: dict[tuple[int, ...], Request] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if min(self.percent, default=-1) < 0 or abs(sum(self.percent) - 100) > 1e-6:
            raise ValueError(f"percentages add up to {sum(self.percent):g}, not 100")

    @cached_property
    def _number(self) -> Discrete:
        parts = tuple(p / 100 for p in self.percent)
        return Discrete(tuple(range(1, len(parts) + 1)), parts)

    @property
    def columns(self) -> int:  # type: ignore[override]
        return 1 + len(self.percent)

    def requests(self, uniforms: Floats) -> list[Request]:
        numbers, sizes = self._drawn(uniforms)
        known = self._known
        found = []
        for count, row in zip(numbers.tolist(), sizes.tolist(), strict=True):
            shape = tuple(row[:count])
            request = known.get(shape)
            if request is None:
                request = known[shape] = Request(shape)
            found.append(request)
        return found

    def sizes_of(self, uniforms: Floats) -> Wholes:
        numbers, sizes = self._drawn(uniforms)
        sizes[np.arange(sizes.shape[1]) >= numbers[:, None]] = 0
        return -np.sort(-sizes, axis=1)

    def _drawn(self, uniforms: Floats) -> tuple[Wholes, Wholes]:
        """The number of components of each job, and the sizes of as many as it could have."""
        numbers = self._number.indices(uniforms[:, 0]) + 1
        return numbers, np.array(self.sizes.values)[self.sizes.indices(uniforms[:, 1:])]

    def work(self, extension: float) -> float:
        single, *rest = self.percent
        parts = single + sum(p * n * extension for n, p in enumerate(rest, 2))
        return self.sizes.mean * parts / 100


@dataclass(frozen=True)
class SplitRule(Shapes):
    """A total size from `totals`, split into as few components as `limits` allow (BE07 2.4.1).

    `clusters` are the sizes of the clusters. Raises ValueError for a size that cannot be split so.
    """

    totals: Discrete
    limits: Limits
    clusters: tuple[int, ...]
    columns: int = 1

    def __post_init__(self) -> None:
        _ = self._requests

    @cached_property
    def _requests(self) -> list[Request]:
        return [self._split(total) for total in self.totals.values]

    def _split(self, total: int) -> Request:
        sizes = split_total(total, self.clusters, self.limits)
        if isinstance(sizes, RequestRefusal):
            raise ValueError(f"a job of {total} processors cannot run: {sizes}")
        return Request(sizes)

    @property
    def all(self) -> Sequence[Request]:
        """The request of each total size, in the order of the sizes."""
        return self._requests

    def requests(self, uniforms: Floats) -> list[Request]:
        found = self._requests
        return [found[i] for i in self.totals.indices(uniforms[:, 0]).tolist()]

    def sizes_of(self, uniforms: Floats) -> Wholes:
        return self._sizes[self.totals.indices(uniforms[:, 0])]

    @cached_property
    def _sizes(self) -> Wholes:
        return padded(self._requests)

    def work(self, extension: float) -> float:
        return sum(
            request.total * p * (1 if request.single else extension)
            for request, p in zip(self._requests, self.totals.probabilities, strict=True)
        )
