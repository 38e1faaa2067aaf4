"""Whom a connection counts for."""

from __future__ import annotations

import pytest

from metabroker.api.peers import host


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("10.1.2.3", "10.1.2.3", True),
        ("10.1.2.3", "10.1.2.4", False),
        ("::ffff:10.1.2.3", "10.1.2.3", True),
        # However they are written: who has a network has all of its addresses.
        ("fd00::1:2:3:4", "fd00::9:8:3:4", True),
        ("fd00::1", "fd00::1:2:3:4", True),
        ("2001:db8::1", "2001:db8:0:0:ffff::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::2%eth1", True),
    ],
)
def test_a_whole_network_of_ipv6_counts_as_one_host(one: str, other: str, same: bool) -> None:
    assert (host(one) == host(other)) is same
