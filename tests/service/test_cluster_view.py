"""What is told of clusters."""

from __future__ import annotations

from dataclasses import replace

from metabroker.broker import tokens
from metabroker.broker.events import Cleaned, Discarded, Observed, Refused
from metabroker.broker.observation import NativeJob, NativeState
from metabroker.broker.states import Cause, Step
from metabroker.broker.tokens import Ref
from metabroker.runtime.engine import Engine
from metabroker.service.cluster_view import cluster_views
from tests.broker.test_store_behind import after, broker, look
from tests.daemon_units.making import Answers, Failing, ask, engine, looked

NOW = 1000.0


def strays(it: Engine, ref: Ref) -> int:
    """Those in delft, when its poll shows this one as running."""
    token = tokens.make(it.broker.settings.instance, ref)
    running = NativeJob("7", NOW, NativeState.RUNNING, "RUNNING")
    it.process([Observed(0, replace(looked(0, NOW + 20).snapshot, jobs={token: running}))], NOW)
    (delft, _leiden) = cluster_views(it.broker.view, NOW + 20)
    found = delft["strays"]
    assert isinstance(found, int)
    return found


def test_what_is_left_of_a_former_attempt_is_a_stray() -> None:
    it = engine(Failing())
    it.process([looked(0, NOW), looked(1, NOW, 32), ask(Answers().to("a"))], NOW)
    component = it.broker.view.jobs[1].components[0]
    assert strays(it, component.ref) == 0
    it.process([Refused(component.ref, Step.SUBMIT, Cause.BUSY, "not now")], NOW)
    it.process([Cleaned(component.ref), Discarded(component.ref)], NOW)
    assert strays(it, component.ref) == 1


def test_what_is_left_alone_since_nobody_remembers_it_is_no_stray() -> None:
    made = broker(acting=True)
    after(made, look(0, Ref(12, 1, 0, 77)))
    assert [orphan.ref.job for orphan in made.view.unclaimed] == [12]
    assert [each["strays"] for each in cluster_views(made.view, NOW + 10)] == [0, 0]
    (orphan,) = made.view.unclaimed
    orphan.unwanted = True  # an administrator wants it removed
    assert [each["strays"] for each in cluster_views(made.view, NOW + 10)] == [1, 0]
