"""Links between real clusters: measured, kept, shown, and asked for."""

from __future__ import annotations

import json
import urllib.request

import pytest

from tests.daemon.harness import Json, Site
from tests.daemon.test_offline import free_port

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


def measured(port: int) -> dict[str, float]:
    """Latencies, in milliseconds, by what `/metrics` calls the clusters."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
        lines = [line.rpartition(" ") for line in answer.read().decode().splitlines()]
    head = "metabroker_link_latency_seconds{"
    return {name: float(value) * 1000 for name, _, value in lines if name.startswith(head)}


def test_links_are_measured_and_kept(slurm_site: Site) -> None:
    port = free_port()
    slurm_site.configure({"metrics": f"127.0.0.1:{port}"})
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
    for (one, other), link in known.items():
        name = f'metabroker_link_latency_seconds{{cluster="{one}",other="{other}"}}'
        assert measured(port)[name] == pytest.approx(link["latency_ms"])
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


def told(site: Site, latencies: dict[tuple[str, str], float]) -> None:
    """The daemon is told so, as by the doctor."""
    site.client.tell_links(
        [
            {
                "clusters": sorted(clusters),
                "latency_ms": latency,
                "bandwidth_mb_per_s": 100.0,
                "measured": 1e9,
                "said": "",
            }
            for clusters, latency in latencies.items()
        ]
    )


def refused(site: Site, *options: str) -> str:
    """What is said of a job that is not taken."""
    (site.folder / "script").write_text("#!/bin/sh\n")
    done = site.cli("submit", *options, str(site.folder / "script"))
    assert done.returncode != 0
    return done.stderr


def test_components_go_where_the_latency_is_known_and_low(slurm_site: Site) -> None:
    site = slurm_site
    site.start_and_look()
    text = refused(site, "--components", "4,4", "--max-latency", "5")
    assert "latency is not known between" in text and "doctor --links" in text
    told(site, {("delft", "leiden"): 12.0, ("leiden", "lab"): 0.5})
    # Worst Fit would take delft and leiden.
    job = site.submit("--components 4,4 --max-latency 5", "#!/bin/sh\n")
    ended = site.wait_end(job, "COMPLETED")
    assert {part["cluster"] for part in ended["components"]} == {"leiden", "lab"}
    assert site.show(job)["max_latency_ms"] == 5.0
    far = site.submit("--components 4,4 --max-latency 12", "#!/bin/sh\n")
    ended = site.wait_end(far, "COMPLETED")
    assert {part["cluster"] for part in ended["components"]} == {"delft", "leiden"}
    text = refused(site, "--on", "delft:4,leiden:4", "--max-latency", "5")
    assert "delft and leiden are 12 ms apart" in text
    assert "not known between delft and lab" in refused(
        site, "--on", "delft:4,lab:4", "--max-latency", "50"
    )
    assert "ms apart could run" in refused(site, "--components", "4,4,4", "--max-latency", "50")
    alone = site.submit("-n 4 --max-latency 1", "#!/bin/sh\n")
    site.wait_end(alone, "COMPLETED")
    site.wait_clean()


def test_a_waiting_job_goes_by_what_was_measured_since(slurm_site: Site) -> None:
    site = slurm_site
    site.start_and_look()
    told(site, {("delft", "leiden"): 1.0})
    held = site.submit("--hold --components 4,4 --max-latency 2", "#!/bin/sh\n")
    told(site, {("delft", "leiden"): 3.0})
    assert site.cli("release", str(held)).returncode == 0
    assert "delft and leiden are 3 ms apart" in site.show(held)["reason"]
    site.kill()
    site.start_and_look()
    assert "delft and leiden are 3 ms apart" in site.show(held)["reason"]
    told(site, {("leiden", "lab"): 1.5})
    ended = site.wait_end(held, "COMPLETED")
    assert {part["cluster"] for part in ended["components"]} == {"leiden", "lab"}
    site.wait_clean()
