"""What sbatch or qsub was asked for, in each cluster's own words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from metabroker.submission.model import AskedOption, Processors, Submission
from metabroker.submission.native import qsub, sbatch
from metabroker.submission.native.asked import ClusterWords, Unsayable
from metabroker.submission.shape import Shape

SLURM = ClusterWords(
    "slurm",
    {
        "partition": {"short": "debug", "any": None},
        "account": "same",
        "qos": {"high": "urgent", "*": None},
        "constraint": {"fast": "f1", "big": "b1", "x": None},
        "wckey": None,
        "project": {"*": None},
    },
    {"partition": "batch"},
)
PBS = ClusterWords("openpbs", {"partition": {"*": "workq"}, "project": "same", "qos": {"*": None}})
CHECKS = {"slurm": sbatch.check_native, "openpbs": qsub.check_native}


def words(cluster: ClusterWords, **asked: str | None) -> tuple[str, ...]:
    """The words for a job that asks for this; `_` stands for `-`."""
    options = tuple(AskedOption(name.replace("_", "-"), value) for name, value in asked.items())
    one = Submission(b"#!/bin/sh\n", "x", Processors(single=8), "/", shape=Shape(gpus=4))
    return cluster.words(
        replace(one, asked=options), CHECKS.get(cluster.system, lambda _: "has no options")
    )


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"partition": "short"}, ("--partition=debug",)),
        ({"partition": "batch"}, ("--partition=batch",)),
        ({"partition": "nowhere,short,batch"}, ("--partition=debug,batch",)),
        ({"partition": "any"}, ()),
        ({"account": "phys"}, ("--account=phys",)),
        ({"qos": "high"}, ("--qos=urgent",)),
        ({"qos": "low"}, ()),
        ({"constraint": "fast&(big|fast)"}, ("--constraint=f1&(b1|f1)",)),
        ({"constraint": "x"}, ()),
        ({"project": "p"}, ()),
        ({"comment": "two words", "mail_type": "END"}, ("--comment=two words", "--mail-type=END")),
        ({"nice": None, "licenses": "a:2"}, ("--nice", "--licenses=a:2")),
        ({"signal": "USR1@60"}, ("--signal=USR1@60",)),
        ({"priority": "TOP"}, ("--priority=TOP",)),
        ({"priority": "top"}, ("--priority=top",)),
        ({"priority": "4294967293"}, ("--priority=4294967293",)),
        ({"nodes": "2", "ntasks_per_node": "4"}, ("--nodes=2", "--ntasks-per-node=4")),
        ({"nodes": "2-8"}, ("--nodes=2-8",)),
        ({"gpus_per_node": "2"}, ("--gpus-per-node=2",)),
        ({"exclude": "node1", "nodelist": "node2"}, ("--exclude=node1", "--nodelist=node2")),
    ],
)
def test_in_slurms_words(asked: dict[str, str | None], expected: tuple[str, ...]) -> None:
    assert words(SLURM, **asked) == expected


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"partition": "nowhere"}, "has no partition nowhere"),
        ({"partition": "a --uid=0"}, "has no partition"),
        ({"wckey": "k"}, "has no wckey k"),
        ({"constraint": "fast&slow"}, "has no constraint slow"),
        ({"constraint": "fast&x"}, "has no features for all"),
        ({"constraint": "fast*4"}, "has no constraint 4"),
        ({"nodelist": "n[1-9]"}, "several nodes"),
        ({"signal": "B:KILL@30"}, "sends a job's script ALRM, CONT, HUP"),
        ({"signal": "x y"}, "knows no such signal"),
        ({"nodes": "9"}, "more than it asks for"),
        ({"nodes": "1-9"}, "more than it asks for"),
        ({"nodes": "0"}, "no such number"),
        ({"ntasks_per_node": "x"}, "no such number"),
        ({"gpus_per_node": "5"}, "more than it asks for"),
        ({"priority": "x"}, "knows no such priority"),
        ({"priority": "-5"}, "knows no such priority"),
        ({"priority": "4294967294"}, "knows no such priority"),
        ({"priority": "12345678901"}, "knows no such priority"),
        ({"priority": None}, "knows no such priority"),
        ({"resource": "software=x"}, "cannot be asked for it"),
        ({"umask": "022"}, "cannot be asked for it"),
    ],
)
def test_what_slurm_has_no_words_for_or_must_not_be_told(
    asked: dict[str, str | None], why: str
) -> None:
    with pytest.raises(Unsayable) as caught:
        words(SLURM, **asked)
    assert why in caught.value.why


def test_in_the_words_of_pbs() -> None:
    found = words(PBS, partition="short", project="p", mail_type="END,FAIL", mail_user="a@b")
    assert found == ("-qworkq", "-Pp", "-mae", "-Ma@b")
    assert words(PBS, comment="x", qos="high", resource="software=x") == ("-lsoftware=x",)
    assert words(PBS, nodes="2", ntasks_per_node="4") == ("--nodes=2", "--ntasks-per-node=4")
    assert words(PBS, signal="SIGUSR2@90") == ("--signal=USR2@90",)
    assert words(PBS, priority="-100") == ("-p-100",)
    assert words(PBS, signal="B:USR1") == ("--signal=B:USR1",)
    for asked in ({"licenses": "a"}, {"account": "a"}, {"signal": "KILL"},
                  {"priority": "TOP"}, {"priority": "1024"},
                  {"resource": "walltime=9"}):  # fmt: skip
        with pytest.raises(Unsayable):
            words(PBS, **asked)


@pytest.mark.parametrize(
    ("unit", "asked", "why"),
    [
        (1, {"nodes": "2-4"}, "one number of nodes"),
        (1, {"nodes": "2", "ntasks_per_node": "3"}, "no room for 8 tasks on 2 such nodes"),
        (1, {"nodes": "9"}, "more than it asks for"),
        (1, {"nodes": "4", "gpus_per_node": "2"}, "other GPUs than it asks for"),
        (4, {"nodes": "4"}, "whole nodes of 4 processors"),
    ],
)
def test_nodes_that_pbs_has_no_chunks_for(unit: int, asked: dict[str, str], why: str) -> None:
    pbs = ClusterWords("openpbs", unit=unit)
    with pytest.raises(Unsayable) as caught:
        words(pbs, **asked)
    assert why in caught.value.why


def test_a_simulated_cluster_of_whole_nodes_is_told_on_how_many_a_job_is() -> None:
    simulated = ClusterWords("simulated", unit=8)
    given = ("--nodes=2", "--ntasks-per-node=2")
    assert words(simulated, nodes="2", ntasks_per_node="2", gpus_per_node="1") == given
    with pytest.raises(Unsayable):
        words(simulated, nodes="9")


def test_a_simulated_cluster_knows_names_and_has_no_nodes() -> None:
    simulated = ClusterWords("simulated", {"qos": {"high": "x"}})
    assert words(simulated, qos="high", nodes="2", comment="x") == ()
    with pytest.raises(Unsayable):
        words(simulated, mail_type="END")


@pytest.mark.parametrize("cluster", [SLURM, PBS, ClusterWords("simulated")])
@pytest.mark.parametrize(
    "asked",
    [{"nodes": "x"}, {"nodes": "0"}, {"nodes": "9"}, {"nodes": "4-2"}, {"nodes": None},
     {"ntasks_per_node": "x"}, {"ntasks_per_node": "2-4"}, {"gpus_per_node": "x"},
     {"gpus_per_node": "5"}, {"gpus_per_node": "1-2"}],
)  # fmt: skip
def test_numbers_of_nodes_are_checked_by_clusters_of_every_kind(
    cluster: ClusterWords, asked: dict[str, str | None]
) -> None:
    with pytest.raises(Unsayable):
        words(cluster, **asked)


def test_tasks_are_laid_out_in_jobs_of_one_component_alone() -> None:
    both = Submission(
        b"#!/bin/sh\n", "x", Processors(components=(2, 2)), "/", asked=(AskedOption("nodes", "2"),)
    )
    with pytest.raises(Unsayable, match="of one component alone"):
        SLURM.words(both, sbatch.check_native)
