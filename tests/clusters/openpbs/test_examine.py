"""An examination of an OpenPBS cluster, by what its commands say."""

from __future__ import annotations

import json

import pytest

from metabroker.clusters.examination import CheckOutcome, CheckResult
from metabroker.clusters.openpbs.commands import PbsIdentity
from metabroker.clusters.openpbs.examine import examine
from metabroker.clusters.transports.base import Completed
from tests.clusters.slurm.drive import Told, drive, said

from .recorded import case

NOW = 1795236224.0
VERSION = said("pbs_version = 23.06.06\n")
TIME, HOST = said("1795236224\n"), said("login1\n")
SERVER = {
    "job_history_enable": "True", "scheduling": "True", "default_queue": "workq",
    "flatuid": "True", "server_host": "pbsa",
}  # fmt: skip
QUEUE = {"enabled": "True", "started": "True"}


def document(key: str, name: str, has: dict[str, str]) -> Completed:
    return said(json.dumps({"timestamp": 1795236224, key: {name: has}}))


SERVER_SAYS, QUEUE_SAYS = document("Server", "pbsa", SERVER), document("Queue", "workq", QUEUE)
NODES = case("53/21").completed  # three of 4 processors


def examined(who: PbsIdentity, *sharing: str) -> tuple[Told, dict[str, CheckResult]]:
    """Of nodes that are shared so."""
    text = NODES.stdout
    for word in sharing:
        text = text.replace('"sharing":\t"default_shared"', f'"sharing":\t"{word}"', 1)
    told = Told()
    answers = [TIME, VERSION, said(), said(), said(), said(text), HOST, SERVER_SAYS, QUEUE_SAYS]
    made = [said("R1.pbsa CONFIRMED\n"), said()]
    found = drive(examine(who, NOW, reserves=True), [*answers, *made], told)
    return told, {finding.check: finding for finding in found}


def test_all_is_well_and_what_was_made_is_deleted() -> None:
    told, found = examined(PbsIdentity("mbsvc"))
    assert {finding.outcome for finding in found.values()} == {CheckOutcome.OK}
    assert "whole nodes" not in found
    create, delete = told.lines[-2:]
    assert "-N mb-doctor-" in create and delete == "pbs_rdel R1.pbsa"


@pytest.mark.parametrize("word", ["default_excl", "default_exclhost", "force_exclhost"])
def test_nodes_that_are_given_whole_ask_for_whole_nodes(word: str) -> None:
    _, found = examined(PbsIdentity("mbsvc"), word)
    assert found["whole nodes"].outcome is CheckOutcome.WARNING
    assert found["whole nodes"].said.startswith("1 of 3 vnodes")
    assert "set `whole_nodes: 4`" in found["whole nodes"].advice
    told, found = examined(PbsIdentity("mbsvc", unit=4), word)
    assert found["whole nodes"].outcome is CheckOutcome.OK
    assert found["reserve"].tried.startswith("pbs_rsub (one node,")
    assert "select=1:ncpus=4:mpiprocs=1 -l place=scatter:excl" in told.lines[-2]


def test_whole_nodes_that_are_none_or_of_another_size() -> None:
    _, found = examined(PbsIdentity("mbsvc", unit=4))
    assert found["whole nodes"].outcome is CheckOutcome.WARNING
    assert "remove `whole_nodes`" in found["whole nodes"].advice
    _, found = examined(PbsIdentity("mbsvc", unit=8), "default_excl")
    assert found["whole nodes"].outcome is CheckOutcome.WARNING
    assert "set `whole_nodes: 4`" in found["whole nodes"].advice


def test_the_vnodes_of_a_host_are_one_node() -> None:
    one = NODES.stdout.replace('"host":\t"n02"', '"host":\t"n01"')
    told = Told()
    nodes = said(one.replace("default_shared", "default_exclhost"))
    operation = examine(PbsIdentity("mbsvc"), NOW, reserves=False)
    answers = [TIME, VERSION, said(), said(), said(), nodes, HOST, SERVER_SAYS, QUEUE_SAYS]
    found = drive(operation, answers, told)
    (whole,) = [finding for finding in found if finding.check == "whole nodes"]
    assert "set `whole_nodes: 8`" in whole.advice


