"""Many submissions under faults of the socket: each ends with a durable job's number, or with an
error that says what is known. METABROKER_TEST_SUBMISSIONS=20000 (`make submissions`) for more."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from metabroker.api import client as client_module
from metabroker.api.client import Client, ClientError, LostReply
from metabroker.api.middleware import Middleware
from metabroker.api.server import ApiServer
from metabroker.runtime import turns
from metabroker.submission.wire import to_wire
from tests.daemon_units.making import House, submission

MANY = int(os.environ.get("METABROKER_TEST_SUBMISSIONS", "300"))
AT_ONCE = 12


class Faulty:
    """A socket before another, which breaks connections at any point, by a seed."""

    def __init__(self, path: Path, behind: Path, seed: int) -> None:
        self._behind = str(behind)
        self._rng = random.Random(seed)
        self.seen: Counter[str] = Counter()
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listening.bind(str(path))
        self._listening.listen(64)
        self._pool = ThreadPoolExecutor(4 * AT_ONCE)
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()
        self._pool.shutdown()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            kind = self._rng.choices(
                ("whole", "at once", "request cut", "no reply", "reply cut"), (6, 1, 1, 2, 1)
            )[0]
            self.seen[kind] += 1
            self._pool.submit(self._pass, near, kind, self._rng.random())

    def _pass(self, near: socket.socket, kind: str, part: float) -> None:
        with near, contextlib.suppress(OSError):
            near.settimeout(30)
            if kind == "at once":
                return
            request = _whole(near)
            if kind == "request cut":
                request = request[: int(part * len(request))]
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as far:
                far.settimeout(30)
                far.connect(self._behind)
                far.sendall(request)
                if kind == "request cut":
                    return
                if kind == "no reply" and part < 0.5:
                    return  # while it is being carried out
                reply = _whole(far)
                if kind == "no reply":
                    return
                near.sendall(reply[: int(part * len(reply))] if kind == "reply cut" else reply)


def _whole(connection: socket.socket) -> bytes:
    """One message of HTTP with its length."""
    found = b""
    while b"\r\n\r\n" not in found:
        piece = connection.recv(65536)
        if not piece:
            return found
        found += piece
    head, _, body = found.partition(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1])
        for line in head.lower().splitlines()
        if line.startswith(b"content-length:")
    )
    while len(body) < length:
        piece = connection.recv(65536)
        if not piece:
            break
        body += piece
    return head + b"\r\n\r\n" + body


def test_every_number_is_a_job_and_every_job_is_known(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "_LONGEST_PAUSE", 0.1)
    monkeypatch.setattr(turns, "_STORE_RETRY", 0.02)
    house = House(folder, submitters=("root",))
    server = ApiServer(house.service, folder / "behind.sock", middleware=Middleware())
    server.start()
    faulty = Faulty(folder / "mb.sock", folder / "behind.sock", seed=MANY)

    def one(number: int) -> tuple[str, int | None]:
        # A third of them has the patience for one try alone.
        patience = 20.0 if number % 3 else 0.0
        client = Client(folder / "mb.sock", timeout=20.0, patience=patience)
        try:
            wire = to_wire(submission(str(folder), name=f"job-{number}", hold=True))
            return "told", int(client.submit(wire)["job"])
        except LostReply:
            return "lost", None
        except ClientError as error:
            print(number, repr(error))
            return "refused", None

    def stumble() -> None:
        """The store fails now and then, before and after it has written."""
        turns = 0
        while not done.wait(0.05):
            turns += 1
            house.store.down = ("before", "", "", "after", "", "", "")[turns % 7]
        house.store.down = ""

    done = threading.Event()
    stumbling = threading.Thread(target=stumble)
    stumbling.start()
    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            ends = list(pool.map(one, range(MANY)))
    finally:
        done.set()
        stumbling.join()
        faulty.close()
        server.stop()
    found = house.store.jobs.rows()
    rows = {row["name"]: row["id"] for row in found}
    house.close()
    assert len(rows) == len(found), "each once"
    for number, (end, job) in enumerate(ends):
        name = f"job-{number}"
        if end == "told":
            assert rows.get(name) == job, f"{name}: {job} was told, and {rows.get(name)} is there"
        elif end == "refused":
            assert name not in rows, f"{name} is queued, and its user was told that it is not"
    counted = Counter(end for end, _ in ends)
    assert counted["told"] > MANY / 2 and min(faulty.seen.values()) > 5, (counted, faulty.seen)
