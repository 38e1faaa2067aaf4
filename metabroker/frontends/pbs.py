"""Jobs as the commands of PBS speak of them: their ids, states, attributes, and how they print."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from metabroker import __version__
from metabroker.frontends.arrays import JobId, waiting
from metabroker.frontends.dependencies import wanted
from metabroker.frontends.main import FrontEndError
from metabroker.frontends.records import Record, number_asked, user_names
from metabroker.submission.dependency import Term
from metabroker.submission.errors import SubmissionError
from metabroker.submission.tasks import TaskSet

SERVER = "metabroker"
"""What stands behind the number in a job's id."""
UNKNOWN, FINISHED, DENIED, BAD_STATE = 153, 35, 159, 170
"""PBS's exit codes: there is no such job; it is over; it is somebody else's; not as it is now."""
KEPT = 86400.0  # seconds that ended jobs are shown by -x
NO_PROJECT = "_pbs_project_default"
_ID = re.compile(r"([0-9]{1,18})(\[(?:[0-9,:-]{0,200})\])?(?:\.[A-Za-z0-9.-]*)?")
_ADDED = 256  # to the number of a signal that ended a job, in Exit_status
_BY_SHELL = 128  # the same, where the server had no part in it
_OVERTIME = -29
_NOT_RUN = -1
_LINE = 78  # characters of a line of `qstat -f`


def job_id(job: int | str) -> str:
    """What qsub prints."""
    return f"{job}.{SERVER}"


def shown_id(job: Record) -> str:
    """A job's id: `17.metabroker`, `17[].metabroker` of an array, `17[3].metabroker` of a task."""
    if job.json.get("array"):
        return job_id(f"{job.id}[]")
    task = job.json.get("array_task")
    return job_id(job.id if task is None else f"{job.json['array_job']}[{task}]")


def asked(word: str) -> JobId:
    """The job, the array or the tasks that an id names. Raises `FrontEndError`."""
    found = _ID.fullmatch(word)
    tasks = found[2][1:-1] if found is not None and found[2] else ""
    try:
        which = TaskSet.parse(tasks) if tasks else None
    except SubmissionError:
        found = which = None
    if found is None:
        raise FrontEndError(f"illegally formed job identifier: {ascii(word)[1:-1]:.60}", code=1)
    return JobId(int(found[1]), which)


def users_of(text: str) -> list[str]:
    """Those of `-u`, each with the host from which they submit, or without: `anna@host,ben`."""
    return user_names(",".join(word.partition("@")[0] for word in text.split(",")))


def id_of(job: JobId, known: Collection[int] = ()) -> str:
    """An id as PBS writes it; `known`: arrays."""
    if job.tasks is not None:
        return job_id(f"{job.number}[{job.tasks}]")
    return job_id(f"{job.number}[]" if job.number in known else job.number)


def state(job: Record) -> str:
    """PBS's letter for it. A task that has ended is X until its array has."""
    if job.ended and job.json.get("array_left"):
        return "X"
    if job.json.get("array") and job.json.get("begun") and not job.ended:
        return "B"
    if job.json["state"] == "HELD" or (job.pending and wanted(job) is not None):
        return "H"
    return "Q" if job.pending else "F" if job.ended else "R"


def begun(jobs: list[Record]) -> list[Record]:
    """The same; of arrays it is told whether one of their tasks has started."""
    begun = {job.json.get("array_job") for job in jobs if not job.pending}
    over = {job.id for job in jobs if job.json.get("array") and job.ended}
    counts = Counter(
        (job.json["array_job"], 0 if job.pending else 2 if job.ended else 1)
        for job in jobs
        if job.json.get("array_job") is not None
    )
    found = []
    for job in jobs:
        array = job.json.get("array_job")
        if job.json.get("array"):
            queued, running, gone = (counts[job.id, rank] for rank in range(3))
            told = (queued + len(waiting(job)), running, 0 if job.ended else gone)
            job = replace(job, json={**job.json, "begun": job.id in begun, "counts": told})
        elif array is not None and array not in over:
            job = replace(job, json={**job.json, "array_left": True})
        found.append(job)
    return found


def with_tasks(jobs: Iterable[Record]) -> list[Record]:
    """The same; behind each array its tasks, also those that are no jobs of their own yet."""
    jobs = list(jobs)
    tasks: dict[int, list[Record]] = {}
    for job in jobs:
        if job.json.get("array_job") is not None:
            tasks.setdefault(int(job.json["array_job"]), []).append(job)
    found: list[Record] = []
    for job in jobs:
        if job.json.get("array"):
            waits = {**job.json, "array": None, "array_job": job.id, "dependency": None}
            waits |= {"state": "QUEUED"}
            own = [
                replace(job, json={**waits, "array_task": number})
                for number in (() if job.ended else waiting(job))
            ]
            own += tasks.pop(job.id, [])
            found += [job, *sorted(own, key=lambda task: int(task.json["array_task"]))]
        elif job.json.get("array_job") is None:
            found.append(job)
    return [*found, *(task for own in tasks.values() for task in own)]


