"""Snakemake with its Slurm executor plugin, unmodified: a workflow of twenty jobs."""

from __future__ import annotations

import pytest

from tests.daemon.harness import Site
from tests.tools.conftest import Run

pytestmark = pytest.mark.slurm

PROGRAM = """
import subprocess, sys, os
open("Snakefile", "w").write('''
rule all:
    input: "sum"
rule one:
    output: "part.{n}"
    resources: slurm_partition="batch", runtime=5, mem_mb=200, tasks=1, cpus_per_task=2
    shell: "sleep 1; echo $METABROKER_CLUSTER > {output}"
rule all_of_them:
    input: expand("part.{n}", n=range(19))
    output: "sum"
    resources: slurm_partition="batch", runtime=5, mem_mb=200
    shell: "cat {input} > {output}"
''')
done = subprocess.run(
    [sys.executable, "-m", "snakemake", "--executor", "slurm", "--jobs", "19",
     "--latency-wait", "30",
     "--seconds-between-status-checks", "3",
     "--slurm-init-seconds-before-status-checks", "2", "--nocolor"],
    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
print(done.stdout[-6000:])
import glob
logs = glob.glob(".snakemake/slurm_logs/rule_one/*/*.log")
assert done.returncode == 0, "LOG " + "".join(open(f).read() for f in logs[:1])
print("SUM", *open("sum").read().split())
"""


def test_a_workflow_ends_as_on_plain_slurm(site: Site, run: Run) -> None:
    (line,) = [line for line in run(PROGRAM).splitlines() if line.startswith("SUM")]
    assert len(line.split()) == 20
    assert len(set(line.split())) == 3, "both clusters were used"
