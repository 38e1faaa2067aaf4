"""Start and end of the daemon in good order."""

from __future__ import annotations

import signal
import subprocess
import sys

from tests.daemon.harness import PATIENCE, REPOSITORY, Site, eventually, recording, until
from tests.testbed.processes import captured


def test_jobs_go_on_without_the_daemon_and_are_found_again(site: Site) -> None:
    site.start_and_look()
    together = site.submit("--components 4,4,4", recording(until("end")))
    alone = site.submit("-n 4", recording(f"{until('end')}; exit 5"))
    waiting = site.submit("-n 4 --hold")
    for job in (together, alone):
        site.wait_state(job, "RUNNING")
    assert site.stop() == 0
    assert not site.socket.exists()
    site.start()
    assert site.job(waiting)["state"] == "HELD"
    (site.work / "end").touch()
    assert site.cli("release", str(waiting)).returncode == 0
    assert site.wait_end(together, "COMPLETED")["attempts"] == 1
    assert site.wait_end(alone, "FAILED")["exit_code"] == 5
    site.wait_end(waiting, "COMPLETED")
    assert len(site.runs()) == 5
    shown = site.cli("show", str(together))
    assert shown.returncode == 0, shown.stderr
    for event in ("submitted", "placed", "opened", "completed"):
        assert f" {event} " in shown.stdout, shown.stdout
    site.wait_clean()
    assert site.stop() == 0


def test_jobs_that_ended_without_the_daemon_are_told_of(site: Site) -> None:
    site.start_and_look()
    together = site.submit("--components 4,4", recording(until("end")))
    alone = site.submit("-n 4", recording(f"{until('end')}; exit 5"))
    for job in (together, alone):
        site.wait_state(job, "RUNNING")
    eventually(lambda: len(site.runs()) == 3, "all scripts have started")
    site.kill()
    (site.work / "end").touch()
    eventually(lambda: not site.component_processes(), "all scripts have ended")
    site.start()
    assert site.wait_end(together, "COMPLETED")["attempts"] == 1
    assert site.wait_end(alone, "FAILED")["exit_code"] == 5
    site.wait_clean()


def test_the_end_waits_for_nobody_at_the_barrier(site: Site) -> None:
    site.start("--pause", "before:arm")
    job = site.submit("--components 4,4,4")
    site.wait_state(job, "WAITING")
    site.signal(signal.SIGTERM)
    eventually(lambda: not site.socket.exists(), "it ends")
    site.go_on()
    assert site.died() == 0
    assert site.runs(job) == []
    site.start()
    assert site.wait_end(job, "COMPLETED")["attempts"] == 1
    assert len(site.runs(job)) == 3
    site.wait_clean()


def test_a_second_daemon_on_the_same_store_is_refused(site: Site) -> None:
    site.start()
    second = captured(
        [sys.executable, "-m", "metabroker", "serve", "--config", str(site.config)], cwd=REPOSITORY
    )
    assert second.returncode == 1
    assert "another daemon uses the store" in second.stderr
    assert "Traceback" not in second.stderr
    job = site.submit("-n 1")
    site.wait_end(job, "COMPLETED")
    assert site.stop() == 0


def test_a_wait_bears_a_restart_of_the_daemon(site: Site) -> None:
    site.start()
    script = site.folder / "waited-for"
    script.write_text(f"#!/bin/sh\n{until('end')}\nexit 6\n")
    waiting = subprocess.Popen(
        [
            *(sys.executable, "-m", "metabroker", "submit", "--wait", "-n", "1"),
            *("-D", str(site.work), "--socket", str(site.socket), str(script)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert waiting.stdout is not None
    job = int(waiting.stdout.readline())
    site.kill()
    site.start()
    (site.work / "end").touch()
    waiting.communicate(timeout=PATIENCE)
    assert waiting.returncode == 6, site.story()
    assert site.job(job)["state"] == "FAILED"