def exit_status(job: Record) -> int | None:
    """As PBS has it; None: it never ran, or has not ended."""
    if not job.ended:
        return None
    if job.json.get("array"):
        return 0  # however its tasks have ended: the substate tells that
    if job.json["start_time"] is None:
        return None
    if job.state == "TIMEOUT":
        return _OVERTIME
    if job.state == "FAILED" and job.json["exit_code"] is None:
        return _NOT_RUN
    code, signal = job.exit_code
    if not signal:
        return code
    return signal + (_ADDED if job.state == "CANCELLED" else _BY_SHELL)


def attributes(job: Record) -> dict[str, Any]:
    """A job's attributes in PBS's order; those of `Resource_List` are a mapping."""
    letter, status = state(job), exit_status(job)
    chdir = job.spec("chdir")
    limit = {"walltime": duration_of_pbs(job.limit)}
    used = {"ncpus": job.processors, "walltime": duration_of_pbs(job.used)}
    joined, of_array = not job.spec("error"), job.json.get("array_job") is not None
    chunks, memory = _chunks(job), int(job.json["shape"].get("memory_per_cpu") or 0)
    waits = {"Q": f"Not Running: {job.json['reason']}"}
    told = {
        "Job_Name": job.name,
        "Job_Owner": f"{job.user}@{SERVER}",
        "resources_used": used if job.json["start_time"] is not None else None,
        "job_state": letter,
        "queue": job.partition,
        "server": SERVER,
        "Account_Name": job.asked("account"),
        "Checkpoint": None if of_array else "u",
        "ctime": _date(job.submitted),
        "depend": _depend(job),
        "Error_Path": f"{SERVER}:{_path(job, 'error')}",
        "exec_host": _chunks_of_hosts(job),
        "Hold_Types": None
        if of_array
        else "n"
        if letter != "H"
        else "u"
        if job.json["state"] == "HELD"
        else "s",
        "Join_Path": "oe" if joined else "n",
        "Keep_Files": "n",
        "Mail_Points": "n",
        "mtime": _date(job.json["end_time"] or job.json["start_time"] or job.submitted),
        "Output_Path": f"{SERVER}:{_path(job, 'output')}",
        "Priority": number_asked(job, "priority"),
        "qtime": _date(job.submitted),
        "Rerunable": "False",
        "Resource_List": {
            **({"mem": f"{memory * job.processors}mb"} if memory else {}),
            "ncpus": job.processors,
            **chunks,
            **limit,
        },
        "schedselect": chunks["select"],
        "stime": _date(job.json["start_time"]) if job.json["start_time"] else None,
        "obittime": _date(job.json["end_time"]) if status is not None else None,
        "substate": _substate(job, letter, status),
        "Variable_List": {"PBS_O_WORKDIR": chdir, "PBS_O_QUEUE": job.partition},
        "euser": job.user,
        "queue_type": "E",
        "comment": waits.get(letter),
        "etime": _date(job.submitted),
        "run_count": int(job.json["attempts"]) or None,
        "Exit_status": status,
        **_of_array(job),
        "project": job.asked("project") or NO_PROJECT,
        "Submit_Host": SERVER,
    }
    return {name: value for name, value in told.items() if value is not None}


def _of_array(job: Record) -> dict[str, Any]:
    array = job.json.get("array")
    if array:
        left = array["left"] or "-"
        return {
            "array": "True",
            "array_state_count": _counts(job),
            "array_indices_submitted": array["tasks"],
            "array_indices_remaining": left,
        }
    if job.json.get("array_job") is None:
        return {}
    return {
        "array_id": job_id(f"{job.json['array_job']}[]"),
        "array_index": job.json["array_task"],
    }


def _counts(array: Record) -> str:
    """How many of its tasks are in which state."""
    queued, running, over = array.json.get("counts") or (len(waiting(array)), 0, 0)
    return f"Queued:{queued} Running:{running} Exiting:0 Expired:{over}"


def _depend(job: Record) -> str | None:
    """What it waits for, as PBS shows it."""
    waits = wanted(job)
    told: dict[str, list[str]] = {}
    for term in () if waits is None else waits.terms:
        if term.job:
            told.setdefault(term.when.value, []).append(f"{job_id(_named(term))}@{SERVER}")
    return ",".join(":".join((when, *jobs)) for when, jobs in told.items()) or None


def _named(term: Term) -> int | str:
    return term.job if term.task < 0 else f"{term.job}[{term.task}]"


