"""How long files take to come to each cluster."""

from __future__ import annotations

from typing import Any

import pytest

from metabroker.broker.links import Link, Links, pair
from metabroker.broker.rejected import Rejected
from metabroker.broker.settings import ClusterSettings, Settings
from metabroker.broker.transfer import Costs, checked, costs, told
from metabroker.submission.inputs import NOTHING, Inputs

GIGABYTE = 10**9


def settings(**given: Any) -> Settings:
    clusters = tuple(ClusterSettings(name) for name in ("delft", "leiden", "lab"))
    return Settings("0123abcd", clusters, **given)


def links(**bandwidths: float | None) -> Links:
    """`delft_lab=50.0`: so many megabytes a second."""
    found = Links()
    pairs = ((pair(*name.split("_")), speed) for name, speed in bandwidths.items())
    found.tell(Link(clusters, 1.0, speed, 1.0) for clusters, speed in pairs)
    return found


def test_a_file_comes_at_once_where_it_lies_and_elsewhere_by_the_link_that_was_measured() -> None:
    inputs = Inputs(0, ((GIGABYTE, ("delft",)),))
    known = links(delft_lab=50.0)
    assert costs(inputs, settings(bandwidth=10.0), known) == (0.0, 100.0, 20.0)


@pytest.mark.parametrize("measured", [None, 0.0])
def test_a_link_without_a_speed_is_taken_to_be_as_fast_as_configured(
    measured: float | None,
) -> None:
    inputs = Inputs(0, ((GIGABYTE, ("delft",)),))
    assert costs(inputs, settings(), links(delft_lab=measured)) == (0.0, 10.0, 10.0)


def test_of_several_copies_the_one_that_comes_soonest_counts() -> None:
    inputs = Inputs(0, ((GIGABYTE, ("delft", "leiden")),))
    assert costs(inputs, settings(), links(delft_lab=50.0, lab_leiden=200.0)) == (0.0, 0.0, 5.0)


def test_files_come_one_after_another_and_what_is_sent_goes_to_every_cluster() -> None:
    inputs = Inputs(GIGABYTE, ((GIGABYTE, ("delft",)), (2 * GIGABYTE, ("lab",))))
    made = settings(staging={"leiden": 20.0})
    assert costs(inputs, made, Links()) == (10.0 + 20.0, 50.0 + 10.0 + 20.0, 10.0 + 10.0)


def test_a_file_in_a_cluster_that_is_no_more_counts_nowhere() -> None:
    assert costs(Inputs(0, ((GIGABYTE, ("gone",)),)), settings(), Links()) == ()
    inputs = Inputs(0, ((GIGABYTE, ("gone", "lab")),))
    assert costs(inputs, settings(), Links()) == (10.0, 10.0, 0.0)


def test_costs_are_finite_whatever_was_measured() -> None:
    inputs = Inputs(0, ((10**18, ("delft",)),))
    found = costs(inputs, settings(), links(delft_lab=1e-300))
    assert found[0] == 0.0 and found[2] == 1e9


def test_a_placement_goes_by_files_only_where_it_is_asked_to_and_clusters_differ() -> None:
    here = Inputs(0, ((GIGABYTE, ("delft",)),))
    assert Costs(settings(), Links()).of(here) == ()
    asked = settings(close_to_files=True)
    assert Costs(asked, Links()).of(here) == (0.0, 10.0, 10.0)
    assert Costs(asked, Links()).of(NOTHING) == ()
    assert Costs(asked, Links()).of(Inputs(GIGABYTE)) == ()
    slower = settings(close_to_files=True, staging={"lab": 1.0})
    assert Costs(slower, Links()).of(Inputs(GIGABYTE)) == (10.0, 10.0, 1000.0)


def test_what_was_measured_since_counts_once_that_is_told() -> None:
    known = Links()
    remembered = Costs(settings(close_to_files=True), known)
    here = Inputs(0, ((GIGABYTE, ("delft",)),))
    remembered.of(here)
    known.tell([Link(("delft", "lab"), 1.0, 1000.0, 1.0)])
    remembered.forget()
    assert remembered.of(here) == (0.0, 10.0, 1.0)


def test_a_file_in_a_cluster_that_there_is_not_is_refused() -> None:
    with pytest.raises(Rejected, match="no cluster 'dleft'"):
        checked(Inputs(0, ((1, ("lab", "dleft")),)), settings())
    assert checked(NOTHING, settings()) is NOTHING


def test_users_are_told_in_seconds() -> None:
    assert told(0.0, ["lab"]) == "its files lie in lab"
    assert told(79.6, ["lab", "delft"]) == "its files take some 80 s to come to delft and lab"
    assert told(0.01, ["lab"]) == "its files take some 1 s to come to lab"
