"""`metabroker-launch` over two real Slurm clusters and several nodes of a live OpenPBS
(`tests/daemon/pbs.py`), which share no files: all are reached over SSH."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from tests.daemon.apart import THIRD, Apart, apart
from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site, eventually
from tests.daemon.pbs import PbsServer, server_of_nodes
from tests.daemon.test_launch import ONE_HOST, TURNS, called, mpi, run

__all__ = ["apart", "mpi"]

pytestmark = [pytest.mark.slurm, pytest.mark.xdist_group("openpbs")]
# One task on each node of delft and leiden; of OpenPBS two on one node, and one on another.
PLACES = f"--on delft:2,leiden:1,{THIRD}:3 -c 4"
CLUSTERS = ["delft", "delft", "leiden", THIRD, THIRD, THIRD]


@pytest.fixture
def server() -> PbsServer:
    return server_of_nodes()


@pytest.fixture
def site(server: PbsServer, apart: Apart, make_site: MakeSite) -> Site:
    made = apart.site(make_site, server)
    made.start_and_look()
    return made


def setting(server: PbsServer) -> str:
    """Shell: where PBS is. The nodes of Slurm have names that nobody can look up; and where the
    servers are in a network of their own, it may have nothing but a loopback, which Open MPI leaves
    out."""
    own = "".join(f"export {name}={value}; " for name, value in server.env.items())
    here = socket.gethostbyname(socket.gethostname())
    if [name for _, name in socket.if_nameindex()] == ["lo"]:
        own += "export OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_btl_tcp_if_include=lo; "
    return f'{own}PATH="$PATH:{server.bin}"; export METABROKER_MASTER_ADDR={here}; '


def hosts(site: Site, server: PbsServer, job: int) -> list[str]:
    """Of each rank, by what PBS says of its component: two are on one of its two nodes."""
    native = site.show(job)["components"][2]["native_id"]
    (found,) = json.loads(server.run("qstat", "-x", "-f", "-F", "json", native))["Jobs"].values()
    chunks = [chunk.split("/")[0] for chunk in found["exec_host"].split("+")]
    assert len(chunks) == 3 and len(set(chunks)) == 2
    return [os.uname().nodename] * 3 + chunks


def test_one_mpi_world(site: Site, apart: Apart, server: PbsServer, mpi: tuple[str, Path]) -> None:
    kind, program = mpi
    line = f"{setting(server)}{ONE_HOST}; metabroker-launch --with {kind} {program}"
    for _ in range(TURNS):
        job, lines = run(site, apart, line, places=PLACES)
        assert sorted(lines) == [
            f"rank {n} of 6: sum 21 in {cluster} on {host}"
            for n, (cluster, host) in enumerate(
                zip(CLUSTERS, hosts(site, server, job), strict=True)
            )
        ]
    site.wait_clean()


def test_a_process_for_each_slot(site: Site, apart: Apart, server: PbsServer) -> None:
    told = "$METABROKER_RANK $METABROKER_LOCAL_RANK $METABROKER_CLUSTER $(uname -n)"
    line = f"metabroker-launch --label sh -c 'echo \"{told}\"; echo $METABROKER_NODE_RANK >&2'"
    job, lines = run(site, apart, setting(server) + line, places=PLACES)
    where = hosts(site, server, job)
    own = [where[:n].count(host) if n >= 3 else 0 for n, host in enumerate(where)]
    assert sorted(lines) == [
        f"[{n}] {n} {own[n]} {cluster} {where[n]}" for n, cluster in enumerate(CLUSTERS)
    ]
    errors = (apart.jobs / f"err.{job}.2").read_text().splitlines()
    assert sorted(errors) == [f"[{n}] {3 + (where[n] != where[3])}" for n in (3, 4, 5)]


def test_a_process_that_fails_ends_all_on_all_nodes(
    site: Site, apart: Apart, server: PbsServer
) -> None:
    """First one on the other node of OpenPBS, then one on the node of the script."""
    # What its shell has started has a number of its own.
    rest = f"119.{os.getpid()}"
    fails = f"if [ $METABROKER_RANK = $0 ]; then exit $1; fi; sleep {rest}"
    launch = f"metabroker-launch sh -c '{fails}'"
    line = f"{launch} 5 9; echo ended $?; {launch} 3 8; echo ended $?; exit 7"
    only = f"if [ $METABROKER_COMPONENT != 2 ]; then exec sleep {rest}; fi; "
    job, lines = run(site, apart, setting(server) + only + line, ends="FAILED", places=PLACES)
    assert site.show(job)["exit_code"] == 7
    assert lines == ["ended 9", "ended 8"]
    site.wait_clean()
    eventually(lambda: not called("sleep", rest), "what the processes have started ends, too")
