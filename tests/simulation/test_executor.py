"""Runs give the same results wherever they are done, also when a worker is lost."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from metabroker.simulation.executor import (
    Dask,
    ExecutorError,
    InProcess,
    Processes,
    Progress,
    _deaf,
)
from metabroker.simulation.measure import JobOutcome
from metabroker.simulation.system import Run, System
from metabroker.simulation.workloads import distributions as laws
from metabroker.simulation.workloads.shapes import Composition
from metabroker.simulation.workloads.synthetic import Synthetic, rate_for

distributed = pytest.importorskip("distributed", reason="needs dask.distributed")


def play(task: tuple[Run, int]) -> JobOutcome:
    run, replication = task
    return run.play(replication)


def tasks() -> list[tuple[Run, int]]:
    shapes = Composition((25, 25, 25, 25), laws.power_law(0.9, 1, 8))
    service = laws.Exponential(1.0)
    rate = rate_for(0.7, shapes, service, 128)
    workload = Synthetic(shapes, service, laws.shares([1, 1, 1, 1]), rate)
    runs = [Run(System((32,) * 4, policy), workload, 2000) for policy in ("GS", "LS-RD", "EASY")]
    return [(run, replication) for run in runs for replication in range(2)]


def once_killed(task: tuple[str, int]) -> int:
    """Kills its worker the first time that it is done."""
    folder, number = task
    mark = Path(folder) / str(number)
    if number == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def works_for_long(folder: str) -> None:
    """Tells which process it is in."""
    Path(folder, f"{os.getpid()}.pid").touch()
    time.sleep(120.0)


def eventually(holds: Callable[[], object]) -> None:
    """Wait until it is so."""
    until = time.monotonic() + 60.0
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def fails(_: int) -> int:
    raise ValueError("this job is too large")


@pytest.fixture(scope="module")
def dask_address() -> object:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address


def test_the_same_results_bit_for_bit_everywhere(dask_address: str) -> None:
    here = InProcess().map(play, tasks())
    with Processes(2) as processes:
        assert processes.map(play, tasks()) == here
    with Dask(dask_address) as dask:
        assert dask.map(play, tasks()) == here


def test_what_a_lost_worker_had_is_done_again(dask_address: str, tmp_path: Path) -> None:
    with Dask(dask_address) as dask:
        given = [(str(tmp_path), number) for number in range(6)]
        assert dask.map(once_killed, given) == [0, 1, 4, 9, 16, 25]
    assert (tmp_path / "2").exists()


def test_ctrl_c_while_processes_are_started_is_heard_a_moment_later() -> None:
    with pytest.raises(KeyboardInterrupt), Processes(1) as executor, _deaf():
        os.kill(os.getpid(), signal.SIGINT)
        executor.map(abs, [-1])
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_processes_end_with_who_has_started_them(how: signal.Signals, tmp_path: Path) -> None:
    program = (
        "from tests.simulation.test_executor import works_for_long\n"
        "from metabroker.simulation.executor import Processes\n"
        "if __name__ == '__main__':\n"
        f"    Processes(2).map(works_for_long, [{str(tmp_path)!r}] * 2)\n"
    )
    file = tmp_path / "program.py"
    file.write_text(program)
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    with subprocess.Popen([sys.executable, str(file)], env=environment) as caller:
        eventually(lambda: len([*tmp_path.glob("*.pid")]) == 2)
        workers = [int(mark.stem) for mark in tmp_path.glob("*.pid")]
        caller.send_signal(how)
    eventually(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


def test_an_error_in_a_run_is_the_callers() -> None:
    with Processes(1) as processes, pytest.raises(ValueError, match="too large"):
        processes.map(fails, [1, 2])


def test_nobody_answers() -> None:
    with pytest.raises(ExecutorError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        Dask("tcp://127.0.0.1:9", seconds=0.5)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_a_bar_on_a_terminal_and_a_line_a_minute_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [0.0]
    monkeypatch.setattr("metabroker.simulation.executor.time.monotonic", lambda: clock[0])

    def half_a_minute(number: int) -> int:
        clock[0] += 30.0
        return number

    shown, log, short = Terminal(), io.StringIO(), io.StringIO()
    InProcess(Progress(shown)).map(abs, [-1, -2])
    InProcess(Progress(short)).map(abs, [-1, -2])
    InProcess(Progress(log)).map(half_a_minute, [1, 2, 3, 4, 5])
    assert "2/2 runs" in shown.getvalue() and short.getvalue() == ""
    assert (
        log.getvalue()
        == "2/5 runs, 0.0333 a second, 90 s left\n4/5 runs, 0.0333 a second, 30 s left\n"
    )
