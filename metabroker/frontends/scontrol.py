"""`scontrol`: shows jobs, partitions and settings; holds, releases and updates jobs.

All else is a matter of one cluster: inside a job the cluster's own scontrol is asked for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from metabroker import __version__
from metabroker.api.client import Client
from metabroker.frontends.arrays import JobId, array_id, job_ids, rows, task_id, throttle
from metabroker.frontends.dependencies import told, with_others
from metabroker.frontends.link import client
from metabroker.frontends.main import FrontEndError
from metabroker.frontends.partitions import lines_of as lines_of_partition
from metabroker.frontends.partitions import partitions
from metabroker.frontends.printing import duration, hostlist, moment
from metabroker.frontends.records import CLUSTER, KEPT, Record, cpus_per_node, records, uid_of
from metabroker.frontends.srun import become_native
from metabroker.submission.tasks import MOST_TASKS
from metabroker.submission.times import parse_time

_QUIET = re.compile(r"-[adoQv]+|--(?:all|details|oneliner|quiet|verbose)")

_Shown = tuple[list[str], int]
"""What is printed, and the exit code."""


def run(words: list[str]) -> int:
    """The command. Raises `FrontEndError`, `ClientError`."""
    if "-V" in words or "--version" in words:
        print(f"slurm metabroker-{__version__}")
        return 0
    quiet = [word for word in words if _QUIET.fullmatch(word)]
    one_line = any(re.match("--oneliner|-[adQv]*o", word) for word in quiet)
    rest, among = _among([word for word in words if word not in quiet])
    verb, what = rest[0] if rest else "", rest[1] if len(rest) > 1 else ""
    if verb == "show":
        name, equals, value = what.partition("=")
        show = _show(name)
        if show is not None:
            lines, code = show([*([value] if equals else []), *rest[2:]], one_line, among)
            print(*lines, sep="\n")
            return code
    elif verb in ("hold", "release", "uhold"):
        return _change(rest[1:], "release" if verb == "release" else "hold")
    elif verb == "update" and any(map(_names_job, rest[1:])):
        return _update(rest[1:])
    elif verb == "ping":
        client().get("status")
        print(f"Slurmctld(primary) at {CLUSTER} is UP")
        return 0
    return _native(words)


def _among(words: list[str]) -> tuple[list[str], str | None]:
    """The words without `-M CLUSTERS`, and those clusters; None: all."""
    rest: list[str] = []
    among, left = None, iter(words)
    for word in left:
        name, equals, value = word.partition("=")
        if word == "-M" or (name in ("--clusters", "--cluster") and not equals):
            among = next(left, "")
        elif name in ("--clusters", "--cluster"):
            among = value
        elif word.startswith("-M"):
            among = word[2:]
        else:
            rest.append(word)
    return rest, among


def _native(words: list[str]) -> int:
    """Be the cluster's own command, where there is one behind this one in PATH."""
    become_native("scontrol", words)
    told = " ".join(words[:3])
    raise FrontEndError(
        f"{ascii(told)[1:-1]:.60} is not known here",
        "show job, config or partition, hold, release, update of jobs and ping are; all else is "
        "one cluster's",
    )


def _change(words: list[str], verb: str) -> int:
    asked, others = _named_jobs(words)
    asked += [each for word in others for each in job_ids(word)]
    if not asked:
        raise FrontEndError("No job identification provided", "write the number of a job")
    way = client()
    for each in asked:
        way.change(each.asked, verb)
    return 0


def _named_jobs(words: list[str]) -> tuple[list[JobId], list[str]]:
    """The jobs of `JobId=17` or `job 17`, wherever it stands, and the other words."""
    asked: list[JobId] = []
    others: list[str] = []
    left = iter(words)
    for word in left:
        if _names_job(word):
            _, equals, value = word.partition("=")
            asked += job_ids(value if equals else next(left, ""))
        else:
            others.append(word)
    return asked, others


def _names_job(word: str) -> bool:
    return word.partition("=")[0].lower() in ("job", "jobs", "jobid")


_UNCHANGED = "cannot be changed: TimeLimit, and of an array ArrayTaskThrottle, can"


