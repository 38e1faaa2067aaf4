"""HTTP as the command line reads it over a Unix socket."""

from __future__ import annotations

import contextlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.api.socket_http import BadReply, SocketReply

HEAD = b"HTTP/1.1 200 OK\r\n"
WHOLE = {
    b"Content-Length: 2\r\n\r\n{}": b"{}",
    b"content-length: 0\r\n\r\n": b"",
    b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;x=y\r\n}\r\n0\r\n\r\n": b"{}",
}


@pytest.mark.parametrize("text", WHOLE)
def test_a_reply_is_read_to_its_end_and_no_further(text: bytes) -> None:
    reply = SocketReply(io.BytesIO(HEAD + text + b"more"))
    assert (reply.status, reply.read()) == (200, WHOLE[text])


@pytest.mark.parametrize("text", WHOLE)
def test_a_reply_that_is_cut_off_anywhere_is_none(text: bytes) -> None:
    whole = HEAD + text
    for size in range(len(whole)):
        with pytest.raises(BadReply):
            SocketReply(io.BytesIO(whole[:size])).read()


def test_what_comes_before_the_reply_itself_is_passed_over() -> None:
    reply = SocketReply(
        io.BytesIO(b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + b"Retry-After: 3\r\n\r\n")
    )
    assert (reply.status, reply.header("retry-after"), reply.length) == (200, "3", None)


@given(st.binary(max_size=300))
def test_whatever_comes_is_read_or_no_reply(text: bytes) -> None:
    for source in (text, HEAD + text):
        with contextlib.suppress(BadReply):
            SocketReply(io.BytesIO(source)).read()
