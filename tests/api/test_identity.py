"""Who asks, the kernel says."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from metabroker import accounts
from metabroker.api import identity
from metabroker.api.client import Client
from metabroker.api.identity import NoName, UserNames
from tests.api.fake import FakeService
from tests.api.raw import request
from tests.api.test_routes import WIRE
from tests.testbed.processes import captured

# Run as the other user: prints status and answer of one request.
_AS_OTHER = """
import json, os, socket, sys
from http.client import HTTPConnection
os.setgroups([]); os.setgid(int(sys.argv[1])); os.setuid(int(sys.argv[1]))
connection = HTTPConnection("localhost")
connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
connection.sock.connect(sys.argv[2])
headers = {"X-Remote-User": "root", "X-Forwarded-User": "root"}
connection.request(sys.argv[3], sys.argv[4], sys.stdin.buffer.read() or None, headers)
response = connection.getresponse()
print(json.dumps([response.status, json.loads(response.read())]))
"""


def as_other(uid: int, path: Path, method: str, url: str, body: object = None) -> tuple[int, dict]:  # type: ignore[type-arg]
    """The reply that a process of user `uid` gets."""
    done = subprocess.run(
        [sys.executable, "-c", _AS_OTHER, str(uid), str(path), method, url],
        input=b"" if body is None else json.dumps(body).encode(),
        capture_output=True,
        check=True,
        timeout=30,
    )
    status, answer = json.loads(done.stdout)
    return status, answer


def test_the_caller_is_the_one_who_connected(client: Client, service: FakeService) -> None:
    job = client.submit(WIRE)
    uid = os.geteuid()
    names = [entry.pw_name for entry in pwd.getpwall() if entry.pw_uid == uid]
    assert job["user"] == (names[0] if names else str(uid))
    assert service.callers[0].uid == os.geteuid()


@pytest.mark.root
def test_another_user_is_another_user(
    other_uid: int, socket_path: Path, service: FakeService
) -> None:
    status, job = as_other(other_uid, socket_path, "POST", "/v1/jobs", WIRE)
    assert status == 200
    assert job["user"] == str(other_uid)  # an id without a name
    assert service.callers[0].uid == other_uid


def test_names_are_remembered_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[int] = []

    def entry(uid: int) -> pwd.struct_passwd:
        looked_up.append(uid)
        return pwd.struct_passwd((f"user{uid}", "x", uid, uid, "", "/", "/bin/sh"))

    monkeypatch.setattr(accounts, "entry_by_uid", entry)
    monkeypatch.setattr(identity, "_MOST_NAMES", 3)
    names = UserNames()
    for uid in (1, 1, 2, 3, 1):
        assert names.caller(uid).user == f"user{uid}"
    assert looked_up == [1, 2, 3], "once each"
    assert (names.caller(4).user, names.caller(1).user) == ("user4", "user1")
    assert looked_up == [1, 2, 3, 4, 1], "no more than three are kept"


# Under a limit of open files: who root is, while all are in use; and again when they are not.
_EXHAUSTED = """
import os, resource
from metabroker import accounts
from metabroker.api.identity import UserNames, NoName
import ctypes, errno
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
kept, names = [], UserNames()
try:
    while True:
        kept.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
for look in (lambda: names.caller(1), lambda: names.caller(54321), lambda: names.uid("daemon")):
    try:
        print(look())
    except NoName as error:
        print("unknown:", error)
for each in kept:
    os.close(each)
print(names.caller(1).user, names.caller(54321).user, names.uid("daemon"))
"""


def test_a_look_up_that_fails_is_no_answer_and_is_not_remembered() -> None:
    done = captured([sys.executable, "-c", _EXHAUSTED], check=True)
    *failed, after = done.stdout.splitlines()
    assert len(failed) == 3 and all(line.startswith("unknown: ") for line in failed), done.stdout
    assert after == f"{pwd.getpwuid(1).pw_name} 54321 {pwd.getpwnam('daemon').pw_uid}"


def test_a_number_is_nobodys_name(monkeypatch: pytest.MonkeyPatch) -> None:
    root = pwd.getpwuid(0)
    monkeypatch.setattr(accounts, "entry_by_name", {"54321": root}.get)
    with pytest.raises(NoName, match="another user is called 54321"):
        UserNames().caller(54321)
    names = UserNames()
    assert names.caller(0).user == "root"
    monkeypatch.setattr(accounts, "entry_by_uid", lambda _uid: None)
    monkeypatch.setattr(identity, "_NAMES_LAST", 0.0)
    with pytest.raises(NoName, match="was root"):
        names.caller(0)


def test_the_socket_is_open_to_all_and_its_folder_is_not(socket_path: Path) -> None:
    assert socket_path.stat().st_mode & 0o777 == 0o666
    assert socket_path.parent.stat().st_mode & 0o022 == 0
    assert request(socket_path, "GET", "/v1/status")[0] == 200
