"""Clusters under other names: what has not ended goes on under the new ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from metabroker.broker.drained import Drained
from metabroker.broker.states import JobState, Phase, Step
from metabroker.policy import Request
from metabroker.store import Store
from metabroker.store.rows import ClusterNames
from metabroker.submission.inputs import Inputs

from .making import NAMES, accepted, batch, component, job

FILES = Inputs(7, ((5, ("delft", "lab")),))
SYSTEMS = {"delft": ("X", None), "leiden": ("Y", "gpu"), "lab": ("Z", None)}


def test_names_may_change_places_and_what_has_ended_keeps_its_own(store: Store) -> None:
    gone: dict[str, Any] = {"phase": Phase.GONE, "step": Step.NONE}
    jobs = [
        job(1, JobState.COMPLETED, local=0, queue=0),
        job(2, JobState.RUNNING, attempt=2, request=Request((16, 8), (0, 1))),
        job(3, local=0, home=1, queue=0, request=Request((4,), (0,)), inputs=FILES),
    ]
    parts = [
        component(1, 0, **gone), component(2, 0, 1, **gone),
        component(2, 0, 2, **gone), component(2, 1, 2, step=Step.NONE),
    ]  # fmt: skip
    spec = {"accounts": {"delft": "ann1", "lab": "ann2"}, "native": {"leiden": ["-p", "x"]}}
    spec |= {"input_at": ["delft:/x,lab:/y:5"], "known": ["leiden", "lab"]}
    scripts = [replace(accepted(number), spec=spec) for number in (1, 2, 3)]
    drained = {"delft": Drained("root", 3.0, "cables"), "lab": Drained("root", 4.0)}
    work = batch(*jobs, components=parts, accepted=scripts, systems=SYSTEMS, drained=drained)
    store.commit(work, NAMES)

    store.systems.rename({"delft": "leiden", "leiden": "delft"}, store.term, 5.0)

    assert store.systems.all() == {"leiden": ("X", None), "delft": ("Y", "gpu"), "lab": ("Z", None)}
    assert store.systems.drained() == {"leiden": drained["delft"], "lab": drained["lab"]}
    first, second, third = sorted(store.jobs.rows(), key=lambda row: int(row["id"]))
    assert (first["local"], first["queue"]) == ("delft", "delft")
    assert second["clusters"] == ["leiden", "delft"]
    assert (third["local"], third["home"], third["queue"]) == ("leiden", "delft", "leiden")
    assert third["clusters"] == ["leiden"]
    assert third["inputs"] == {"staged": 7, "files": [{"size": 5, "clusters": ["leiden", "lab"]}]}
    places = [(p["attempt"], p["component"], p["cluster"]) for p in second["components"]]
    assert places == [(1, 0, "delft"), (2, 0, "leiden"), (2, 1, "delft")]
    assert store.jobs.script(1)[1] == spec
    moved = {"accounts": {"leiden": "ann1", "lab": "ann2"}, "native": {"delft": ["-p", "x"]}}
    moved |= {"input_at": ["leiden:/x,lab:/y:5"], "known": ["delft", "lab"]}
    assert store.jobs.script(2)[1] == store.jobs.script(3)[1] == moved
    assert [event["what"] for event in store.jobs.events(2)] == ["cluster renamed"] * 2
    found = store.recover(ClusterNames(["delft", "leiden", "lab"]))
    assert not found.unreadable


def test_clusters_that_are_closed_to_a_job_go_by_their_new_names(store: Store) -> None:
    store.commit(batch(job(1, closed=frozenset({1}))), NAMES)
    store.systems.rename({"delft": "leiden", "leiden": "delft"}, store.term, 5.0)
    (found,) = store.recover(ClusterNames(["delft", "leiden", "lab"])).jobs
    assert found.closed == found.excluded == {0}


def test_a_cluster_that_is_configured_again_is_still_closed_to_a_job(store: Store) -> None:
    store.commit(batch(job(1, closed=frozenset({0, 1}))), NAMES)
    without = ClusterNames(["delft", "lab"])
    (found,) = store.recover(without).jobs
    assert found.closed == {0}
    found.reason = "it was written meanwhile"
    store.commit(batch(found, accepted=[]), without)
    (again,) = store.recover(ClusterNames(["lab", "leiden", "delft"])).jobs
    assert again.reason == found.reason and again.closed == {1, 2}


@pytest.mark.parametrize("of", [0, 1])
def test_what_is_left_of_an_ended_job_is_found_under_its_account(store: Store, of: int) -> None:
    """Of a task (`of` an array): its account is its array's, which has ended."""
    ended: dict[str, Any] = {"end_time": 2000.0}
    task = {"of": of, "task": 0} if of else {}
    jobs = [
        job(1, JobState.COMPLETED, **ended),
        job(2, JobState.COMPLETED, attempt=2, **ended, **task),
    ]
    part = component(2, 0, phase=Phase.SUBMITTED, step=Step.CLEAN)
    given = {"chdir": "/work/group", "accounts": {"delft": "ann1", "lab": "ann2"}}
    asked = replace(accepted(of or 2), spec=given)
    other = replace(accepted(9), spec=given)  # of one that has ended, and of which nothing is left
    over = job(9, JobState.COMPLETED, **ended)
    store.commit(batch(*jobs, over, components=[part], accepted=[asked, other]), NAMES)

    store.systems.rename({"delft": "leiden", "leiden": "delft"}, store.term, 3000.0)

    assert store.jobs.target(2, "leiden").account == "ann1"
    assert store.jobs.target(2, "lab").account == "ann2"
    assert store.jobs.target(2, "delft").account is None
    assert store.jobs.target(9, "delft").account == "ann1", "it keeps the names of its time"


def test_where_a_job_in_line_has_stood_before_has_the_new_name_too(store: Store) -> None:
    siblings = [
        component(1, 0, cluster=0, reserves=False, phase=Phase.SUBMITTED, step=Step.NONE),
        component(1, 1, cluster=1, reserves=False, phase=Phase.GONE, step=Step.NONE),
    ]
    waits = job(1, attempt=1, siblings=2, request=Request((16,)))
    store.commit(batch(waits, components=siblings), NAMES)
    assert store.referred_clusters() == {"delft", "leiden"}
    store.systems.rename({"leiden": "utrecht"}, store.term, 5.0)
    found = store.recover(ClusterNames(["delft", "utrecht", "lab"]))
    assert not found.unreadable
    assert [each.cluster for each in found.components] == [0, 1]
