"""What each route answers, and that no request, however wrong, gets anything but JSON."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import gc
import json
import logging
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NoReturn

import pytest

from metabroker.api.client import Client, ClientError
from metabroker.api.fair_executor import FairExecutor
from metabroker.api.routes import Routes
from metabroker.api.server import LARGEST_BODY
from metabroker.api.service import Failure, Json, ServiceError
from metabroker.submission.model import Caller, Submission
from tests.api.fake import FakeService, serving
from tests.api.raw import RawConnection, request

WIRE: dict[str, Any] = {
    "script": base64.b64encode(b"#!/bin/sh\necho hello\n").decode(),
    "script_name": "job.sh",
    "processors": {"single": 4},
    "chdir": "/",
}


def submit(path: Path, wire: object) -> tuple[int, Any]:
    return request(path, "POST", "/v1/jobs", json.dumps(wire).encode())


def test_a_job_is_queued_shown_and_cancelled(client: Client, service: FakeService) -> None:
    job = client.submit(WIRE)
    assert (job["job"], job["state"]) == (1, "QUEUED")
    assert service.submissions[1].script == b"#!/bin/sh\necho hello\n"
    assert client.get("jobs")["jobs"][0]["job"] == 1
    assert client.get("jobs/1")["events"]
    assert client.change(1, "hold")["state"] == "HELD"
    assert client.change(1, "release")["state"] == "QUEUED"
    assert client.change(1, "cancel")["state"] == "CANCELLED"
    assert client.submit(WIRE)["job"] == 2
    assert client.change(2, "abandon")["state"] == "FAILED"
    assert client.get("jobs") == {"jobs": []}
    assert [job["job"] for job in client.get("history")["jobs"]] == [1, 2]


def test_clusters_are_drained_and_resumed(client: Client, socket_path: Path) -> None:
    drained = client.change_cluster("delft", "drain", reason="new cables")["drained"]
    assert drained["reason"] == "new cables"
    assert client.change_cluster("delft", "resume")["drained"] is None
    wrong: list[object] = [{"reason": 7}, {"reason": "x" * 401}, []]
    for body in wrong:
        path = "/v1/clusters/delft/drain"
        assert request(socket_path, "POST", path, json.dumps(body).encode())[0] == 400


def test_the_other_reading_routes(client: Client) -> None:
    assert [cluster["name"] for cluster in client.get("clusters")["clusters"]] == [
        "delft",
        "leiden",
    ]
    assert client.get("status")["version"] == "0.1.0"


@pytest.mark.parametrize("names", [[], [1], "all", {}, 7])
def test_leftovers_are_removed_by_their_names(socket_path: Path, names: object) -> None:
    body = json.dumps({"names": names}).encode()
    status, answer = request(socket_path, "POST", "/v1/leftovers/remove", body)
    assert status == 400 and "list of names" in answer["error"]


def test_a_dry_run_queues_nothing(client: Client) -> None:
    assert client.dry_run(WIRE)["dry_run"] is True
    assert client.get("jobs") == {"jobs": []}


def test_lists_are_selected(client: Client, service: FakeService) -> None:
    for _ in range(4):
        client.submit(WIRE)
    assert len(client.get("jobs", limit=2)["jobs"]) == 2
    assert client.get("jobs", user="nobody-of-that-name") == {"jobs": []}
    service.end(1)
    end = client.get("jobs/1")["end_time"]
    assert len(client.get("history", since=end - 1, until=end + 1)["jobs"]) == 1
    assert client.get("history", since=end + 1)["jobs"] == []


def test_a_refusal_has_its_status_message_and_advice(socket_path: Path) -> None:
    assert request(socket_path, "GET", "/v1/jobs/7") == (
        404,
        {"error": "there is no job 7", "advice": "`metabroker queue` lists the jobs"},
    )
    status, answer = submit(socket_path, {**WIRE, "processors": {"single": 999}})
    assert (status, answer["advice"]) == (400, "the largest has 144")


def test_a_change_of_an_ended_job_is_a_conflict(client: Client, service: FakeService) -> None:
    client.submit(WIRE)
    service.end(1)
    with pytest.raises(ClientError) as caught:
        client.change(1, "cancel")
    assert caught.value.status == 409


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[", b"nonsense", b"\xff\xfe\xfd", b"null", b"[]", b"5", b'"x"', b"{}",
        b"[" * 200_000, b'{"a":' * 100_000, b"9" * 10_000, b'{"script": NaN}', b"\0" * 100,
    ],
    ids=lambda body: f"{body[:12]!r}",
)  # fmt: skip
def test_a_body_that_is_no_submission(socket_path: Path, body: bytes) -> None:
    status, answer = request(socket_path, "POST", "/v1/jobs", body)
    assert status == 400
    assert set(answer) == {"error", "advice"}
    assert "Traceback" not in answer["error"]


@pytest.mark.parametrize(
    "wire",
    [
        {**WIRE, "user": "root"},
        {**WIRE, "uid": 0},
        {**WIRE, "script": base64.b64encode(b"").decode()},
        {**WIRE, "script": base64.b64encode(b"\x7fELF\0").decode()},
        {**WIRE, "script": base64.b64encode(b"#!/bin/sh\n" + b"#" * (4 * 1024 * 1024)).decode()},
        {**WIRE, "processors": {"single": 0}},
        {**WIRE, "processors": {"single": 4, "total": 4}},
        {**WIRE, "name": "a\nb"},
        {**WIRE, "name": "x" * 5000},
    ],
    ids=range(9),
)
def test_the_daemon_checks_what_the_command_line_has_checked(socket_path: Path, wire: Json) -> None:
    status, answer = submit(socket_path, wire)
    assert status == 400
    assert answer["error"]
    assert answer["advice"]


def test_strange_names_are_data(socket_path: Path, service: FakeService) -> None:
    for name in ("it's", "$(reboot)", "a;b", '"', "漢字", "x" * 255):
        status, answer = submit(socket_path, {**WIRE, "name": name})
        assert (status, answer["name"]) == (200, name)


def test_the_client_hears_that_its_body_is_too_large(client: Client) -> None:
    with pytest.raises(ClientError) as caught:
        client.submit({**WIRE, "args": ["x" * (LARGEST_BODY + 1)]})
    assert caught.value.status == 413


@pytest.mark.parametrize(
    ("method", "url", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/v2/jobs", 404),
        ("GET", "/v1/jobs/", 404),
        ("GET", "/v1/jobs/x", 404),
        ("GET", "/v1/jobs/-1", 404),
        ("GET", "/v1/jobs/%D9%A3", 404),
        ("GET", f"/v1/jobs/{'9' * 30}", 404),
        ("GET", "/v1/jobs/../status", 404),
        ("GET", "/v1/jobs/1/wait", 404),
        ("POST", "/v1/jobs/1/cancel", 404),
        ("POST", "/v1/jobs/1/destroy", 404),
        ("DELETE", "/v1/jobs/1", 405),
        ("POST", "/v1/clusters", 405),
        ("POST", "/v1/leftovers/remove", 400),
        ("GET", "/v1/leftovers/remove", 405),
        ("GET", "/v1/jobs?limit=0", 400),
        ("GET", "/v1/jobs?limit=x", 400),
        ("GET", "/v1/jobs?limit=1.5", 400),
        ("GET", "/v1/history?since=nan", 400),
        ("GET", "/v1/history?since=1e99", 400),
    ],
)
def test_wrong_requests(socket_path: Path, method: str, url: str, status: int) -> None:
    answered, answer = request(socket_path, method, url)
    assert answered == status
    assert set(answer) == {"error", "advice"}


def test_what_is_no_http_does_no_harm(socket_path: Path, client: Client) -> None:
    for noise in (b"\0" * 100, b"GET\r\n\r\n", b"x" * 100_000, b""):
        connection = RawConnection(socket_path)
        connection.connect()
        connection.send(noise)
        connection.close()
    assert client.get("status")


class Broken(FakeService):
    """A daemon with a bug."""

    def clusters(self) -> list[Json]:
        raise RuntimeError("secret of the inside")


class Hungry(FakeService):
    """Its memory is used up."""

    def submit(self, caller: Caller, submission: Submission) -> NoReturn:
        raise MemoryError


def test_too_little_memory_leaves_it_open_whether_it_was_done(folder: Path) -> None:
    with serving(Hungry(), folder / "mb.sock"):
        status, answer = submit(folder / "mb.sock", WIRE)
    assert status == 504
    assert "memory" in answer["error"] and "check" in answer["advice"]


def test_a_bug_is_logged_and_not_told(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    with serving(Broken(), folder / "mb.sock"), caplog.at_level(logging.ERROR):
        status, answer = request(folder / "mb.sock", "GET", "/v1/clusters")
    assert status == 500
    assert "secret" not in json.dumps(answer)
    assert "secret of the inside" in caplog.text


@pytest.mark.parametrize("refused", ["at once", "later"])
def test_a_refusal_that_nobody_hears_any_more_is_no_accident(
    refused: str, caplog: pytest.LogCaptureFixture
) -> None:
    class Asked(Routes):
        def __init__(self) -> None:
            self._fair = FairExecutor(1, "api")
            self.stopping = asyncio.Event()
            self.stopping.set()  # else it would be waited for

    error = ServiceError(Failure.CONFLICT, "job 1 has ended")
    goes_on = threading.Event()
    later: list[Future[Json]] = [Future()]  # the last who knows of it hears what nobody has heard

    def change() -> Future[Json]:
        goes_on.wait(10)
        if refused == "at once":
            raise error
        return later[0]

    async def ask_and_leave() -> None:
        routes = Asked()
        if refused == "later":
            goes_on.set()
        asked = asyncio.create_task(routes._done(Caller(0, "root"), change))
        await asyncio.sleep(0.05)
        asked.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asked
        goes_on.set()
        later.pop().set_exception(error)
        await asyncio.sleep(0.05)
        del asked
        gc.collect()

    asyncio.run(ask_and_leave())
    gc.collect()
    assert not [record for record in caplog.records if record.name == "asyncio"]
