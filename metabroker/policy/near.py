"""Sets of clusters that are all near to each other: where a job with a latency limit may go."""

from collections.abc import Callable

MOST_GROUPS = 256
"""Of very many sets some are left out."""


def largest_sets(clusters: int, near: Callable[[int, int], bool]) -> tuple[tuple[int, ...], ...]:
    """The largest sets of clusters (by index) of which each two are near; a cluster alone is one,
    too. `near(a, b)` is the same both ways."""
    at = range(clusters)
    beside = {a: {b for b in at if a != b and near(a, b)} for a in at}
    found: list[tuple[int, ...]] = []

    def grow(chosen: tuple[int, ...], able: set[int], done: set[int]) -> None:
        # Bron and Kerbosch, with a pivot.
        if len(found) >= MOST_GROUPS:
            return
        if not able and not done:
            found.append(tuple(sorted(chosen)))
            return
        pivot = max(sorted(able | done), key=lambda c: len(beside[c] & able))
        for cluster in sorted(able - beside[pivot]):
            grow((*chosen, cluster), able & beside[cluster], done & beside[cluster])
            able = able - {cluster}
            done = done | {cluster}

    grow((), set(at), set())
    return tuple(sorted(found))
