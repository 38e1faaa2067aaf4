"""How a job ended that its server, which keeps no history, has forgotten."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.broker.states import Cause
from metabroker.clusters.gate import gate_path
from metabroker.clusters.openpbs import answers
from metabroker.clusters.port import CleanRequest
from metabroker.clusters.transports.base import Completed
from tests.clusters.slurm.drive import TOKEN, Told, drive, said

from .test_cluster import FREE, cluster, job, look
from .test_submitting import NO_HISTORY, ORDER

LIMITED = "|Resource_List.walltime=00:00:10|stime=Sat Nov 21 04:43:{:02} 2026"


def _record(gate: Path, text: str, seconds: float) -> None:
    (gate / "go").rename(gate / "run")
    (gate / "started").write_text("n1\n")
    (gate / "ended").write_text(text)
    os.utime(gate / "started", (1000.0, 1000.0))
    os.utime(gate / "ended", (1000.0 + seconds, 1000.0 + seconds))


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


@pytest.mark.parametrize(
    ("code", "answer", "cause"),
    [
        (0, Completed(0, "", ""), Cause.KILLED),
        (0, Completed(answers.FINISHED, "", "qdel: Job has finished 37.pbsa\n"), None),
        (3, Completed(0, "", ""), None),
    ],
)
def test_a_forgotten_job_whose_script_had_the_signal_before_its_wrapper(
    tmp_path: Path, code: int, answer: Completed, cause: Cause | None
) -> None:
    """So its record says nothing of a signal. An exit code that is not 0 is its own all the same:
    whoever has cancelled the job knows."""
    it = cluster()
    order = replace(ORDER, chdir=str(tmp_path), gate=gate_path(str(tmp_path), TOKEN, "secret"))
    drive(it.submit(order), [said("37.pbsa\n")], Told())
    look([said("37.pbsa\n"), NO_HISTORY, job(more=LIMITED.format(43)), said(), FREE], it)
    _record(Path(order.gate), f"{code} \n", 4.0)
    wanted = CleanRequest(TOKEN, order.gate, reservation=False)
    live = [NO_HISTORY, said("37.pbsa\n"), job(more=LIMITED.format(43))]
    left = drive(it.clean(wanted), [*live, answer, NO_HISTORY, said(), said()], Told())
    assert (left.exit_code, left.cause, left.signalled) == (code, cause, False)


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
