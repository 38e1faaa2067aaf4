"""Answers with a list that is too long to be made at once: it is read, encoded and sent page by
page.

The JSON document is the same as it would be in one piece. It has line ends only where a page ends:
after `{"jobs":[`, after each page, and nowhere else. So a client may read it line by line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from metabroker.api.answers import encode
from metabroker.api.service import Json

PAGE = 500
"""Objects of one page: some hundred kilobytes."""


@dataclass(frozen=True, slots=True)
class Pages:
    """A list in an answer (`{"jobs": Pages(...)}`), at most one in each.

    `pages`: objects encoded by `page`. Each is made when the one before has been sent, in any
    thread, one at a time. What is wrong with the request must be raised by the first at the latest
    (`ServiceError`); an error later cuts the answer off, and the client knows it.
    """

    pages: Iterable[bytes]

    def objects(self) -> list[Json]:
        """All of them at once: for short lists only."""
        return [each for page in self.pages for each in json.loads(b"[%s]" % page)]


def page(objects: Sequence[Json]) -> bytes:
    """The objects as JSON, separated by commas."""
    # They are made for this alone, so that none is within itself.
    text = json.dumps(list(objects), separators=(",", ":"), check_circular=False)
    return text[1:-1].encode("ascii")


def encoded(answer: Json) -> Iterator[bytes]:
    """An answer as JSON, in pieces: one, unless it has `Pages`."""
    long = {key: value for key, value in answer.items() if isinstance(value, Pages)}
    if not long:
        yield encode(answer)
        return
    ((key, found),) = long.items()
    others: dict[str, Any] = {name: each for name, each in answer.items() if name != key}
    before = encode({**others, key: []})[:-2] + b"\n"
    for objects in found.pages:
        if objects:
            yield before + objects
            before = b",\n"
    yield (before if before != b",\n" else b"\n") + b"]}"
