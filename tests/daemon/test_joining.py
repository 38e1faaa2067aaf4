"""Jobs that join a running one, over real clusters and simulated ones."""

from __future__ import annotations

import json

import pytest

from tests.daemon.harness import Site, eventually, until

LEADS = f"""#!/bin/sh
n=$METABROKER_COMPONENT
printf 'from %s' "$n" | metabroker-exchange put greeting
{until("go-on")}
joining=$(cat joining)
metabroker-exchange get "$joining.0" answer --timeout 60
metabroker-exchange get "$joining.0" farewell --timeout 60
touch "heard.$n"
{until("end")}
"""
JOINS = """#!/bin/sh
echo "joins $METABROKER_JOINED_JOB, component $METABROKER_COMPONENT of $METABROKER_COMPONENTS"
for n in $(seq 0 $((PARTS - 1))); do
    metabroker-exchange get "$METABROKER_JOINED_JOB.$n" greeting --timeout 60
done
printf 'to all' | metabroker-exchange put answer
"""
BYE = "echo bye | metabroker-exchange put farewell\n"
RUNS_ON = "touch runs-on\nwhile :; do sleep 0.2; done\n"


def asked(site: Site, *words: str) -> str:
    """What the command prints."""
    done = site.cli(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def printed(site: Site, job: int, component: int | None = None) -> list[str]:
    part = "" if component is None else f".{component}"
    return (site.work / f"metabroker-{job}{part}.out").read_text().splitlines()


@pytest.mark.parametrize(("parts", "killed"), [(1, False), (2, False), (2, True)])
def test_a_job_and_one_that_joins_it_hear_of_each_other(
    site: Site, parts: int, killed: bool
) -> None:
    site.start_and_look()
    sizes = ",".join(["4"] * parts)
    job = site.submit(f"--components {sizes}", LEADS)
    site.wait_state(job, "RUNNING")
    # What a joining job puts last comes, though it has ended.
    script = JOINS.replace("PARTS", str(parts)) + f"{until('go-on')}\n{BYE}"
    joining = site.submit(f"--join {job} -n 2", script)
    (site.work / "joining").write_text(str(joining))
    if killed:
        site.wait_state(joining, "RUNNING")
        site.kill()
        site.start()
    (site.work / "go-on").touch()
    assert site.wait_end(joining, "COMPLETED")["joins"] == job
    wanted = [f"from {n}" for n in range(parts)]
    assert printed(site, joining) == [f"joins {job}, component 0 of 1", *wanted]
    eventually(lambda: len([*site.work.glob("heard.*")]) == parts, "all have heard of it")
    (site.work / "end").touch()
    site.wait_end(job, "COMPLETED")
    for n in range(parts):
        assert printed(site, job, n if parts > 1 else None) == ["to all", "bye"]
    site.wait_clean()


def test_it_waits_for_the_job_and_ends_with_it(site: Site) -> None:
    site.start_and_look()
    job = site.submit("-n 4 --hold", f"#!/bin/sh\n{until('end')}\n")
    joining, waits = (site.submit(f"--join {job} -n 2", f"#!/bin/sh\n{RUNS_ON}") for _ in "ab")
    asked(site, "hold", str(waits))
    shown = site.show(joining)
    assert (shown["state"], shown["joins"]) == ("QUEUED", job)
    assert shown["reason"] == f"waits for the start of job {job}, which it joins"
    asked(site, "release", str(job))
    site.wait_state(joining, "RUNNING")
    eventually(lambda: (site.work / "runs-on").exists(), "its script runs")
    told = {each["job"]: each["state"] for each in site.show(job)["joined_by"]}
    assert told == {joining: "RUNNING", waits: "HELD"}
    site.kill()
    (site.work / "end").touch()
    site.start()
    site.wait_end(job, "COMPLETED")
    for each in (joining, waits):
        reason = site.wait_end(each, "CANCELLED")["reason"]
        assert f"job {job}, which it had joined, has ended" in reason
    site.wait_clean()


def test_one_that_is_released_is_no_loss_of_the_job(site: Site) -> None:
    site.start_and_look()
    script = f"""#!/bin/sh
if [ -z "$METABROKER_JOINED_JOB" ]; then
    {until("end")}
    exit
fi
{RUNS_ON}"""
    (site.folder / "job.sh").write_text(script)
    words = "submit", "--json", "--components", "4,2+,2+", str(site.folder / "job.sh")
    done = json.loads(asked(site, *words))
    job, (first, second) = done["job"], done["joining"]
    for each in (first, second):
        site.wait_state(each, "RUNNING")
    shown = asked(site, "show", str(job))
    assert f"{first} (RUNNING, " in shown and f"{second} (RUNNING, " in shown
    asked(site, "cancel", str(first))
    assert site.wait_end(first, "CANCELLED")["reason"].startswith("cancelled by ")
    assert site.show(job)["state"] == site.show(second)["state"] == "RUNNING"
    (site.work / "end").touch()
    site.wait_end(job, "COMPLETED")
    site.wait_end(second, "CANCELLED")
    refused = site.cli("submit", "--join", str(job), "-n", "1", str(site.folder / "job.sh"))
    assert refused.returncode == 1 and "it has ended" in refused.stderr
    site.wait_clean()


def test_the_launcher_in_a_joining_job(site: Site) -> None:
    site.start_and_look()
    job = site.submit("-n 4", f"#!/bin/sh\n{until('end')}\n")
    script = """#!/bin/sh
metabroker-launch sh -c 'echo "rank $METABROKER_RANK of job $METABROKER_JOINED_JOB"'
metabroker-launch --with mpich true
echo "code $?"
metabroker-launch --with dask --timeout 1 true
echo "code $?"
"""
    joining = site.submit(f"--join {job} -n 2", script)
    site.wait_end(joining, "COMPLETED")
    lines = printed(site, joining)
    assert sorted(lines[:2]) == [f"rank {n} of job {job}" for n in range(2)]
    assert "--with mpich does not go in a job that has joined another one" in lines[2]
    assert lines[3] == "code 2"
    assert f"job {job} has started no dask that runs, in 1 s" in lines[4]
    assert lines[5] == "code 1"
    (site.work / "end").touch()
    site.wait_end(job, "COMPLETED")
    site.wait_clean()
