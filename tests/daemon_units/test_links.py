"""What the doctor makes of a trial between two clusters."""

from __future__ import annotations

from metabroker.clusters.examination import CheckOutcome
from metabroker.doctor.links import _judge

BOTH = ("delft", "leiden")
BACK = ("leiden", "delft")


def test_the_worse_direction_counts() -> None:
    report, link = _judge(BOTH, {BOTH: (0.4, 900.0, ""), BACK: (0.6, 700.0, "")}, None)
    assert report.well and (link.latency, link.bandwidth, link.said) == (0.6, 700.0, "")


def test_a_direction_that_is_closed_leaves_nothing_known_and_says_what_to_open() -> None:
    why = "192.0.2.1 port 20001: timed out"
    report, link = _judge(BOTH, {BOTH: (0.4, 900.0, ""), BACK: why}, None)
    assert not report.well and link.latency is None and link.bandwidth is None
    (wrong,) = [each for each in report.findings if each.outcome is CheckOutcome.MISSING]
    assert wrong.advice.startswith("open TCP from the nodes of leiden to those of delft: ports")
    assert link.said == f"a node of leiden does not reach one of delft: {why}"


def test_what_was_not_measured_is_no_failure() -> None:
    report, link = _judge(BOTH, {}, "lab: there is no python3 on its nodes")
    assert report.well and link.latency is None
    assert link.said == "lab: there is no python3 on its nodes"


def test_what_nodes_say_is_cleaned() -> None:
    _, link = _judge(BOTH, {BOTH: "bad\x1b[31m" + "x" * 999, BACK: (1.0, 1.0, "")}, None)
    assert link.said.isprintable() and len(link.said) <= 400


def test_a_node_met_at_another_address_is_told() -> None:
    note = "not by its first address, but by 192.0.2.7"
    report, link = _judge(BOTH, {BOTH: (1.0, 90.0, note), BACK: (1.0, 90.0, "")}, None)
    assert report.well and link.latency == 1.0 and link.said == note
