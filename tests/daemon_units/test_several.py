"""Several daemons over one database: who leads, what each tells, who is replaced."""

from __future__ import annotations

import os
import pwd
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from metabroker.access.secret import Scope
from metabroker.api.service import Failure, ServiceError, TokenRequest
from metabroker.config import load
from metabroker.daemon.daemon import Daemon
from metabroker.runtime.clock import Clock
from metabroker.service.access_tokens import AccessTokens
from metabroker.store import Store, StoreUnavailable
from metabroker.store.leadership import Leadership
from metabroker.submission.model import Caller
from tests.daemon.harness import eventually
from tests.testbed.postgres import Postgres


class Brokers:
    """Daemons over the same simulated cluster; `anew` is set when one is replaced."""

    def __init__(self, folder: Path, store: str) -> None:
        self._folder = folder
        self._store = store
        self.anew: list[threading.Event] = []
        self.all: list[Daemon] = []

    def start(self) -> Daemon:
        """One more."""
        name = "abc"[len(self.all)]
        config = {
            "store": self._store,
            "lease": "2s",
            "socket": str(self._folder / f"{name}.sock"),
            "audit": str(self._folder / f"{name}.log"),
            "metrics": None,
            "clusters": {
                "delft": {
                    "system": "simulated",
                    "processors": 4,
                    "state": str(self._folder / f"{name}.state"),
                }
            },
        }
        (self._folder / f"{name}.yaml").write_text(yaml.safe_dump(config))
        self.anew.append(threading.Event())
        made = Daemon(load(self._folder / f"{name}.yaml"), anew=self.anew[-1].set)
        self.all.append(made)
        made.start()
        return made


@pytest.fixture
def brokers(database: str, folder: Path) -> Iterator[Brokers]:
    made = Brokers(folder, database)
    yield made
    for daemon in reversed(made.all):
        daemon.stop()


def cut_off(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot ask for more of its lease."""

    def renew(_term: int, _seconds: float) -> bool:
        raise StoreUnavailable("cut off")

    monkeypatch.setattr(daemon.store.leadership, "renew", renew)


def told(daemon: Daemon) -> dict[str, float]:
    """Its metrics without labels."""
    found = {}
    for family in daemon._registry.collect():
        for sample in family.samples:
            found[sample.name] = sample.value
    return found


def test_one_leads_and_the_others_tell_nothing_of_its_jobs(brokers: Brokers) -> None:
    first, second = brokers.start(), brokers.start()
    assert first.leader is not None and second.leader is None
    leads, waits = told(first), told(second)
    assert (leads["metabroker_leader"], leads["metabroker_term"]) == (1, 1)
    assert (waits["metabroker_leader"], waits["metabroker_term"]) == (0, 0)
    assert waits["metabroker_store_writable"] == 1
    assert "metabroker_queue_length" in leads and "metabroker_cluster_up" in leads
    assert not [name for name in waits if "job" in name or "cluster" in name or "queue" in name]
    assert second.alive and second.answers() and "is a stand-by" in second.summary


def test_one_that_is_replaced_begins_anew(
    brokers: Brokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = brokers.start(), brokers.start()
    with monkeypatch.context() as patch:
        cut_off(first, patch)
        eventually(lambda: second.leader is not None, "the other one leads")
        assert not brokers.anew[0].is_set(), "it cannot know yet"
    assert told(second)["metabroker_leader"] == 1 and told(second)["metabroker_term"] == 2
    assert brokers.anew[0].wait(60)
    assert not brokers.anew[1].is_set()
    assert second.alive and second.summary == "policy LP-GF over delft"


def test_one_that_stands_by_is_alive_while_it_takes_up_the_lead(
    brokers: Brokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = brokers.start(), brokers.start()
    entered, go_on = threading.Event(), threading.Event()
    recover = Store.recover

    def slow(self: Store, names: object) -> object:
        entered.set()
        assert go_on.wait(60)
        return recover(self, names)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "recover", slow)
    cut_off(first, monkeypatch)
    assert entered.wait(60)
    assert second.alive and second.answers()
    go_on.set()
    eventually(lambda: second.leader is not None, "the other one leads")
    assert second.alive


def test_one_that_cannot_read_the_store_as_it_takes_up_the_lead_begins_anew(
    brokers: Brokers, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    first, _ = brokers.start(), brokers.start()

    def fails(*_given: object) -> None:
        raise StoreUnavailable("the connection was lost")

    monkeypatch.setattr(Store, "recover", fails)
    cut_off(first, monkeypatch)
    assert brokers.anew[1].wait(60)
    (said,) = [r for r in caplog.records if "cannot become the leader" in r.getMessage()]
    assert said.getMessage().endswith("the connection was lost")
    assert said.exc_info is None, "that is no fault of the daemon's"


@pytest.mark.parametrize(("ahead", "told"), [(1700.0, "1700 s ahead of"), (-60.0, "60 s behind")])
def test_a_clock_of_the_database_that_is_not_the_hosts_is_told(
    brokers: Brokers,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    ahead: float,
    told: str,
) -> None:
    brokers.start()
    assert "'s clock is" not in caplog.text
    monkeypatch.setattr(Leadership, "now", lambda _self: time.time() + ahead)
    brokers.start()
    assert f"the database's clock is {told} this host's" in caplog.text


def test_one_whose_core_hangs_lets_another_lead(
    brokers: Brokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    leads = brokers.start()
    assert leads.leader is not None and not leads.replaced
    core = leads.leader.loop
    monkeypatch.setattr("metabroker.daemon.daemon._HANGS", 1.5)  # an idle core beats each second
    time.sleep(2.0)
    assert not leads.replaced
    go_on = threading.Event()
    hanging = threading.Thread(target=lambda: core.ask(go_on.wait, 60))
    hanging.start()
    eventually(lambda: leads.replaced, "it is replaced")
    go_on.set()
    hanging.join()
    eventually(lambda: not leads.replaced, "it leads again")


def test_one_ends_while_its_database_is_away(brokers: Brokers, postgres: Postgres) -> None:
    first, second = brokers.start(), brokers.start()
    postgres.stop()
    for daemon in (second, first):
        daemon.stop()
    brokers.all.clear()


def read_only(*_: object) -> None:
    raise StoreUnavailable("the database is read-only")


def test_tokens_of_one_broker_are_those_of_all(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = pwd.getpwuid(os.geteuid()).pw_name
    if os.geteuid() == 0:
        user = "nobody"
    caller = Caller(pwd.getpwnam(user).pw_uid, user)
    stores = [Store(database), Store(database)]
    here, there = (
        AccessTokens(store.access_tokens, Clock(), lambda _caller: False, shared=True)
        for store in stores
    )
    made = here.create(caller, TokenRequest(Scope.READ, 3600))
    assert there.check(made["token"]).caller.user == user
    assert [row["id"] for row in there.listed(caller, user=None, all_users=False)] == [made["id"]]
    there.revoke(caller, made["id"])
    with pytest.raises(ServiceError) as caught:
        here.check(made["token"])
    assert caught.value.failure is Failure.UNAUTHENTICATED and "revoked" in caught.value.message
    other = here.create(caller, TokenRequest(Scope.READ, 3600))
    with monkeypatch.context() as away:
        away.setattr(stores[1].access_tokens, "revoke", read_only)
        with pytest.raises(ServiceError) as caught:
            there.revoke(caller, other["id"])
    assert "still accepted" in str(caught.value.advice)
    assert there.check(other["token"]).caller.user == user
    for store in stores:
        store.close()
