"""Whether tasks fit on nodes: at submission, and for jobs that wait when the nodes become known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.broker.admission import Admission
from metabroker.broker.effects import Reserve, Submit
from metabroker.broker.events import CancelJob, Cleaned, Observed, SubmitJob
from metabroker.broker.job import Job, NewJob
from metabroker.broker.nodes import largest, most, room, room_left
from metabroker.broker.observation import NodeKind, Snapshot, kinds
from metabroker.broker.outbox import Ready
from metabroker.broker.refusals import Refusals
from metabroker.broker.rejected import Rejected
from metabroker.broker.settings import ClusterSettings, Settings
from metabroker.broker.states import JobState
from metabroker.broker.tokens import Ref
from metabroker.policy import Limits, Request, worst_fit, worst_fit_reuse
from metabroker.service import reasons
from metabroker.submission.model import Processors
from metabroker.submission.shape import Shape
from tests.broker.bench import Bench

GB = 1024
THIN = NodeKind(6, 16 * GB, count=4)  # 24 processors
FAT = NodeKind(32, 128 * GB, count=2)
GPU = NodeKind(16, 64 * GB, 4, count=2)
NAMES = ("delft", "leiden", "lab")


def admission(*, limits: Limits = Limits(), known: bool = True) -> Admission:  # noqa: B008
    nodes = ((FAT,), (THIN,), (GPU,)) if known else ((), (THIN,), ())
    return Admission(NAMES, (64, 24, 32), limits, worst_fit, nodes)


@pytest.mark.parametrize(
    ("nodes", "shape", "processors"),
    [
        ((THIN,), Shape(), 24),
        ((THIN,), Shape(4), 16),  # one task of four on each node of six
        ((THIN,), Shape(8), 0),  # a task never spans nodes
        ((THIN, FAT), Shape(8), 64),
        ((THIN,), Shape(2, memory=16 * GB), 24),
        ((THIN,), Shape(2, memory=16 * GB + 1), 0),
        ((THIN,), Shape(2, memory_per_cpu=4 * GB), 16),  # memory for two tasks of a node
        ((NodeKind(8, None, count=2),), Shape(8, memory=10**6), 16),  # not known: not against it
        ((replace(THIN, chunked=True),), Shape(2, memory=5 * GB), 24),  # each task's own memory
        ((replace(THIN, chunked=True),), Shape(2, memory=6 * GB), 16),
        ((THIN,), Shape(gpus_per_task=1), 0),
        ((GPU, THIN), Shape(2, gpus_per_task=1), 16),
        ((GPU, FAT), Shape(gpus=8), 32),  # only the nodes that have any
        ((GPU, FAT), Shape(gpus=9), 0),
        ((replace(FAT, gpus=None),), Shape(gpus=9), 64),  # not known: not against it
        ((replace(FAT, gpus=None),), Shape(8, gpus_per_task=2), 64),
        ((THIN,), Shape(exclusive=True), 24),
    ],
)
def test_what_tasks_could_have_on_empty_nodes(
    nodes: tuple[NodeKind, ...], shape: Shape, processors: int
) -> None:
    assert room(nodes, shape) == processors


def test_nodes_that_are_alike_are_counted_together_in_one_order() -> None:
    one, two, other = NodeKind(8, 100), NodeKind(8, 100), NodeKind(8, None)
    assert kinds([one, other, two]) == kinds([other, two, one])
    assert kinds([one, other, two]) == (other, NodeKind(8, 100, count=2))


@pytest.mark.parametrize(
    ("wanted", "shape", "expected"),
    [
        (Processors(single=2), Shape(8), Request((16,))),
        (Processors(single=2, cluster="delft"), Shape(8), Request((16,), (0,))),
        (Processors(components=(2, 1)), Shape(8), Request((16, 8))),
        (Processors(on=(("lab", 1), ("delft", 2))), Shape(8), Request((8, 16), (2, 0))),
        (Processors(total=9), Shape(8), Request((40, 32))),  # no task is split
        (Processors(total=16), Shape(4), Request((64,))),
    ],
)
def test_policies_count_processors_tasks_times_theirs(
    wanted: Processors, shape: Shape, expected: Request
) -> None:
    assert admission().request(wanted, shape)[0] == expected


@pytest.mark.parametrize(
    ("wanted", "shape", "message", "advice"),
    [
        (
            Processors(single=1),
            Shape(33),
            "the request can never run: no node has room for a task of 33 processors",
            "the largest node has 32 processors, 128 GB in delft",
        ),
        (
            Processors(single=1),
            Shape(8, memory=200 * GB),
            "the request can never run: no node has room for a task of 8 processors and 200 GB on "
            "its node",
            "the largest node has 32 processors, 128 GB in delft",
        ),
        (
            Processors(single=1, cluster="leiden"),
            Shape(8),
            "the request can never run: no node of leiden has room for a task of 8 processors",
            "the largest node has 6 processors, 16 GB in leiden",
        ),
        (
            Processors(components=(1, 1)),
            Shape(8, gpus_per_task=5),
            "the request can never run: no node has room for a task of 8 processors and 5 GPUs",
            "the largest node has 16 processors, 64 GB, 4 GPUs in lab",
        ),
        (
            Processors(single=1),
            Shape(gpus=9),
            "the request can never run: no cluster has 9 GPUs for one component",
            "the largest that could run is 8, in lab",
        ),
        (
            Processors(single=5, cluster="leiden"),
            Shape(4),
            "leiden has 16 processors for such tasks and can never run 20",
            "ask for at most 16 there, or let the broker choose the cluster",
        ),
        (
            Processors(components=(1, 1, 1)),
            Shape(16),
            "the request can never run: it asks for 3 components, not all of which fit into a "
            "cluster",
            "the largest that could run is 2 (processors for such tasks: delft 64, leiden 0, "
            "lab 32)",
        ),
        (
            Processors(total=13),
            Shape(8),
            "the request can never run: it asks for 104 processors",
            "the largest that could run is 96 (processors for such tasks: delft 64, leiden 0, "
            "lab 32)",
        ),
    ],
)
def test_what_can_never_run_is_refused_with_the_largest_that_could(
    wanted: Processors, shape: Shape, message: str, advice: str
) -> None:
    with pytest.raises(Rejected) as caught:
        admission().request(wanted, shape)
    assert (caught.value.message, caught.value.advice) == (message, advice)


@pytest.mark.parametrize(
    ("nodes", "cpus", "unit", "processors"),
    [((THIN,), 4, 1, 16), ((THIN,), 4, 6, 16), ((FAT, THIN), 4, 12, 24), ((THIN,), 4, 3, 0),
     ((), 4, 6, 16), ((), 4, 1, 24), ((), 8, 6, 0)],
)  # fmt: skip
def test_where_nodes_are_given_whole_so_many_tasks_are_counted_on_each(
    nodes: tuple[NodeKind, ...], cpus: int, unit: int, processors: int
) -> None:
    assert most(nodes, Shape(cpus), 24, unit) == processors
    assert ClusterSettings("delft", unit=unit).held(processors, cpus) <= 24
    one = Admission(("delft",), (24,), Limits(), worst_fit, (nodes,), (unit,))
    assert one._rooms(Shape(cpus)) == [processors]


def test_nodes_that_are_not_known_refuse_nothing() -> None:
    assert admission(known=False).request(Processors(single=1), Shape(60))[0] == Request((60,))


def test_limits_are_in_processors() -> None:
    with pytest.raises(Rejected, match="asks for 24 processors in component 0"):
        admission(limits=Limits(component=16)).request(Processors(single=3), Shape(8))
    split, _local = admission(limits=Limits(component=16)).request(Processors(total=4), Shape(8))
    assert split.sizes == (16, 16)


def test_the_node_that_comes_nearest_has_most_of_what_a_task_needs() -> None:
    nodes = [(FAT,), (THIN,), (GPU,)]
    assert largest(NAMES, nodes, Shape(8, gpus_per_task=1)) == "16 processors, 64 GB, 4 GPUs in lab"
    assert largest(NAMES, [(), (), ()], Shape(8)) == ""


def test_a_component_goes_only_where_its_tasks_fit() -> None:
    bounds = ((0, 16), (1, 0))
    request = Request((20, 4), bounds=bounds)
    assert worst_fit(request, (40, 32, 24)) == (2, 0)  # by processors alone: the first two
    assert worst_fit(request, (40, 32, 18)) is None
    assert worst_fit_reuse(Request((8, 8, 8), bounds=bounds), (40, 32, 8)) == (0, 2, 0)


# --- jobs that wait ---------------------------------------------------------------------------


def look(bench: Bench, cluster: int, *nodes: NodeKind, busy: int = 0) -> Observed:
    total = sum(node.processors * node.count for node in nodes) or 32
    snapshot = Snapshot(bench.now, total, total, busy, nodes=nodes, idle=nodes, free=nodes)
    return Observed(cluster, snapshot)


def submit(*sizes: int, shape: Shape, clusters: tuple[int, ...] | None = None) -> SubmitJob:
    return SubmitJob(NewJob("anna", "job.sh", Request(sizes, clusters), 60, shape=shape))


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench({"delft": 32, "leiden": 32})
    yield made
    made.close()


def placed(ready: Ready) -> list[int]:
    return [effect.cluster for effect in ready.effects if isinstance(effect, Submit | Reserve)]


EIGHTS, FOURS = NodeKind(8, 1000, count=4), NodeKind(4, 1000, count=8)


def test_a_job_goes_only_where_its_tasks_fit(bench: Bench) -> None:
    bench.handle(look(bench, 0, FOURS), look(bench, 1, EIGHTS, busy=16))
    (effect,) = bench.handle(submit(16, shape=Shape(8))).effects[-1:]
    assert isinstance(effect, Submit)
    assert (effect.cluster, effect.processors, effect.shape) == (1, 16, Shape(8))
    assert placed(bench.handle(submit(16, shape=Shape(8)))) == []  # idle are those of delft only


def test_a_local_queue_is_one_of_a_cluster_on_whose_nodes_the_tasks_fit() -> None:
    bench = Bench({"delft": 32, "leiden": 32}, policy="LP-GF")
    bench.handle(look(bench, 0, FOURS), look(bench, 1, EIGHTS, busy=32))
    bench.handle(submit(8, shape=Shape(8)))
    assert bench.broker.view.jobs[1].queue == 1
    bench.close()


def test_nodes_that_are_not_known_yet_exclude_no_cluster(bench: Bench) -> None:
    bench.handle(look(bench, 0), look(bench, 1, FOURS))
    assert placed(bench.handle(submit(16, shape=Shape(8)))) == [0]


def test_jobs_that_wait_go_by_nodes_that_are_seen_later_also_after_a_restart(
    bench: Bench,
) -> None:
    bench.handle(look(bench, 0, busy=32), look(bench, 1, busy=32))
    bench.handle(submit(16, shape=Shape(8, memory=500)))
    bench.restart()
    assert bench.broker.view.jobs[1].shape == Shape(8, memory=500)
    assert placed(bench.handle(look(bench, 0, FOURS), look(bench, 1, EIGHTS, busy=32))) == []
    assert placed(bench.handle(look(bench, 0, EIGHTS, busy=4))) == [0]


def test_each_component_has_the_same_shape_and_its_reservation_knows_it(bench: Bench) -> None:
    bench.handle(look(bench, 0, EIGHTS), look(bench, 1, EIGHTS))
    ready = bench.handle(submit(16, 8, shape=Shape(8)))
    found = [effect for effect in ready.effects if isinstance(effect, Reserve)]
    assert [(effect.tasks, effect.shape) for effect in found] == [(2, Shape(8)), (1, Shape(8))]


def idle(bench: Bench, cluster: int, *kinds_: NodeKind) -> Observed:
    """Four nodes of eight, of which so much is idle."""
    free = sum(node.processors * node.count for node in kinds_)
    whole = tuple(node for node in kinds_ if node.processors == 8)
    snapshot = Snapshot(bench.now, 32, 32, 32 - free, nodes=(EIGHTS,), idle=kinds_, free=whole)
    return Observed(cluster, snapshot)


def test_a_co_allocated_job_waits_for_nodes_where_processors_are_idle_on_others(
    bench: Bench,
) -> None:
    bench.handle(idle(bench, 0, NodeKind(7, 1000, count=4)), idle(bench, 1, EIGHTS))
    assert placed(bench.handle(submit(8, 8, shape=Shape(8)))) == []
    assert placed(bench.handle(submit(4, shape=Shape()))) == []  # behind it, as ever
    job = bench.broker.view.jobs[1]
    assert (job.attempt, job.submission_failures) == (0, 0)
    told = reasons.of(bench.broker.view, bench.now, [1])[1].reason
    where = "nodes that have room for a task of 8 processors"
    assert told == f"enough processors are idle, but not on {where}"
    # Fewer are idle now, but those of one node together.
    bench.handle(idle(bench, 0, NodeKind(8, 1000), NodeKind(6, 1000, count=3)))
    assert bench.broker.view.jobs[1].state is JobState.RESERVING


def test_one_that_needs_memory_waits_for_whole_nodes(bench: Bench) -> None:
    bench.handle(idle(bench, 0, NodeKind(7, 1000, count=4)), idle(bench, 1, EIGHTS))
    assert placed(bench.handle(submit(4, 4, shape=Shape(4, memory=10)))) == []
    assert placed(bench.handle(idle(bench, 0, NodeKind(8, 1000)))) == [1, 0]


def test_what_was_claimed_since_the_last_poll_may_be_on_the_nodes_that_a_task_needs(
    bench: Bench,
) -> None:
    """Nobody knows where it is, so a reservation is asked for when a poll has shown that."""
    bench.handle(idle(bench, 0, EIGHTS), idle(bench, 1, EIGHTS))
    bench.handle(submit(9, 9, shape=Shape()))  # on two nodes, or a bit of each
    assert placed(bench.handle(submit(16, 8, shape=Shape(8)))) == []
    assert placed(bench.handle(submit(4, 4, shape=Shape(2)))) == []  # behind it
    ours = {bench.token(Ref(1, 1, n)): 9 for n in (0, 1)}
    looks = [
        replace(idle(bench, c, NodeKind(8, 1000, count=2), NodeKind(7, 1000)).snapshot, ours=ours)
        for c in (0, 1)
    ]
    assert placed(bench.handle(*(Observed(c, seen) for c, seen in enumerate(looks))))[:2] == [0, 1]
    assert bench.broker.view.jobs[2].state is JobState.RESERVING


def test_who_waits_for_nodes_is_asked_again_when_what_was_claimed_is_over(bench: Bench) -> None:
    """The poll shows what the one before has shown."""
    bench.handle(idle(bench, 0, EIGHTS), idle(bench, 1, EIGHTS))
    bench.handle(submit(9, 9, shape=Shape()))
    assert placed(bench.handle(submit(16, 8, shape=Shape(8)))) == []
    bench.handle(CancelJob(1, "anna"))
    bench.handle(*(Cleaned(Ref(1, 1, n), shut=True) for n in (0, 1)))
    bench.now += 60.0
    bench.handle(idle(bench, 0, EIGHTS), idle(bench, 1, EIGHTS))
    assert bench.broker.view.jobs[2].state is JobState.RESERVING


@pytest.mark.parametrize(
    ("nodes", "shape", "taken", "unit", "left"),
    [
        ((EIGHTS,), Shape(8), 0, 1, 32),
        ((EIGHTS,), Shape(8), 1, 1, 24),
        ((EIGHTS,), Shape(8), 4, 1, 0),
        ((EIGHTS,), Shape(8), 16, 8, 16),  # only whole nodes are given
        ((EIGHTS,), Shape(2), 1, 1, 30),
        ((EIGHTS,), Shape(2), 3, 1, 20),  # on three nodes two tasks each have no room
        ((EIGHTS,), Shape(2), 7, 1, 0),
        ((EIGHTS,), Shape(3), 2, 1, 24),  # each node has room for two all the same
        ((EIGHTS, FOURS), Shape(4, memory=10), 2, 1, 48),
        ((EIGHTS, GPU), Shape(1, gpus=8), 1, 1, 0),
        ((EIGHTS, GPU), Shape(1, gpus=4), 1, 1, 16),
    ],
)
def test_what_tasks_could_have_wherever_some_are_taken(
    nodes: tuple[NodeKind, ...], shape: Shape, taken: int, unit: int, left: int
) -> None:
    assert room_left(nodes, shape, taken, unit) == left


def test_a_reservation_of_which_no_node_tells_its_part_may_hold_all_of_it_on_each() -> None:
    """Seven of 32, over four nodes: the adapter finds no room for a task of two."""
    assert room([NodeKind(8 - 7, 1000, count=4)], Shape(2)) == room_left((EIGHTS,), Shape(2), 7)


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=5),
    st.integers(1, 5),
    st.lists(st.integers(0, 9), min_size=5, max_size=5),
)
def test_no_more_is_promised_than_there_is_wherever_some_are_taken(
    processors: list[int], cpus: int, taken: list[int]
) -> None:
    held = [min(has, used) for has, used in zip(processors, taken, strict=False)]
    after = [NodeKind(has - used, 1) for has, used in zip(processors, held, strict=True)]
    before = kinds([NodeKind(has, 1) for has in processors])
    assert room_left(before, Shape(cpus), sum(held)) <= room(after, Shape(cpus))


@pytest.mark.parametrize(
    ("processors", "cpus", "held"), [(8, 1, 12), (8, 4, 12), (16, 4, 24), (12, 3, 12), (6, 6, 6)]
)
def test_whole_nodes_are_counted_by_the_tasks_that_fit_on_one(
    processors: int, cpus: int, held: int
) -> None:
    assert ClusterSettings("delft", unit=6).held(processors, cpus) == held
    assert ClusterSettings("delft").held(processors, cpus) == processors


def test_a_refused_job_does_not_keep_back_another_that_fits_elsewhere() -> None:
    refusals = Refusals(Settings("abcdef01", (ClusterSettings("delft"),)), lambda _job, _now: ())
    for number, shape in ((1, Shape(8)), (2, Shape())):
        job = Job(number, "anna", "job", Request((16,)), 60, 0.0, 1, shape=shape, seq=number)
        refusals.add(job)
    refusals.begin_round()
    through = refusals.let_through(0.0, lambda job, _barred: not job.shape, 10)
    assert [job.id for job in through] == [2]
