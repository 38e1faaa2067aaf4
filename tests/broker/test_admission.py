"""From what a user wrote to a request, or a refusal that says what could run (contract C2)."""

from __future__ import annotations

import pytest

from metabroker.broker.admission import Admission
from metabroker.broker.rejected import Rejected
from metabroker.policy import Limits, Request, worst_fit, worst_fit_reuse
from metabroker.submission.model import Processors

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
