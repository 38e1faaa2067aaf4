"""Local users take all that a daemon has: connections, descriptors, memory, the audit log's disk.
It goes on, and serves everybody else.

The daemon may have 256 files open, so that a few hundred connections are as 1,500 are elsewhere.
"""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.harness import Site
from tests.daemon.kinds import Simulated
from tests.daemon.test_offline import free_port

pytestmark = pytest.mark.root

FILES = 256
MEMORY = 150 * 1024  # KB that an attack may cost at its height
SUBMITTER, SCRAPER, ATTACKERS = "daemon", "bin", (12345, 12346)

# As a user: connects as often as it can, says half a request, and keeps at it until told to go.
_FLOOD = """
import encodings.idna, os, select, socket, sys
uid, where, most = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
os.setgroups([]); os.setgid(uid); os.setuid(uid)
kept, reached = [], 0
while True:
    while len(kept) < most:
        family = socket.AF_UNIX if where.startswith("/") else socket.AF_INET
        one = socket.socket(family, socket.SOCK_STREAM)
        one.settimeout(0.5)
        try:
            one.connect(where if where.startswith("/") else ("127.0.0.1", int(where)))
            reached += 1
            if reached == 50:
                print(reached, flush=True)
            one.sendall(b"GET /v1/status HTTP/1.1\\r\\nX: ")
        except OSError:
            one.close()
            break
        kept.append(one)
    for one in select.select(kept, [], [], 0)[0]:
        kept.remove(one)
        one.close()
    if select.select([sys.stdin], [], [], 0.05)[0]:
        break
"""

# As a user: sends what it is given so many times, and prints the first line of each answer.
_SEND = """
import encodings.idna, os, socket, sys
from concurrent.futures.thread import ThreadPoolExecutor
uid, where, times = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
os.setgroups([]); os.setgid(uid); os.setuid(uid)
said = sys.stdin.buffer.read()
def one(_):
    family = socket.AF_UNIX if where.startswith("/") else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as far:
        far.settimeout(60)
        far.connect(where if where.startswith("/") else ("127.0.0.1", int(where)))
        try:
            far.sendall(said)
        except OSError:
            pass
        try:
            answer = far.recv(65536)
        except OSError:
            return ""
        return answer.decode("ascii", "replace")
with ThreadPoolExecutor(16) as pool:
    for answer in pool.map(one, range(times)):
        print(answer.partition("\\r\\n")[0], answer.rpartition("\\r\\n")[2].partition("\\n")[0])
"""


