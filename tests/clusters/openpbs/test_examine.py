"""An examination of an OpenPBS cluster, by what its commands say."""

from __future__ import annotations

import pytest

from metabroker.clusters.findings import Finding, Outcome
from metabroker.clusters.openpbs.commands import Account
from metabroker.clusters.openpbs.examine import examine
from tests.clusters.slurm.drive import Told, drive, said

from .recorded import case

NOW = 1795236224.0
VERSION = said("pbs_version = 23.06.06\n")
SERVER = said('{"timestamp":1795236224,"Server":{"pbsa":{"job_history_enable":"True"}}}')
NODES = case("53/21").completed  # three of 4 processors


def examined(who: Account, *sharing: str) -> tuple[Told, dict[str, Finding]]:
    """Of nodes that are shared so."""
    text = NODES.stdout
    for word in sharing:
        text = text.replace('"sharing":\t"default_shared"', f'"sharing":\t"{word}"', 1)
    told = Told()
    answers = [VERSION, said(), said(), said(), said(text), SERVER]
    made = [said("R1.pbsa CONFIRMED\n"), said()]
    found = drive(examine(who, NOW, reserves=True), [*answers, *made], told)
    return told, {finding.check: finding for finding in found}


def test_all_is_well_and_what_was_made_is_deleted() -> None:
    told, found = examined(Account("mbsvc"))
    assert {finding.outcome for finding in found.values()} == {Outcome.OK}
    assert "whole nodes" not in found
    create, delete = told.lines[-2:]
    assert "-N mb-doctor-" in create and delete == "pbs_rdel R1.pbsa"


@pytest.mark.parametrize("word", ["default_excl", "default_exclhost", "force_exclhost"])
def test_nodes_that_are_given_whole_ask_for_whole_nodes(word: str) -> None:
    _, found = examined(Account("mbsvc"), word)
    assert found["whole nodes"].outcome is Outcome.WARNING
    assert found["whole nodes"].said.startswith("1 of 3 vnodes")
    assert "set `whole_nodes: 4`" in found["whole nodes"].advice
    told, found = examined(Account("mbsvc", unit=4), word)
    assert found["whole nodes"].outcome is Outcome.OK
    assert found["reserve"].tried.startswith("pbs_rsub (one node,")
    assert "select=1:ncpus=4:mpiprocs=1 -l place=scatter:excl" in told.lines[-2]


def test_whole_nodes_that_are_none_or_of_another_size() -> None:
    _, found = examined(Account("mbsvc", unit=4))
    assert found["whole nodes"].outcome is Outcome.WARNING
    assert "leave out `whole_nodes`" in found["whole nodes"].advice
    _, found = examined(Account("mbsvc", unit=8), "default_excl")
    assert found["whole nodes"].outcome is Outcome.WARNING
    assert "set `whole_nodes: 4`" in found["whole nodes"].advice


def test_the_vnodes_of_a_host_are_one_node() -> None:
    one = NODES.stdout.replace('"host":\t"n02"', '"host":\t"n01"')
    told = Told()
    nodes = said(one.replace("default_shared", "default_exclhost"))
    operation = examine(Account("mbsvc"), NOW, reserves=False)
    found = drive(operation, [VERSION, said(), said(), said(), nodes, SERVER], told)
    (whole,) = [finding for finding in found if finding.check == "whole nodes"]
    assert "set `whole_nodes: 8`" in whole.advice
