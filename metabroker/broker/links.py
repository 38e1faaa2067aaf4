"""Between clusters: what was measured of how their nodes reach each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .input_checks import Unsound

LONGEST = 400
"""Characters of what is said of a link."""
_MOST = 1e10  # of any number


@dataclass(frozen=True, slots=True)
class Link:
    """Of two clusters, by name and in that order of names. `latency`: of a small message there and
    back, in milliseconds; `bandwidth`: in megabytes (10^6 bytes) a second. Of both directions the
    worse one counts; None: not known. `said`: why, or what else is to be known; `measured`: in Unix
    seconds."""

    clusters: tuple[str, str]
    latency: float | None
    bandwidth: float | None
    measured: float
    said: str = ""

    def __post_init__(self) -> None:
        if self.clusters[0] >= self.clusters[1]:
            raise Unsound("a link is of two clusters, in the order of their names")
        for number in (self.latency, self.bandwidth, self.measured):
            if number is not None and not 0 <= number <= _MOST:
                raise Unsound("a number of a link is out of all bounds")
        if len(self.said) > LONGEST or not self.said.isprintable():
            raise Unsound(f"a link is described by at most {LONGEST} printable characters")


def pair(one: str, other: str) -> tuple[str, str]:
    """Two clusters in the order of their names."""
    return (one, other) if one < other else (other, one)


def by_pair(links: Iterable[Link]) -> dict[tuple[str, str], Link]:
    """Links by their clusters."""
    return {link.clusters: link for link in links}
