"""Placement in clusters that give whole nodes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from metabroker.policy import Request
from metabroker.policy.best_fit import fewest_clusters
from metabroker.policy.placement import Place, worst_fit, worst_fit_reuse
from metabroker.policy.whole_nodes import in_whole_nodes

SIZES = st.lists(st.integers(1, 20), min_size=1, max_size=4).map(tuple)
UNITS = st.lists(st.sampled_from((1, 2, 4, 8)), min_size=3, max_size=3)
NODES = st.lists(st.integers(0, 8), min_size=3, max_size=3)
RULES = st.sampled_from((worst_fit, worst_fit_reuse, fewest_clusters))


def test_components_that_need_more_whole_nodes_than_a_cluster_has_go_to_several() -> None:
    """5, 10 and 14 processors are 29, but 36 in nodes of 4."""
    request, idle = Request((5, 10, 14)), [16, 32, 24]
    assert fewest_clusters(request, idle) == (1, 1, 1)
    assert in_whole_nodes(fewest_clusters, [8, 4, 1])(request, idle) == (2, 1, 1)


def test_where_no_cluster_gives_whole_nodes_the_rule_stays_as_it_is() -> None:
    assert in_whole_nodes(worst_fit, [1, 1]) is worst_fit
    assert in_whole_nodes(worst_fit, []) is worst_fit


@given(SIZES, UNITS, NODES, RULES)
def test_what_is_chosen_fits_and_worst_fit_on_distinct_clusters_is_always_tried(
    sizes: tuple[int, ...], units: list[int], nodes: list[int], rule: Place
) -> None:
    idle = [unit * count for unit, count in zip(units, nodes, strict=True)]
    request = Request(sizes)
    found = in_whole_nodes(rule, units)(request, idle)
    if found is None:
        assert worst_fit(request, idle) is None
        return
    held = [0, 0, 0]
    for cluster, size in zip(found, sizes, strict=True):
        held[cluster] += -(-size // units[cluster]) * units[cluster]
    assert all(used <= free for used, free in zip(held, idle, strict=True))
