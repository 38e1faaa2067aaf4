"""What systemd sees of the daemon, and a configuration that is read again while jobs run."""

from __future__ import annotations

import re
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site, eventually, recording
from tests.daemon.kinds import Simulated
from tests.testbed.manager import Manager
from tests.testbed.processes import captured

UNIT = Path(__file__).parents[2] / "systemd" / "metabroker.service"


@pytest.fixture
def site(make_site: MakeSite) -> Site:
    return make_site(Simulated(), {"default_time": "10m"})


@pytest.fixture
def manager(site: Site) -> Iterator[Manager]:
    made = Manager(site.folder)
    site.prefix = ["env", f"NOTIFY_SOCKET={made.path}", "WATCHDOG_USEC=600000"]
    yield made
    made.close()


def test_it_tells_when_it_serves_that_it_is_alive_and_when_it_ends(
    site: Site, manager: Manager
) -> None:
    site.start()
    eventually(lambda: manager.count("WATCHDOG") >= 3, "the watchdog hears of it")
    assert manager.heard[0] == {"READY": "1", "STATUS": "policy LP-GF over delft, leiden, lab"}
    assert site.stop() == 0
    assert manager.heard[-1]["STOPPING"] == "1"


def test_a_reload_takes_over_what_users_are_held_against_and_loses_no_job(
    site: Site, manager: Manager
) -> None:
    site.start_and_look()
    running = site.submit("--on delft:2,lab:2", recording("sleep 3"))
    site.configure({"max_time": "5m", "default_time": "4m", "limits": {"total": 8}, "policy": "GS"})
    site.signal(signal.SIGHUP)
    eventually(lambda: manager.count("READY") == 2, "it has read its configuration")
    assert manager.count("RELOADING") == 1
    log = site.log.read_text()
    assert "configuration: max_time is 300 now" in log
    assert "configuration: policy has changed; restart metabroker to apply it" in log
    (site.work / "job").write_text("#!/bin/sh\n")
    long, large = (site.cli("submit", *words, "job") for words in LARGE_AND_LONG)
    assert long.returncode == large.returncode == 1
    assert "above the maximum" in long.stderr and "8" in large.stderr
    assert site.client.get("status")["policy"] == "LP-GF"
    site.wait_end(running, "COMPLETED")
    assert site.stop() == 0


LARGE_AND_LONG = (("-n", "2", "-t", "1:00:00"), ("-n", "9"))


def test_a_wrong_file_is_refused_and_the_old_configuration_kept(
    site: Site, manager: Manager
) -> None:
    site.start_and_look()
    site.config.write_text(site.config.read_text() + "max_tiem: 5m\n")
    site.signal(signal.SIGHUP)
    eventually(lambda: manager.count("READY") == 2, "it has looked at its configuration")
    log = site.log.read_text()
    assert "the new configuration is not applied" in log and "max_tiem" in log
    site.wait_end(site.submit("-n 2"), "COMPLETED")
    assert site.stop() == 0


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not there")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    text = UNIT.read_text().replace("/usr/bin/metabroker", sys.executable)
    unit.write_text(re.sub("Documentation=.*\n", "", text))

    def complaints(name: str) -> list[str]:
        said = captured(["systemd-analyze", "verify", unit]).stderr
        return [line for line in said.splitlines() if name in line]

    assert complaints(UNIT.name) == []
    for drop_in in UNIT.parent.glob("run-as-*.conf"):
        place = tmp_path / f"{UNIT.name}.d" / drop_in.name
        place.parent.mkdir(exist_ok=True)
        place.write_text(drop_in.read_text())
        assert complaints(drop_in.name) == []
        place.unlink()
    asked = ["systemd-analyze", "security", "--offline=true", str(unit)]
    judged = captured(asked, check=True)
    found = re.search(r"exposure level for metabroker.service: ([0-9.]+)", judged.stdout)
    assert found is not None and float(found[1]) <= 2.5
