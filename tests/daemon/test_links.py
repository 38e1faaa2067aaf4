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


def shown(site: Site) -> dict[tuple[str, ...], Json]:
    """What `clusters --links` says, by clusters."""
    done = site.cli("clusters", "--links", "--json")
    assert done.returncode == 0, done.stderr
    return {tuple(link["clusters"]): link for link in json.loads(done.stdout)["links"]}


def test_links_are_measured_and_kept(slurm_site: Site) -> None:
    found = measure(slurm_site)
    assert (found["ok"], found["kept"]) == (True, False), found
    slurm_site.start_and_look()
    unknown = shown(slurm_site)
    assert {link["latency_ms"] for link in unknown.values()} == {None}
    found = measure(slurm_site)
    assert (found["ok"], found["kept"]) == (True, True), found
    known = shown(slurm_site)
    assert [" - ".join(clusters) for clusters in known] == PAIRS
    for link in known.values():
        assert 0 < link["latency_ms"] < 10_000 and link["bandwidth_mb_per_s"] > 0
    slurm_site.kill()
    slurm_site.start_and_look()
    assert shown(slurm_site) == known
    table = slurm_site.cli("clusters", "--links").stdout.splitlines()
    assert [line.split()[0] for line in table] == [
        "LINK",
        "delft-lab",
        "delft-leiden",
        "lab-leiden",
    ]
    assert [link["name"] for link in found["links"]] == PAIRS
    for link in found["links"]:
        assert [each["outcome"] for each in link["findings"]] == ["ok", "ok"], link
        assert all("ms there and back" in each["said"] for each in link["findings"])
    for name in slurm_site.kind.sizes:
        held = slurm_site.kind.held(slurm_site.folder, name)
        assert held.jobs == () and held.reservations == {}
    assert not list(slurm_site.work.glob(".metabroker*"))


def known_as(pairs: list[str]) -> list[str]:
    """As the table has them."""
    return [pair.replace(" ", "") for pair in pairs]
