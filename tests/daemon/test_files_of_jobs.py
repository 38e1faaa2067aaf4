"""Jobs that bring files and take results home, on simulated and on real clusters, live OpenPBS
among them where it is named."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from tests.daemon.fixtures import clusters_of
from tests.daemon.harness import RECORD, Site, eventually, until
from tests.daemon.kinds import Kind
from tests.daemon.pbs import live

SHARE = """#!/bin/sh
pwd > where
test "$(pwd -P)" = "$(cd "$METABROKER_WORK_DIR" && pwd -P)" || exit 90
cat data/input.txt > "out.$METABROKER_COMPONENT"
./tool >> "out.$METABROKER_COMPONENT" || exit 91
mkdir -p deep/er
echo "of $METABROKER_COMPONENT" > deep/er/result.nc
echo nobody asked > left.behind
"""


@pytest.fixture(
    params=["simulated", pytest.param("slurm", marks=pytest.mark.slurm), live("openpbs")]
)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Three clusters of each kind, one after the other."""
    return clusters_of(request.param, request)


def brought(site: Site) -> None:
    """What the tests' jobs send."""
    (site.work / "data").mkdir()
    (site.work / "data" / "input.txt").write_text("input\n")
    (site.work / "tool").write_text("#!/bin/sh\necho tool\n")
    (site.work / "tool").chmod(0o755)


FILES = ("--stage-in", "data/input.txt", "--stage-in", "tool")
RESULTS = ("--stage-out", "out.*", "--stage-out", "**/*.nc")


def test_every_component_gets_the_files_and_its_results_come_back(site: Site) -> None:
    brought(site)
    site.start_and_look()
    number = site.submit(["--components", "4,4,2", *FILES, *RESULTS], SHARE)
    ended = site.wait_end(number, "COMPLETED")
    for part in ended["components"]:
        folder = site.work / f"metabroker-{number}.{part['index']}"
        assert (folder / f"out.{part['index']}").read_text() == "input\ntool\n"
        assert (folder / "deep/er/result.nc").read_text() == f"of {part['index']}\n"
        assert sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()) == [
            "deep/er/result.nc",
            f"out.{part['index']}",
        ]
    told = [event["event"] for event in site.job(number)["events"]]
    assert told.count("files sent") == told.count("results back") == 3
    assert told.index("reserved") > max(i for i, what in enumerate(told) if what == "files sent")
    site.wait_clean()


def test_the_results_of_a_job_that_fails_come_back_too(site: Site) -> None:
    site.start_and_look()
    script = "#!/bin/sh\necho why > log\nexit 3\n"
    number = site.submit(["-n", "2", "--stage-out", "log"], script)
    ended = site.wait_end(number, "FAILED")
    assert ended["exit_code"] == 3
    assert (site.work / f"metabroker-{number}.0" / "log").read_text() == "why\n"
    site.wait_clean()


def test_a_file_that_is_gone_is_a_failed_submission(site: Site) -> None:
    brought(site)
    site.start_and_look()
    script = SHARE.replace("\n", f"\n{RECORD.replace('runs', str(site.work / 'runs'))}", 1)
    number = site.submit(["-n", "2", "--hold", *FILES], script)
    (site.work / "tool").unlink()
    site.cli("release", str(number))
    ended = site.wait_end(number, "FAILED")
    assert "tool cannot be sent: it is not in" in ended["reason"]
    assert ended["submission_failures"] == ended["attempts"] == 3, "and no matter of its clusters"
    assert site.runs(number) == []
    site.wait_clean()


def test_results_that_cannot_come_home_stay_in_their_cluster(site: Site) -> None:
    """A file in the place of the folder they would go to: nobody can write there, root neither."""
    site.start_and_look()
    script = f"#!/bin/sh\n{until('../../go')}\necho 42 > answer\n"
    number = site.submit(["-n", "2", "--stage-out", "answer"], script)
    site.wait_state(number, "RUNNING")
    (site.work / f"metabroker-{number}.0").write_text("in the way")
    (site.work / "go").touch()
    ended = site.wait_end(number, "FAILED")
    assert "its results could not be brought back" in ended["reason"]
    assert ended["exit_code"] is None
    kept = site.work / f"metabroker-{number}.0.kept-1"
    eventually((kept / "answer").exists, "they are kept")
    assert (kept / "answer").read_text() == "42\n"
    site.wait_clean()


