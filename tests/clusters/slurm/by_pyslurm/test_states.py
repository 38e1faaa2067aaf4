"""States of nodes, from Slurm's whole words to sinfo's one."""

from __future__ import annotations

import pytest

from metabroker.clusters.slurm.by_pyslurm.pyslurm_helper.states import node_word
from metabroker.clusters.slurm.states import is_unsettled, takes_jobs


@pytest.mark.parametrize(
    ("state", "allocated", "word"),
    [
        ("IDLE", 0, "idle"),
        ("ALLOCATED", 4, "mixed"),
        ("ALLOCATED", 16, "allocated"),
        ("MIXED", 4, "mixed"),
        ("IDLE+RESERVED", 0, "reserved"),
        ("IDLE+COMPLETING", 0, "completing"),
        ("IDLE+PLANNED", 0, "planned"),
        ("MIXED+PLANNED", 4, "mixed-"),
        ("IDLE+MAINTENANCE", 0, "idle$"),
        ("IDLE+CLOUD+POWERED_DOWN", 0, "idle~"),  # it is woken up for whoever gets it
        ("IDLE+POWERING_UP", 0, "idle#"),
    ],
)
def test_nodes_that_take_jobs(state: str, allocated: int, word: str) -> None:
    assert node_word(state, allocated, 16) == word
    assert takes_jobs(word)


@pytest.mark.parametrize(
    ("state", "word"),
    [
        ("DOWN", "down"),
        ("DOWN+NOT_RESPONDING", "down*"),
        ("IDLE*", "idle*"),
        ("IDLE+DRAIN", "drained"),
        ("MIXED+DRAIN+RESERVED", "drained"),
        ("IDLE+FAIL", "fail"),
        ("IDLE+INVALID_REG", "inval"),
        ("IDLE+REBOOT_REQUESTED", "idle@"),
        ("FUTURE", "future"),
        ("something new", "something new"),
    ],
)
def test_nodes_that_do_not(state: str, word: str) -> None:
    assert node_word(state, 0, 16) == word
    assert not takes_jobs(word)


def test_a_node_that_its_controller_does_not_know_yet() -> None:
    assert is_unsettled(node_word("UNKNOWN", 0, 16))
    assert is_unsettled(node_word("UNKNOWN+NOT_RESPONDING", 0, 16))
