"""The policies of the simulator alone, by name."""

import pytest

from metabroker.policy import (
    ALL_PLACEMENTS,
    PLACEMENTS,
    PLANNERS,
    POLICIES,
    Request,
    make,
    make_planner,
)


def test_the_names() -> None:
    assert (
        *("EASY", "CONSERVATIVE", "AFCFS", "AFCFS-BS", "LG-SS", "LG-SS-BS"),
        *("JOB-SHARING", "MULTI-SITE"),
    ) == PLANNERS
    assert not set(PLANNERS) & set(POLICIES)
    close = ["close-to-files", "close-to-files-reuse"]
    assert list(ALL_PLACEMENTS) == [*PLACEMENTS, *close, "best-fit", "fewest-clusters"]


@pytest.mark.parametrize("policy", PLANNERS)
def test_every_name_makes_a_planner_with_nobody_waiting(policy: str) -> None:
    planner = make_planner(policy, [8])
    assert planner.processors == (8,)
    assert not len(planner) and planner
    assert planner.run(0.0) == []


def test_a_daemon_has_no_planners_but_those_that_backfill() -> None:
    with pytest.raises(ValueError, match="no policy is called 'AFCFS'"):
        make("AFCFS", 1)
    with pytest.raises(ValueError, match="EASY has no discipline, so not FPFS"):
        make("EASY", 1, discipline="FPFS")


def test_unknown_names_are_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="'AFCFS-SB'; the nearest is AFCFS-BS"):
        make_planner("AFCFS-SB", [8])
    with pytest.raises(ValueError, match="'bestfit'; the nearest is best-fit"):
        make_planner("EASY", [8], placement="bestfit")


@pytest.mark.parametrize("policy", ["EASY", "CONSERVATIVE", "MULTI-SITE"])
def test_on_one_cluster_only_the_total_counts(policy: str) -> None:
    planner = make_planner(policy, [8])
    assert planner.ever_fits(Request((5, 3))) and not planner.ever_fits(Request((5, 4)))
    planner.submit(1, Request((5, 3)), 0, 1.0, 0.0)
    assert planner.run(0.0) == [(1, (0, 0), (5, 3))]


@pytest.mark.parametrize("policy", ["EASY", "CONSERVATIVE"])
def test_on_one_cluster_nobody_can_ask_for_another(policy: str) -> None:
    assert not make_planner(policy, [8]).ever_fits(Request((1,), (1,)))


@pytest.mark.parametrize("policy", ["AFCFS", "LG-SS-BS", "MULTI-SITE"])
def test_some_have_only_their_own_placement(policy: str) -> None:
    with pytest.raises(ValueError, match=f"{policy} has the placement"):
        make_planner(policy, [8], placement="worst-fit-reuse")


def test_a_daemon_places_by_fewest_clusters_under_multi_site() -> None:
    assert make("MULTI-SITE", 2) and make("MULTI-SITE", 2, placement="fewest-clusters")
    with pytest.raises(ValueError, match="MULTI-SITE has the placement fewest-clusters, not"):
        make("MULTI-SITE", 2, placement="worst-fit")


def test_the_overhead_is_not_negative() -> None:
    assert make_planner("MULTI-SITE", [8, 8], overhead=0.25).overhead == 0.25
    with pytest.raises(ValueError, match=r"at least 0, not -1"):
        make_planner("EASY", [8, 8], overhead=-1)
    with pytest.raises(ValueError, match=r"at least 0, not nan"):
        make("MULTI-SITE", 2, overhead=float("nan"))


@pytest.mark.parametrize("placement", ALL_PLACEMENTS)
def test_the_others_take_every_placement_of_the_simulator(placement: str) -> None:
    assert make("GS", 3, placement=placement)
    assert make_planner("CONSERVATIVE", [4, 4], placement=placement)
