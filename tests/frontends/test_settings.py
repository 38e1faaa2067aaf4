"""`scontrol show config|partition`, `sinfo`, `sacctmgr` and `sshare`: what tools ask a site about
itself (beside real Slurm: `make same-bytes`)."""

from __future__ import annotations

import pytest

from metabroker import __version__
from tests.frontends.conftest import Ask
from tests.frontends.stub import CLUSTERS, NAMES, StubClient

SHORT = """\
PartitionName=short
   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL
   AllocNodes=ALL Default=NO QoS=N/A
   DefaultTime=01:00:00 DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO
   MaxNodes=UNLIMITED MaxTime=UNLIMITED MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED
   Nodes=(null)
   PriorityJobFactor=1 PriorityTier=1 RootOnly=NO ReqResv=NO OverSubscribe=NO
   OverTimeLimit=NONE PreemptMode=OFF
   State=UP TotalCPUs=64 TotalNodes=4 SelectTypeParameters=NONE
   JobDefaults=(null)
   DefMemPerNode=UNLIMITED MaxMemPerNode=UNLIMITED
   TRES=cpu=64,mem=256G,node=4,billing=64

"""


def stub(**names: object) -> StubClient:
    return StubClient(names={**NAMES, **names})


def test_partitions_are_those_that_jobs_can_name_over_the_clusters_that_have_them(
    ask: Ask,
) -> None:
    assert ask(stub(), "scontrol", "show", "partition", "short") == (0, SHORT, "")
    _, both, _ = ask(stub(max_time=180000), "scontrol", "show", "partitions")
    first, second = both.split("\n\n")[:2]
    assert first.startswith("PartitionName=batch\n") and "Default=YES" in first
    assert "MaxTime=2-02:00:00" in first
    assert "TotalCPUs=72 TotalNodes=5" in first
    assert first.endswith("TRES=cpu=72,mem=263144M,node=5,billing=72,gres/gpu=2")
    assert second.startswith("PartitionName=short\n")
    _, line, _ = ask(stub(), "scontrol", "-o", "show", "partition", "short")
    assert line.startswith("PartitionName=short AllowGroups=ALL ") and line.count("\n") == 1
    told = "Partition none not found\n"
    assert ask(stub(), "scontrol", "show", "partition", "none") == (1, told, "")


def test_partitions_of_one_cluster(ask: Ask) -> None:
    for words in (["-M", "lab"], ["-Mlab"], ["--clusters=lab"], ["--cluster", "lab"]):
        _, out, _ = ask(stub(), "scontrol", "show", "partition", *words)
        assert "State=UP TotalCPUs=8 TotalNodes=1" in out and "short" not in out
    told = "there is no cluster mars"
    assert ask(stub(), "scontrol", "show", "partition", "-M", "mars")[2] == told
    assert ask(stub(), "sinfo", "-M", "mars")[2] == told
    assert ask(stub(), "sinfo", "-h", "-M", "lab", "-o", "%P %C") == (0, "batch* 0/0/8/8\n", "")
    _, out, _ = ask(stub(), "sinfo", "-M", "lab,delft", "-o", "%R %D")
    lab, delft = "PARTITION NODES\nbatch 1\n", "PARTITION NODES\nbatch 4\nshort 4\n"
    assert out == f"CLUSTER: lab\n{lab}\nCLUSTER: delft\n{delft}"


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        ({"idle": 64}, "0/64/0/64 idle"),
        ({"idle": 16}, "48/16/0/64 mix"),
        ({"idle": 0}, "64/0/0/64 alloc"),
        ({"idle": 16, "down": 8}, "40/16/8/64 mix"),
        ({"idle": 56, "down": 8}, "0/56/8/64 idle"),
        ({"idle": 0, "down": 64}, "0/0/64/64 down"),
        ({"idle": None, "down": None}, "0/0/64/64 unk"),
        ({"idle": 64, "drained": {"by": "root"}}, "0/0/64/64 drain"),
        ({"idle": 16, "drained": {"by": "root"}}, "48/0/16/64 drng"),
    ],
)
def test_processors_that_are_down_drained_or_unknown_are_not_shown_as_allocated(
    ask: Ask, state: dict[str, object], shown: str
) -> None:
    one = StubClient(clusters=[{**CLUSTERS[0], **state}, CLUSTERS[1]])
    assert ask(one, "sinfo", "-h", "-p", "short", "-o", "%C %t") == (0, f"{shown}\n", "")


