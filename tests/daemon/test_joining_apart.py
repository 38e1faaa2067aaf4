"""Jobs that join a running one in another cluster, which shares no files, over SSH."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.daemon.apart import Apart, apart
from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site

__all__ = ["apart"]

pytestmark = pytest.mark.slurm


@pytest.fixture
def site(apart: Apart, make_site: MakeSite) -> Site:
    made = apart.site(make_site)
    made.start_and_look()
    return made


def output(apart: Apart, job: int) -> Path:
    return apart.jobs / f"out.{job}"


def submitted(site: Site, apart: Apart, options: str, script: str) -> int:
    return site.submit(f"{options} -D {apart.jobs} -o out.%j", f"#!/bin/sh\n{script}\n")


def test_they_hear_of_each_other(site: Site, apart: Apart) -> None:
    first = """echo hello | metabroker-exchange put word
metabroker-exchange get 2.0 word --timeout 120
metabroker-exchange get 2.0 last --timeout 120"""
    second = """metabroker-exchange get 1.0 word --timeout 120
echo and to you | metabroker-exchange put word
sleep 1
echo farewell | metabroker-exchange put last"""
    job = submitted(site, apart, "-n 2 --cluster delft", first)
    joining = submitted(site, apart, f"--join {job} -n 2 --cluster leiden", second)
    assert (job, joining) == (1, 2)
    site.wait_end(job, "COMPLETED")
    assert output(apart, job).read_text() == "and to you\nfarewell\n"
    assert output(apart, joining).read_text() == "hello\n"
    site.wait_end(joining)
    site.wait_clean()
