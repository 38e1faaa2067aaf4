"""Whose account is whose, and who has none."""

from __future__ import annotations

import os
import pwd
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from metabroker import accounts
from metabroker.api.service import Failure, ServiceError
from metabroker.broker.tokens import Ref, make
from metabroker.config import parse
from metabroker.config.users import Table
from metabroker.runtime.cluster_accounts import (
    ClusterUsers,
    OwnersOfStore,
    trouble_with_root,
    users_of,
    wanted,
)
from metabroker.runtime.requests import spec_of
from metabroker.service.authorization import Authorization
from metabroker.store.job_queries import Target
from metabroker.submission.model import Caller, Processors, Submission
from tests.daemon_units.making import ANNA, submission

BOB = Caller(1002, "bob")
_ON_DELFT = submission(processors=Processors(single=1, cluster="delft"))


def delft(table: Table, *, near: bool = False) -> ClusterUsers:
    return ClusterUsers("delft", table, near)


def refused(users: ClusterUsers, caller: Caller) -> str:
    with pytest.raises(ServiceError) as error:
        users.given(caller)
    assert error.value.failure is Failure.FORBIDDEN and error.value.advice
    return error.value.message


def test_an_account_is_given_by_the_table_or_not_at_all() -> None:
    users = delft({"anna": "asmith"})
    assert users.given(ANNA) == "asmith"
    assert refused(users, BOB) == "delft: bob has no account there"
    assert refused(delft({}), ANNA) == "delft: anna has no account there"


def test_the_same_is_for_persons_alone() -> None:
    users = delft("same")
    assert users.given(ANNA) == "anna"
    for uid in (1, 999, 65534):
        assert "system account" in refused(users, Caller(uid, "daemon"))


@pytest.mark.parametrize("table", ["same", {"root": "anna", "toor": "anna"}])
def test_root_is_always_refused(table: Table) -> None:
    for name in ("root", "toor"):
        assert refused(delft(table), Caller(0, name)) == "delft: root may not submit"
    assert "would be root" in refused(delft({"anna": "root"}), ANNA)


def test_an_account_of_this_host_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "has no account" in refused(delft({"anna": "no-such-user"}, near=True), ANNA)
    toor = accounts.Identity("toor", 0, 0, (), "/", "/bin/sh")
    monkeypatch.setattr(accounts, "identity", lambda _name: toor)
    assert "would be root" in refused(delft({"anna": "toor"}, near=True), ANNA)
    me = pwd.getpwuid(os.getuid())
    monkeypatch.undo()
    found = accounts.identity(me.pw_name)
    assert found is not None and (found.uid, found.home) == (me.pw_uid, me.pw_dir)


def test_where_a_job_could_be_put() -> None:
    def of(processors: Processors) -> list[str]:
        asked = Submission(b"", "s", processors, "/")
        return wanted(asked, ["delft", "leiden"])

    assert of(Processors(single=1)) == ["delft", "leiden"]
    assert of(Processors(single=1, cluster="lab")) == ["lab"]
    assert of(Processors(on=(("lab", 1), ("lab", 2)))) == ["lab"]
    assert of(Processors(total=9)) == ["delft", "leiden"]


def rules(users: dict[str, ClusterUsers]) -> Authorization:
    return Authorization(
        policy="GS", default_time=60, max_time=None, admins=(), submitters=("anna",), homes={},
        shared_everywhere=True, users=users, clusters=("delft", "leiden"),
    )  # fmt: skip


def test_a_job_needs_an_account_in_every_cluster_that_it_could_be_put_on() -> None:
    both = {"delft": delft({"anna": "a"}), "leiden": ClusterUsers("leiden", {"bob": "b"}, False)}
    anywhere, there = submission(), _ON_DELFT
    with pytest.raises(ServiceError, match="leiden: anna has no account"):
        rules(both).accounts(ANNA, anywhere)
    assert rules(both).accounts(ANNA, there) == {"delft": "a"}
    # In a cluster that is `run_as: self` the daemon's own rule holds.
    mixed = {"delft": delft({"anna": "a", "bob": "b"})}
    assert rules(mixed).accounts(ANNA, anywhere) == {"delft": "a"}
    assert rules(mixed).accounts(BOB, _ON_DELFT)
    with pytest.raises(ServiceError, match="bob may not submit"):
        rules(mixed).accounts(BOB, anywhere)
    assert rules({}).accounts(ANNA, anywhere) == {}


def test_under_self_what_is_stored_is_as_it_was() -> None:
    assert "accounts" not in spec_of(submission(), {})
    assert spec_of(submission(), {}) == spec_of(submission())
    assert spec_of(submission(), {"delft": "a"})["accounts"] == {"delft": "a"}


def test_users_come_from_the_configuration_or_its_file(tmp_path: Path) -> None:
    (tmp_path / "users.yaml").write_text("anna: asmith\n'1234': bob\n")
    text = """
clusters:
  delft: {system: slurm, run_as: sudo, users_file: users.yaml}
  leiden: {system: openpbs, via: ssh, host: h, run_as: sudo, users: same}
  lab: {system: slurm}
"""
    assert users_of(parse(text, folder=tmp_path)) == {
        "delft": ClusterUsers("delft", {"anna": "asmith", "1234": "bob"}, True),
        "leiden": ClusterUsers("leiden", "same", False),
    }


def test_root_must_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = parse("clusters: {lab: {system: simulated, processors: 1}}")
    allowed = plain.model_copy(update={"allow_root": True})
    acting = parse("clusters: {d: {system: slurm, run_as: root-uid, users: same}}")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "`allow_root: true`" in (trouble_with_root(plain) or "")
    assert trouble_with_root(allowed) is None and trouble_with_root(acting) is None
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert trouble_with_root(plain) is None
    assert "needs a daemon that is root" in (trouble_with_root(acting) or "")


class Spec:
    """A store that knows of one job."""

    def target(self, job: int, cluster: str) -> Target:
        if job != 1:
            raise KeyError(job)
        return Target("/work", "secret", {"delft": "asmith"}.get(cluster), "anna")

    def live_accounts(self, _cluster: str) -> set[str]:
        return {"zoe", "asmith"}


def test_owners_are_those_of_the_submission() -> None:
    def owners(cluster: str, table: Table, before: Sequence[str] = ()) -> OwnersOfStore:
        store: Any = Spec()
        return OwnersOfStore(store, "abcdef01", cluster, "mbsvc", table, before=before)

    ours, other = make("abcdef01", Ref(1, 1, 0)), make("abcdef01", Ref(2, 1, 0))
    assert owners("delft", "same").of(ours) == "asmith"
    assert owners("lab", "same").of(ours) == "mbsvc"
    assert owners("delft", "same").of(other) is None
    assert owners("delft", "same").of("mb-0badbad0-1-1-0") is None
    assert owners("delft", "same").accounts() == ["mbsvc", "asmith", "zoe"]
    assert owners("delft", {"bob": "b", "anna": "asmith"}).accounts() == [
        "mbsvc", "asmith", "zoe", "b",
    ]  # fmt: skip
    assert owners("delft", "same", ["zoe", "carl"]).accounts() == ["mbsvc", "asmith", "zoe", "carl"]
