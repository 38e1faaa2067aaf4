"""Slurm's short form of host lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.clusters.hostlist import MOST_HOSTS, expand


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ("n1", ["n1"]),
        ("n1,n2", ["n1", "n2"]),
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("n[1-3,7],login0", ["n1", "n2", "n3", "n7", "login0"]),
        ("n[08-11]", ["n08", "n09", "n10", "n11"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        ("gpu[1,3]-ib", ["gpu1-ib", "gpu3-ib"]),
        (" n[1-2] \n", ["n1", "n2"]),
        # What is no host list comes back as it is.
        ("n[1-", ["n[1-"]),
        ("n]1[", ["n]1["]),
        ("n[a-b]", ["n[a-b]"]),
        ("n[]", ["n[]"]),
        ("n[5-4]", ["n[5-4]"]),
        ("(null)", ["(null)"]),
    ],
)
def test_expand(text: str, names: list[str]) -> None:
    assert expand(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "n[0-999999999]",
        "n[0-99999][0-99999]",
        "a[0-9999]b[0-9999]c[0-9999]",
        ",".join(["n[0-9999]"] * 100),
        "n[" + "9" * 5000 + "]",
    ],
)
def test_a_list_without_end_is_cut(text: str) -> None:
    assert len(expand(text)) <= MOST_HOSTS


@given(st.text("n[]-,0123456789 x", max_size=30))
def test_any_text_gives_a_bounded_list(text: str) -> None:
    names = expand(text)
    assert len(names) <= MOST_HOSTS
    assert all(isinstance(name, str) and name for name in names)
