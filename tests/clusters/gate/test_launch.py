"""`metabroker-launch` in one component, without a cluster: several launches of one script."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from metabroker.clusters.gate.peers import peers_file
from metabroker.clusters.gate.tools import text
from metabroker.clusters.port import Node, Peer

from .running import with_tool


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A component of two slots on one node, and a `dask` that does nothing."""
    gate = tmp_path / "gate"
    (gate / "bin").mkdir(parents=True)
    for name in ("launch", "exchange"):
        tool = gate / "bin" / f"metabroker-{name}"
        tool.write_text(text(f"{name}.sh"))
        tool.chmod(0o755)
    node = Node("n1", ("127.0.0.1",), 2)
    (gate / "peers.json").write_bytes(peers_file((Peer("delft", 2, ("n1",), nodes=(node,)),)))
    path = with_tool(tmp_path, "dask", "exec sleep 5 > /dev/null 2>&1\n")
    return {
        "PATH": f"{gate}/bin:{path}",
        "METABROKER_PEERS_FILE": f"{gate}/peers.json",
        "METABROKER_COMPONENTS": "1",
        "METABROKER_COMPONENT": "0",
        "METABROKER_MASTER_ADDR": "127.0.0.1",
        "METABROKER_MASTER_PORT": "20000",
        "METABROKER_WORLD_SIZE": "2",
        "METABROKER_NNODES": "1",
        "METABROKER_CLUSTER": "delft",
    }


def told(environment: dict[str, str], folder: Path, script: str) -> list[str]:
    """What the script writes, sorted."""
    done = subprocess.run(
        ["sh", "-c", script],
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
        check=False,
    )
    return sorted(done.stdout.decode().splitlines())


def test_two_that_run_side_by_side_start_what_each_was_given(
    environment: dict[str, str], tmp_path: Path
) -> None:
    script = """
    metabroker-launch --label sh -c 'echo A; exit 3' & a=$!
    metabroker-launch --label sh -c 'sleep 0.1; echo B; exit 4' & b=$!
    wait $a; echo $?; wait $b; echo $?
    """
    for _ in range(3):
        lines = told(environment, tmp_path, script)
        assert lines[:2] == ["3", "4"], lines
        assert {line[-1] for line in lines[2:]} == {"A", "B"}, lines


FIRST = "metabroker-launch --with dask sh -c ': > up; while [ -e up ]; do sleep 0.02; done' &\n"
UP = "until [ -e up ]; do sleep 0.02; done\n"
SECOND = "metabroker-launch --with dask echo second; echo $?\n"


def test_of_those_that_component_0_leads_a_second_waits_its_turn(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """Which of two in one component goes with which in the others nobody could tell."""
    beside = "metabroker-launch sh -c 'echo beside'\n"
    lines = told(environment, tmp_path, f"{FIRST}{UP}{SECOND}{beside}rm up; wait; {SECOND}")
    no = "metabroker-launch: another one runs already: those --with mpich, openmpi, dask and ray "
    expected = ["0", "2", "beside", "beside", f"{no}go one after the other", "second"]
    assert lines == expected
    assert (Path(environment["METABROKER_PEERS_FILE"]).parent / "launch" / "2").exists()


def test_one_that_was_killed_is_not_waited_for(environment: dict[str, str], tmp_path: Path) -> None:
    lines = told(environment, tmp_path, f"{FIRST}{UP}kill -9 $!; rm up; {SECOND}")
    assert [line for line in lines if line in ("0", "second")] == ["0", "second"]
