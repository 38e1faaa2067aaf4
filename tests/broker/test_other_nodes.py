"""What jobs would hold, once clusters have other nodes."""

from __future__ import annotations

from metabroker.broker.observation import NodeKind

from .test_holdings import ALONE, LARGE, House, house, made

__all__ = ["made"]


def test_what_was_found_by_other_nodes_keeps_nobody_back(made: list[House]) -> None:
    small = (NodeKind(16, count=64),)
    sizes = {"delft": 1024, "leiden": 1024}
    it = house(made, sizes, {"delft": LARGE, "leiden": small}, 80, policy="LP-GF")
    it.submit(24, local=1)
    job = it.submit(1, shape=ALONE, local=0)  # a node of 64 there, beside 24 of 80
    assert it.held_back() == {job.id}
    it.nodes = {"delft": small, "leiden": small}
    it.look()
    assert it.where(job) == ["delft"] and it.used() == 40
