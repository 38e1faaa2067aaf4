"""What an executor makes of an account for which the broker may not act now, and of a store that
cannot tell whose jobs these are."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from metabroker.broker.effects import CleanStray, Discard
from metabroker.broker.events import ClusterUnreachable, Event, Refused
from metabroker.broker.states import Cause, Step
from metabroker.broker.tokens import Ref, make
from metabroker.clusters.port import ClusterRefusal
from metabroker.runtime.executor import ClusterExecutor
from metabroker.store import StoreUnavailable
from tests.daemon_units.making import House

ONE = Ref(1, 1, 0)
NO_ACCOUNT = "there is no account anna with a home folder there"


@pytest.fixture
def executor(tmp_path: Path) -> Iterator[ClusterExecutor]:
    """Of the first cluster."""
    house = House(tmp_path)
    yield house.executors[0]
    house.close()


def no_errors(caplog: pytest.LogCaptureFixture) -> bool:
    return all(record.levelno < logging.ERROR for record in caplog.records)


def away(*_asked: Any, **_named: Any) -> NoReturn:
    raise StoreUnavailable("the database does not answer")


def test_a_gate_whose_account_is_refused_before_its_last_words_were_read_is_a_refusal(
    executor: ClusterExecutor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_ref: Ref, _cluster: int) -> NoReturn:
        raise ClusterRefusal(Cause.DENIED, NO_ACCOUNT)

    monkeypatch.setattr(executor._carrier, "last_words", refuse)
    told = executor._carry_out(Discard(ONE, 0))
    assert told == Refused(ONE, Step.DISCARD, Cause.DENIED, NO_ACCOUNT)
    assert no_errors(caplog)


def test_a_poll_that_cannot_be_told_whose_jobs_these_are_is_no_error_of_the_brokers(
    executor: ClusterExecutor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    posted: list[Event] = []
    monkeypatch.setattr(executor.cluster, "observe", away)
    monkeypatch.setattr(executor, "_post", posted.append)
    executor.observe()
    assert posted == [ClusterUnreachable(0, "the broker's own store cannot be read")]
    assert no_errors(caplog)


def test_nor_is_an_orphan_of_which_it_cannot_be_told(
    executor: ClusterExecutor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(executor._builder.store.jobs, "target", away)
    effect = CleanStray(0, make(executor._builder.settings.instance, ONE), False)
    assert executor._lines.claim(effect)
    executor._clean_stray(effect)
    assert no_errors(caplog)
    assert executor._lines.claim(effect), "the next poll may have it removed"
