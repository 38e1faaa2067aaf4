"""From nothing to a running service and back, as docs/install.md has it, on a clean Debian.

No systemd runs there: its tools look at the unit and make account and folders, a stand-in for
systemctl notes what the package's scripts ask of it, and the unit's command line is run as the unit
says by a stand-in that listens to it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.installation import mistakes
from tests.installation.building import NEWER, ROOT, deb
from tests.installation.service import UNIT, Service
from tests.testbed.apt import PackagesUnavailable
from tests.testbed.clean import CleanRoot, clean_root, quick_folder

LATER = "99.0.0"
CONFIG = "/etc/metabroker/metabroker.yaml"
STATE = "/var/lib/metabroker"
SYSTEMCTL = """#!/bin/sh
echo "$@" >> /run/systemctl
case "$*" in
--root=*) exec /usr/bin/systemctl.real "$@" ;;
*is-enabled*) echo enabled ;;
*stop*) kill -TERM "$(cat /run/main)" && while kill -0 "$(cat /run/main)"; do sleep 0.1; done ;;
esac 2> /dev/null
exit 0
"""
UNTIL_ASKED = """#!/bin/sh
echo started >> /tmp/said
while [ ! -e /tmp/go ]; do sleep 0.1; done
echo ended >> /tmp/said
exit 3
"""


@pytest.fixture
def host(tmp_path: Path) -> Iterator[CleanRoot]:
    """A clean Debian, with this repository's package in /src/metabroker/dist."""
    try:
        with quick_folder(tmp_path) as folder, clean_root(folder / "root") as root:
            dist = root.path / "src/metabroker/dist"
            dist.mkdir(parents=True)
            deb(dist)
            (root.path / "etc/dpkg/dpkg.cfg.d/quick").write_text("force-unsafe-io\n")
            systemctl = root.path / "usr/bin/systemctl"
            shutil.copy(systemctl, systemctl.with_suffix(".real"))
            systemctl.write_text(SYSTEMCTL)
            (root.path / "run/systemd/system").mkdir(parents=True)
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
    done = host.sh(f"cd {folder} && {command}", user)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def files(host: CleanRoot) -> set[str]:
    """All files and folders but those of processes, of apt and dpkg, and of the test itself."""
    places = ["/proc", "/dev", "/run", "/tmp", "/src", "/root", "/home"]
    places += ["/var/lib/dpkg", "/var/lib/apt", "/var/cache", "/var/log", "/etc/ld.so.cache"]
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


def asked(host: CleanRoot) -> list[str]:
    """What systemd was asked to do to the service since the last time."""
    file = host.path / "run/systemctl"
    found = [line.split()[-2] for line in file.read_text().splitlines() if "metabroker" in line]
    file.write_text("")
    return [action for action in found if action in ("start", "stop", "restart")]


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_install_use_upgrade_with_jobs_running_remove_and_purge(
    host: CleanRoot, service: Service
) -> None:
    _from_the_installer_of_older_releases(host)
    clean = files(host)
    assert not [path for path in clean if "metabroker" in path]
    _install(host)
    service.start()
    assert service.journal.until("serving at")["PRIORITY"] == "6"
    _let_anna_submit(host, service)
    mistakes.make(host, "anna")
    _submit_and_watch(host)
    running = _upgrade(host, service)
    ended = until(host, running, "FAILED")
    assert ended["exit_code"] == 3 and ended["attempts"] == 1
    assert (host.path / "tmp/said").read_text() == "started\nended\n"
    assert service.said() == "", "all of it went to the journal"
    _remove_and_purge(host, service, clean)
    _by_pip(host)


def _from_the_installer_of_older_releases(host: CleanRoot) -> None:
    shared = "/usr/local/share/metabroker"
    written = [f"{shared}/installed", "/etc/systemd/system/metabroker.service"]
    well(host, f"mkdir -p {shared} /opt/metabroker && touch {' '.join(written)}")
    text = json.dumps({"files": dict.fromkeys(written, "digest"), "folders": [shared]})
    Path(f"{host.path}{shared}/installed.json").write_text(text)
    well(host, " && ".join(documented("From `metabroker install-service`")))
    asked(host)