def told_of(
    server: dict[str, str] | None = None,
    queue: dict[str, str] | Completed | None = None,
    *,
    who: str = "mbsvc",
    nodes: str = NODES.stdout,
    made: Completed | None = None,
    time: Completed = TIME,
) -> dict[str, CheckResult]:
    """What is found where these attributes are other ones."""
    shown = (
        queue if isinstance(queue, Completed) else document("Queue", "workq", QUEUE | (queue or {}))
    )
    answers = [
        time, VERSION, said(), said(), said(), said(nodes), HOST,
        document("Server", "pbsa", SERVER | (server or {})), shown,
        *([said("R1.pbsa CONFIRMED\n"), said()] if made is None else [made]),
    ]  # fmt: skip
    found = drive(examine(PbsIdentity(who), NOW, reserves=True), answers, Told())
    return {f.check: f for f in found if f.outcome is not CheckOutcome.OK}


DENIED = Completed(247, "", "pbs_rsub: Requested user is not allowed to reserve\n")


@pytest.mark.parametrize(
    ("server", "check", "advice"),
    [
        ({"scheduling": "False"}, "scheduling", "set server scheduling = True"),
        ({"acl_host_enable": "True", "acl_hosts": "x"}, "submission", "acl_hosts += login1"),
        ({"acl_user_enable": "True", "acl_users": "-mbsvc"}, "submission", "acl_users += mbsvc"),
        ({"flatuid": "False"}, "submission", "set server flatuid = True"),
        ({"job_history_enable": "False"}, "ended jobs", "job_history_enable = True"),
    ],
)
def test_what_a_server_does_not_allow_has_its_own_advice(
    server: dict[str, str], check: str, advice: str
) -> None:
    found = told_of(server)
    assert list(found) == [check] and advice in found[check].advice


@pytest.mark.parametrize(
    "server",
    [
        {"acl_host_enable": "True", "acl_hosts": "login1.example.org"},
        {"acl_host_enable": "True", "acl_hosts": "*.example.org"},
        {"acl_user_enable": "True", "acl_users": "alice,+mbsvc@*"},
        {"flatuid": "False", "server_host": "login1.example.org"},
        {"acl_host_enable": "False", "acl_hosts": "nobody"},
    ],
)
def test_what_a_server_allows_is_no_finding(server: dict[str, str]) -> None:
    assert not told_of(server)


@pytest.mark.parametrize(
    ("server", "advice"),
    [
        ({"resv_enable": "False"}, "set server resv_enable = True"),
        ({"acl_resv_user_enable": "True", "acl_resv_users": "x"}, "acl_resv_users += mbsvc"),
        ({"acl_resv_host_enable": "True"}, "acl_resv_hosts += login1"),
        ({"acl_resv_group_enable": "True"}, "acl_resv_groups += "),
        ({}, "acl_resv_users, acl_resv_groups and acl_resv_hosts"),
    ],
)
def test_who_may_not_reserve_is_told_what_the_server_is_set_to(
    server: dict[str, str], advice: str
) -> None:
    found = told_of(server, made=DENIED)["reserve"]
    assert advice in found.advice and "claim: placeholder" in found.advice


def test_root_needs_acl_roots() -> None:
    assert "acl_roots += root" in told_of(who="root", made=DENIED)["reserve"].advice
    assert "acl_roots" in told_of(who="root")["submission"].said
    assert not told_of({"acl_roots": "root"}, who="root")


@pytest.mark.parametrize(
    ("queue", "advice"),
    [
        ({"enabled": "False"}, "set queue workq enabled = True"),
        ({"started": "False"}, "set queue workq started = True"),
        (Completed(170, "", "qstat: Unknown queue workq\n"), "correct `queue`"),
    ],
)
def test_a_queue_that_does_not_run_jobs(queue: dict[str, str] | Completed, advice: str) -> None:
    found = told_of(queue=queue)
    assert found["queue"].outcome is CheckOutcome.MISSING and advice in found["queue"].advice


def test_nodes_that_run_no_jobs_are_named() -> None:
    down = NODES.stdout.replace('"state":\t"free"', '"state":\t"down"', 1)
    found = told_of(nodes=down)["nodes"]
    assert found.outcome is CheckOutcome.WARNING
    assert "1 of 3 vnodes are down: n01" in found.said and "pbs_mom" in found.advice
    offline = NODES.stdout.replace('"state":\t"free"', '"state":\t"offline"')
    found = told_of(nodes=offline)["nodes"]
    assert found.outcome is CheckOutcome.MISSING
    assert "3 of 3 vnodes are offline" in found.said and "pbsnodes -r" in found.advice


def test_a_clock_is_looked_at_before_anything_that_may_be_slow() -> None:
    told, _ = examined(PbsIdentity("mbsvc"))
    assert told.lines[0] == "date +%s"
    assert told_of(time=said("1795236300\n"))["clock"].said.endswith("+76 s")
