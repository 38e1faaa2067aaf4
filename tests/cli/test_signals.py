"""Ctrl-C, closed pipes, and bugs: a user never sees a traceback."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.api.fake import FakeService
from tests.cli.conftest import Run
from tests.testbed.processes import captured


def test_a_reader_that_leaves(
    run: Run, service: FakeService, script: Path, environ: dict[str, str]
) -> None:
    for _ in range(3):
        run("submit", "-n", "1", "job.sh")
    process = subprocess.Popen(
        [sys.executable, "-m", "metabroker", "queue"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.wait(120) == 1
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.parametrize("options", ["", "--json"])
@pytest.mark.parametrize("where", [">/dev/full", ">&-", "| true"])
def test_a_job_whose_number_cannot_be_written_is_told_of(
    service: FakeService, script: Path, environ: dict[str, str], where: str, options: str
) -> None:
    words = f"'{sys.executable}' -m metabroker submit -n 1 {options} '{script}'"
    done = captured(
        ["bash", "-c", f"(sleep 0; {words}) {where}; exit ${{PIPESTATUS[0]}}"], env=environ
    )
    assert len(service.submissions) == 1
    told = done.stderr.splitlines()
    assert (
        done.returncode == 1 and "metabroker: job 1 is queued, but its number cannot be" in told[0]
    )
    assert "Traceback" not in done.stderr


@pytest.fixture
def waiting(
    run: Run, service: FakeService, script: Path, environ: dict[str, str]
) -> Callable[[int], subprocess.Popen[bytes]]:
    """Starts `metabroker wait 1` and returns it once it waits; its stderr is the argument."""

    def start(stderr: int) -> subprocess.Popen[bytes]:
        assert run("submit", "-n", "1", "job.sh").returncode == 0
        process = subprocess.Popen(
            [sys.executable, "-m", "metabroker", "wait", "1"],
            stdout=subprocess.PIPE, stderr=stderr, env=environ,
        )  # fmt: skip
        while not service.waiting(1):
            assert process.poll() is None
            time.sleep(0.01)
        return process

    return start


def test_ctrl_c(waiting: Callable[[int], subprocess.Popen[bytes]]) -> None:
    process = waiting(subprocess.PIPE)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGINT
    assert err.strip() == b"metabroker: job 1 goes on; `metabroker cancel 1` cancels it"


def test_progress_on_a_terminal(
    waiting: Callable[[int], subprocess.Popen[bytes]], service: FakeService
) -> None:
    ours, theirs = pty.openpty()
    process = waiting(theirs)
    os.close(theirs)
    shown = b""
    while b"waits for processors" not in shown:
        assert select.select([ours], [], [], 120.0)[0], shown
        shown += os.read(ours, 1000)
    service.end(1)
    assert process.wait(120) == 0
    assert b"job 1 QUEUED" in shown
    os.close(ours)
    assert process.stdout is not None
    assert process.stdout.read() == b"1 COMPLETED 0\n"
    process.stdout.close()


def test_a_bug_is_one_line(folder: Path, environ: dict[str, str]) -> None:
    code = (
        "import sys; sys.argv = ['metabroker', 'queue']\n"
        "import metabroker.cli.common as common\n"
        "def broken(_): raise RuntimeError('what\\nnow')\n"
        "common.connect = broken\n"
        "from metabroker.cli.main import main; main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environ)
    assert done.returncode == 1
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("metabroker: unexpected error: RuntimeError: what now; ")
    debug = {**environ, "METABROKER_DEBUG": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=debug)
    assert b"Traceback" in done.stderr


def test_what_a_terminal_cannot_show(run: Run, service: FakeService, script: Path) -> None:
    run("submit", "-n", "1", "-J", "漢字é", "job.sh")
    ascii_only = {"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = run("queue", env=ascii_only)
    assert done.returncode == 0
    assert "\\u6f22" in done.stdout


def test_what_a_cluster_says_cannot_move_the_cursor(
    run: Run, service: FakeService, script: Path
) -> None:
    run("submit", "-n", "1", "job.sh")
    service._jobs[1]["reason"] = "\x1b[2Jgone\nsecond line"
    for command in (["queue"], ["show", "1"]):
        assert "\x1b" not in run(*command).stdout
        assert "\nsecond" not in run(*command).stdout