def test_files_are_sent_again_where_the_daemon_dies_over_it(site: Site) -> None:
    """Killed as soon as the files begin to arrive, and again while results are on their way."""
    big = os.urandom(64 << 20)
    (site.work / "big").write_bytes(big)
    site.start_and_look()
    script = f"#!/bin/sh\n{RECORD.replace('runs', str(site.work / 'runs'))}cp big copy\n"
    options = ["--on", "delft:2,leiden:2", "--stage-in", "big", "--stage-out", "copy"]
    number = site.submit(options, script)
    begun = ".metabroker-*/unfinished-*"
    eventually(lambda: list(site.work.glob(begun)), "files begin to arrive")
    site.kill()
    site.start()
    eventually(lambda: list(site.work.glob("metabroker-*/*copy*")), "results come")
    site.kill()
    site.start()
    site.wait_end(number, "COMPLETED")
    for part in (0, 1):
        copy = (site.work / f"metabroker-{number}.{part}" / "copy").read_bytes()
        assert hashlib.sha256(copy).digest() == hashlib.sha256(big).digest()
        assert not list((site.work / f"metabroker-{number}.{part}").glob(".*"))
    assert [(run.attempt, run.component) for run in sorted(site.runs(number), key=str)] == [
        (1, 0),
        (1, 1),
    ]
    site.wait_clean()


def test_a_cancelled_job_s_files_are_not_sent_to_their_end(site: Site) -> None:
    """They are far more than there is time for: a hole of many gigabytes."""
    with (site.work / "huge").open("wb") as file:
        file.truncate(200 << 30)
    free = shutil.disk_usage(site.work).free
    site.start_and_look()
    number = site.submit(["-n", "2", "--stage-in", "huge"], "#!/bin/sh\n")
    part = ".metabroker-*/unfinished-*/part"
    eventually(lambda: list(site.work.glob(part)), "files come")
    assert site.cli("cancel", str(number)).returncode == 0
    site.wait_end(number, "CANCELLED")
    site.wait_clean()
    assert shutil.disk_usage(site.work).free > free - (100 << 30)


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../secret", "data/../../secret", "data/", "./x", "a//b", "link"]
)
def test_no_file_outside_can_be_named(slurm_site: Site, name: str) -> None:
    """Neither by the command line nor by a request that was made without it."""
    site = slurm_site
    (site.folder / "secret").write_text("secret")
    (site.work / "link").symlink_to("../secret")
    site.start()
    (site.work / "good").touch()
    (site.work / "job.sh").write_text("#!/bin/sh\n")
    words = ("submit", "-n", "1", "--hold", "--stage-in")
    assert site.cli(*words, "good", "job.sh").returncode == 0
    done = site.cli(*words, name, "job.sh")
    assert done.returncode != 0 and "--stage-in" in done.stderr
    from metabroker.api.client import ClientError

    wire = {
        "script": "IyEvYmluL3NoCg==",
        "script_name": "x",
        "processors": {"single": 1},
        "chdir": str(site.work),
        "submit_dir": str(site.work),
        "stage_in": [name],
    }
    if name == "link":
        number = site.client.submit(wire)["job"]
        assert "symbolic link" in site.wait_end(number, "FAILED")["reason"]
        return
    with pytest.raises(ClientError, match="leads out of the directory"):
        site.client.submit(wire)


def test_what_the_script_makes_of_links_stays_where_it_is(site: Site) -> None:
    """A result that is a link to something else is none; nor is what a linked folder holds."""
    (site.folder / "secret").write_text("secret")
    site.start_and_look()
    script = f"#!/bin/sh\nln -s {site.folder} all\nln -s {site.folder}/secret one\necho 1 > real\n"
    number = site.submit(["-n", "1", "--stage-out", "**"], script)
    site.wait_end(number, "COMPLETED")
    home = site.work / f"metabroker-{number}.0"
    assert [path.name for path in Path(home).iterdir()] == ["real"]
    site.wait_clean()