def _chunks(job: Record) -> dict[str, Any]:
    """Where its tasks are: each anywhere, or so many on each of its nodes."""
    nodes, cpus = number_asked(job, "nodes"), job.cpus_per_task
    memory = int(job.json["shape"].get("memory_per_cpu") or 0)
    more = f":mem={memory * cpus}mb" if memory else ""
    if nodes < 1 or str(nodes) != job.asked("nodes") or job.tasks % nodes:
        select = f"{job.tasks}:ncpus={cpus}{more}"
        return {"nodect": job.tasks, "place": "free", "select": select}
    ranks = job.tasks // nodes
    more = f":mem={memory * cpus * ranks}mb" if memory else ""
    select = f"{nodes}:ncpus={ranks * cpus}:mpiprocs={ranks}{more}"
    return {"nodect": nodes, "place": "scatter", "select": select}


def _chunks_of_hosts(job: Record) -> str | None:
    """`node/0*2+node/1*2`: each chunk's node; where it is on several nodes, each once."""
    if len(job.hosts) != 1:
        return "+".join(f"{host}/0" for host in job.hosts) or None
    cpus = f"*{job.cpus_per_task}" if job.cpus_per_task > 1 else ""
    return "+".join(f"{job.hosts[0]}/{number}{cpus}" for number in range(job.tasks))


def _substate(job: Record, letter: str, status: int | None) -> int:
    if letter == "H":
        return 20 if job.json["state"] == "HELD" else 22
    if letter == "F" and job.state == "CANCELLED":
        return 91
    failed = job.state == "FAILED" if job.json.get("array") else status
    return {"Q": 10, "B": 70, "R": 42}.get(letter, 93 if failed else 92)


def _path(job: Record, key: str) -> str:
    """The file of its output, or of its errors, also where these are joined to the other."""
    if not job.json.get("array") and (key == "output" or job.spec("error")):
        return job.path(key)
    text = job.spec(key) or f"{job.name}.e{'%A.%a' if job.json.get('array') else '%j'}"
    if job.json.get("array"):
        text = text.replace("%A", str(job.id)).replace("%a", "^array_index^").replace("%%", "%")
        return text if text.startswith("/") else f"{job.spec('chdir')}/{text}"
    text = f"{job.name}.e{shown_id(job).partition('.')[0]}"
    if job.json.get("array_job") is not None:
        text = f"{job.name}.e{job.json['array_job']}.{job.json['array_task']}"
    return f"{job.spec('chdir')}/{text}"


def duration_of_pbs(seconds: float) -> str:
    """`25:00:00`: hours are not counted as days."""
    whole = max(0, int(seconds))
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"


def _date(seconds: float) -> str:
    return time.ctime(seconds)


def as_json(jobs: list[Record]) -> str:
    """What `qstat -f -F json` prints."""
    told = {"Jobs": {shown_id(job): attributes(job) for job in jobs}} if jobs else {}
    return written({**head(), **told})


def head() -> dict[str, Any]:
    """What stands first in all that is printed as JSON."""
    return {
        "timestamp": int(time.time()),
        "pbs_version": f"metabroker-{__version__}",
        "pbs_server": SERVER,
    }


def written(value: Any, depth: int = 1) -> str:
    """JSON with tabs, as PBS writes it."""
    if not isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    if not value:
        return "{}"
    tabs = "\t" * depth
    lines = [
        f"{tabs}{json.dumps(key, ensure_ascii=False)}:\t{written(inner, depth + 1)}"
        for key, inner in value.items()
    ]
    end = "\t" * (depth - 1)
    return "{\n" + ",\n".join(lines) + f"\n{end}}}"


def as_text(job: Record, *, wide: bool = False) -> str:
    """What `qstat -f` prints of one job; `wide` (`-w`, `-1`): each attribute in one line."""
    lines = [f"Job Id: {shown_id(job)}"]
    for name, text in _flat(attributes(job)):
        before = f"    {name} = "
        lines.append(f"{before}{text}" if wide else _wrapped(before, text))
    return "\n".join(lines) + "\n"


def as_separated(job: Record, delimiter: str) -> str:
    """What `qstat -f -F dsv` prints of one job."""
    escaped = f"\\{delimiter}"
    told = _flat(attributes(job))
    words = [f"{name}={text.replace(delimiter, escaped)}" for name, text in told]
    return delimiter.join([f"Job Id: {shown_id(job)}", *words])


def _flat(of: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = []
    for name, value in of.items():
        if name == "Variable_List":
            found.append((name, ",".join(f"{key}={text}" for key, text in value.items())))
        elif isinstance(value, Mapping):
            found += [(f"{name}.{key}", str(text)) for key, text in value.items()]
        else:
            found.append((name, str(value)))
    return found


def _wrapped(head: str, text: str) -> str:
    """Broken at commas, and where it must be; a line that goes on begins with a tab."""
    lines, column = [head], len(head)
    for index, part in enumerate(text.split(",")):
        piece = part if index == 0 else f",{part}"
        if index and column + len(piece) >= _LINE:
            lines[-1] += ","
            piece = part
            lines.append("\t")
            column = 8
        for char in piece:
            if column >= _LINE:
                lines.append("\t")
                column = 8
            lines[-1] += char
            column += 1
    return "\n".join(lines)
