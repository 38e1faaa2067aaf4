"""Durations and addresses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.config.errors import ConfigRefusal
from metabroker.config.values import (
    LONGEST,
    Address,
    address,
    duration_text,
    seconds,
    whole_seconds,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5s", 5), ("10m", 600), ("24h", 86400), ("2d", 172800), (7, 7), (0.5, 0.5), ("500ms", 0.5),
        ("1.5h", 5400), (" 3 m ", 180), ("90", 90),
    ],
)  # fmt: skip
def test_durations(text: object, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize(
    "text", ["", "s", "5 parsecs", "-1s", "1e3s", "٣s", None, [], {}, True, 0, -1]
)
def test_what_is_no_duration(text: object) -> None:
    with pytest.raises(ConfigRefusal):
        seconds(text)


@given(st.integers(1, LONGEST))
def test_a_written_duration_reads_back(amount: int) -> None:
    assert whole_seconds(duration_text(amount)) == amount


@given(st.integers(1, 10**9))
def test_a_written_fraction_reads_back(milliseconds: int) -> None:
    amount = milliseconds / 1000
    if amount <= LONGEST:
        assert seconds(duration_text(amount)) == pytest.approx(amount, abs=1e-6)


@pytest.mark.parametrize("text", ["127.0.0.1:9798", "localhost:0", "[::1]:80", "0.0.0.0:65535"])
def test_addresses_read_back(text: str) -> None:
    found = address(text)
    assert isinstance(found, Address)
    assert str(found) == text


@pytest.mark.parametrize(
    "text", ["", ":80", "host", "host:", "host:65536", "a b:1", 9798, "::1:80"]
)
def test_what_is_no_address(text: object) -> None:
    with pytest.raises(ConfigRefusal):
        address(text)
