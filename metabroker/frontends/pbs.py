"""Jobs as the commands of PBS speak of them: their ids, states, attributes, and how they print."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from metabroker import __version__
from metabroker.frontends.arrays import JobId
from metabroker.frontends.dependencies import wanted
from metabroker.frontends.main import FrontEndError
from metabroker.frontends.records import Record
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
_OVERTIME = -29
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


def id_of(job: JobId, known: Collection[int] = ()) -> str:
    """An id as PBS writes it; `known`: arrays."""
    if job.tasks is not None:
        return job_id(f"{job.number}[{job.tasks}]")
    return job_id(f"{job.number}[]" if job.number in known else job.number)


def state(job: Record) -> str:
    """PBS's letter for it."""
    if job.json.get("array") and job.json.get("begun") and not job.ended:
        return "B"
    if job.json["state"] == "HELD" or wanted(job) is not None:
        return "H"
    return "Q" if job.pending else "F" if job.ended else "R"


def begun(jobs: list[Record]) -> list[Record]:
    """The same; of arrays it is told whether one of their tasks has started."""
    begun = {job.json.get("array_job") for job in jobs if not job.pending}
    return [
        replace(job, json={**job.json, "begun": job.id in begun}) if job.json.get("array") else job
        for job in jobs
    ]


def exit_status(job: Record) -> int | None:
    """As PBS has it; None: it never ran, or has not ended."""
    if not job.ended or job.json["start_time"] is None:
        return None
    if job.state == "TIMEOUT":
        return _OVERTIME
    code, signal = job.exit_code
    return _ADDED + signal if signal else code


def attributes(job: Record) -> dict[str, Any]:
    """A job's attributes in PBS's order; those of `Resource_List` are a mapping."""
    letter, status = state(job), exit_status(job)
    chdir = job.spec("chdir")
    limit = {"walltime": duration_of_pbs(job.limit)}
    used = {"ncpus": job.processors, "walltime": duration_of_pbs(job.used)}
    queue = job.asked("partition") or job.default_partition
    joined = not job.spec("error")
    waits = {"Q": f"Not Running: {job.json['reason']}"}
    told = {
        "Job_Name": job.name,
        "Job_Owner": f"{job.user}@{SERVER}",
        "resources_used": used if job.json["start_time"] is not None else None,
        "job_state": letter,
        "queue": queue,
        "server": SERVER,
        "Account_Name": job.asked("account"),
        "Checkpoint": "u",
        "ctime": _date(job.submitted),
        "depend": _depend(job),
        "Error_Path": f"{SERVER}:{job.path('error')}",
        "exec_host": "+".join(f"{host}/0" for host in job.hosts) or None,
        "Hold_Types": "n" if letter != "H" else "u" if job.json["state"] == "HELD" else "s",
        "Join_Path": "oe" if joined else "n",
        "Keep_Files": "n",
        "Mail_Points": "n",
        "mtime": _date(job.json["end_time"] or job.json["start_time"] or job.submitted),
        "Output_Path": f"{SERVER}:{job.path('output')}",
        "Priority": int(job.asked("priority") or 0),
        "qtime": _date(job.submitted),
        "Rerunable": "False",
        "Resource_List": {
            "ncpus": job.processors,
            **_chunks(job),
            **limit,
        },
        "stime": _date(job.json["start_time"]) if job.json["start_time"] else None,
        "obittime": _date(job.json["end_time"]) if status is not None else None,
        "substate": {"Q": 10, "H": 20, "R": 42}.get(letter, 93 if status else 92),
        "Variable_List": {"PBS_O_WORKDIR": chdir, "PBS_O_QUEUE": queue},
        "comment": waits.get(letter),
        **_of_array(job),
        "etime": _date(job.submitted),
        "run_count": int(job.json["attempts"]) or None,
        "Exit_status": status,
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
            "array_indices_submitted": array["tasks"],
            "array_indices_remaining": left,
        }
    if job.json.get("array_job") is None:
        return {}
    return {
        "array_id": job_id(f"{job.json['array_job']}[]"),
        "array_index": job.json["array_task"],
    }


def _depend(job: Record) -> str | None:
    """What it waits for, as PBS shows it."""
    waits = wanted(job)
    terms = () if waits is None else waits.terms
    told = [f"{t.when.value}:{job_id(_named(t))}@{SERVER}" for t in terms if t.job]
    return ",".join(told) or None


def _named(term: Term) -> int | str:
    return term.job if term.task < 0 else f"{term.job}[{term.task}]"


def _chunks(job: Record) -> dict[str, Any]:
    """Where its tasks are: each anywhere, or so many on each of its nodes."""
    asked, cpus = job.asked("nodes") or "", job.cpus_per_task
    if not asked.isdigit() or job.tasks % int(asked):
        return {"nodect": job.tasks, "place": "free", "select": f"{job.tasks}:ncpus={cpus}"}
    ranks = job.tasks // int(asked)
    select = f"{asked}:ncpus={ranks * cpus}:mpiprocs={ranks}"
    return {"nodect": int(asked), "place": "scatter", "select": select}


def duration_of_pbs(seconds: float) -> str:
    """`25:00:00`: hours are not counted as days."""
    whole = max(0, int(seconds))
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"


def _date(seconds: float) -> str:
    return time.strftime("%a %b %d %H:%M:%S %Y", time.localtime(seconds)).replace(" 0", "  ", 1)


def as_json(jobs: list[Record]) -> str:
    """What `qstat -f -F json` prints."""
    head: dict[str, Any] = {
        "timestamp": int(time.time()),
        "pbs_version": f"metabroker-{__version__}",
        "pbs_server": SERVER,
    }
    if jobs:
        head["Jobs"] = {shown_id(job): attributes(job) for job in jobs}
    return written(head)


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


def as_text(job: Record) -> str:
    """What `qstat -f` prints of one job."""
    lines = [f"Job Id: {shown_id(job)}"]
    lines += [_wrapped(f"    {name} = ", text) for name, text in _flat(attributes(job))]
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


def as_table(jobs: list[Record]) -> list[str]:
    """What `qstat` prints, line by line; nothing where there are no jobs."""
    if not jobs:
        return []
    form = "{:<17} {:<16} {:<16}  {:>8} {:>1} {:<16}"
    lines = [
        "Job id            Name             User              Time Use S Queue",
        "----------------  ---------------- ----------------  -------- - -----",
    ]
    for job in jobs:
        queue = job.asked("partition") or job.default_partition
        used = duration_of_pbs(job.used) if job.json["start_time"] is not None else "0"
        name = job.name if len(job.name) < 16 else f"{job.name[:15]}*"
        words = (shown_id(job)[:17], name, job.user[:16], used, state(job), queue[:16])
        lines.append(form.format(*words))
    return lines
