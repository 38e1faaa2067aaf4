"""From what a user wrote to a request, or a refusal that says what could run (contract C2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from metabroker.broker.admission import Admission
from metabroker.broker.job import Split
from metabroker.broker.rejected import Rejected
from metabroker.policy import ALL_PLACEMENTS, Limits, Request, worst_fit, worst_fit_reuse
from metabroker.submission.model import Processors
from metabroker.submission.shape import Shape

NO_LIMITS = Limits()
NAMES = ("delft", "leiden", "lab")


def admission(*sizes: int, limits: Limits = NO_LIMITS, reuse: bool = False) -> Admission:
    place = worst_fit_reuse if reuse else worst_fit
    return Admission(NAMES, sizes or (64, 32, 16), limits, place)


@pytest.mark.parametrize(
    ("wanted", "request_", "local"),
    [
        (Processors(single=16), Request((16,)), None),
        (Processors(single=16, cluster="lab"), Request((16,), (2,)), 2),
        (Processors(components=(16, 8)), Request((16, 8)), None),
        (Processors(on=(("lab", 8), ("delft", 16))), Request((8, 16), (2, 0)), None),
        (Processors(on=(("lab", 8), ("lab", 8))), Request((8, 8), (2, 2)), None),
        (Processors(on=(("leiden", 8),)), Request((8,), (1,)), 1),
        (Processors(total=64), Request((64,)), None),
        (Processors(total=65), Request((33, 32)), None),
    ],
)
def test_the_four_forms(wanted: Processors, request_: Request, local: int | None) -> None:
    assert admission().request(wanted) == (request_, local)


@pytest.mark.parametrize(
    ("wanted", "limits", "message", "advice"),
    [
        (
            Processors(single=65),
            Limits(),
            "the request can never run: it asks for 65 processors in component 0",
            "the largest that could run is 64 (processors: delft 64, leiden 32, lab 16); "
            "or let the broker split it over several clusters: --total 65",
        ),
        (
            Processors(single=113),
            Limits(),
            "the request can never run: it asks for 113 processors in component 0",
            "the largest that could run is 64 (processors: delft 64, leiden 32, lab 16)",
        ),
        (
            Processors(single=17, cluster="lab"),
            Limits(),
            "lab has 16 processors and can never run 17",
            "ask for at most 16 there, or let the broker choose the cluster",
        ),
        (
            Processors(on=(("lab", 9), ("delft", 1), ("lab", 8))),
            Limits(),
            "lab has 16 processors and can never run 17",
            "ask for at most 16 there, or let the broker choose the cluster",
        ),
        (
            Processors(single=1, cluster="nowhere"),
            Limits(),
            "there is no cluster named 'nowhere'",
            "choose one of: delft, leiden, lab",
        ),
        (
            Processors(on=(("delft", 1), ("nowhere", 1))),
            Limits(),
            "there is no cluster named 'nowhere'",
            "choose one of: delft, leiden, lab",
        ),
        (
            Processors(components=(1, 1, 1)),
            Limits(components=2),
            "the request can never run: it asks for 3 components",
            "the largest that could run is 2 (processors: delft 64, leiden 32, lab 16)",
        ),
        (
            Processors(components=(8, 20)),
            Limits(component=16),
            "the request can never run: it asks for 20 processors in component 1",
            "the largest that could run is 16 (processors: delft 64, leiden 32, lab 16)",
        ),
        (
            Processors(components=(8, 20)),
            Limits(total=24),
            "the request can never run: it asks for 28 processors in all",
            "the largest that could run is 24 (processors: delft 64, leiden 32, lab 16)",
        ),
        (
            Processors(components=(1, 1, 1, 1)),
            Limits(),
            "the request can never run: it asks for 4 components, not all of "
            "which fit into a cluster",
            "the largest that could run is 3 (processors: delft 64, leiden 32, lab 16)",
        ),
        (
            Processors(total=113),
            Limits(),
            "the request can never run: it asks for 113 processors",
            "the largest that could run is 112 (processors: delft 64, leiden 32, lab 16)",
        ),
    ],
)
def test_what_can_never_run_is_refused_in_these_words(
    wanted: Processors, limits: Limits, message: str, advice: str
) -> None:
    with pytest.raises(Rejected) as caught:
        admission(limits=limits).request(wanted)
    assert (caught.value.message, caught.value.advice) == (message, advice)


def test_a_cluster_that_was_never_seen_may_be_of_any_size() -> None:
    unseen = admission(0, 32, 16)
    assert unseen.request(Processors(single=5000)) == (Request((5000,)), None)
    with pytest.raises(Rejected, match="leiden has 32 processors"):
        unseen.request(Processors(single=33, cluster="leiden"))
    with pytest.raises(Rejected) as caught:
        unseen.request(Processors(components=(64, 64)))
    assert "(processors: delft ?, leiden 32, lab 16)" in caught.value.advice


def test_components_may_share_a_cluster_only_where_the_placement_reuses_them() -> None:
    wanted = Processors(components=(30, 30, 30))
    with pytest.raises(Rejected):
        admission().request(wanted)
    assert admission(reuse=True).request(wanted) == (Request((30, 30, 30)), None)


def splitting(limits: Limits = NO_LIMITS, **given: Any) -> Admission:
    """Under a policy that splits flexible requests as it starts them."""
    place = ALL_PLACEMENTS["fewest-clusters"]
    return Admission(NAMES, (64, 32, 16), limits, place, **{"splits": True, **given})


def test_a_flexible_request_stays_whole_where_the_policy_splits_it() -> None:
    wanted = Processors(total=112)
    assert splitting().request(wanted) == (Request((112,)), None)
    assert splitting().split(wanted) == Split(3)
    limits = Limits(component=50, components=2)
    assert splitting(limits).split(wanted) == Split(2, 50)
    assert splitting(closed=frozenset({0})).split(wanted) == Split(2)


@pytest.mark.parametrize(
    ("wanted", "limits", "given"),
    [
        (Processors(single=64), Limits(), {}),
        (Processors(components=(16, 8)), Limits(), {}),
        (Processors(on=(("delft", 16), ("lab", 8))), Limits(), {}),
        (Processors(total=64), Limits(), {"splits": False}),
        (Processors(total=64), Limits(components=1), {}),
        (Processors(total=64), Limits(), {"closed": frozenset({1, 2})}),
    ],
    ids=["single", "components", "on", "policy", "one component", "one cluster"],
)
def test_the_policy_splits_no_request_that_was_not_left_to_it(
    wanted: Processors, limits: Limits, given: Mapping[str, Any]
) -> None:
    found = splitting(limits, **given)
    assert found.split(wanted) is None
    assert found.request(wanted)[0].parts == 1


@pytest.mark.parametrize(
    ("tasks", "cpus", "limits", "given", "asked", "most"),
    [
        (113, 1, Limits(), {}, "113 processors", 112),
        (97, 1, Limits(components=2), {}, "97 processors", 96),
        (49, 1, Limits(component=16), {}, "49 processors", 48),
        (25, 1, Limits(total=24), {}, "25 processors in all", 24),
        (37, 3, Limits(), {}, "111 processors", 108),
        (49, 1, Limits(), {"closed": frozenset({0})}, "49 processors", 48),
    ],
    ids=["clusters", "components", "component", "total", "whole tasks", "closed"],
)
def test_what_no_splitting_makes_fit_is_refused_and_the_most_that_could_is_taken(
    tasks: int, cpus: int, limits: Limits, given: Mapping[str, Any], asked: str, most: int
) -> None:
    found, shape = splitting(limits, **given), Shape(cpus_per_task=cpus)
    with pytest.raises(Rejected) as caught:
        found.request(Processors(total=tasks), shape)
    assert caught.value.message == f"the request can never run: it asks for {asked}"
    assert caught.value.advice.startswith(f"the largest that could run is {most} (")
    request, _local = found.request(Processors(total=most // cpus), shape)
    assert request == Request((most,))


def test_parts_that_no_clusters_are_near_enough_for_are_refused() -> None:
    apart = splitting(max_latency=5.0)
    assert apart.request(Processors(total=64)) == (Request((64,)), None), "one cluster has room"
    with pytest.raises(Rejected, match="at most 5 ms apart"):
        apart.request(Processors(total=65))