def _update(words: list[str]) -> int:
    """`update JobId=17 TimeLimit=10 ArrayTaskThrottle=2`, in any order."""
    asked, changes = _named_jobs(words)
    wanted: dict[str, int] = {}
    more = 0
    for word in changes:
        name, equals, value = word.partition("=")
        if not equals:
            raise FrontEndError(f"Invalid input: {ascii(word)[1:-1]:.60}")
        if name.lower() == "timelimit":
            wanted["time_limit"] = parse_time(value.lstrip("+-"))
            more = {"+": 1, "-": -1}.get(value[:1], 0)
        elif name.lower() == "arraytaskthrottle" and value.isascii() and value.isdigit():
            wanted["most"] = int(value[:10])
        else:
            raise FrontEndError(f"{ascii(word)[1:-1]:.60} {_UNCHANGED}", "submit the job anew")
    if not asked or not wanted:
        raise FrontEndError("No changes specified")
    way = client()
    for each in asked:
        limit = {"time_limit": _limit_of(way, each) + more * wanted["time_limit"]} if more else {}
        if limit and limit["time_limit"] <= 0:
            raise FrontEndError(f"Invalid time limit for job {each}")
        way.change(each.asked, "change", **{**wanted, **limit})
    return 0


def _limit_of(way: Client, asked: JobId) -> int:
    """The time limit that it has, in seconds."""
    for job in records(way, jobs=[asked.number]):
        if asked.means(job):
            return int(job.json["time_limit"])
    raise FrontEndError(f"Invalid job id specified for job {asked}")


def _jobs(words: list[str], one_line: bool, among: str | None) -> _Shown:
    asked = [each for word in words for each in job_ids(word)]
    way = client()
    import time

    since = time.time() - KEPT  # of those that have ended
    found = records(way, jobs=[each.number for each in asked] or None, since=since)
    if asked:
        found = [job for job in found if any(each.means(job) for each in asked)]
    found = [job for job in found if job.in_one_of(among)]
    found = with_others(way, rows(found))
    if asked and not found:
        raise FrontEndError("slurm_load_jobs error: Invalid job id specified")
    texts = [lines_of(job) for job in found]
    if one_line:
        return [" ".join(line.strip() for line in lines) + " " for lines in texts], 0
    return ["\n".join(lines) + "\n" for lines in texts] or ["No jobs in the system"], 0


def _restarts(job: Record) -> int:
    """How often its script was begun again: after each failure but the one that it ended with."""
    failures = int(job.json["completion_failures"])
    at_the_end = job.json["state"] == "FAILED" and not job.json["submission_failures"]
    return max(0, failures - at_the_end)


def lines_of(job: Record) -> list[str]:
    """A job as `show job` prints it."""
    shape, code = job.json["shape"], job.exit_code
    hosts = hostlist(job.hosts) or ""
    memory = shape.get("memory", 0) or shape.get("memory_per_cpu", 0)
    unit = "CPU" if shape.get("memory_per_cpu") else "Node"
    alone = "NO" if shape.get("exclusive") else "OK"
    per_node = job.asked("ntasks-per-node") or "0"
    amount = f"{memory}M" if memory else "0"
    name = job.spec("script_name")
    lines = [
        f"JobId={job.id} {_array(job)}JobName={job.name}",
        f"UserId={job.user}({uid_of(job.user)}) GroupId={_group(job.user)} MCS_label=N/A",
        f"Priority=1 Nice={job.asked('nice') or 0} Account={job.asked('account') or '(null)'} "
        f"QOS={job.asked('qos') or '(null)'}",
        f"JobState={job.state} Reason={job.reason} Dependency={told(job)}",
        f"Requeue=0 Restarts={_restarts(job)} BatchFlag=1 Reboot=0 ExitCode={code[0]}:{code[1]}",
        f"RunTime={duration(job.used)} TimeLimit={duration(job.limit)} TimeMin=N/A",
        f"SubmitTime={moment(job.submitted)} EligibleTime={moment(job.submitted)}",
        f"AccrueTime={moment(job.submitted)}",
        f"StartTime={moment(job.started, 'Unknown')} EndTime={moment(job.ends, 'Unknown')} "
        "Deadline=N/A",
        f"Partition={job.partition} AllocNode:Sid=metabroker:0",
        f"ReqNodeList={job.asked('nodelist') or '(null)'} "
        f"ExcNodeList={job.asked('exclude') or '(null)'}",
        f"NodeList={hosts}",
        *([f"BatchHost={job.hosts[0]}"] if job.hosts else []),
        f"NumNodes={_nodes(job)} NumCPUs={job.processors} NumTasks={job.tasks} "
        f"CPUs/Task={job.cpus_per_task} ReqB:S:C:T=0:0:*:*",
        f"Socks/Node=* NtasksPerN:B:S:C={per_node}:0:*:* CoreSpec=*",
        f"MinCPUsNode={cpus_per_node(job)} MinMemory{unit}={amount} MinTmpDiskNode=0",
        f"Features={job.asked('constraint') or '(null)'} DelayBoot=00:00:00",
        f"OverSubscribe={alone} Contiguous=0 Licenses={job.asked('licenses') or '(null)'} "
        f"Network={job.asked('network') or '(null)'}",
        f"Command={name if name.startswith('/') else job.spec('chdir') + '/' + name}",
        f"WorkDir={job.spec('chdir')}",
        *([f"Comment={job.asked('comment')}"] if job.asked("comment") else []),
        f"StdErr={job.path('error')}",
        "StdIn=/dev/null",
        f"StdOut={job.path('output')}",
        *(["KillOInInvalidDependent=Yes"] if _kills(job) else []),
    ]
    return [lines[0], *(f"   {line}" for line in lines[1:])]