def test_sinfo_tells_the_longest_time(ask: Ask) -> None:
    assert ask(stub(), "sinfo", "-o", "%P")[1] == "PARTITION\nbatch*\nshort\n"
    assert ask(stub(max_time=7200), "sinfo", "-h", "-p", "short", "-o", "%R %l %T %D")[1] == (
        "short 2:00:00 idle 4\n"
    )
    assert ask(stub(), "sinfo", "-h", "-p", "batch", "-o", "%l")[1] == "infinite\n"


def test_settings_stand_as_slurms_do(ask: Ask) -> None:
    first, *lines = ask(stub(), "scontrol", "show", "config")[1].splitlines()
    assert first.startswith("Configuration data as of ")
    assert lines == [
        "ClusterName             = metabroker",
        "MaxArraySize            = 100001",
        "MinJobAge               = 86400 sec",
        f"SLURM_VERSION           = metabroker-{__version__}",
        "",
        "Slurmctld(primary) at metabroker is UP",
    ]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("sacctmgr -n -s list user anna format=account%12", "        chem \n        phys \n"),
        ("sacctmgr -nP show users where name=anna withassoc format=user,acc",
         "anna|chem\nanna|phys\n"),
        ("sacctmgr -s list user anna format=Account%4,cluster%-11",
         "Acco Cluster     \n---- ----------- \nchem metabroker  \nphys metabroker  \n"),
        ("sshare -U --format Account%8 --noheader", "    chem \n    phys \n"),
        ("sshare -UP -o account", "Account\nchem\nphys\n"),
    ],
)  # fmt: skip
def test_the_accounts_of_a_user(ask: Ask, words: str, expected: str) -> None:
    assert ask(stub(), *words.split()) == (0, expected, "")


def test_it_is_asked_whose_they_are(ask: Ask) -> None:
    daemon = stub()
    ask(daemon, "sacctmgr", "-s", "list", "user", '"anna",ben', "format=account")
    assert daemon.queries == [{"user": "anna"}, {"user": "ben"}]


def test_where_any_name_will_do_none_is_told(ask: Ask) -> None:
    for words in ("sacctmgr -n -s list user anna format=account%256", "sshare -Un -o account"):
        code, out, told = ask(stub(accounts=None), *words.split())
        assert (code, out) == (0, "")
        assert "any name of an account" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("sacctmgr add user anna", "add user anna is not known here"),
        ("sacctmgr list associations", "list associations is not known here"),
        ("sacctmgr -s list user format=account", "not listed here without a user"),
        ("sacctmgr -s list user anna", "not listed here without format="),
        ("sacctmgr list user anna format=account", "not listed here without --associations"),
        ("sacctmgr -s list user anna format=fairshare", "Unknown field 'fairshare'"),
        ("sacctmgr -s list user anna account=x format=user", "Unknown condition: account=x"),
        ("sacctmgr --nonsense list user anna", "'--nonsense' is no option of sacctmgr"),
        ("sshare", "shares are not known here"),
        ("sshare -U", "shares are not known here"),
        ("sshare -U -a -o account", "shares are not known here"),
        ("sshare -U -o account,rawshares", 'Invalid field requested: "rawshares"'),
    ],
)
def test_what_is_one_clusters_is_refused_by_name(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, words: str, told: str
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    code, out, error = ask(stub(), *words.split())
    assert (code, out) == (1, "") and told in error
