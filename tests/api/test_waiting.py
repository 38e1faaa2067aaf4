"""Waiting: many at once, those who leave, and a daemon that restarts."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from metabroker.api.client import Client, ClientError, Json
from metabroker.api.server import ApiServer
from tests.api.fake import FakeService
from tests.api.raw import RawConnection, request
from tests.api.test_routes import WIRE
from tests.daemon.harness import eventually


def waiting(path: Path, job: int) -> RawConnection:
    """A connection that has asked to wait and not read its reply."""
    connection = RawConnection(path)
    connection.request("GET", f"/v1/jobs/{job}/wait?timeout=60")
    return connection


def test_a_wait_ends_with_its_job(client: Client, service: FakeService) -> None:
    client.submit(WIRE)
    ended: list[Json] = []
    thread = threading.Thread(target=lambda: ended.append(client.wait(1, lambda news: None)))
    thread.start()
    eventually(lambda: service.waiting(1) == 1)
    service.end(1, "FAILED", 7)
    thread.join(60)
    assert [(job["state"], job["exit_code"]) for job in ended] == [("FAILED", 7)]


def test_a_wait_for_an_ended_job_ends_at_once(client: Client, service: FakeService) -> None:
    client.submit(WIRE)
    service.end(1)
    assert client.wait(1, lambda news: None)["state"] == "COMPLETED"


def test_a_wait_that_takes_too_long_answers_the_job_as_it_is(
    socket_path: Path, client: Client, service: FakeService
) -> None:
    client.submit(WIRE)
    for timeout in ("0", "0.2", "-5"):
        status, job = request(socket_path, "GET", f"/v1/jobs/1/wait?timeout={timeout}")
        assert (status, job["state"]) == (200, "QUEUED")
    eventually(lambda: service.waiting(1) == 0)


def test_a_wait_for_no_job_is_refused(client: Client) -> None:
    with pytest.raises(ClientError, match="no job 5"):
        client.wait(5, lambda news: None)


def test_many_may_wait_while_others_are_served(
    socket_path: Path, client: Client, service: FakeService
) -> None:
    client.submit(WIRE)
    connections = [waiting(socket_path, 1) for _ in range(300)]
    eventually(lambda: service.waiting(1) == 300)
    assert client.get("status")
    assert client.submit(WIRE)["job"] == 2
    assert service.waiting(1) == 300, "they were served first"
    service.end(1)
    for connection in connections:
        assert connection.getresponse().status == 200
        connection.close()


def test_who_leaves_is_forgotten(socket_path: Path, client: Client, service: FakeService) -> None:
    client.submit(WIRE)
    connections = [waiting(socket_path, 1) for _ in range(20)]
    eventually(lambda: service.waiting(1) == 20)
    for connection in connections:
        connection.close()
    eventually(lambda: service.waiting(1) == 0)


def test_a_stop_does_not_wait_for_those_who_wait(folder: Path, service: FakeService) -> None:
    server = ApiServer(service, folder / "mb.sock")
    server.start()
    Client(folder / "mb.sock").submit(WIRE)
    connection = waiting(folder / "mb.sock", 1)
    eventually(lambda: service.waiting(1) == 1)
    server.stop()
    # Nobody has ended the job, and the wait would have gone on: it was told of the stop.
    assert connection.getresponse().status == 503
    connection.close()
    assert service.waiting(1) == 0


def test_a_wait_outlives_the_daemon(folder: Path, service: FakeService) -> None:
    server = ApiServer(service, folder / "mb.sock")
    server.start()
    client = Client(folder / "mb.sock", timeout=60.0)
    client.submit(WIRE)
    news: list[Json | ClientError] = []
    ended: list[Json] = []
    thread = threading.Thread(target=lambda: ended.append(client.wait(1, news.append)))
    thread.start()
    eventually(lambda: service.waiting(1) == 1)
    server.stop()
    eventually(lambda: any(isinstance(item, ClientError) for item in news))
    server.start()
    eventually(lambda: service.waiting(1) == 1)
    service.end(1)
    thread.join(60)
    assert ended[0]["state"] == "COMPLETED"
