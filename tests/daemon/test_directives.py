"""`#SBATCH` lines over real clusters: what they ask is what the cluster's own Slurm was asked."""

from __future__ import annotations

import pytest

from metabroker.submission.directives import sbatch
from tests.daemon.fixtures import MakeSite
from tests.daemon.kinds import Slurm
from tests.testbed import SlurmCluster

pytestmark = pytest.mark.slurm
WORDS = (
    "#SBATCH -J 'two words' # a comment\n#SBATCH -n\n#SBATCH 3\n",
    '#SBATCH --comment="a # \\"b\\" c"d -J x#y -n 9\n',
    " #SBATCH -J indented\n#SBATCH--comment=joined -J 'a\\'b'\n",
    "#SBATCH -N 2 --ntasks-per-node=3 -t 1-02:03:04\n\n# text\n#SBATCH --comment late\n",
    "#SBATCH -t 90 -c2\ntrue\n#SBATCH -J never\n",
)


def shown(cluster: SlurmCluster, job: str) -> dict[str, str]:
    """What `scontrol show job` says."""
    text = cluster.run("scontrol", "-o", "show", "job", job, check=True).stdout
    return dict(word.partition("=")[::2] for word in text.split(" ") if "=" in word)


def test_scripts_are_read_as_sbatch_reads_them(clusters: dict[str, SlurmCluster]) -> None:
    delft = clusters["delft"]
    for lines in WORDS:
        script = f"#!/bin/sh\n{lines}sleep 1\n"
        done = delft.run("sbatch", "--parsable", "-H", "-o/dev/null", stdin=script, check=True)
        job = done.stdout.strip()
        asked = ("%j", "%k", "%C", "%l")
        text = delft.run("squeue", "-h", "-j", job, "-o", "|".join(asked), check=True).stdout
        name, comment, processors, limit = text.rstrip("\n").split("|")
        delft.run("scancel", job)
        found = sbatch.translate(sbatch.of_script(script.encode(), "job.sh"))
        kept = {each.option: each.value for each in found["asked"]}
        assert found.get("name", "sbatch") == name
        assert kept.get("comment") == (None if comment == "(null)" else comment)
        assert found["single"] * found.get("cpus_per_task", 1) == int(processors)
        assert {"1-02:04:00": 93784, "1:30:00": 5400}.get(limit) == found.get("time")


def test_a_job_goes_where_its_names_mean_something_and_asks_that_cluster(
    clusters: dict[str, SlurmCluster], make_site: MakeSite
) -> None:
    """Also after a restart: the largest cluster has no such partition."""
    site = make_site(Slurm(clusters))
    names = {"leiden": {"partition": {"short": "batch"}, "qos": {"*": None}}, "lab": {}}
    site.configure({"clusters": {name: {"names": table} for name, table in names.items()}})
    site.start_and_look()
    script = (
        "#!/bin/sh\n#SBATCH -p short --qos=high -H\n#SBATCH -N 2 -n 4 --ntasks-per-node=2\n"
        "#SBATCH --comment='why not' --signal=USR1@60 -t 5\nsleep 30\n"
    )
    job = site.submit("", script)
    site.kill()
    site.start()
    assert site.cli("release", str(job)).returncode == 0
    (part,) = site.wait_state(job, "RUNNING")["components"]
    assert (part["cluster"], part["processors"]) == ("leiden", 4)
    native = shown(clusters["leiden"], part["native_id"])
    assert (native["Partition"], native["NumNodes"], native["NumTasks"]) == ("batch", "2", "4")
    assert native["Comment"] == "why"  # and more: it is split at its blanks here
    assert native["NtasksPerN:B:S:C"].startswith("2:")
    assert site.cli("cancel", str(job)).returncode == 0
    nowhere = site.cli("submit", "--cluster", "delft", str(site.folder / "script"))
    assert nowhere.returncode == 1
    assert "script:2: --partition=short" in nowhere.stderr and "delft has no" in nowhere.stderr
    site.wait_end(job, "CANCELLED")
