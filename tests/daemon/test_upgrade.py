"""A daemon goes on from the store of every released schema, and refuses a newer one."""

from __future__ import annotations

import contextlib
import sqlite3
from concurrent.futures import ThreadPoolExecutor

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Json, Site
from tests.daemon.kinds import Simulated
from tests.store.schemas import KEPT, lay


def small_site(make_site: MakeSite) -> Site:
    """Of the clusters that the kept stores speak of."""
    return make_site(Simulated(sizes={"delft": 16, "leiden": 8}), {"policy": "GS"})


def test_a_store_of_each_schema_is_gone_on_from(make_site: MakeSite) -> None:
    sites = [small_site(make_site) for _ in KEPT]
    with ThreadPoolExecutor(len(sites)) as pool:
        list(pool.map(go_on, sites, KEPT))


def go_on(site: Site, revision: str) -> None:
    lay(revision, site.folder / "metabroker.db", site.folder)
    site.start()
    jobs = site.client.get("jobs")["jobs"]
    ended = {job["job"]: job for job in site.client.get("history")["jobs"]}
    assert {job["state"] for job in ended.values()} >= {"COMPLETED", "FAILED", "CANCELLED"}
    waiting = [job["job"] for job in jobs if job["state"] != "HELD" and not job["attempts"]]
    for job in jobs:
        if job["dependency"] is not None:  # on one that no cluster knows any more
            waiting.remove(job["job"])
            site.cli("cancel", str(job["job"]))
    (held,) = [job["job"] for job in jobs if job["state"] == "HELD"]
    site.cli("release", str(held))
    new = site.submit("-n 2", "#!/bin/sh\nexit 0\n")
    assert new == max(job["job"] for job in (*jobs, *ended.values())) + 1
    for job in (new, held, *waiting):
        assert site.wait_end(job, "COMPLETED")["exit_code"] == 0, revision
    ran = [job for job in jobs if job["attempts"]]
    assert len(ran) >= 3 and max(len(job["components"]) for job in ran) == 2, ran
    for job in ran:
        is_lost(site.wait_end(job["job"]), cancelled="cancelled by root" in job["reason"])
    site.wait_clean()
    assert site.stop() == 0


def is_lost(job: Json, *, cancelled: bool) -> None:
    """The clusters are new ones, which know nothing of what ran in the older daemon's: nobody may
    say that it has ended well, nor run it again. What had been cancelled has ended as its user
    wanted."""
    expected = "CANCELLED" if cancelled else "FAILED"
    assert (job["state"], job["attempts"], job["exit_code"]) == (expected, 1, None), job
    why = "cancelled by root" if cancelled else "lost: its cluster no longer knows it"
    assert job["reason"].endswith(why), job


def test_an_older_daemon_refuses_a_newer_schema_and_changes_nothing(make_site: MakeSite) -> None:
    site = small_site(make_site)
    store = site.folder / "metabroker.db"
    lay(KEPT[-1], store, site.folder)
    with contextlib.closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("update alembic_version set version_num = '9999'")
    before = store.read_bytes()
    config, copy = ("--config", str(site.config)), site.folder / "copy.db"
    copy.write_bytes(before)
    for words in (
        ("serve", *config),
        ("backup", *config, "--to", str(site.folder / "new.db")),
        ("restore", *config, str(copy), "--force"),
    ):
        done = site.cli(*words)
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert str(site.folder) in done.stderr
        assert "its schema (9999) is newer than this metabroker" in done.stderr
        assert "knows up to" in done.stderr
        assert store.read_bytes() == before
    assert not (site.folder / "new.db").exists()
