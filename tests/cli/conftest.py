"""The command line as people run it: a process of its own, against a served fake."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Thread

import pytest

from tests.api.fake import FakeService, serving
from tests.testbed import forked

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def service(folder: Path) -> Iterator[FakeService]:
    """A daemon in memory, served at `folder`/mb.sock."""
    fake = FakeService()
    with serving(fake, folder / "mb.sock"):
        yield fake


@pytest.fixture
def environ(folder: Path) -> dict[str, str]:
    """An environment in which no daemon but the fake is found."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ}
    home = {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder / "run"), "TZ": "UTC"}
    return {**kept, **home, "METABROKER_SOCKET": str(folder / "mb.sock")}


@pytest.fixture
def run(folder: Path, environ: dict[str, str]) -> Run:
    """Runs `metabroker ARGS` in `folder`; `stdin` is text, `env` is added."""

    def run(
        *args: str, stdin: str | bytes = "", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        given = stdin if isinstance(stdin, bytes) else stdin.encode()
        whole = {**environ, **(env or {})}
        done = _run(args, given, folder, whole)
        out, err = done.stdout, done.stderr
        assert "Traceback" not in err
        for line in err.splitlines():
            assert line.startswith("metabroker: "), err
            assert "; " in line, err
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)

    return run


def _run(
    args: tuple[str, ...], stdin: bytes, folder: Path, env: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    if forked.like_ours(env):
        return forked.run("metabroker", args, cwd=folder, env=env, seconds=150, stdin=stdin)
    words = [sys.executable, "-m", "metabroker", *args]
    done = subprocess.run(words, input=stdin, capture_output=True, cwd=folder, env=env, timeout=150)
    out, err = done.stdout.decode(), done.stderr.decode()
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


@pytest.fixture
def script(folder: Path) -> Path:
    """A sound script, `job.sh` in `folder`."""
    return write_script(folder / "job.sh", "echo hello\n")


def end_once_waited_for(
    service: FakeService, job: int, state: str, exit_code: int | None
) -> Thread:
    """Ends the job as soon as somebody waits for it (or nobody has for long); to be joined."""

    def end() -> None:
        give_up = time.monotonic() + 120.0
        while time.monotonic() < give_up:
            if service.waiting(job):
                service.end(job, state, exit_code)
                return
            time.sleep(0.01)

    thread = Thread(target=end)
    thread.start()
    return thread


def write_script(path: Path, body: str, line: str = "#!/bin/sh\n") -> Path:
    path.write_text(line + body)
    return path