def _nodes(job: Record) -> str:
    """Of one that waits how many it asks for: at least, and at most."""
    asked = job.asked("nodes") if job.pending else None
    if asked is None:
        return str(job.nodes)
    least, _, most = asked.partition("-")
    return f"{least}-{most or least}"


def _kills(job: Record) -> bool:
    """Whether it is cancelled once what it waits for can never be. (The word is Slurm's.)"""
    return bool((job.json.get("dependency") or {}).get("kill"))


def _array(job: Record) -> str:
    task, most = task_id(job), throttle(job)
    if task is None:
        return ""
    limit = f"ArrayTaskThrottle={most} " if most else ""
    return f"ArrayJobId={array_id(job)} ArrayTaskId={task} {limit}"


def _group(user: str) -> str:
    import grp
    import pwd

    try:
        number = pwd.getpwnam(user).pw_gid
        return f"{grp.getgrgid(number).gr_name}({number})"
    except KeyError:
        return "(null)"


def _partitions(words: list[str], one_line: bool, among: str | None) -> _Shown:
    found = [each for each in partitions(client(), among) if not words or each.name in words]
    if words and not found:
        return [f"Partition {ascii(words[0])[1:-1]:.60} not found"], 1
    texts = [lines_of_partition(each) for each in found]
    if one_line:
        return [" ".join(line.strip() for line in lines) for lines in texts], 0
    return ["\n".join(lines) + "\n" for lines in texts], 0


def _config(_words: list[str], _one_line: bool, _among: str | None) -> _Shown:
    """What tools ask for: for how long ended jobs are told of, and of what release all this is."""
    client().get("status")
    settings = {
        "ClusterName": CLUSTER,
        "MaxArraySize": str(MOST_TASKS + 1),
        "MinJobAge": f"{KEPT:.0f} sec",
        "SLURM_VERSION": f"metabroker-{__version__}",
    }
    lines = (f"{name:<23} = {value}" for name, value in settings.items())
    up = ["", f"Slurmctld(primary) at {CLUSTER} is UP"]
    return [f"Configuration data as of {moment(_now())}", *lines, *up], 0


def _now() -> float:
    import time

    return time.time()


_SHOW: dict[str, tuple[int, Callable[[list[str], bool, str | None], _Shown]]] = {
    "jobs": (1, _jobs),
    "jobid": (1, _jobs),
    "partitions": (3, _partitions),
    "config": (3, _config),
}
"""What can be shown, and how many letters of its name are enough."""


def _show(name: str) -> Callable[[list[str], bool, str | None], _Shown] | None:
    """What shows it; None: it is not known here."""
    word = name.lower()
    for full, (least, show) in _SHOW.items():
        if len(word) >= least and full.startswith(word):
            return show
    return None
