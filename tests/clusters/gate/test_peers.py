"""The peers file, and what a component's wrapper tells of its nodes and reads of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.clusters.gate.peers import nodes_of, peers_file
from metabroker.clusters.port import Node, Peer

from .making import gates, order
from .running import Wrappers, with_tool

SEEN = b'#!/bin/sh\nenv | grep "^METABROKER_[MNRW].*=" | grep -v WORK_DIR | sort\n'


@pytest.mark.parametrize(
    ("record", "nodes", "port"),
    [
        (b"n1 n2 id=7\n", (Node("n1"), Node("n2")), None),
        (
            b"n1 n2 slots=4,2 addresses=10.0.0.1+fd00::1,10.0.0.2 port=23456 id=7\n",
            (Node("n1", ("10.0.0.1", "fd00::1"), 4), Node("n2", ("10.0.0.2",), 2)),
            23456,
        ),
        (b"n1 n2 slots=4 addresses=10.0.0.1 port=22\n", (Node("n1"), Node("n2")), None),
        (b"n1 slots=0 addresses=$(id)+::+1.2.3 port=99999\n", (Node("n1"),), None),
        (b"n1 slots=-1 port=-5\n", (Node("n1"),), None),
        (b"n1 slots=\xd9\xa3 addresses=\xff\n", (Node("n1"),), None),
        (b"n1 slots=99999999999999 port=1e4\n", (Node("n1"),), None),
        (b"", (), None),
    ],
)
def test_what_a_record_tells(record: bytes, nodes: tuple[Node, ...], port: int | None) -> None:
    assert nodes_of(record) == (nodes, port)


def test_the_file_names_ranks_leader_and_secret() -> None:
    first = Peer("delft", 6, ("n1", "n2"), (Node("n1", ("10.0.0.1",), 4), Node("n2", (), 2)))
    first = replace(first, port=23456, secret="s3")
    second = Peer("leiden", 3, ("m1", "m2"), secret="s3")
    told = json.loads(peers_file((first, second)))
    assert (told["version"], told["secret"]) == (2, "s3")
    assert told["leader"] == {"component": 0, "host": "n1", "address": "10.0.0.1", "port": 23456}
    assert (told["world_size"], told["nnodes"]) == (9, 4)
    assert (told["rank_offsets"], told["node_offsets"]) == ([0, 6], [0, 2])
    assert [part["rank_offset"] for part in told["components"]] == [0, 6]
    nodes = told["components"][1]["nodes"]
    assert [(node["name"], node["slots"]) for node in nodes] == [("m1", 2), ("m2", 1)]


def test_a_leader_that_has_told_nothing_has_a_port_all_the_same() -> None:
    peers = (Peer("delft", 1, ("n1",), secret="s"), Peer("leiden", 1))
    leader = json.loads(peers_file(peers))["leader"]
    assert (leader["host"], leader["address"]) == ("n1", "n1")
    assert leader == json.loads(peers_file(peers))["leader"] and 20000 <= leader["port"] < 32768


def test_a_component_tells_of_its_nodes_and_reads_of_all(
    tmp_path: Path, wrappers: Wrappers
) -> None:
    path = with_tool(
        tmp_path,
        "getent",
        "printf '%s\\n' '10.9.0.1 STREAM n1.here' '10.9.0.1 DGRAM' '10.9.0.2 STREAM n2'",
    )
    it = replace(order(tmp_path, script=SEEN), component=1)
    running = wrappers.waiting(
        it, SLURM_JOB_NODELIST="n1,n2,n3", SLURM_TASKS_PER_NODE="4,2(x2)", PATH=path
    )
    record = (Path(it.gate) / "arrived").read_bytes()
    told, port = nodes_of(record)
    assert [node.name for node in told] == ["n1,n2,n3"], "one word, as the cluster wrote it"
    nodes = (Node("n1", ("10.9.0.1",), 16), Node("n3", (), 4))
    peers = (Peer("delft", 20, ("n1", "n3"), nodes, port), Peer("leiden", 8, ("m1",), secret="s"))
    gates().introduce(it.gate, peers)
    gates().arm(it.gate)
    running.until("ready")
    gates().open(it.gate, peers)
    code, out, err = running.end()
    assert (code, err) == (0, b"")
    assert out.decode().splitlines() == [
        "METABROKER_MASTER_ADDR=10.9.0.1",
        f"METABROKER_MASTER_PORT={port}",
        "METABROKER_NNODES=3",
        "METABROKER_NODE_RANK=2",
        "METABROKER_RANK_OFFSET=20",
        "METABROKER_WORLD_SIZE=28",
    ]


def test_nodes_of_slurm_and_of_pbs(tmp_path: Path, wrappers: Wrappers) -> None:
    path = with_tool(tmp_path, "scontrol", "printf 'n1\\nn2\\nn3\\n'")
    it = order(tmp_path)
    wrappers.waiting(it, SLURM_JOB_NODELIST="n[1-3]", SLURM_TASKS_PER_NODE="4,2(x2)", PATH=path)
    told, port = nodes_of((Path(it.gate) / "arrived").read_bytes())
    assert [(node.name, node.slots) for node in told] == [("n1", 4), ("n2", 2), ("n3", 2)]
    assert port is not None
    nodefile = tmp_path / "nodefile"
    nodefile.write_text("p2\np2\np1\n")
    other = replace(it, gate=it.gate.replace("secret", "other"))
    wrappers.waiting(other, PBS_NODEFILE=str(nodefile))
    told, _ = nodes_of((Path(other.gate) / "arrived").read_bytes())
    assert [(node.name, node.slots) for node in told] == [("p2", 2), ("p1", 1)]


def test_a_single_component_has_it_all_where_its_script_names_the_tools(
    tmp_path: Path, wrappers: Wrappers
) -> None:
    script = SEEN + b"# metabroker-exchange\n"
    it = order(tmp_path, script=script)
    code, out, err = wrappers.single(it, SLURM_JOB_NODELIST="n7", SLURM_TASKS_PER_NODE="16")
    assert (code, err) == (0, b"")
    told = json.loads((Path(it.gate) / "peers.json").read_text())
    assert told["version"] == 2 and len(told["secret"]) == 32
    assert told["world_size"] == 16 and told["leader"]["host"] == "n7"
    assert told["components"][0]["nodes"][0]["slots"] == 16
    assert f"METABROKER_MASTER_PORT={told['leader']['port']}" in out.decode()
