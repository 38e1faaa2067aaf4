"""What released tools ask a site about itself: settings, partitions and accounts, beside Slurm's
own commands, byte for byte. Aside are only the time, the name of a cluster, names of its nodes, and
its release of Slurm.

`make same-bytes` runs it, with a real slurmdbd and MariaDB.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import re
from collections.abc import Iterator

import pytest

from metabroker.submission.tasks import MOST_TASKS
from tests.daemon.fixtures import MakeSite
from tests.daemon.kinds import Slurm
from tests.daemon.test_front_ends import Ask
from tests.daemon.test_front_ends import ask as ask
from tests.testbed import SlurmCluster
from tests.testbed.accounting import accounted

pytestmark = pytest.mark.slurm

OF_BOTH = {"MaxArraySize": str(MOST_TASKS + 1), "MinJobAge": "86400"}
SETTINGS = ("ClusterName", *OF_BOTH, "SLURM_VERSION")
LIMITS = "DefaultTime=60 MaxTime=2-00:00:00 MinNodes=0"
NAMES = {
    "partition": {"batch": "batch", "short": "short"},
    "account": {"phys": "phys", "root": "root"},
}
QUERIES = [
    # Snakemake
    ("scontrol", "show", "partition"),
    ("scontrol", "show", "partition", "-M", "leiden"),
    ("sinfo", "-o", "%P"),
    ("sacctmgr", "-n", "-s", "list", "user", "{user}", "format=account%256"),
    ("sacctmgr", "-n", "-s", "list", "user", "nobody", "format=account%256"),
    ("sshare", "-U", "--format", "Account%256", "--noheader"),
    # people
    ("scontrol", "-o", "show", "partition"),
    ("scontrol", "show", "partition", "short"),
    ("scontrol", "show", "partition", "none"),
    ("sinfo",),
    ("sinfo", "-h", "-o", "%P|%R|%a|%l"),
    ("sinfo", "-h", "-M", "leiden", "-p", "short"),
    ("sinfo", "-M", "leiden", "-o", "%R %D %N"),
    ("sacctmgr", "-P", "-s", "show", "user", "{user}", "format=user,acc,account%3"),
    ("sacctmgr", "-s", "list", "users", "where", "name={user}", "format=Account,User%-12"),
    ("sacctmgr", "-n", "-p", "show", "user", "withassoc", "user={user}", "format=account"),
    ("sshare", "-U", "-o", "account,user"),
    ("sshare", "-U", "-P", "-o", "Account"),
]


@pytest.fixture
def leiden(clusters: dict[str, SlurmCluster]) -> Iterator[SlurmCluster]:
    """It has an accounting, two partitions, and what metabroker's jobs may be."""
    cluster = clusters["leiden"]
    short = "PartitionName=short", "Nodes=ALL", *LIMITS.split()
    with contextlib.ExitStack() as stack:
        stack.enter_context(accounted(cluster, OF_BOTH, LIMITS))
        cluster.run("scontrol", "create", *short, check=True)
        stack.callback(cluster.run, "scontrol", "delete", short[0])
        yield cluster


def plain(text: str) -> str:
    """Without what is one cluster's."""
    nodes = r"\bleiden\[[\d,-]+\]|(?<=Nodes=)\(null\)|\bn/a$"
    text = re.sub(nodes, "NODES", text, flags=re.MULTILINE)
    one = r"(?<= as of )\S+$|(?<= at )\S+(?= is UP$)"
    return re.sub(one, "ONE", text, flags=re.MULTILINE)


def settings(text: str) -> list[str]:
    """Of `scontrol show config`: its first and last lines, and those of a meta-cluster."""
    lines = plain(text).splitlines()
    chosen = [line for line in lines[1:-2] if line.split(" ")[0] in SETTINGS]
    own = ("ClusterName", "SLURM_VERSION")
    chosen = [re.sub("=.*", "= OWN", line) if line.startswith(own) else line for line in chosen]
    return [lines[0], *chosen, *lines[-2:]]


@pytest.mark.skipif("METABROKER_TEST_SAME_BYTES" not in os.environ, reason="`make same-bytes`")
def test_what_tools_ask_a_site_about_itself(
    leiden: SlurmCluster, make_site: MakeSite, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = make_site(Slurm({"leiden": leiden}))
    site.configure({"max_time": "2d"})
    with site.changing() as text:
        text["clusters"] = {"leiden": {**text["clusters"]["leiden"], "names": NAMES}}
    site.start_and_look()
    monkeypatch.setenv("METABROKER_SOCKET", str(site.socket))
    monkeypatch.delenv("SLURM_TIME_FORMAT", raising=False)
    wrong = []
    for query in QUERIES:
        words = [word.replace("{user}", getpass.getuser()) for word in query]
        real, (code, out, err) = leiden.run(*words), ask(*words)
        texts = [plain(text) for text in (real.stdout, out)]
        if query[0] == "sshare":  # it goes by the tree of accounts, which no broker knows
            texts = ["\n".join(sorted(text.splitlines())) for text in texts]
        if (real.returncode, texts[0]) != (code, texts[1]):
            told = f"real {real.returncode} {real.stderr}\n{texts[0]}"
            wrong.append(f"{words}\n{told}\nours {code} {err}\n{texts[1]}")
    real, (code, out, _err) = leiden.run("scontrol", "show", "config"), ask(*CONFIG)
    if (real.returncode, settings(real.stdout)) != (code, settings(out)):
        wrong.append(f"{CONFIG}\nreal {settings(real.stdout)}\nours {settings(out)}")
    assert not wrong, "\n\n".join(wrong)


CONFIG = ("scontrol", "show", "config")
