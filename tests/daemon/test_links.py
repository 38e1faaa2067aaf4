"""Links between real clusters: measured, kept, shown, and asked for."""

from __future__ import annotations

import json

import pytest

from tests.daemon.harness import Json, Site

pytestmark = pytest.mark.slurm
PAIRS = ["delft - lab", "delft - leiden", "lab - leiden"]


def measure(site: Site) -> Json:
    """What the doctor says of links."""
    done = site.cli("doctor", "--config", str(site.config), "--links", "--json")
    answer: Json = json.loads(done.stdout)
    return answer


def test_links_are_measured(slurm_site: Site) -> None:
    found = measure(slurm_site)
    assert found["ok"], found
    assert [link["name"] for link in found["links"]] == PAIRS
    for link in found["links"]:
        assert [each["outcome"] for each in link["findings"]] == ["ok", "ok"], link
        assert all("ms there and back" in each["said"] for each in link["findings"])
    for name in slurm_site.kind.sizes:
        held = slurm_site.kind.held(slurm_site.folder, name)
        assert held.jobs == () and held.reservations == {}
    assert not list(slurm_site.work.glob(".metabroker*"))
