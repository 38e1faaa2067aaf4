"""What a cluster's commands may print: what real ones printed, spoilt anywhere, or anything."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from metabroker.broker.events import Observed
from metabroker.broker.observation import Snapshot
from metabroker.clusters.openpbs import OpenPBSCluster, OpenPBSOptions
from metabroker.clusters.operation import Operation, Pause
from metabroker.clusters.port import ClusterRefusal, UnknownOutcome
from metabroker.clusters.slurm import SlurmCluster, SlurmOptions
from metabroker.clusters.transports.base import Command, Completed
from metabroker.clusters.transports.local import LocalTransport
from tests.broker.script import Script
from tests.clusters.openpbs import recorded as pbs
from tests.clusters.slurm import recorded as slurm

from .cases import fuzzed

NOW = 1_795_244_532.0
ODD = st.sampled_from(
    ["", "\0", "\x1f", "nan", "inf", "-1", "9" * 23, "1e400", "\n", "\udcff", "=", "N/A", "\u2028"]
)


@st.composite
def spoilt(draw: st.DrawFn, text: str) -> str:
    """The text with a few words, pieces or lines changed."""
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 30)))
        new = draw(st.one_of(ODD, st.text(max_size=20), st.just(text[start:end] * 3)))
        text = text[:start] + new + text[end:]
    return text


def _slurm() -> list[tuple[str, str]]:
    return [
        (release, state)
        for release in slurm.RELEASES
        for state in slurm.states(release, "squeue")
        if state in slurm.states(release, "sinfo")
    ]


SLURM = _slurm()
PBS = [
    case for case in pbs.cases() if case.argv[0] in ("qselect", "qstat", "pbsnodes", "pbs_rstat")
]


def played(
    operation: Operation[Snapshot], answer: Callable[[Command], Completed]
) -> Snapshot | None:
    """What the look tells; None: that it cannot be told."""
    said: Completed | float | None = None
    try:
        for _ in range(1000):
            step = operation.send(said)
            if isinstance(step, Command):
                said = answer(step)
            else:
                said = None if isinstance(step, Pause) else 1000.0
    except StopIteration as end:
        snapshot: Snapshot = end.value
        return snapshot
    except (ClusterRefusal, UnknownOutcome):
        return None
    raise AssertionError("it asks for ever")


def bounded(seen: Snapshot) -> None:
    """What the ledger may count with."""
    assert 0 <= seen.usable <= seen.processors and seen.busy >= 0
    for job in seen.jobs.values():
        times = (job.submit_time, job.start_time, job.end_time)
        assert all(time is None or math.isfinite(time) for time in times)


def believed(seen: Snapshot) -> None:
    """The core takes it in; another cluster's job is not touched."""
    script = Script()
    try:
        script.play("begin clusters=delft:144,leiden:64")
        script.play("look leiden")
        script.play("submit on=leiden:4")
        script.play("submitted 1.1.0")
        assert script.bench is not None
        bench, broker = script.bench, script.bench.broker
        before = (broker.view.jobs[1].state, broker.view.jobs[1].attempt)
        broker.handle(Observed(0, dataclasses.replace(seen, taken_at=bench.now)), bench.now)
        broker.schedule(bench.now)
        assert (broker.view.jobs[1].state, broker.view.jobs[1].attempt) == before
        assert not [mishap for mishap in broker.take().mishaps if mishap.cluster != 0]
    finally:
        script.close()


@given(st.data())
@fuzzed
def test_any_answer_of_slurm(data: st.DataObject) -> None:
    release, state = data.draw(st.sampled_from(SLURM))
    shown = slurm.states(release, "reservation")
    texts = {
        "squeue": slurm.squeue(release, state),
        "sinfo": slurm.sinfo(release, state),
        "scontrol": slurm.text(release, state if state in shown else shown[0], "reservation"),
    }

    def answer(command: Command) -> Completed:
        text = "slurm 22.05.8\n" if "--version" in command.argv else texts[command.argv[0]]
        given = data.draw(st.one_of(st.just(text), spoilt(text), st.text(max_size=80)))
        status = data.draw(st.sampled_from([0] * 8 + [1, 255]))
        return Completed(status, given, data.draw(st.one_of(st.just(""), st.text(max_size=60))))

    cluster = SlurmCluster(
        SlurmOptions("root", name="delft", instance="abcdef01"), LocalTransport({})
    )
    seen = played(cluster.observe(NOW), answer)
    if seen is not None:
        bounded(seen)
        believed(seen)


@given(st.data())
@fuzzed
def test_any_answer_of_openpbs(data: st.DataObject) -> None:
    def answer(command: Command) -> Completed:
        fitting = [case for case in PBS if case.argv[0] == command.argv[0]]
        if "--version" in command.argv or not fitting:
            return Completed(0, "pbs_version = 23.06.06\n", "")
        case = data.draw(st.sampled_from(fitting))
        given = data.draw(
            st.one_of(st.just(case.stdout), spoilt(case.stdout), st.text(max_size=80))
        )
        status = data.draw(st.sampled_from([case.exit_status or 0] * 8 + [0, 153, 255]))
        return Completed(status, given, data.draw(st.one_of(st.just(""), st.text(max_size=60))))

    cluster = OpenPBSCluster(
        OpenPBSOptions("root", name="delft", instance="abcdef01"), LocalTransport({})
    )
    seen = played(cluster.observe(NOW), answer)
    if seen is not None:
        bounded(seen)
        believed(seen)