def _install(host: CleanRoot) -> None:
    """The documented command; then what a careful administrator looks at."""
    build, install = documented("A running service: the Debian package")
    assert build == "apt-get build-dep ./ && make deb"
    well(host, install, folder="/src/metabroker")
    assert asked(host) == ["start"]
    assert "ok" in well(host, f"metabroker check --config {CONFIG}")
    account = well(host, "getent passwd metabroker").split(":")
    assert account[5] == STATE
    looked = well(host, f"stat -c '%U:%G %a' {STATE} /etc/metabroker {CONFIG}").splitlines()
    assert looked == ["metabroker:metabroker 700", "root:root 755", "root:metabroker 640"]
    well(host, f"metabroker doctor --config {CONFIG}", "metabroker")
    verified = host.sh(f"systemd-analyze verify --man=no /{UNIT}")
    assert "metabroker" not in verified.stderr and "ystemd" not in verified.stdout
    wanted = "/etc/systemd/system/multi-user.target.wants/metabroker.service"
    assert well(host, f"readlink {wanted}") == f"/{UNIT}\n"
    for example in (
        "configs/sudoers/metabroker",
        "systemd/run-as-sudo.conf",
        "systemd/run-openpbs.conf",
    ):
        found = host.path / "usr/share/metabroker" / example
        assert found.read_text() == (ROOT / example).read_text()
    compiled = list((host.path / "usr/lib/metabroker").rglob("*.pyc"))
    for file in compiled:  # by the hash of its source (PEP 552), and not by the time of the build
        assert file.read_bytes()[4:8] == b"\1\0\0\0", file
    assert len(compiled) > 1000
    pages = well(host, "ls /usr/share/man/man?/metabroker*")
    assert len(pages.split()) > 15
    read = host.sh("zcat /usr/share/man/man?/metabroker* | groff -ww -man -Tutf8 -z")
    assert (read.returncode, read.stderr) == (0, "")
    assert "--components" in well(host, f"bash -c {shlex.quote(COMPLETE)}")


COMPLETE = """
. /usr/share/bash-completion/completions/metabroker && COMP_WORDS=(metabroker submit --co) &&
COMP_CWORD=2 && _metabroker_completion metabroker && echo "${COMPREPLY[@]}"
"""


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


def _upgrade(host: CleanRoot, service: Service) -> int:
    """As documented, while a job runs; dpkg's question is answered. The job."""
    job = int(well(host, "metabroker submit -n 4 long.sh", "anna"))
    before = until(host, job, "RUNNING")
    well(host, NEWER.format(folder="/src/metabroker/dist", version=LATER))
    (install,) = documented("Upgrade, with jobs running")
    told = well(host, f"yes N | {install} 2>&1", folder="/src/metabroker")
    assert f"Configuration file '{CONFIG}'" in told
    assert asked(host) == ["stop", "start"] and service.stopped() == 0
    service.start()
    assert well(host, "metabroker --version") == f"metabroker {LATER}\n"
    looked = f"stat -c %a:%G {CONFIG} && grep '^submitters: ' {CONFIG}"
    kept, submitters = well(host, looked).splitlines()
    assert (kept, submitters) == ("640:metabroker", "submitters: [anna]")
    assert well(host, f"head -1 {CONFIG}.dpkg-dist") == "# Of a later version.\n"
    after = show(host, job)
    assert after["state"] == "RUNNING"
    for what in ("native_id", "start_time", "hosts"):
        assert after["components"][0][what] == before["components"][0][what]
    well(host, "touch go")
    return job


def _remove_and_purge(host: CleanRoot, service: Service, clean: set[str]) -> None:
    """First all but configuration and state, then these too."""
    remove, purge = documented("Remove")
    well(host, AS_PIP)
    well(host, f"{remove} --yes")
    assert asked(host) == ["stop"] and service.stopped() == 0
    left = {path for path in files(host) - clean - ACCOUNTS if not path.startswith("/opt/")}
    kept = "/(etc|var/lib)/(metabroker|systemd)(/|$)"
    assert not [path for path in left if not re.match(kept, path)]
    assert {CONFIG, f"{STATE}/metabroker.db", f"{STATE}/audit.log"} <= left
    well(host, f"{purge} --yes")
    left = {path for path in files(host) - clean - ACCOUNTS if not path.startswith("/opt/")}
    assert left <= {"/etc/systemd/system/multi-user.target.wants"}
    well(host, "getent passwd metabroker")


ENABLE = "systemctl enable --now"
AS_PIP = """
cp -a /usr/lib/metabroker /opt/ && cp -a /usr/share/metabroker /opt/metabroker/share/ &&
sed -i '1s,/usr/lib/,/opt/,' /opt/metabroker/bin/metabroker
"""
"""What pip installs: the package is built with it, so it need not be run again."""


def _by_pip(host: CleanRoot) -> None:
    """The same service without the package."""
    venv, libraries, itself, *commands, enable = documented("By pip")
    assert (venv, enable) == ("python3 -m venv /opt/metabroker", f"{ENABLE} metabroker")
    assert libraries.endswith("--require-hashes -r requirements-lock.txt") and "-deps ." in itself
    well(host, " && ".join(commands))
    assert "ok" in well(host, f"metabroker check --config {CONFIG}")
    looked = well(host, f"stat -c '%U:%G %a' {STATE} {CONFIG}").splitlines()
    assert looked == ["metabroker:metabroker 700", "root:metabroker 640"]
    verified = host.sh("systemd-analyze verify --man=no /etc/systemd/system/metabroker.service")
    assert "metabroker" not in verified.stderr and "ystemd" not in verified.stdout
    well(host, f"metabroker doctor --config {CONFIG}", "metabroker")


ACCOUNTS = {
    f"/etc/{name}{mark}" for name in ("passwd", "group", "shadow", "gshadow") for mark in ("", "-")
} | {"/etc/subuid", "/etc/subgid", "/etc/subuid-", "/etc/subgid-", "/etc/.pwd.lock"}
"""What comes with the first account made on a host."""