class Attacked:
    """A daemon, and whoever attacks it."""

    def __init__(self, site: Site, port: int) -> None:
        self.site = site
        self.port = port

    def send(self, uid: int, said: bytes, times: int = 1, where: str = "") -> list[str]:
        """The first line of each answer to a user, with its body."""
        done = subprocess.run(
            [sys.executable, "-c", _SEND, str(uid), where or str(self.site.socket), str(times)],
            input=said,
            capture_output=True,
            check=True,
            timeout=120,
        )
        return done.stdout.decode().splitlines()

    def asked(self, uid: int, path: str) -> Any:
        (answer,) = self.send(uid, f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        return json.loads(answer.partition("{")[1] + answer.partition("{")[2])

    @contextmanager
    def flood(self, where: str) -> Iterator[None]:
        """Two users hold all the connections that they can get, and come again for more."""
        words = [sys.executable, "-c", _FLOOD]
        running = [
            subprocess.Popen(
                [*words, str(uid), where, "300"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            for uid in ATTACKERS
        ]
        try:
            for one in running:
                assert one.stdout is not None
                # How many it holds at once depends on what the other one holds.
                assert one.stdout.readline() == b"50\n", "it comes again and again"
            yield
        finally:
            for one in running:
                one.communicate(b"", timeout=60)

    def memory(self) -> int:
        """KB at its height."""
        status = Path(f"/proc/{self.site.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+)", status)
        assert found is not None
        return int(found[1])

    def audited(self) -> int:
        return sum(file.stat().st_size for file in self.site.folder.glob("audit.log*"))


@pytest.fixture(scope="module")
def attacked() -> Iterator[Attacked]:
    if os.geteuid() != 0:
        pytest.skip("taking other users' ids needs root")
    folder = Path(tempfile.mkdtemp(prefix="mb-"))
    folder.chmod(0o755)
    port = free_port()
    meet = folder / "meet"
    meet.mkdir()
    kind = Simulated(sizes={"delft": 8})
    site = Site(folder, kind)
    changes = {
        "metrics": f"127.0.0.1:{port}",
        "submitters": [SUBMITTER],
        "submitters_share_everything": True,
        "clusters": {"delft": {"shared_dir": str(meet)}},
    }
    site.configure(changes)
    site.prefix = ["prlimit", f"--nofile={FILES}:{FILES}"]
    site.start_and_look()
    yield Attacked(site, port)
    site.close()
    shutil.rmtree(folder, ignore_errors=True)


def uid_of(name: str) -> int:
    return pwd.getpwnam(name).pw_uid


def post(path: str, body: bytes, *headers: str) -> bytes:
    head = [f"POST {path} HTTP/1.1", "Host: x", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(head).encode() + body


def test_who_holds_all_connections_keeps_nobody_out_and_nobody_becomes_another(
    attacked: Attacked,
) -> None:
    with attacked.flood(str(attacked.site.socket)):
        for _ in range(20):
            name = attacked.asked(uid_of(SCRAPER), "/v1/whoami")["user"]
            assert name == SCRAPER, "and not its number"
        # The daemon has files left for its store and for its commands.
        job = attacked.site.submit("-n 1", "#!/bin/sh\nulimit -Sn > limit\n")
        attacked.site.wait_end(job, "COMPLETED")
    assert "Too many open files" not in attacked.site.log.read_text()


def test_two_users_do_not_hold_the_metrics_port(attacked: Attacked) -> None:
    with attacked.flood(str(attacked.port)):
        said = b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        for _ in range(10):
            (answer,) = attacked.send(uid_of(SCRAPER), said, where=str(attacked.port))
            assert answer.startswith("HTTP/1.1 200"), answer


def test_who_may_not_submit_is_refused_before_anything_is_read(attacked: Attacked) -> None:
    before = attacked.memory()
    bomb = b'{"args":' + b"[" + b"[],{}," * 1_300_000 + b"1]}"
    said = post("/v1/jobs", bomb)
    answers = attacked.send(ATTACKERS[0], said, times=32)
    assert {answer[:12] for answer in answers} <= {"HTTP/1.1 403", " "}, answers
    # Not even what was announced is waited for.
    (answer,) = attacked.send(ATTACKERS[0], said[:2000])
    assert answer.startswith("HTTP/1.1 403")
    assert attacked.memory() - before < MEMORY


def test_what_a_submitter_sends_is_bounded_too(attacked: Attacked) -> None:
    before, who = attacked.memory(), uid_of(SUBMITTER)
    wide = b'{"args":[' + b"[],{}," * 1_300_000 + b"1]}"
    deep = b'{"args":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    for body in (wide, deep, b'"' + b'\\"' * 4_000_000, b'{"a":' * 1_000_000):
        answers = attacked.send(who, post("/v1/jobs", body), times=6)
        assert {answer[:12] for answer in answers} <= {"HTTP/1.1 400", "HTTP/1.1 503"}, answers
        bad = [answer for answer in answers if answer.startswith("HTTP/1.1 400")]
        assert bad and all(("too many parts" in one) or body[:2] == b'"\\' for one in bad), bad
    zipped = post("/v1/jobs", b"\x1f\x8b" + b"\0" * 1000, "Content-Encoding: gzip")
    assert attacked.send(who, zipped)[0].startswith("HTTP/1.1 415")
    assert attacked.send(who, post("/v1/jobs", b"{", "Content-Encoding: br"))[0][9:12] == "415"
    broken = b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx"
    for said in (
        broken,
        b"POST /v1/jobs HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\0",
        b"GET \0 X\r\n\r\n",
    ):
        assert attacked.send(who, said)[0][9:12] in ("400", "505"), said
    assert attacked.memory() - before < 2 * MEMORY
    assert "Traceback" not in attacked.site.log.read_text()


def test_refused_changes_do_not_fill_the_disk(attacked: Attacked) -> None:
    job = attacked.site.submit("-n 1 --hold")
    before = attacked.audited()
    said = post(f"/v1/jobs/{job}/cancel", b"{}")
    answers = [line[9:12] for line in attacked.send(ATTACKERS[1], said, times=3000)]
    assert set(answers) <= {"403", "429", "503"} and answers.count("403") <= 1300
    after = attacked.audited()
    assert after - before < 1_000_000
    attacked.send(ATTACKERS[1], said, times=2000)
    assert attacked.audited() - after < 100_000, "as they go on, ever fewer are told of"
    assert attacked.site.job(job)["state"] == "HELD"
    assert attacked.site.cli("cancel", str(job)).returncode == 0
    lines = (attacked.site.folder / "audit.log").read_text().splitlines()
    mine = [json.loads(line) for line in lines if '"action":"cancel"' in line]
    assert mine[-1]["outcome"] == "done" and mine[-1]["job"] == job
