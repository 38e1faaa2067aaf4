"""A real Prometheus from the distribution's package, unpacked into the cache; nothing installed."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.testbed import apt
from tests.testbed.packages import DEFAULT_SUITE, cache_folder, locked


@dataclass(frozen=True)
class Prometheus:
    """Its programs."""

    server: Path
    promtool: Path


def install() -> Prometheus:
    """From the cache, or else from the package. Raises `PackagesUnavailable`."""
    folder = cache_folder() / "prometheus"
    folder.mkdir(parents=True, exist_ok=True)
    found = Prometheus(folder / "prometheus", folder / "promtool")
    with locked(folder / "lock"):
        if not found.promtool.exists():
            with tempfile.TemporaryDirectory(dir=folder) as name:
                for archive in apt.download(DEFAULT_SUITE, ["prometheus"], Path(name) / "apt"):
                    if archive.name.startswith("prometheus_"):
                        apt.run(["dpkg-deb", "-x", archive, Path(name) / "root"], 60)
                for program in (found.server, found.promtool):
                    shutil.move(Path(name) / "root" / "usr" / "bin" / program.name, program)
    return found


class Server:
    """One that runs, and answers queries."""

    def __init__(self, port: int) -> None:
        self._address = f"http://127.0.0.1:{port}"

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The instant vector; AssertionError with its own words for a wrong expression."""
        asked = urllib.parse.urlencode({"query": expression})
        try:
            with urllib.request.urlopen(f"{self._address}/api/v1/query?{asked}", timeout=30) as got:
                found: list[dict[str, Any]] = json.load(got)["data"]["result"]
                return found
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{expression}: {error.read().decode()}") from error

    def ready(self) -> bool:
        """Whether it serves."""
        try:
            with urllib.request.urlopen(f"{self._address}/-/ready", timeout=5):
                return True
        except OSError:
            return False


@contextlib.contextmanager
def running(programs: Prometheus, configuration: Path, data: Path, port: int) -> Iterator[Server]:
    """Serve at a port of this host."""
    process = subprocess.Popen(
        [
            programs.server,
            f"--config.file={configuration}",
            f"--storage.tsdb.path={data}",
            f"--web.listen-address=127.0.0.1:{port}",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        server = Server(port)
        deadline = time.monotonic() + 60
        while not server.ready():
            assert process.poll() is None and time.monotonic() < deadline, "it does not start"
            time.sleep(0.1)
        yield server
    finally:
        process.terminate()
        process.wait(30)
