"""pyslurm, or the commands, that are not there or do not fit: refused, or done without."""

from __future__ import annotations

import logging
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import pytest

from metabroker.broker.states import Cause
from metabroker.clusters.operation import carry_out
from metabroker.clusters.slurm import SlurmCluster, SlurmOptions
from metabroker.clusters.slurm.by_pyslurm import PyslurmTransport
from metabroker.clusters.transports.back_off import BackOff
from metabroker.clusters.transports.base import (
    Command,
    CommandLost,
    CommandMissing,
    Completed,
    Unreached,
)
from tests.clusters.refusals import refused
from tests.clusters.slurm.by_pyslurm.staging import (
    BY_COMMANDS,
    FITS,
    READ,
    SOON,
    Beside,
    MakeStage,
    gone,
)

IMPORT = {"failed": "ModuleNotFoundError: No module named 'pyslurm'"}


LIBRARY = {"failed": "ImportError: libslurm.so.42: cannot open shared object file"}


OTHER = {"pyslurm": "22.5.3", "slurm": "22.05"}


UNKNOWN = {"pyslurm": "of unknown version"}


@pytest.mark.parametrize(
    ("hello", "words"),
    [
        (IMPORT, ("No module named 'pyslurm'", "docs/connect.md", sys.executable)),
        ([FITS, LIBRARY], ("libslurm.so.42", "docs/connect.md", sys.executable)),
        ([OTHER, "die"], ("pyslurm 22.5.3", "slurm-wlm 24.11.5", "install the pyslurm of 24.11")),
        ([UNKNOWN, OTHER], ("pyslurm 22.5.3", "slurm-wlm 24.11.5")),
        (OTHER, ("pyslurm 22.5.3", "slurm-wlm 24.11.5", "install the pyslurm of 24.11")),
    ],
)
def test_pyslurm_that_is_not_there_or_does_not_fit_is_refused_with_what_to_do(
    stage: MakeStage, hello: object, words: tuple[str, ...]
) -> None:
    it = stage()
    it.hello(hello)
    cluster = SlurmCluster(SlurmOptions("root", name="delft", instance="abcdef01"), it.transport)
    with refused(Cause.UNREACHABLE) as caught:
        carry_out(cluster.observe(5.0), it.transport)
    for word in (*words, "`pyslurm_python`", "`access: commands`"):
        assert word in caught.value.detail
    it.transport._pacing = BackOff(0.01)
    with pytest.raises(Unreached, match="not asked: pyslurm"):
        it.transport.which()
    assert it.beside.run_ == [], "nothing was asked by other ways"
    assert it.asked == []


@pytest.mark.skipif(find_spec("pyslurm") is not None, reason="pyslurm is installed here")
def test_the_helper_itself_says_that_pyslurm_is_not_there() -> None:
    it = PyslurmTransport(Beside(), {}, name="delft", python=sys.executable, falls_back=False)
    with pytest.raises(Unreached, match=r"No module named 'pyslurm'\): install the pyslurm"):
        it.run(READ)
    it.close()


def test_an_interpreter_that_is_not_there(tmp_path: Path) -> None:
    lost = PyslurmTransport(Beside(), {}, name="delft", python="/nowhere/python", falls_back=False)
    with pytest.raises(Unreached, match=r"/nowhere/python cannot be run .*`pyslurm_python`"):
        lost.run(READ)


def test_commands_that_are_not_there_are_said_to_be(
    stage: MakeStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = stage()

    def missing(_command: Command) -> Completed:
        raise CommandMissing("sinfo: not found in /nowhere")

    monkeypatch.setattr(it.beside, "run", missing)
    with pytest.raises(CommandMissing, match="sinfo: not found"):
        it.run()
    assert gone(it.starts[0])


@pytest.mark.parametrize("hello", [IMPORT, OTHER, "die"])
def test_where_it_may_it_falls_back_to_the_commands_and_says_so_once(
    stage: MakeStage, hello: object, caplog: pytest.LogCaptureFixture
) -> None:
    it = stage(falls_back=True)
    it.hello(hello)
    with caplog.at_level(logging.WARNING):
        threads = [threading.Thread(target=it.run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SOON)
        assert it.run() == BY_COMMANDS
    assert it.beside.run_ == [READ.argv] * 5
    assert [r.getMessage().split(":")[0] for r in caplog.records] == ["delft"]
    assert len(it.starts) == 1


def test_where_it_may_it_falls_back_after_losing_several_in_a_row(
    stage: MakeStage, caplog: pytest.LogCaptureFixture
) -> None:
    it = stage(falls_back=True)
    it.plan("die die well die die die well")
    outcomes = []
    for _ in range(8):
        try:
            outcomes.append(it.run().stdout)
        except CommandLost:
            outcomes.append("lost")
        it.transport._pacing = BackOff(0.01)
    lost, by_command = "lost", BY_COMMANDS.stdout
    assert outcomes == [lost, lost, "answered\n", lost, lost, lost, by_command, by_command]
    assert "3 times in a row" in caplog.text
