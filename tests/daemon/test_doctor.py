"""`metabroker doctor` on real clusters: what works, and each thing that may be missing."""

from __future__ import annotations

import json
import os
import socket
from typing import Any

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site
from tests.daemon.kinds import Simulated
from tests.daemon.pbs import OpenPBS, servers
from tests.testbed import SlurmCluster

Json = dict[str, Any]


def examined(site: Site, *words: str) -> tuple[int, dict[str, dict[str, Json]]]:
    """The exit code, and each cluster's findings by check."""
    answer = asked(site, *words)
    return 0 if answer["ok"] else 1, of_clusters(answer)


def asked(site: Site, *words: str) -> Json:
    """All that the doctor says."""
    done = site.cli("doctor", "--config", str(site.config), "--json", *words)
    assert done.stderr == ""
    answer: Json = json.loads(done.stdout)
    assert done.returncode == (0 if answer["ok"] else 1)
    return answer


def of_clusters(answer: Json) -> dict[str, dict[str, Json]]:
    """Each cluster's findings by check."""
    return {
        cluster["name"]: {finding["check"]: finding for finding in cluster["findings"]}
        for cluster in answer["clusters"]
    }


@pytest.mark.slurm
def test_a_healthy_site_with_a_job_in_each_cluster(slurm_site: Site) -> None:
    code, found = examined(slurm_site, "--run")
    assert code == 0, found
    assert list(found) == ["delft", "leiden", "lab"]
    for name, findings in found.items():
        outcomes = {check: finding["outcome"] for check, finding in findings.items()}
        checks = ("version", "list", "clock", "partition", "reserve", "folder", "job")
        assert {check: outcomes[check] for check in checks} == dict.fromkeys(checks, "ok"), outcomes
        held = slurm_site.kind.held(slurm_site.folder, name)
        assert held.jobs == () and held.reservations == {}
    assert not list(slurm_site.work.glob(".metabroker*"))
    done = slurm_site.cli("doctor", "--config", str(slurm_site.config))
    assert done.returncode == 0
    assert "delft  ok       reserve: made and deleted" in done.stdout


@pytest.mark.xdist_group("openpbs")
def test_healthy_openpbs_servers_with_a_job_in_each(make_site: MakeSite) -> None:
    site = make_site(OpenPBS(servers()))
    site.configure({"clusters": {"lab": {"queue": "nobody"}, "leiden": {"whole_nodes": 64}}})
    code, found = examined(site, "--run")
    assert code == 1
    for name in ("delft", "leiden"):
        outcomes = {check: finding["outcome"] for check, finding in found[name].items()}
        checks = ("version", "list", "clock", "reserve", "folder", "job")
        assert {check: outcomes[check] for check in checks} == dict.fromkeys(checks, "ok"), outcomes
        held = site.kind.held(site.folder, name)
        assert held.jobs == () and held.reservations == {}
    assert "remove `whole_nodes`" in found["leiden"]["whole nodes"]["advice"]
    assert found["lab"]["job"]["outcome"] == "missing"
    assert "nknown queue" in found["lab"]["job"]["said"]
    assert not list(site.work.glob(".metabroker*"))


@pytest.mark.slurm
def test_what_is_wrong_is_named_with_its_fix(slurm_site: Site) -> None:
    site = slurm_site
    site.configure(
        {
            "clusters": {
                "delft": {"bin": "/nowhere"},
                "leiden": {"partition": "nobody"},
                "lab": {"shared_dir": "/proc/nobody"},
            },
            "poll_interval": "5m",
        }
    )
    code, found = examined(site)
    assert code == 1
    assert found["delft"]["version"]["outcome"] == "missing"
    assert "`bin`" in found["delft"]["version"]["advice"]
    assert found["leiden"]["partition"]["outcome"] == "missing"
    assert "nobody" in found["leiden"]["partition"]["said"]
    assert found["lab"]["folder"]["outcome"] == "missing"
    assert found["lab"]["ended jobs"]["outcome"] == "warning"
    assert "MinJobAge" in found["lab"]["ended jobs"]["advice"]


@pytest.mark.slurm
def test_one_cluster_under_two_names_and_a_file_that_is_not_there(
    slurm_site: Site, clusters: dict[str, SlurmCluster]
) -> None:
    """Each would count the same processors as its own. A link to slurm.conf is another path."""
    link = slurm_site.folder / "another.conf"
    link.write_text(clusters["delft"].slurm_conf.read_text())
    nowhere = {"SLURM_CONF": "/nowhere/slurm.conf"}
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        slurm_site.configure(
            {
                "clusters": {"leiden": {"env": {"SLURM_CONF": str(link)}}, "lab": {"env": nowhere}},
                "metrics": address,
                "allow_root": False,
            }
        )
        told = asked(slurm_site)
    found = of_clusters(told)
    assert not told["ok"]
    assert "identity" not in found["delft"]
    assert found["leiden"]["identity"]["outcome"] == "missing"
    assert "same cluster as delft: delft at " in found["leiden"]["identity"]["said"]
    # No command is tried: Slurm's look for a slurm.conf that is not there for long.
    assert set(found["lab"]) == {"env"}
    assert found["lab"]["env"]["outcome"] == "missing"
    assert found["lab"]["env"]["said"].startswith("SLURM_CONF names /nowhere/slurm.conf, and")
    host = {finding["check"]: finding for finding in told["host"]["findings"]}
    assert host["metrics"]["outcome"] == "missing" and "`metrics`" in host["metrics"]["advice"]
    as_root = os.geteuid() == 0
    assert host["account"]["outcome"] == ("missing" if as_root else "ok")
    assert ("allow_root" in host["account"]["advice"]) is as_root


@pytest.mark.slurm
def test_pyslurm_that_is_not_there_is_missing_or_a_warning_as_configured(slurm_site: Site) -> None:
    nowhere = {"pyslurm_python": "/nowhere/python"}
    lab, leiden = ({"access": access, **nowhere} for access in ("pyslurm", "pyslurm-or-commands"))
    slurm_site.configure({"clusters": {"lab": lab, "leiden": leiden}})
    code, found = examined(slurm_site)
    assert code == 1
    assert found["lab"]["pyslurm"]["outcome"] == found["lab"]["list"]["outcome"] == "missing"
    assert "/nowhere/python cannot be run" in found["lab"]["pyslurm"]["said"]
    assert "`pyslurm_python`" in found["lab"]["pyslurm"]["advice"]
    assert found["leiden"]["pyslurm"]["outcome"] == "warning"
    assert found["leiden"]["list"]["outcome"] == "ok"
    assert "pyslurm" not in found["delft"]


@pytest.mark.slurm
def test_a_controller_that_is_down(slurm_site: Site, clusters: dict[str, SlurmCluster]) -> None:
    clusters["lab"].stop_controller()
    code, found = examined(slurm_site)
    assert code == 1
    assert found["lab"]["list"]["outcome"] == "missing"
    assert "slurmctld" in found["lab"]["list"]["advice"]
    assert found["delft"]["reserve"]["outcome"] == "ok"


def test_simulated_clusters_need_nothing(make_site: MakeSite) -> None:
    code, found = examined(make_site(Simulated()), "--run")
    assert code == 0 and found["delft"]["simulated"]["outcome"] == "ok"


def test_a_wrong_configuration_is_told_as_check_tells_it(make_site: MakeSite) -> None:
    site = make_site(Simulated())
    site.config.write_text("clusters: {a: {system: slurrm}}\n")
    done = site.cli("doctor", "--config", str(site.config))
    assert done.returncode == 2 and "slurrm" in done.stderr
