"""AiiDA, unmodified: its plugin for Slurm, over its own local transport."""

from __future__ import annotations

import json

import pytest

from tests.daemon.harness import Site
from tests.tools.conftest import Run

pytestmark = pytest.mark.slurm

PROGRAM = """
import json, os, time
os.environ["AIIDA_PATH"] = os.getcwd()  # its settings
from aiida.schedulers.datastructures import JobTemplate, JobTemplateCodeInfo
from aiida.schedulers.plugins.slurm import SlurmScheduler
from aiida.common.datastructures import CodeRunMode
from aiida.transports.plugins.local import LocalTransport

folder, scheduler, transport = os.getcwd(), SlurmScheduler(), LocalTransport(use_login_shell=False)
scheduler.set_transport(transport)

def script(name, words, held=False):
    template = JobTemplate()
    template.shebang = "#!/bin/bash"
    template.job_name = name
    template.submit_as_hold = held
    template.rerunnable = None
    template.job_environment = {"GREETING": "hello"}
    template.queue_name = "batch"
    template.max_wallclock_seconds = 300
    template.max_memory_kb = 200 * 1024
    template.sched_output_path, template.sched_error_path = name + ".out", name + ".err"
    template.job_resource = scheduler.create_job_resource(
        num_machines=1, num_mpiprocs_per_machine=2)
    info = JobTemplateCodeInfo()
    info.cmdline_params = ["/bin/sh", "-c", words]
    template.codes_info, template.codes_run_mode = [info], CodeRunMode.SERIAL
    with open(name + ".sh", "w") as file:
        file.write(scheduler.get_submit_script(template))
    return scheduler.submit_job(folder, name + ".sh")

def states(jobs):
    return {key: each.job_state.value for key, each in
            scheduler.get_jobs(jobs=jobs, as_dict=True).items()}

with transport:
    well = script("well", "sleep 3; echo $GREETING on $METABROKER_CLUSTER")
    ill = script("ill", "exit 3")
    held = script("held", "true", held=True)
    long = script("long", "sleep 600")
    jobs, seen = [well, ill, held, long], []
    while True:
        found = states(jobs)
        seen.append(found)
        if found[long] == "running" and set(found) == {held, long} or len(seen) > 100:
            break
        if found[long] == "running" and {found.get(well), found.get(ill)} <= {None, "done"}:
            break
        time.sleep(1)
    everybody = {key: each.job_owner for key, each in
                 scheduler.get_jobs(user=os.environ.get("USER") or "root", as_dict=True).items()}
    killed = [scheduler.kill_job(long), scheduler.kill_job(held)]
    info = scheduler.get_detailed_job_info(ill)
print(json.dumps({"seen": seen[-1], "jobs": jobs, "killed": killed, "out": open("well.out").read(),
                  "info": info["stdout"], "code": info["retval"],
                  "everybody": sorted(everybody)}))
"""


def test_jobs_are_submitted_seen_and_killed(site: Site, run: Run) -> None:
    found = json.loads(run(PROGRAM).splitlines()[-1])
    well, ill, held, long = found["jobs"]
    assert (found["seen"][long], found["seen"][held]) == ("running", "queued held")
    assert {found["seen"].get(well, "done"), found["seen"].get(ill, "done")} == {"done"}
    assert {held, long} <= set(found["everybody"])
    assert found["killed"] == [True, True]
    assert found["out"].startswith("hello on ")
    head, *rows = found["info"].splitlines()
    assert found["code"] == 0 and rows
    told = dict(zip(head.split("|"), rows[0].split("|"), strict=True))
    assert (told["JobID"], told["State"], told["ExitCode"]) == (ill, "FAILED", "3:0")
    for job in (held, long):
        site.wait_end(int(job), "CANCELLED")
