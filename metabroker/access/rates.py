"""How often one may ask: a token bucket for each. Pure: who calls says what time it is.

A bucket holds as many requests as may come at once, and is filled again evenly. Refusals are
counted in it, so that they can be told of without a line for each: the 1st, 2nd, 4th, 8th, ...
"""

from __future__ import annotations

from dataclasses import dataclass, field

_MOST = 10_000  # buckets; beyond, those that are full again are forgotten


@dataclass(frozen=True, slots=True)
class Rate:
    """`per_second` in the long run, `burst` at once after a pause."""

    per_second: float
    burst: int


@dataclass(frozen=True, slots=True)
class TooOften:
    """A refusal. `wait`: seconds until one more is let through; `refused`: how many were refused
    since the last that was let through, this one included."""

    wait: float
    refused: int

    @property
    def worth_telling(self) -> bool:
        """Whether it is told of: as refusals go on, ever fewer are."""
        return self.refused & (self.refused - 1) == 0


@dataclass(slots=True)
class _Bucket:
    level: float
    at: float
    refused: int = 0


@dataclass(slots=True)
class Buckets:
    """One bucket for each of those who ask, all of the same rate. Not thread-safe."""

    rate: Rate
    _buckets: dict[str, _Bucket] = field(default_factory=dict)

    def take(self, who: str, now: float, amount: float = 1.0) -> TooOften | None:
        """Let one request of `who` through (None), or so much; or tell when to come again."""
        bucket = self._filled(who, now)
        if bucket.level >= amount:
            bucket.level -= amount
            bucket.refused = 0
            return None
        bucket.refused += 1
        return TooOften((amount - bucket.level) / self.rate.per_second, bucket.refused)

    def level(self, who: str, now: float) -> float:
        """How many requests of `who` would be let through at once."""
        return self._filled(who, now).level

    def _filled(self, who: str, now: float) -> _Bucket:
        """The bucket, with what has flowed into it until now."""
        bucket = self._buckets.get(who)
        if bucket is None:
            if len(self._buckets) >= _MOST:
                self._forget(now)
            bucket = self._buckets[who] = _Bucket(float(self.rate.burst), now)
        # A clock that was set back fills nothing.
        flowed = max(0.0, now - bucket.at) * self.rate.per_second
        bucket.level = min(float(self.rate.burst), bucket.level + flowed)
        bucket.at = max(bucket.at, now)
        return bucket

    def _forget(self, now: float) -> None:
        """Forget those that are full again; of all, if that makes no room."""
        for who in list(self._buckets):
            if self._filled(who, now).level >= self.rate.burst:
                del self._buckets[who]
        if len(self._buckets) >= _MOST:
            self._buckets.clear()
