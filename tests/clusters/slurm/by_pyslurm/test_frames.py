"""Messages over pipes."""

from __future__ import annotations

import contextlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.clusters.slurm.by_pyslurm.pyslurm_helper import frames

MESSAGES = st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.text()))


@given(st.lists(MESSAGES))
def test_what_goes_in_comes_out(messages: list[dict[str, object]]) -> None:
    pipe = io.BytesIO(b"".join(frames.packed(message) for message in messages))
    found = []
    while (message := frames.read(pipe)) is not None:
        found.append(message)
    assert found == messages


@given(st.binary())
def test_anything_is_a_message_or_a_bad_frame(body: bytes) -> None:
    with contextlib.suppress(frames.BadFrame):
        assert isinstance(frames.unpacked(body), dict)


def test_a_length_beyond_any_message_is_no_message() -> None:
    with pytest.raises(frames.BadFrame):
        frames.length(b"HTTP")
    assert frames.length(b"\0\0\0\5") == 5
