"""Messages over pipes: the length in four bytes, then so many bytes of JSON."""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO

HEAD = struct.Struct(">I")
LARGEST = 64 << 20
"""Bytes of one message."""


class BadFrame(Exception):
    """What came is no message."""


def packed(message: dict[str, Any]) -> bytes:
    """A message as it goes over the pipe."""
    body = json.dumps(message).encode("ascii")
    if len(body) > LARGEST:
        raise BadFrame(f"a message of {len(body)} bytes")
    return HEAD.pack(len(body)) + body


def length(head: bytes) -> int:
    """How many bytes follow these four.

    Raises:
        BadFrame: more than any message has.
    """
    (size,) = HEAD.unpack(head)
    if size > LARGEST:
        raise BadFrame(f"it begins with {head!r}")
    return int(size)


def unpacked(body: bytes) -> dict[str, Any]:
    """The message.

    Raises:
        BadFrame: it is none.
    """
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"no JSON: {body[:80]!r}") from error
    if not isinstance(message, dict):
        raise BadFrame(f"no message: {body[:80]!r}")
    return message


def read(pipe: BinaryIO) -> dict[str, Any] | None:
    """The next message of a pipe that is waited for; None at its end."""
    head = pipe.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    size = length(head)
    body = pipe.read(size)
    return unpacked(body) if len(body) == size else None
