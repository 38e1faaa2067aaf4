"""A job that asks in the words of sbatch goes where these mean something; nothing is ignored."""

from __future__ import annotations

from dataclasses import replace

import pytest

from metabroker.api.service import ServiceError, read
from metabroker.runtime.cluster_accounts import ClusterUsers
from metabroker.service.asked_options import AskedOptions
from metabroker.submission.model import AskedOption, Processors, Submission
from metabroker.submission.native.asked import ClusterWords, Table
from tests.daemon_units.making import House

CLUSTERS = {
    "delft": ClusterWords("slurm", {"partition": {"short": "debug"}, "qos": "same"}),
    "leiden": ClusterWords("slurm", {"partition": {"long": "batch"}}),
    "lab": ClusterWords("openpbs", {"partition": {"*": "workq"}}),
}


def said(
    *asked: AskedOption,
    dropped: tuple[str, ...] = (),
    cluster: str | None = None,
    native: dict[str, tuple[str, ...]] | None = None,
) -> tuple[Submission, tuple[str, ...]]:
    submission = Submission(
        b"#!/bin/sh\n", "x", Processors(single=2, cluster=cluster), "/", asked=asked,
        native=native or {},
    )  # fmt: skip
    return AskedOptions(CLUSTERS, dropped).said(submission, lambda _cluster, _words: None)


def refusal(*asked: AskedOption, **more: object) -> str:
    with pytest.raises(ServiceError) as caught:
        said(*asked, **more)  # type: ignore[arg-type]
    return str(caught.value)


def test_each_cluster_is_told_in_its_own_words_and_others_are_closed() -> None:
    found, closed = said(AskedOption("partition", "short"), native={"delft": ("-Cx",)})
    assert found.native == {"delft": ("-Cx", "--partition=debug"), "lab": ("-qworkq",)}
    assert closed == ("leiden",)


def test_where_no_cluster_is_left_it_is_said_by_name_and_place() -> None:
    told = refusal(AskedOption("wckey", "k", "job.sh:3"))
    assert told.startswith(
        "job.sh:3: --wckey=k: the job can go to no cluster: delft has no wckey k"
    )
    told = refusal(AskedOption("partition", "short", "job.sh:4", "-q"), cluster="leiden")
    assert told.startswith("job.sh:4: -q short: the job can go to no cluster: leiden has no parti")


def test_what_nothing_becomes_of_is_refused_unless_the_site_drops_it() -> None:
    assert "job.sh:2: --requeue: metabroker repeats" in refusal(
        AskedOption("requeue", None, "job.sh:2")
    )
    assert "output is always appended to" in refusal(AskedOption("open-mode", "truncate"))
    assert "output is written where it belongs" in refusal(AskedOption("k", "oe", "j:1", "-k"))
    asked = AskedOption("requeue"), AskedOption("wckey", "k"), AskedOption("k", "oe", "", "-k")
    found, closed = said(*asked, dropped=("requeue", "wckey", "k"))
    assert (found.asked, found.native, closed) == ((), {}, ())


def test_names_of_nodes_need_one_cluster() -> None:
    assert "names of nodes are those of one cluster" in refusal(AskedOption("nodelist", "n1"))
    found, closed = said(AskedOption("nodelist", "n1"), cluster="delft")
    assert found.native["delft"] == ("--nodelist=n1",)
    assert "delft" not in closed


def test_some_clusters_may_be_named() -> None:
    assert said(AskedOption("clusters", "delft,lab"))[1] == ("leiden",)
    assert "there is no cluster 'mars'" in refusal(AskedOption("clusters", "delft,mars"))


def test_what_no_command_has_is_refused() -> None:
    assert "is no option" in refusal(AskedOption("nonsense", "x"))


def test_names_that_scripts_can_give_are_told() -> None:
    options = AskedOptions(CLUSTERS)
    assert options.partitions() == {
        "metabroker": ["delft", "leiden", "lab"], "short": ["delft", "lab"],
        "long": ["leiden", "lab"],
    }  # fmt: skip
    own = {"batch": {"partition": "batch"}, "account": {"account": "own"}}
    same = {
        "a": ClusterWords("slurm", {"account": {"phys": "p", "chem": None}}, own["batch"]),
        "b": ClusterWords("slurm", {"account": {"phys": "q"}}, own["batch"] | own["account"]),
        "c": ClusterWords("slurm", {}, own["batch"]),
    }
    told = AskedOptions(same)
    assert told.partitions() == {"batch": ["a", "b", "c"]}
    assert told.accounts(list(same)) == ["chem", "own", "phys"]
    assert (told.accounts(["b"]), told.accounts([])) == (["own", "phys"], [])


@pytest.mark.parametrize("table", ["same", {"*": "x"}])
def test_where_any_name_will_do_they_are_not_known(table: Table) -> None:
    clusters = {"a": ClusterWords("slurm", {"account": {"phys": "p"}}),
                "b": ClusterWords("slurm", {"account": table})}  # fmt: skip
    assert AskedOptions(clusters).accounts(["a", "b"]) is None
    assert AskedOptions(clusters).accounts(["a"]) == ["phys"]
    assert AskedOptions(clusters, ("account",)).accounts(["a"]) is None


def test_a_users_accounts_are_those_of_clusters_where_the_user_may_have_jobs(
    house: House,
) -> None:
    words = {name: ClusterWords("slurm", {"account": {name: name}}) for name in ("delft", "lab")}
    users = {"lab": ClusterUsers("lab", {"bob": "b", "carl": "c"}, near=False)}
    rules = replace(
        house.rules, options=AskedOptions(words), clusters=("delft", "lab"), users=users
    )
    house.service.govern(rules)

    def accounts(user: str | None) -> list[str]:
        found: list[str] = read(house.service, "names", user=user)["accounts"]
        return found

    assert [accounts(user) for user in (None, "bob", "anna", "carl", "nobody")] == [
        ["delft", "lab"], ["delft", "lab"], ["delft"], ["lab"], []
    ]  # fmt: skip
    told = read(house.service, "names", user=None)
    assert told["partitions"] == [{"name": "metabroker", "clusters": ["delft", "lab"]}]
    assert (told["default_time"], told["max_time"]) == (600, 3600)
