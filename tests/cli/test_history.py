"""`history` prints as it reads, a page at a time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from metabroker.api.client import Client
from metabroker.cli import common
from metabroker.cli.history import history
from tests.api import shapes


class Paged(Client):
    """Answers that it was given, one page for each request."""

    def __init__(self, *pages: list[int], older: bool = False) -> None:
        self.asked: list[dict[str, object]] = []
        self._pages = [[_ended(number) for number in page] for page in pages]
        self._older = older

    def get(self, path: str, **query: object) -> Any:
        if path == "clusters":
            return {"clusters": [{"name": "delft", "processors": 16}]}
        self.asked.append(query)
        number = len(self.asked)
        follows = None if number == len(self._pages) else f"after {number}"
        return {"jobs": self._pages[number - 1], "next": follows, "older": self._older}


def _ended(number: int) -> dict[str, Any]:
    times = {"submit_time": 5000.0 - number, "start_time": 6000.0, "end_time": 6100.0}
    part = shapes.part(0, "COMPLETED", processors=4)
    return shapes.job(number, "COMPLETED", part, user="alice", time_limit=60, **times)


def printed(
    client: Paged, monkeypatch: Any, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[str, str]:
    monkeypatch.setattr(common, "connect", lambda _path: client)
    history.main(list(words), standalone_mode=False)
    found = capsys.readouterr()
    return found.out, found.err


@pytest.mark.parametrize("pages", [[[]], [[1]], [[1, 2], [3]]])
def test_json_is_one_document(pages: list[list[int]], monkeypatch: Any, capsys: Any) -> None:
    client = Paged(*pages)
    out, err = printed(client, monkeypatch, capsys, "--json")
    whole = {"jobs": [_ended(number) for page in pages for number in page]}
    assert out == json.dumps(whole, indent=2) + "\n" and err == ""
    follows = [query["after"] for query in client.asked]
    assert follows == [None, "after 1"][: len(pages)]


def test_a_table_goes_on_with_its_columns(monkeypatch: Any, capsys: Any) -> None:
    out, err = printed(Paged([1, 2], [3], older=True), monkeypatch, capsys)
    lines = out.splitlines()
    assert lines[0].split()[:3] == ["JOB", "NAME", "USER"] and len(lines) == 4
    assert len({line.index("COMPLETED") for line in lines[1:]}) == 1
    assert "newest 1000" in err and "--all" in err


def test_who_gives_a_limit_is_told_nothing_more(monkeypatch: Any, capsys: Any) -> None:
    client = Paged([1, 2], older=True)
    assert printed(client, monkeypatch, capsys, "--limit", "2")[1] == ""
    assert client.asked[0]["limit"] == 2


def test_a_log_has_all_jobs_in_the_order_of_submission(monkeypatch: Any, capsys: Any) -> None:
    client = Paged([1, 2], [3])
    out, _err = printed(client, monkeypatch, capsys, "--swf")
    rows = [line.split() for line in out.splitlines() if not line.startswith(";")]
    assert [row[:2] for row in rows] == [["3", "0"], ["2", "1"], ["1", "2"]]
    assert client.asked[0]["limit"] == "all" and "; MaxJobs: 3" in out
