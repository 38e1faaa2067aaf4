"""Where an account's home is cannot be told now: what that means for a gate in it."""

from __future__ import annotations

import pytest

from metabroker.broker.states import Cause
from metabroker.clusters.gated import GatedCluster
from metabroker.clusters.port import ClusterRefusal, Peer, UnknownOutcome
from metabroker.clusters.transports.base import CommandLost, Files, NotAllowed
from metabroker.clusters.transports.local import LocalTransport
from metabroker.clusters.transports.local_files import LocalFiles

GATE = "~/.metabroker-mb-abcdef01-1-1-0-secret"
NO_ACCOUNT = "there is no account anna with a home folder there"


class Nobody(LocalTransport):
    """Acts for users, of whom it knows none now."""

    def __init__(self, trouble: Exception) -> None:
        super().__init__({})
        self._trouble = trouble

    def files_of(self, _account: str) -> Files:
        return LocalFiles()

    def home_of(self, _account: str) -> str:
        raise self._trouble


def cluster(trouble: Exception) -> GatedCluster:
    return GatedCluster(Nobody(trouble)).acting_for("anna")


def test_one_that_is_to_be_opened_is_asked_again_whoever_refuses() -> None:
    """Others of its job may run."""
    with pytest.raises(UnknownOutcome, match="no account anna"):
        cluster(NotAllowed(NO_ACCOUNT)).open(GATE, (Peer("delft", 4), Peer("leiden", 2)))


def test_one_that_is_to_be_armed_or_removed_is_refused() -> None:
    for step in (GatedCluster.arm, GatedCluster.discard):
        with pytest.raises(ClusterRefusal) as refused:
            step(cluster(NotAllowed(NO_ACCOUNT)), GATE)
        assert refused.value.cause is Cause.DENIED


def test_without_an_answer_nothing_is_known_of_it() -> None:
    with pytest.raises(UnknownOutcome, match="the home of anna"):
        cluster(CommandLost("no answer")).discard(GATE)
