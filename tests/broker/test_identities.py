"""Names of clusters that are changed, given to other systems, or given twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from metabroker.broker import tokens
from metabroker.broker.core import Broker
from metabroker.broker.events import ClusterUnreachable, Observed, SubmitJob, Submitted
from metabroker.broker.identities import NotUsable
from metabroker.broker.job import NewJob
from metabroker.broker.observation import NativeJob, NativeState, Snapshot
from metabroker.broker.settings import ClusterSettings, Settings
from metabroker.broker.states import Cause
from metabroker.broker.tokens import Ref
from metabroker.policy import Request
from metabroker.policy import make as policy
from metabroker.store import Store, Transaction
from metabroker.store.rows import ClusterNames

INSTANCE = "abcdef01"
ONE = Ref(1, 1, 0)
NATIVE = NativeJob("77", 1000.0, NativeState.RUNNING, "RUNNING", 4)
X, Y = "delft at ctl1:6817", "delft at ctl2:6817"


def cluster(
    name: str, was: str = "", part: str | None = None, *, configured: bool = True
) -> ClusterSettings:
    return ClusterSettings(name, True, 16, "slurm", part=part, identity=was, configured=configured)


class Site:
    """A store, and lives of a broker with other clusters each."""

    def __init__(self) -> None:
        self.store = Store("sqlite://", migrate=False)
        self.now = 1000.0
        self.broker: Broker
        self.names: ClusterNames
        self.said: list[str] = []

    def life(self, *clusters: ClusterSettings) -> None:
        self.names = ClusterNames([c.name for c in clusters])
        self.broker = Broker(Settings(INSTANCE, clusters), policy("LS-OR", len(clusters)))
        found = self.store.recover(self.names)
        self.broker.restore(found.jobs, found.components, self.now)
        self.broker.number_from(found.next_job)

    def poll(self, number: int, system: str, jobs: Mapping[Ref, NativeJob] | None = None) -> None:
        self.now += 10
        shown = {tokens.make(INSTANCE, ref): job for ref, job in (jobs or {}).items()}
        self.handle(Observed(number, Snapshot(self.now, 16, 16, 0, jobs=shown, system=system)))

    def handle(self, event: object) -> None:
        self.broker.handle(event, self.now)  # type: ignore[arg-type]
        self.broker.schedule(self.now)
        ready = self.broker.take()
        self.said += [str(m.error) for m in ready.mishaps if isinstance(m.error, NotUsable)]
        self.store.commit(Transaction(ready, systems=self.broker.view.systems()), self.names)

    def running_in_delft(self, part: str | None = None) -> None:
        """Job 1 runs in delft, which was X when it began."""
        self.life(cluster("delft", part=part))
        self.poll(0, X)
        self.handle(SubmitJob(NewJob("anna", "job", Request((4,), (0,)), 600, local=0)))
        self.handle(Submitted(ONE, "77", 1000.0))
        assert self.store.systems.all() == {"delft": (X, part)}

    @property
    def why(self) -> list[str]:
        return [entry.detail for entry in self.broker.view.entries]

    def lost(self) -> bool:
        return self.broker.view.jobs[1].components[0].cause is Cause.LOST


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.store.close()


def test_a_name_that_means_another_system_says_nothing_of_jobs_in_the_former(site: Site) -> None:
    site.running_in_delft()
    site.life(cluster("delft", X))
    for _ in range(4):
        site.poll(0, Y)
    assert not site.lost()
    assert site.why == [
        f"it is {Y} now, and jobs of the broker are in {X}; give {X} its name back, or an entry of "
        "its own, or cancel and `metabroker abandon` these jobs"
    ]
    assert len(site.said) == 1, "the log has it once"
    assert site.store.systems.all() == {"delft": (X, None)}
    site.poll(0, X, {ONE: NATIVE})
    assert site.why == [""]


def test_a_controller_that_has_moved_shows_the_jobs_that_it_had(site: Site) -> None:
    site.running_in_delft()
    site.life(cluster("delft", X))
    site.poll(0, Y, {ONE: NATIVE})
    assert site.why == [""] and site.store.systems.all() == {"delft": (Y, None)}
    for _ in range(3):
        site.poll(0, Y)
    assert site.lost(), "and may lose them"


def test_a_cluster_that_is_unused_may_be_any_other(site: Site) -> None:
    site.life(cluster("delft", X))
    site.poll(0, Y)
    assert site.why == [""] and site.store.systems.all() == {"delft": (Y, None)}


def test_a_renamed_one_goes_on_with_what_was_there(site: Site) -> None:
    site.running_in_delft()
    site.life(cluster("utrecht"), cluster("delft", X, configured=False))
    site.poll(0, X, {ONE: NATIVE})
    site.handle(ClusterUnreachable(1, "not configured"))
    assert site.broker.view.successors() == {"delft": "utrecht"}
    assert not site.broker.view.behind
    site.store.systems.rename({"delft": "utrecht"}, None, site.now)
    assert site.store.referred_clusters() == {"utrecht"}
    site.life(cluster("utrecht", X))
    site.poll(0, X, {ONE: NATIVE})
    job = site.broker.view.jobs[1]
    assert [c.cluster for c in job.components] == [0] and not site.lost()
    assert (job.local, job.request.clusters) == (0, (0,))
    assert not site.broker.view.successors()
    events = site.store.jobs.events(1)
    (placed,) = [event for event in events if event["what"] == "placed"]
    (renamed,) = [event for event in events if event["what"] == "cluster renamed"]
    assert placed["detail"]["clusters"] == ["delft"], "history keeps the name of its time"
    assert renamed["detail"] == {"component": 0, "cluster": "delft", "to": "utrecht"}


def test_another_part_of_its_system_is_no_successor(site: Site) -> None:
    site.running_in_delft("batch")
    site.life(
        cluster("gpus", X, part="gpu"), cluster("utrecht", part="batch"),
        cluster("delft", X, part="batch", configured=False),
    )  # fmt: skip
    site.poll(0, X, {ONE: NATIVE})
    site.handle(ClusterUnreachable(1, "no route"))
    site.handle(ClusterUnreachable(2, "not configured"))
    assert not site.broker.view.successors()
    site.poll(1, X, {ONE: NATIVE})
    assert site.broker.view.successors() == {"delft": "utrecht"}


def test_names_that_have_changed_places_are_told_apart(site: Site) -> None:
    site.running_in_delft()
    site.life(cluster("delft", X), cluster("leiden", Y))
    site.poll(0, Y)
    assert not site.broker.view.successors(), "of the other nothing is known yet"
    site.poll(1, X, {ONE: NATIVE})
    assert site.broker.view.successors() == {"delft": "leiden"}
    site.store.systems.rename({"delft": "leiden"}, None, site.now)
    site.life(cluster("delft"), cluster("leiden", X))
    site.poll(0, Y)
    site.poll(1, X, {ONE: NATIVE})
    assert site.why == ["", ""] and not site.lost()


@pytest.mark.parametrize("part", [None, "batch"])
def test_the_same_part_of_one_system_is_used_once(site: Site, part: str | None) -> None:
    site.life(cluster("delft", part="batch"), cluster("again", part=part))
    site.poll(0, X)
    site.poll(1, X)
    assert site.why[0] == ""
    assert site.why[1].startswith(f"it is the same cluster as delft ({X}), and is not used; remove")
    assert not site.broker.view.entries[1].reachable


def test_several_parts_of_one_system_are_several_clusters(site: Site) -> None:
    site.running_in_delft("batch")
    site.life(cluster("delft", X, part="batch"), cluster("gpus", part="gpu"))
    for _ in range(3):
        site.poll(0, X, {ONE: NATIVE})
        site.poll(1, X, {ONE: NATIVE})
    assert site.why == ["", ""] and not site.lost()
    assert not site.broker.view.behind and not site.broker.view.successors()


def test_what_a_second_name_of_one_system_had_goes_on_under_the_first(site: Site) -> None:
    site.running_in_delft()
    site.life(cluster("first"), cluster("delft", X))
    site.poll(0, X, {ONE: NATIVE})
    site.poll(1, X, {ONE: NATIVE})
    assert site.broker.view.successors() == {"delft": "first"}
