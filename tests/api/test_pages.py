"""Long lists are made and sent page by page, and are the same JSON documents all the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from metabroker.api.client import Client, ClientError, LostReply
from metabroker.api.pages import Pages, encoded, page
from metabroker.api.service import Failure, Json, ServiceError, answered
from metabroker.submission.model import Caller
from tests.api.fake import FakeService, serving


class LongLists(FakeService):
    """Its history is so many pages of two jobs each; `made`: those that were made."""

    def __init__(self, pages: int, fails_at: int | None = None) -> None:
        super().__init__()
        self.pages, self.fails_at, self.made = pages, fails_at, 0

    def call(self, caller: Caller, name: str, arguments: Mapping[str, Any]) -> Future[Json]:
        if name != "history":
            return super().call(caller, name, arguments)
        return answered({"jobs": Pages(self._pages())})

    def _pages(self) -> Iterator[bytes]:
        for number in range(self.pages):
            if number == self.fails_at:
                raise ServiceError(Failure.UNAVAILABLE, "the store is away")
            self.made += 1
            yield page([{"job": 2 * number}, {"job": 2 * number + 1, "reason": "a\nline"}])


def _jobs(pages: int) -> list[Json]:
    return [{"job": n, "reason": "a\nline"} if n % 2 else {"job": n} for n in range(2 * pages)]


@pytest.mark.parametrize("pages", [0, 1, 2, 7])
def test_a_list_in_pages_is_the_document_that_it_would_be_in_one_piece(
    folder: Path, pages: int
) -> None:
    path = folder / "mb.sock"
    with serving(LongLists(pages), path):
        client = Client(path)
        assert client.get("history") == {"jobs": _jobs(pages)}
        found = list(client.pages("history", "jobs"))
        assert [job for some in found for job in some] == _jobs(pages)
        assert len(found) == pages


def test_a_list_in_one_piece_is_one_page(client: Client) -> None:
    assert list(client.pages("history", "jobs")) == [[]]


def test_a_page_is_not_made_before_the_ones_before_it_are_read(folder: Path) -> None:
    path, service = folder / "mb.sock", LongLists(100_000)
    with serving(service, path):
        pages = Client(path).pages("history", "jobs")
        assert next(pages)[0] == {"job": 0}
        assert service.made < 100_000  # what the sockets and buffers take
        del pages  # whose connection ends the answer


def test_an_answer_that_is_cut_off_is_not_taken_for_whole(folder: Path) -> None:
    path = folder / "mb.sock"
    with serving(LongLists(5, fails_at=3), path):
        client = Client(path, patience=0.1)
        pages = client.pages("history", "jobs")
        with pytest.raises(LostReply):
            for number, _ in enumerate(pages):
                assert number < 3
        with pytest.raises(LostReply):
            client.get("history")


def test_what_fails_before_the_first_pages_are_sent_is_told(folder: Path) -> None:
    path = folder / "mb.sock"
    service = serving(LongLists(5, fails_at=0), path)
    with service, pytest.raises(ClientError, match="the store is away"):
        Client(path, patience=0.1).pages("history", "jobs")


def test_other_keys_stand_before_the_pages() -> None:
    answer = {"jobs": Pages([page([{"job": 1}])]), "more": True}
    assert json.loads(b"".join(encoded(answer))) == {"more": True, "jobs": [{"job": 1}]}
