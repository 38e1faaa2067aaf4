"""Jobs that were submitted by qsub, in a cluster of PBS: they see the id that was printed."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from .making import gates, order
from .running import Running, Wrappers, with_tool

HERE = os.uname().nodename


@pytest.fixture
def of_pbs(wrappers: Wrappers) -> Wrappers:
    """Wrappers in a cluster of PBS."""
    wrappers.system = "openpbs"
    return wrappers


def start(wrappers: Wrappers, folder: Path, script: str, *hosts: str, **env: str) -> Running:
    """A job on these nodes."""
    nodes = folder / "nodes"
    nodes.write_text("".join(f"{host}\n" for host in hosts))
    it = order(folder, script=f"#!/bin/sh\n{script}".encode(), patience=None)
    it = replace(it, speaks="pbs", peers=it.peers[:1])
    gates().prepare(it)
    return wrappers.start(it, PBS_NODEFILE=str(nodes), PBS_JOBID="5.pbs", **env)


TELL = 'echo "$PBS_JOBID $METABROKER_NATIVE_JOB_ID"; cat "$PBS_NODEFILE"'


def test_the_printed_id_is_what_it_sees(of_pbs: Wrappers, tmp_path: Path) -> None:
    code, out, err = start(of_pbs, tmp_path, TELL, HERE, HERE).end()
    assert (code, err) == (0, b"")
    assert out.decode().splitlines() == ["17.metabroker 5.pbs", HERE, HERE]


def test_open_mpi_finds_the_nodes_by_it(of_pbs: Wrappers, tmp_path: Path) -> None:
    script = 'cat "${PBS_NODEFILE%/*}/$PBS_JOBID"'
    assert start(of_pbs, tmp_path, script, HERE).end() == (0, f"{HERE}\n".encode(), b"")


def test_of_several_nodes_it_keeps_its_own(of_pbs: Wrappers, tmp_path: Path) -> None:
    code, out, err = start(of_pbs, tmp_path, TELL, HERE, "other").end()
    assert (code, err) == (0, b"")
    assert out.decode().splitlines() == ["5.pbs 5.pbs", HERE, "other"]


def test_pbs_is_asked_by_its_own(of_pbs: Wrappers, tmp_path: Path) -> None:
    path = with_tool(tmp_path, "qstat", 'echo "$PBS_JOBID: $*"\n')
    script = 'qstat -f "$PBS_JOBID" 18.metabroker'
    code, out, err = start(of_pbs, tmp_path, script, HERE, PATH=path).end()
    assert (code, out, err) == (0, b"5.pbs: -f 5.pbs 18.metabroker\n", b"")
