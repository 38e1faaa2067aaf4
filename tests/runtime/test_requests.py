"""From an effect to all that a cluster needs: paths, patterns, the gate's secret."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from metabroker.broker.effects import Clean, Fetch, Reserve, Submit
from metabroker.broker.states import Cause
from metabroker.broker.tokens import Ref
from metabroker.clusters.port import (
    CleanRequest,
    ClusterRefusal,
    Peer,
    ReserveRequest,
    UnknownOutcome,
)
from metabroker.clusters.submit_directory import LocalSubmitDirectory
from metabroker.clusters.transports.base import CommandLost
from metabroker.runtime.requests import RequestBuilder, spec_of
from metabroker.store.ended import Archived, EndedJob, What
from metabroker.submission.model import AskedOption, Processors
from tests.daemon_units.making import Answers, Failing, ask, engine, looked, settings, submission

NOW = 1000.0


def builder(
    store: Failing, cluster: str = "delft", shared: str | None = None, **given: Any
) -> RequestBuilder:
    """Of one job that has been placed."""
    it = engine(store)
    given.setdefault("processors", Processors(components=(4, 2)))
    it.process([looked(0, NOW), looked(1, NOW, 32), ask(Answers().to("a"), **given)], NOW)
    return RequestBuilder(store, settings(store), cluster, shared)


def submit(component: int = 0, **given: Any) -> Submit:
    plain: dict[str, Any] = {"reservation": True, "barrier": True}
    return Submit(Ref(1, 1, component), 0, 4, 660, **(plain | given))


def test_an_order_is_complete(store: Failing) -> None:
    made = builder(
        store,
        args=("a b", "'"),
        name="a name",
        environment={"A": "1"},
        native={"delft": ("--mem=1G",), "leiden": ("--mem=2G",)},
    )
    it = made.submit(submit(again=True))
    assert (it.token, it.job, it.component, it.name) == (
        f"mb-{store.instance}-1-1-0", 1, 0, "a name",
    )  # fmt: skip
    assert (it.processors, it.seconds, it.reservation, it.again) == (4, 660, True, True)
    assert (it.script, it.args, it.environment) == (
        b"#!/bin/sh\necho hello\n", ("a b", "'"), {"A": "1"},
    )  # fmt: skip
    assert it.native == ("--mem=1G",)
    assert it.peers == (Peer("delft", 4), Peer("leiden", 2))
    assert it.barrier_seconds == settings(store).barrier_patience
    assert made.submit(submit(barrier=False)).barrier_seconds is None


def test_without_a_name_the_scripts_is_the_jobs(store: Failing) -> None:
    assert builder(store).submit(submit()).name == "script.sh"


@pytest.mark.parametrize(
    ("output", "path"),
    [
        (None, "/home/anna/metabroker-1.1.out"),
        ("out", "/home/anna/out"),
        ("/tmp/%j-%c", "/tmp/1-1"),
        ("%j.%c.%j", "/home/anna/1.1.1"),
        ("100%%-%%j", "/home/anna/100%-%j"),
        ("%%%j", "/home/anna/%1"),
        ("$(x) 'y'\n", "/home/anna/$(x) 'y'\n"),
    ],
)
def test_patterns(store: Failing, output: str | None, path: str) -> None:
    it = builder(store, output=output, error=output).submit(submit(1))
    assert it.output == path
    assert it.error == (None if output is None else path)


def test_a_single_components_output_has_no_component_in_its_name(store: Failing) -> None:
    it = builder(store, processors=Processors(single=4)).submit(submit())
    assert it.output == "/home/anna/metabroker-1.out"


def test_the_gate_is_in_the_jobs_folder_or_in_the_shared_one(store: Failing) -> None:
    made = builder(store)
    token = f"mb-{store.instance}-1-1-0"
    own = made.gate(Ref(1, 1, 0))
    assert own is not None and own.startswith(f"/home/anna/.metabroker-{token}-")
    shared = RequestBuilder(store, settings(store), "delft", "/spool/").gate(Ref(1, 1, 0))
    assert shared is not None and shared.startswith(f"/spool/.metabroker-{token}-")
    assert own.rpartition("-")[2] == shared.rpartition("-")[2]


def test_each_gate_has_a_secret_of_its_own_that_the_others_do_not_tell(store: Failing) -> None:
    made = builder(store)
    gates = [made.gate(Ref(1, attempt, part)) for attempt in (1, 2) for part in (0, 1)]
    secrets = {gate.rpartition("-")[2] for gate in gates if gate is not None}
    assert len(secrets) == 4
    assert all(len(secret) == 20 for secret in secrets)
    assert store.jobs.meeting_place(1)[1] not in str(gates)
    assert made.submit(submit()).gate == gates[0]
    assert made.clean(Clean(Ref(1, 1, 0), 0)).gate == gates[0]


def test_reserving_and_cleaning(store: Failing) -> None:
    made = builder(store)
    token = f"mb-{store.instance}-1-1-0"
    assert made.reserve(Reserve(Ref(1, 1, 0), 0, 4, 700)) == ReserveRequest(token, 4, 700)
    gate = made.gate(Ref(1, 1, 0))
    assert made.clean(Clean(Ref(1, 1, 0), 0, False)) == CleanRequest(token, gate, False)
    assert made.clean_token(token) == CleanRequest(token, gate)


def test_what_the_store_does_not_know_has_no_gate(store: Failing) -> None:
    made = builder(store)
    assert made.gate(Ref(9, 1, 0)) is None
    token = f"mb-{store.instance}-9-1-0"
    assert made.clean_token(token) == CleanRequest(token)
    assert made.clean_token("anything") == CleanRequest("anything")


@pytest.mark.parametrize("owner", [None, "anna"])
def test_who_does_not_lead_any_more_changes_nothing_at_home(
    store: Failing, tmp_path: Path, owner: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost() -> None:
        raise CommandLost("another broker leads")

    made = replace(builder(store), homes=lambda _user: LocalSubmitDirectory(), permit=lost)
    monkeypatch.setattr(store.jobs, "script", lambda _job: (b"", {"owner": owner}))
    with pytest.raises(CommandLost):
        made.home_of(Ref(1, 1, 0)).put(str(tmp_path), "result", 0, b"late")
    assert not list(tmp_path.iterdir())


def test_what_is_no_longer_kept_is_not_begun_again(store: Failing) -> None:
    """A leader that was stopped for a day goes on with what another one has ended since."""
    made = builder(store, environment={"A": "1"})
    job = EndedJob({"id": 1}, (), (), {"job": 1, "spec": store.jobs.script(1)[1]})
    store.ended.remove(What.SCRIPT, [job], Archived("2026-11", "/a", 1.0, 1.0), None)
    assert store.jobs.script(1)[1]["environment"] == {}
    with pytest.raises(UnknownOutcome, match="its script"):
        made.submit(submit())
    assert made.fetch(Fetch(Ref(1, 1, 0), 0)).patterns == ()
    for gone in (made.stage, made.fetch, made.submit):
        with pytest.raises(UnknownOutcome, match="does not know its job"):
            gone(replace(submit(), ref=Ref(9, 1, 0)))  # type: ignore[arg-type]


def test_what_asks_for_more_is_begun_in_no_cluster_that_was_configured_later(
    store: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = submission("/home/anna", asked=(AskedOption("constraint", "gpu"),))
    assert spec_of(asked, known=["delft", "lab"])["known"] == ["delft", "lab"]
    assert "known" not in spec_of(submission("/home/anna"), known=["delft"])
    made = builder(store)
    script, spec = store.jobs.script(1)
    for known, refused in ((["delft"], False), (["leiden"], True)):
        told = {**spec, "known": known}
        monkeypatch.setattr(store.jobs, "script", lambda _job, told=told: (script, told))
        if not refused:
            made.submit(submit())
            continue
        with pytest.raises(ClusterRefusal, match="configured after the job") as caught:
            made.submit(submit())
        assert caught.value.cause is Cause.INVALID
