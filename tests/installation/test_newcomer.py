"""From nothing to a running service and back, as docs/install.md has it, on a clean Debian.

No systemd runs there: its tools look at the unit and make account and folders, and the unit's
command line is run as the unit says by a stand-in that listens to it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.installation import mistakes
from tests.installation.building import ROOT, source, wheel
from tests.installation.service import UNIT, Service
from tests.testbed.apt import PackagesUnavailable
from tests.testbed.clean import CleanRoot, clean_root, wheelhouse

NEWER = "99.0.0"
PIP = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/src/wheels", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
CONFIG = "/etc/metabroker/metabroker.yaml"
UNTIL_ASKED = """#!/bin/sh
echo started >> /tmp/said
while [ ! -e /tmp/go ]; do sleep 0.1; done
echo ended >> /tmp/said
exit 3
"""


@pytest.fixture
def host(tmp_path: Path) -> Iterator[CleanRoot]:
    """A clean Debian, with this repository in /src/metabroker and the wheels it needs."""
    try:
        with clean_root(tmp_path / "root") as root:
            source(root.path / "src" / "metabroker")
            subprocess.run(["cp", "-a", wheelhouse(), root.path / "src/wheels"], check=True)
            yield root
    except PackagesUnavailable as error:
        text = f"left out, it needs a clean Debian, which cannot be had here: {error}"
        if os.environ.get("METABROKER_REQUIRE_SLURM") == "1":
            pytest.fail(text, pytrace=False)
        pytest.skip(text)


@pytest.fixture
def service(host: CleanRoot) -> Iterator[Service]:
    made = Service(host)
    yield made
    made.close()


def documented(section: str) -> list[str]:
    """The commands of a section of docs/install.md: its first block."""
    text = (ROOT / "docs" / "install.md").read_text().split(f"## {section}\n")[1]
    found = re.search(r"```sh\n(.*?)```", text, re.S)
    assert found is not None
    return found[1].splitlines()


def well(host: CleanRoot, command: str, user: str = "root", folder: str = "/tmp") -> str:
    """A command that must succeed; what it printed."""
    done = host.sh(f"cd {folder} && {command}", user, PIP)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def files(host: CleanRoot) -> set[str]:
    """All files and folders but those of processes, and of the test itself."""
    places = ["/proc", "/dev", "/run", "/tmp", "/src", "/root"]
    leave_out = " -o ".join(f"-path {place}" for place in places)
    return set(well(host, f"find / \\( {leave_out} \\) -prune -o -print").splitlines())


def show(host: CleanRoot, job: int) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(well(host, f"metabroker show {job} --json", "anna"))
    return shown


def until(host: CleanRoot, job: int, state: str) -> dict[str, Any]:
    deadline = time.monotonic() + 60
    while (shown := show(host, job))["state"] != state:
        assert time.monotonic() < deadline, shown
        time.sleep(0.2)
    return shown


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_install_use_upgrade_with_jobs_running_and_remove(
    host: CleanRoot, service: Service, tmp_path: Path
) -> None:
    clean = files(host)
    _install(host)
    service.start()
    assert service.journal.until("serving at")["PRIORITY"] == "6"
    _let_anna_submit(host, service)
    mistakes.make(host, "anna")
    _submit_and_watch(host)
    running = _upgrade(host, service, tmp_path)
    ended = until(host, running, "FAILED")
    assert ended["exit_code"] == 3 and ended["attempts"] == 1
    assert (host.path / "tmp/said").read_text() == "started\nended\n"
    assert service.said() == "", "all of it went to the journal"
    _remove(host, service, clean)


def _install(host: CleanRoot) -> None:
    """Two of the three documented commands; then what a careful administrator looks at."""
    into_venv, make_service, enable = documented("A running service in three commands")
    assert enable == "systemctl enable --now metabroker"
    well(host, into_venv, folder="/src/metabroker")
    told = well(host, make_service)
    assert f"writes /{UNIT}" in told and "runs systemd-sysusers" in told
    assert "ok" in well(host, f"metabroker check --config {CONFIG}")
    account = well(host, "getent passwd metabroker").split(":")
    assert account[5] == "/var/lib/metabroker"
    assert well(host, "stat -c '%U %a' /var/lib/metabroker") == "metabroker 700\n"
    well(host, f"metabroker doctor --config {CONFIG}", "metabroker")
    verified = host.sh(f"systemd-analyze verify --man=no /{UNIT}")
    assert "metabroker" not in verified.stderr and "ystemd" not in verified.stdout
    pages = well(host, "ls /usr/local/share/man/man1/*.1 /usr/local/share/man/man5/*.5").split()
    assert len(pages) > 15
    for page in pages:
        read = host.sh(f"groff -ww -man -Tutf8 -z {page}")
        assert (read.returncode, read.stderr) == (0, ""), page


def _let_anna_submit(host: CleanRoot, service: Service) -> None:
    """A user like any other, whom the configuration does not know yet."""
    well(host, "useradd -m anna")
    assert "All jobs ended well." in well(host, "metabroker demo", "anna")
    script = host.path / "tmp/job.sh"
    script.write_text("#!/bin/sh\necho component $METABROKER_COMPONENT of $METABROKER_COMPONENTS\n")
    (host.path / "tmp/long.sh").write_text(UNTIL_ASKED)
    refused = host.sh("metabroker submit -n 2 job.sh", "anna")
    assert refused.returncode == 1 and "submitters" in refused.stderr
    well(host, f"sed -i 's/^submitters: .*/submitters: [anna]/' {CONFIG}")
    unsaid = host.sh(f"metabroker check --config {CONFIG}")
    assert unsaid.returncode == 2 and "submitters_share_everything: true" in unsaid.stderr
    well(
        host,
        f"sed -i 's/^submitters_share_everything: .*/submitters_share_everything: true/' {CONFIG}",
    )
    well(host, f"metabroker check --config {CONFIG}")
    service.reload()
    assert "anna" in service.journal.until("submitters is")["MESSAGE"]


def _submit_and_watch(host: CleanRoot) -> None:
    well(host, "metabroker submit --wait -n 2 job.sh", "anna")
    well(host, "metabroker submit --wait -n 2 -o said.%j job.sh", "anna")
    assert (host.path / "tmp/said.2").read_text() == "component 0 of 1\n"
    clusters = json.loads(well(host, "metabroker clusters --json", "anna"))["clusters"]
    assert [(c["name"], c["processors"], c["reachable"]) for c in clusters] == [("trial", 8, True)]
    url = "http://127.0.0.1:9798/metrics"
    fetch = f"from urllib.request import urlopen as u; print(u('{url}').read().decode())"
    scraped = well(host, f'python3 -c "{fetch}"')
    assert 'metabroker_cluster_up{cluster="trial"} 1.0' in scraped


def _upgrade(host: CleanRoot, service: Service, folder: Path) -> int:
    """As documented, but from a wheel, while a job runs; the job."""
    job = int(well(host, "metabroker submit -n 4 long.sh", "anna"))
    before = until(host, job, "RUNNING")
    newer = wheel(source(folder / "newer", NEWER), host.path / "src/newer").name
    stop, install, make_service, start = documented("Upgrade, with jobs running")
    assert (stop, start) == ("systemctl stop metabroker", "systemctl start metabroker")
    assert service.stop() == 0
    assert install.endswith("--upgrade .")
    well(host, f"{install.removesuffix('.')}/src/newer/{newer}")
    told = well(host, make_service)
    assert f"has already /{UNIT}" in told
    assert "updates /usr/local/share/man/man1/metabroker.1" in told and f"keeps {CONFIG}" in told
    service.start()
    assert well(host, "metabroker --version") == f"metabroker {NEWER}\n"
    after = show(host, job)
    assert after["state"] == "RUNNING"
    for what in ("native_id", "start_time", "hosts"):
        assert after["components"][0][what] == before["components"][0][what]
    well(host, "touch go")
    return job


def _remove(host: CleanRoot, service: Service, clean: set[str]) -> None:
    """First all but configuration and state, then these too."""
    stop, remove, delete = documented("Remove")
    assert stop == "systemctl disable --now metabroker"
    assert service.stop() == 0
    well(host, remove)
    well(host, delete)
    left = {path for path in files(host) - clean if "/anna" not in path}
    outside = [p for p in left if not re.match(r"/(etc|var/lib)/metabroker(/|$)", p)]
    assert set(outside) <= ACCOUNTS, outside
    assert CONFIG in left and "/var/lib/metabroker/metabroker.db" in left
    purge = re.search(r"rm -r /etc/metabroker.*?\n(?=```)", _documentation(), re.S)
    assert purge is not None
    for command in purge[0].splitlines():
        well(host, command)
    left = {path for path in files(host) - clean if "/anna" not in path}
    assert left <= ACCOUNTS
    assert host.sh("getent passwd metabroker").returncode != 0


ACCOUNTS = {
    f"/etc/{name}{mark}" for name in ("passwd", "group", "shadow", "gshadow") for mark in ("", "-")
} | {"/etc/subuid", "/etc/subgid", "/etc/subuid-", "/etc/subgid-", "/etc/.pwd.lock"}
"""What comes with the first account made on a host."""


def _documentation() -> str:
    return (ROOT / "docs" / "install.md").read_text()
