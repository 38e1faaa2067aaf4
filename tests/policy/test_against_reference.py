"""Every policy decides as the slow, obvious reference does, on random events."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metabroker.policy import POLICIES, Aging, Options, Request
from tests.policy.lockstep import Lockstep
from tests.share import share

CLUSTERS = 3
SIZE = 6

sizes = st.lists(st.integers(1, SIZE), min_size=1, max_size=CLUSTERS).map(tuple)


@st.composite
def requests(draw: st.DrawFn) -> Request:
    """Mostly unordered requests, some ordered ones with repeats that fit on an empty system."""
    components = draw(sizes)
    if not draw(st.integers(0, 3)):
        clusters = draw(st.tuples(*[st.integers(0, CLUSTERS - 1)] * len(components)))
        request = Request(components, clusters)
        if all(processors <= SIZE for _, processors in request.needs):
            return request
    return Request(components)


arrivals = st.tuples(st.just("arrive"), requests(), st.integers(0, CLUSTERS - 1))
ends = st.tuples(st.just("end"), st.integers(0, 9), st.just(0))
cancels = st.tuples(st.just("cancel"), st.integers(0, 9), st.just(0))
holds = st.tuples(st.just("hold"), st.integers(0, 9), st.just(0))
releases = st.tuples(st.just("release"), st.just(0), st.just(0))
toggles = st.tuples(st.just("toggle"), st.integers(0, CLUSTERS - 1), st.just(0))

quiet = st.lists(st.one_of(arrivals, arrivals, ends), max_size=4)
busy = st.lists(
    st.one_of(arrivals, arrivals, arrivals, ends, ends, cancels, holds, releases, toggles),
    max_size=4,
)

agings = st.none() | st.builds(
    Aging,
    overtaken=st.none() | st.integers(0, 4),
    wait=st.none() | st.integers(0, 12).map(float),
)
readings = st.builds(
    Options,
    ls_do=st.sampled_from(["all", "departures"]),
    gp=st.sampled_from(["same-pass", "next-departure"]),
    lq=st.sampled_from(["start", "departure", "arrival"]),
)


def drive(pair: Lockstep, instants: Sequence[Sequence[tuple[str, object, int]]], up: bool) -> None:
    """Each instant has its ends first, then its arrivals, then one pass."""
    for events in instants:
        pair.now += 1.0
        for event in sorted(events, key=lambda event: event[0] in ("arrive", "release")):
            match event:
                case ("arrive", Request() as request, local):
                    pair.arrive(request, local)
                case ("end", int(which), _):
                    pair.end(which)
                case ("cancel", int(which), _):
                    pair.cancel(which)
                case ("hold", int(which), _):
                    pair.hold(which)
                case ("release", _, _):
                    pair.release()
                case ("toggle", int(cluster), _):
                    pair.toggle(cluster)
        pair.run(with_capacity=up)


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=share(12), deadline=None)
@given(data=st.data())
def test_the_policy_as_in_the_paper(policy: str, data: st.DataObject) -> None:
    """BE03 2.5, DCS 2.4: FCFS, no aging, all clusters up (FPFS for the policy of that name)."""
    discipline = "FPFS" if policy == "FPFS" else "FCFS"
    placement = "worst-fit-reuse" if policy in {"FCFS", "FPFS"} else "worst-fit"
    pair = Lockstep(policy, [SIZE] * CLUSTERS, discipline, placement, seed=data.draw(st.integers()))
    drive(pair, data.draw(st.lists(quiet, min_size=5, max_size=40)), up=False)


@pytest.mark.parametrize("policy", [name for name in POLICIES if name not in {"FCFS", "FPFS"}])
@settings(max_examples=share(12), deadline=None)
@given(data=st.data())
def test_the_policy_with_every_option(policy: str, data: st.DataObject) -> None:
    """Any discipline, placement, aging and reading; jobs cancelled, clusters down and up again."""
    pair = Lockstep(
        policy,
        data.draw(st.sampled_from([[SIZE] * CLUSTERS, [SIZE, 4, 3]])),
        data.draw(st.sampled_from(["FCFS", "FPFS"])),
        data.draw(st.sampled_from(["worst-fit", "worst-fit-reuse"])),
        data.draw(agings),
        data.draw(readings),
        seed=data.draw(st.integers()),
    )
    drive(pair, data.draw(st.lists(busy, min_size=5, max_size=40)), up=True)


@pytest.mark.parametrize("aging", [None, Aging(overtaken=5)])
@pytest.mark.parametrize("discipline", ["FCFS", "FPFS"])
@pytest.mark.parametrize("policy", [name for name in POLICIES if name not in {"FCFS", "FPFS"}])
def test_a_long_run_near_saturation(policy: str, discipline: str, aging: Aging | None) -> None:
    """4 x 32 processors, long queues, several events at one instant."""
    rng = Random(f"{policy} {discipline}")
    pair = Lockstep(policy, [32] * 4, discipline, "worst-fit", aging, seed=7)
    for _ in range(200):
        some_events(pair, rng)
        pair.run(with_capacity=False)
    assert aging is None or pair.slow.most_overtaken == aging.overtaken or policy == "GS"
    assert len(pair.started) > 100


@pytest.mark.parametrize("policy", [name for name in POLICIES if name not in {"FCFS", "FPFS"}])
def test_a_long_run_with_cancelled_jobs_and_clusters_down(policy: str) -> None:
    """As above, with what the papers do not have."""
    rng = Random(policy)
    pair = Lockstep(policy, [32] * 4, rng.choice(["FCFS", "FPFS"]), "worst-fit", Aging(5, 30.0))
    for _ in range(200):
        if rng.random() < 0.2:
            pair.cancel(rng.randrange(100))
        if rng.random() < 0.05:
            pair.toggle(rng.randrange(4))
        some_events(pair, rng)
        pair.run(with_capacity=True)
    assert len(pair.started) > 50


def some_events(pair: Lockstep, rng: Random) -> None:
    """A few jobs end, and a few arrive, at one instant."""
    pair.now += 1.0
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        pair.end(rng.randrange(100))
    if len(pair.real) < 40:
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            components = rng.choices((1, 2, 3, 4), (5, 3, 2, 1))[0]
            local = rng.choices(range(4), (4, 2, 2, 2))[0]
            pair.arrive(Request(tuple(rng.choices((1, 4, 8, 16, 24), k=components))), local)
