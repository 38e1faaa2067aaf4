"""The laws of sizes and service times, each drawn from one uniform number per job.

So the i-th job of two workloads that differ in one law has the same place in each other law.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from .streams import Floats


@dataclass(frozen=True)
class Discrete:
    """Whole numbers with their probabilities. Raises ValueError if these do not add up to 1."""

    values: tuple[int, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.values or len(self.values) != len(self.probabilities):
            raise ValueError("as many values as probabilities, and at least one")
        if min(self.probabilities) < 0 or not math.isclose(
            sum(self.probabilities), 1.0, abs_tol=1e-6
        ):
            raise ValueError(f"probabilities add up to {sum(self.probabilities):g}, not 1")

    @property
    def mean(self) -> float:
        """The expected value."""
        return sum(v * p for v, p in zip(self.values, self.probabilities, strict=True))

    @cached_property
    def _edges(self) -> Floats:
        edges: Floats = np.cumsum(self.probabilities)
        edges[-1] = 1.0
        return edges

    def indices(self, uniforms: Floats) -> NDArray[np.intp]:
        """For each number in [0, 1), the index of the value that it stands for."""
        return np.searchsorted(self._edges, uniforms, side="right")

    def limited(self, most: int) -> Discrete:
        """The same without values above `most`. Raises ValueError if none is left."""
        kept = [(v, p) for v, p in zip(self.values, self.probabilities, strict=True) if v <= most]
        total = sum(p for _, p in kept)
        if not total:
            raise ValueError(f"no size is at most {most}")
        return Discrete(tuple(v for v, _ in kept), tuple(p / total for _, p in kept))


def power_law(q: float, low: int, high: int) -> Discrete:
    """D(q) on [low, high] (BE03 2.4, BE07 2.4.1): q^i / Q, and 3 q^i / Q for powers of two.

    Raises ValueError for q <= 0 or an empty range.
    """
    if q <= 0 or not 1 <= low <= high:
        raise ValueError(f"D({q}) on [{low}, {high}]: q is above 0, and 1 <= min <= max")
    weights = [q**i * (3 if i & (i - 1) == 0 else 1) for i in range(low, high + 1)]
    total = sum(weights)
    return Discrete(tuple(range(low, high + 1)), tuple(w / total for w in weights))


def shares(weights: Sequence[float]) -> Discrete:
    """An index 0, 1, ... with a probability in proportion to its weight.

    Raises ValueError for a negative weight or none above 0.
    """
    total = sum(weights)
    if total <= 0 or min(weights) < 0:
        raise ValueError("weights are not negative, and one is above 0")
    return Discrete(tuple(range(len(weights))), tuple(w / total for w in weights))


class Law(ABC):
    """A law of service times: `mean`, and the time that each number in [0, 1) stands for."""

    mean: float
    """The expected time."""

    @abstractmethod
    def times(self, uniforms: Floats) -> Floats:
        """One time for each number."""


def _positive(**values: float) -> None:
    for name, value in values.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name} must be above 0, not {value:g}")


@dataclass(frozen=True)
class Exponential(Law):
    """Exponential."""

    mean: float = 1.0

    def __post_init__(self) -> None:
        _positive(mean=self.mean)

    def times(self, uniforms: Floats) -> Floats:
        return -self.mean * np.log1p(-uniforms)


@dataclass(frozen=True)
class Constant(Law):
    """Always the same time."""

    mean: float = 1.0

    def __post_init__(self) -> None:
        _positive(mean=self.mean)

    def times(self, uniforms: Floats) -> Floats:
        return np.full(len(uniforms), self.mean)


@dataclass(frozen=True)
class Lognormal(Law):
    """Lognormal whose uncut law has mean `uncut_mean` and coefficient of variation `cv`; times
    above `cut` do not occur (the law given that the time is at most `cut`)."""

    uncut_mean: float
    cv: float
    cut: float = math.inf

    def __post_init__(self) -> None:
        _positive(mean=self.uncut_mean, cv=self.cv)
        if not self.cut > 0:
            raise ValueError(f"cut must be above 0, not {self.cut:g}")

    @property
    def _sigma(self) -> float:
        return math.sqrt(math.log1p(self.cv**2))

    @property
    def _mu(self) -> float:
        return math.log(self.uncut_mean) - self._sigma**2 / 2

    def _kept(self, shift: float = 0.0) -> float:
        """The part of the law (or of its first moment, shifted by sigma) below the cut."""
        if self.cut == math.inf:
            return 1.0
        return float(special.ndtr((math.log(self.cut) - self._mu) / self._sigma - shift))

    @property
    def mean(self) -> float:  # type: ignore[override]
        return self.uncut_mean * self._kept(self._sigma) / self._kept()

    def times(self, uniforms: Floats) -> Floats:
        tiny = np.finfo(np.float64).tiny
        normal = special.ndtri(np.maximum(uniforms, tiny) * self._kept())
        found: Floats = np.exp(self._mu + self._sigma * normal)
        return found


@dataclass(frozen=True)
class Hyperexponential(Law):
    """Two exponentials with balanced means, for a coefficient of variation `cv` of at least 1.

    The number given says which of the two it is, and then how long.
    """

    mean: float
    cv: float

    def __post_init__(self) -> None:
        _positive(mean=self.mean)
        if not 1 <= self.cv < math.inf:
            raise ValueError(f"cv of a hyperexponential is at least 1, not {self.cv:g}")

    @cached_property
    def _branches(self) -> tuple[float, float, float]:
        """The first branch's probability, and the means of both."""
        square = self.cv**2
        p = (1 + math.sqrt((square - 1) / (square + 1))) / 2
        return p, self.mean / (2 * p), self.mean / (2 * (1 - p))

    def times(self, uniforms: Floats) -> Floats:
        p, short, long = self._branches
        first = uniforms < p
        within = np.where(first, uniforms / p, (uniforms - p) / (1 - p))
        found: Floats = -np.where(first, short, long) * np.log1p(-within)
        return found
