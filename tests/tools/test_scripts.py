"""What people write themselves, and what Nextflow and HyperQueue say, in their exact words."""

from __future__ import annotations

import json

import pytest

from tests.daemon.harness import Site
from tests.tools.conftest import Run

pytestmark = pytest.mark.slurm

CHAIN = """
import json, subprocess, time

def sbatch(*words):
    done = subprocess.run(["sbatch", "--parsable", "-t", "5", *words], check=True, text=True,
                          stdout=subprocess.PIPE)
    return done.stdout.strip()

# Full clusters: each link waits for its own, and the next one for an end in the other.
first = sbatch("-n", "32", "-M", "lab", "--wrap", "sleep 2; date +%s.%N > first")
second = sbatch("-n", "64", "-M", "leiden", "-d", "afterok:" + first.partition(";")[0], "--wrap",
                "date +%s.%N > second-began; sleep 2; date +%s.%N > second")
third = sbatch("-n", "32", "-M", "lab", "-d", "afterok:" + second.partition(";")[0], "--wrap",
               "date +%s.%N > third; exit 5")
never = sbatch("-n", "1", "-d", "afterok:" + third.partition(";")[0], "--kill-on-invalid-dep=yes",
               "--wrap", "true")
ids = [each.partition(";")[0] for each in (first, second, third, never)]
for _ in range(120):
    told = subprocess.run(["sacct", "-X", "-n", "-P", "-o", "JobID,State", "-j", ",".join(ids)],
                          check=True, text=True, stdout=subprocess.PIPE).stdout
    states = dict(line.split("|") for line in told.splitlines())
    if not {"PENDING", "RUNNING"} & set(states.values()):
        break
    time.sleep(1)
moments = [float(open(name).read()) for name in ("first", "second-began", "second", "third")]
print(json.dumps({"states": [states[each] for each in ids], "sorted": moments == sorted(moments)}))
"""

NEXTFLOW = '''
import json, re, subprocess, time

def told(*words):
    return subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT).stdout

open(".command.run", "w").write("""#!/bin/bash
#SBATCH -J nf-one_(1)
#SBATCH -o .command.log
#SBATCH --no-requeue
#SBATCH --signal B:USR2@30
#SBATCH -c 2
#SBATCH -t 00:05:00
#SBATCH --mem 200M
#SBATCH -p batch
#SBATCH --array 0-2
cd "$SLURM_SUBMIT_DIR"
sleep 2
echo $? > .exitcode.$SLURM_ARRAY_TASK_ID
exit $((SLURM_ARRAY_TASK_ID == 1 ? 3 : 0))
""")
out = told("sbatch", ".command.run")
job = re.search(r"Submitted batch job (\\d+)", out).group(1)
ids = {f"{job}_{n}" for n in range(3)}
for _ in range(120):
    lines = told("squeue", "--noheader", "-o", "%i %t", "-t", "all", "-p", "batch", "-u",
                 told("id", "-un").strip()).splitlines()
    states = dict(line.split() for line in lines)
    found = {each: states.get(each) for each in ids}
    if set(found.values()) <= {"CD", "F"}:
        break
    time.sleep(1)
codes = [open(f".exitcode.{n}").read().strip() for n in range(3)]
open("pbs.run", "w").write("""#!/bin/bash
#PBS -N nf-two
#PBS -o pbs.log
#PBS -j oe
#PBS -q batch
#PBS -l select=1:ncpus=2:mem=200mb
#PBS -l walltime=00:05:00
sleep 2
""")
two = told("qsub", "-N", "nf-two", "pbs.run").strip()
listed = told("qstat", "-f", two)
print(json.dumps({"states": [found[f"{job}_{n}"] for n in range(3)], "codes": codes,
                  "two": [re.search(r"Job Id: (\\S+)", listed).group(1) == two,
                          re.search(r"job_state = (\\S)", listed).group(1)]}))
told("scancel", two.partition(".")[0])
'''

HYPERQUEUE = '''
import json, re, subprocess, time

def told(*words):
    return subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE).stdout

open("hq-submit.sh", "w").write("""#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=hq-alloc-1
#SBATCH --output=hq.out
#SBATCH --error=hq.err
#SBATCH --time=00:05:00
sleep 3
""")
out = told("sbatch", "hq-submit.sh")
job = out.split()[3]
seen = []
for _ in range(120):
    text = told("scontrol", "show", "job", job)
    fields = dict(word.split("=", 1) for word in text.split() if "=" in word)
    if [fields["JobState"]] != seen[-1:]:
        seen.append(fields["JobState"])
    if fields["JobState"] in ("COMPLETED", "FAILED"):
        break
    time.sleep(0.5)
two = told("qsub", "-N", "hq", "-l", "select=1", "-l", "walltime=00:05:00", "--",
           "/bin/sleep", "600").strip()
of_pbs = json.loads(told("qstat", "-f", two, "-F", "json", "-x"))["Jobs"][two]["job_state"]
told("qdel", two)
print(json.dumps({"seen": seen, "start": fields["StartTime"] < fields["EndTime"],
                  "of_pbs": of_pbs in ("Q", "R")}))
'''


def test_a_chain_of_dependencies_crosses_clusters(site: Site, run: Run) -> None:
    found = json.loads(run(CHAIN).splitlines()[-1])
    assert found["states"][:3] == ["COMPLETED", "COMPLETED", "FAILED"]
    assert found["states"][3].startswith("CANCELLED")
    assert found["sorted"]


def test_nextflows_words(site: Site, run: Run) -> None:
    found = json.loads(run(NEXTFLOW).splitlines()[-1])
    assert found["states"] == ["CD", "F", "CD"]
    assert found["codes"] == ["0", "0", "0"]
    assert found["two"][0] and found["two"][1] in "QR"


def test_hyperqueues_words(site: Site, run: Run) -> None:
    found = json.loads(run(HYPERQUEUE).splitlines()[-1])
    assert found["seen"][-1] == "COMPLETED"
    assert found["start"] and found["of_pbs"]
