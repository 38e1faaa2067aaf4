"""How a job ended that its server, which keeps no history, has forgotten."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from metabroker.broker.states import Cause
from metabroker.clusters.gate import gate_path
from metabroker.clusters.openpbs import OpenPBSCluster, answers
from metabroker.clusters.port import CleanRequest, ComponentRequest, UnknownOutcome
from metabroker.clusters.transports.base import Command, CommandLost, Completed
from tests.clusters.slurm.drive import TOKEN, Told, drive, said

from .test_cluster import FREE, cluster, job, look
from .test_submitting import NO_HISTORY, ORDER

LIMITED = "|Resource_List.walltime=00:00:10|stime=Sat Nov 21 04:43:{:02} 2026"


LIVE = [NO_HISTORY, said("37.pbsa\n"), job(more=LIMITED.format(43))]


def _begins(gate: Path) -> None:
    (gate / "go").rename(gate / "run")
    (gate / "started").write_text("n1\n")
    os.utime(gate / "started", (1000.0, 1000.0))


def _ends(gate: Path, text: str, seconds: float) -> None:
    (gate / "ended").write_text(text)
    os.utime(gate / "ended", (1000.0 + seconds, 1000.0 + seconds))


def _record(gate: Path, text: str, seconds: float) -> None:
    _begins(gate)
    _ends(gate, text, seconds)


@pytest.mark.parametrize(
    ("seconds", "code", "cause"),
    [
        (12.0, 143, Cause.OVERTIME),
        (4.0, 143, Cause.KILLED),
        (12.0, 0, Cause.OVERTIME),
        (4.0, 0, None),
    ],
)
def test_how_a_job_ended_that_its_server_has_forgotten(
    tmp_path: Path, seconds: float, code: int, cause: Cause | None
) -> None:
    it = cluster()
    order = replace(ORDER, chdir=str(tmp_path), gate=gate_path(str(tmp_path), TOKEN, "secret"))
    drive(it.submit(order), [said("37.pbsa\n")], Told())
    look([said("37.pbsa\n"), NO_HISTORY, job(more=LIMITED.format(43)), said(), FREE], it)
    _record(Path(order.gate), f"{code} signalled\n", seconds)
    wanted = CleanRequest(TOKEN, order.gate, reservation=False)
    left = drive(it.clean(wanted), [NO_HISTORY, said()], Told())
    assert (left.started, left.exit_code, left.cause, left.signalled) == (True, code, cause, True)


FINISHED = Completed(answers.FINISHED, "", "qdel: Job has finished 37.pbsa\n")


class Asked(list[Command]):
    """Commands that were asked for; at `qdel` the script ends."""

    def __init__(self, ends: Callable[[], None]) -> None:
        self._ends = ends

    def append(self, command: Command) -> None:
        super().append(command)
        if command.argv[0] == "qdel":
            self._ends()


@pytest.mark.parametrize(
    ("code", "recorded", "answer", "cause"),
    [
        (0, False, said(), Cause.KILLED),
        (0, True, said(), None),
        (0, False, FINISHED, None),
        (3, False, said(), None),
    ],
)
def test_a_forgotten_job_whose_script_had_the_signal_before_its_wrapper(
    tmp_path: Path, code: int, recorded: bool, answer: Completed, cause: Cause | None
) -> None:
    """So its record says nothing of a signal. An exit code that is not 0 is its own all the same:
    whoever has cancelled the job knows. `recorded`: its end was, before it was told to end."""
    it, told, order = _running(tmp_path)
    ends = partial(_ends, Path(order.gate), f"{code} \n", 4.0)
    if recorded:
        ends()
    told.commands = Asked((lambda: None) if recorded else ends)
    wanted = CleanRequest(TOKEN, order.gate, reservation=False)
    left = drive(it.clean(wanted), [*LIVE, answer, NO_HISTORY, said(), said()], told)
    assert (left.exit_code, left.cause, left.signalled) == (code, cause, False)


def test_that_it_was_told_to_end_is_known_also_if_the_answer_to_that_is_lost(
    tmp_path: Path,
) -> None:
    it, told, order = _running(tmp_path)
    told.commands = Asked(partial(_ends, Path(order.gate), "0 \n", 4.0))
    wanted = CleanRequest(TOKEN, order.gate, reservation=False)
    with pytest.raises(UnknownOutcome):
        drive(it.clean(wanted), [*LIVE, CommandLost("qdel: no answer within 30 s")], told)
    left = drive(it.clean(wanted), [NO_HISTORY, said()], Told())
    assert (left.exit_code, left.cause) == (0, Cause.KILLED)


def _running(folder: Path) -> tuple[OpenPBSCluster, Told, ComponentRequest]:
    """A job that was seen to run."""
    it = cluster()
    order = replace(ORDER, chdir=str(folder), gate=gate_path(str(folder), TOKEN, "secret"))
    drive(it.submit(order), [said("37.pbsa\n")], Told())
    look([said("37.pbsa\n"), NO_HISTORY, job(more=LIMITED.format(43)), said(), FREE], it)
    _begins(Path(order.gate))
    return it, Told(), order


def test_a_forgotten_job_without_a_record_is_judged_by_how_long_it_was_seen(tmp_path: Path) -> None:
    order = replace(ORDER, chdir=str(tmp_path), gate=gate_path(str(tmp_path), TOKEN, "secret"))
    gate = Path(order.gate)
    for began, cause in ((30, Cause.OVERTIME), (43, Cause.KILLED)):
        it = cluster()
        drive(it.submit(order), [said("37.pbsa\n")], Told())
        look([said("37.pbsa\n"), NO_HISTORY, job(more=LIMITED.format(began)), said(), FREE], it)
        (gate / "go").rename(gate / "run")
        (gate / "started").write_text("n1\n")
        left = drive(it.clean(CleanRequest(TOKEN, order.gate, False)), [NO_HISTORY, said()], Told())
        assert (left.started, left.exit_code, left.cause) == (True, None, cause)
        it.discard(order.gate)


def test_without_history_the_components_own_record_is_the_exit_code(tmp_path: Path) -> None:
    it = cluster()
    order = replace(ORDER, chdir=str(tmp_path), gate=gate_path(str(tmp_path), TOKEN, "secret"))
    drive(it.submit(order), [said("37.pbsa\n")], Told())
    _record(Path(order.gate), "3 \n", 1.0)
    wanted = CleanRequest(TOKEN, order.gate, reservation=False)
    left = drive(it.clean(wanted), [NO_HISTORY, said()], Told())
    assert (left.started, left.exit_code, left.cause) == (True, 3, None)
