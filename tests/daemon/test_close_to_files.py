"""Jobs on real clusters that go to where their files lie."""

from __future__ import annotations

import json

import pytest

from tests.daemon.harness import Json, Site, until

pytestmark = pytest.mark.slurm
FILES = "--input-at lab:/data/x:10G"
TELL = '#!/bin/sh\nprintf \'%s %s\\n\' "$METABROKER_CLUSTER" "$METABROKER_INPUTS" >> told\n'


def clusters_of(job: Json) -> set[str]:
    """Where its components are."""
    return {part["cluster"] for part in job["components"]}


def told(site: Site) -> list[str]:
    """What scripts were told of their files, in the order of their clusters."""
    return sorted((site.work / "told").read_text().splitlines())


@pytest.mark.parametrize("policy", ["LP-GF", "GS"])
def test_a_job_goes_to_its_files_though_another_cluster_has_more_idle(
    slurm_site: Site, policy: str
) -> None:
    site = slurm_site
    site.configure({"placement": "close-to-files", "policy": policy})
    site.start_and_look()
    idle = {name: cluster["idle"] for name, cluster in site.clusters().items()}
    assert idle["lab"] < min(idle["delft"], idle["leiden"])
    alone = site.submit(f"-n 4 {FILES}", TELL)
    ended = site.wait_end(alone, "COMPLETED")
    assert clusters_of(ended) == {"lab"}
    assert ended["inputs"]["files"] == [{"size": 10**10, "clusters": ["lab"]}]
    assert told(site) == ["lab /data/x"]
    several = site.submit(f"--components 4,4 {FILES} --input-at leiden:/data/y:30G", TELL)
    assert clusters_of(site.wait_end(several, "COMPLETED")) == {"lab", "leiden"}
    # Without files it is Worst Fit.
    plain = site.submit("-n 4", "#!/bin/sh\n")
    assert clusters_of(site.wait_end(plain, "COMPLETED")) == {"delft"}
    site.wait_clean()


def test_where_the_files_lie_all_is_full_it_goes_to_where_they_come_soonest(
    slurm_site: Site,
) -> None:
    site = slurm_site
    site.configure({"placement": "close-to-files", "policy": "GS"})
    site.start_and_look()
    link = {"latency_ms": 1.0, "measured": 1e9, "said": ""}
    site.client.tell_links(
        [
            {"clusters": ["delft", "lab"], "bandwidth_mb_per_s": 10.0, **link},
            {"clusters": ["lab", "leiden"], "bandwidth_mb_per_s": 500.0, **link},
        ]
    )
    everything = site.clusters()["lab"]["processors"]
    full = site.submit(f"-n {everything} --cluster lab", f"#!/bin/sh\n{until('over')}\n")
    site.wait_state(full, "RUNNING")
    (site.folder / "script").write_text(TELL)
    dry = site.cli(
        "submit", "--dry-run", "--json", "-n", "4", *FILES.split(), str(site.folder / "script")
    )
    plan = json.loads(dry.stdout)
    assert plan["components"][0]["cluster"] == "leiden"
    assert plan["reason"].endswith("its files take some 20 s to come to leiden")
    job = site.submit(f"-n 4 {FILES}", TELL)
    ended = site.wait_end(job, "COMPLETED")
    assert clusters_of(ended) == {"leiden"}
    assert told(site) == ["leiden lab:/data/x"]
    (placed,) = [e for e in site.show(job)["events"] if e["event"] == "placed"]
    assert placed["files_in"] == 20.0
    (site.work / "over").touch()
    site.wait_end(full, "COMPLETED")
    site.wait_clean()


def test_without_the_key_files_decide_nothing(slurm_site: Site) -> None:
    site = slurm_site
    site.start_and_look()
    job = site.submit(f"-n 4 {FILES}", TELL)
    assert clusters_of(site.wait_end(job, "COMPLETED")) == {"delft"}
    assert told(site) == ["delft lab:/data/x"]
    site.wait_clean()
