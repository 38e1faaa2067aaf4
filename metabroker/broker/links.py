"""Between clusters: what was measured of how their nodes reach each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from metabroker.policy import largest_sets

LONGEST = 400
"""Characters of what is said of a link."""
MOST = 2000
"""Links that are known."""
_TOLD = 3  # pairs of clusters
_MOST = 1e10  # of any number


class UnsoundLink(Exception):
    """What is said of a link cannot be; the text says what."""


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
            raise UnsoundLink("a link is of two clusters, in the order of their names")
        for number in (self.latency, self.bandwidth, self.measured):
            if number is not None and not 0 <= number <= _MOST:
                raise UnsoundLink("a number of a link is out of all bounds")
        if len(self.said) > LONGEST or not self.said.isprintable():
            raise UnsoundLink(f"a link is described by at most {LONGEST} printable characters")

    def told(self) -> dict[str, object]:
        """As JSON."""
        return {
            "clusters": list(self.clusters),
            "latency_ms": self.latency,
            "bandwidth_mb_per_s": self.bandwidth,
            "measured": self.measured,
            "said": self.said,
        }


def read(told: object) -> tuple[Link, ...]:
    """Links as `Link.told` tells them.

    Raises:
        UnsoundLink: that is no list of sound ones.
    """
    if not isinstance(told, list) or len(told) > MOST:
        raise UnsoundLink(f"links are a list of at most {MOST}")
    return tuple(_read(each) for each in told)


def _read(told: object) -> Link:
    keys = {"clusters", "latency_ms", "bandwidth_mb_per_s", "measured", "said"}
    if not isinstance(told, dict) or set(told) != keys:
        raise UnsoundLink(f"a link has the keys {', '.join(sorted(keys))}")
    names, said = told["clusters"], told["said"]
    two = isinstance(names, list) and len(names) == 2
    if not two or not all(isinstance(name, str) and 0 < len(name) <= 64 for name in names):
        raise UnsoundLink("a link is of two clusters, by their names")
    numbers = told["latency_ms"], told["bandwidth_mb_per_s"]
    for number in (*numbers, told["measured"]):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int | float)):
            raise UnsoundLink("a number of a link is none")
    if told["measured"] is None or not isinstance(said, str):
        raise UnsoundLink("a link says when it was measured, and what is to be known")
    return Link((names[0], names[1]), *numbers, told["measured"], said)


def pair(one: str, other: str) -> tuple[str, str]:
    """Two clusters in the order of their names."""
    return (one, other) if one < other else (other, one)


class Links:
    """All that are known. `all` is another object once anything has changed."""

    def __init__(self) -> None:
        self.all: tuple[Link, ...] = ()
        self._by_pair: Mapping[tuple[str, str], Link] = {}

    def tell(self, links: Iterable[Link]) -> None:
        """What was measured lately; of other clusters what was known stays. Of too many the ones
        that were measured last are known."""
        known = {**self._by_pair, **{link.clusters: link for link in links}}
        kept = sorted(known.values(), key=lambda link: link.measured, reverse=True)[:MOST]
        self._by_pair = {link.clusters: link for link in kept}
        self.all = tuple(self._by_pair[each] for each in sorted(self._by_pair))

    def between(self, one: str, other: str) -> Link | None:
        """What is known of two clusters."""
        return self._by_pair.get(pair(one, other))


def near(one: str, other: str, links: Links, most: float) -> bool:
    """Whether it is known that they are at most so many milliseconds apart; a cluster is to
    itself."""
    if one == other:
        return True
    link = links.between(one, other)
    return link is not None and link.latency is not None and link.latency <= most


def groups(names: Sequence[str], links: Links, most: float) -> tuple[tuple[int, ...], ...]:
    """The largest sets of clusters that are all so near to each other; a cluster alone is one, too.
    Of very many sets some are left out."""
    return largest_sets(len(names), lambda a, b: near(names[a], names[b], links, most))


def too_far(names: Sequence[str], links: Links, most: float) -> tuple[str, str]:
    """Why not all of these clusters are so near to each other, and what can be done about it."""
    far, unknown = [], []
    for one, other in combinations(sorted(set(names)), 2):
        link = links.between(one, other)
        if link is None or link.latency is None:
            unknown.append(f"{one} and {other}")
        elif link.latency > most:
            far.append(f"{one} and {other} are {link.latency:g} ms apart")
    told = far[:_TOLD]
    if unknown:
        told.append(f"the latency is not known between {', '.join(unknown[:_TOLD])}")
    advice = "have the administrator measure it: metabroker doctor --links"
    return "; ".join(told), advice if unknown else "see: metabroker clusters --links"
