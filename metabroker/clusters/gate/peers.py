"""The peers file: who the components of a job are, where they run, and how to meet.

What a component tells of its nodes stands in its record of arrival, behind its hosts, a word for
all of them: `slots=4,4 addresses=10.0.0.1+10.1.0.1,10.0.0.2 port=23456`. It is a user's to write:
what cannot be is left out.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from metabroker.clusters.port import Node, Peer

from .records import hosts_of

PEERS = "peers.json"
VERSION = 2
_MOST_SLOTS = 1_000_000  # of a node
_MOST_ADDRESSES = 8  # of a node
_PORTS = range(1024, 65536)
_FIRST_PORT, _SOME_PORTS = 20_000, 12_000


def nodes_of(record: bytes) -> tuple[tuple[Node, ...], int | None]:
    """A component's nodes, and a port that is free on the first, by its record of arrival."""
    hosts = hosts_of(record)
    told = dict(_told(record))
    slots = [_number(word, _MOST_SLOTS) for word in told.get("slots", "").split(",")]
    addresses = [_addresses(word) for word in told.get("addresses", "").split(",")]
    if len(slots) != len(hosts):
        slots = [None] * len(hosts)
    if len(addresses) != len(hosts):
        addresses = [()] * len(hosts)
    port = _number(told.get("port", ""), _PORTS[-1])
    return (
        tuple(map(Node, hosts, addresses, slots)),
        port if port is not None and port in _PORTS else None,
    )


def _told(record: bytes) -> Iterator[tuple[str, str]]:
    for word in record.decode("ascii", "replace").split():
        name, given, value = word.partition("=")
        if given:
            yield name, value


def _number(word: str, most: int) -> int | None:
    if not (word.isascii() and word.isdigit() and len(word) < 10):
        return None
    return int(word) if 1 <= int(word) <= most else None


def _addresses(word: str) -> tuple[str, ...]:
    found = []
    for one in word.split("+")[:_MOST_ADDRESSES]:
        try:
            address = ipaddress.ip_address(one)
        except ValueError:
            continue
        if address.is_link_local or address.is_multicast or address.is_unspecified:
            continue
        found.append(str(address))
    return tuple(dict.fromkeys(found))


def peers_file(peers: Sequence[Peer]) -> bytes:
    """The content of the peers file. What a component's wrapper reads of it stands in its first
    lines, each on one; the components follow, each on one."""
    first = peers[0] if peers else Peer("", 0)
    nodes = [_nodes(peer) for peer in peers]
    sizes = [sum(node["slots"] for node in each) for each in nodes]
    head = {
        "version": VERSION,
        "secret": first.secret,
        "leader": _leader(first),
        "world_size": sum(sizes),
        "nnodes": sum(map(len, nodes)),
        "rank_offsets": _before(sizes),
        "node_offsets": _before([len(each) for each in nodes]),
    }
    parts = [
        {
            "component": n,
            "cluster": peer.cluster,
            "processors": peer.processors,
            "hosts": [*peer.hosts],
            "rank_offset": offset,
            "nodes": each,
        }
        for n, (peer, each, offset) in enumerate(
            zip(peers, nodes, head["rank_offsets"], strict=True)
        )
    ]
    lines = [f" {json.dumps(name)}: {json.dumps(value)},\n" for name, value in head.items()]
    told = ",\n".join(f"  {json.dumps(part)}" for part in parts)
    return "".join(("{\n", *lines, f' "components": [\n{told}\n ]\n}}\n')).encode()


def _nodes(peer: Peer) -> list[dict[str, Any]]:
    """Its nodes; where it has not told how many tasks each has, as even as they can be."""
    known = {node.name: node for node in peer.nodes}
    nodes = [known.get(host, Node(host)) for host in peer.hosts]
    told = all(node.slots for node in nodes)
    each, more = divmod(peer.processors, max(1, len(nodes)))
    return [
        {
            "name": node.name,
            "addresses": [*node.addresses],
            "slots": node.slots if told else each + (n < more),
        }
        for n, node in enumerate(nodes)
    ]


def _leader(first: Peer) -> Mapping[str, Any]:
    """Where the first component's first host can be met, and on which port."""
    host = first.hosts[0] if first.hosts else None
    addresses = next((node.addresses for node in first.nodes if node.name == host), ())
    some = int(hashlib.sha256(first.secret.encode()).hexdigest()[:8], 16) % _SOME_PORTS
    return {
        "component": 0,
        "host": host,
        "address": addresses[0] if addresses else host,
        "port": first.port or _FIRST_PORT + some,
    }


def _before(sizes: Sequence[int]) -> list[int]:
    return [0, *accumulate(sizes)][: len(sizes)]
