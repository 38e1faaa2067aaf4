"""The tables of `qstat`."""

from __future__ import annotations

from metabroker.frontends import pbs
from metabroker.frontends.records import Record

_HEAD = [
    "Job ID          Username Queue    Jobname    SessID NDS TSK Memory Time  S Time",
    "--------------- -------- -------- ---------- ------ --- --- ------ ----- - -----",
]
_UNITS = " kmgtp?"
_MOST = 9999  # of a unit: what has more is told in the next one


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
        queue = job.partition
        used = pbs.duration_of_pbs(job.used) if job.json["start_time"] is not None else "0"
        name = job.name if len(job.name) < 16 else f"{job.name[:15]}*"
        words = (pbs.shown_id(job)[:17], name, job.user[:16], used, pbs.state(job), queue[:16])
        lines.append(form.format(*words))
    return lines


def as_wide_table(jobs: list[Record]) -> list[str]:
    """What `qstat -u`, `-a` and `-H` print: with what each job has asked for."""
    if not jobs:
        return []
    lines = [
        "",
        f"{pbs.SERVER}: ",
        f"{'':60}{'Req' + chr(39) + 'd':7}{'Req' + chr(39) + 'd':8}Elap",
    ]
    lines += _HEAD
    for job in jobs:
        told = pbs.attributes(job)
        asked, used = told["Resource_List"], told.get("resources_used", {})
        left = (
            f"{_cut(pbs.shown_id(job), 15):<15} {_cut(job.user, 8):<8} {_cut(told['queue'], 8):<8}"
            f" {_cut(job.name, 10):<10} {' -- ':>6.6} {_cut(str(asked['nodect']), 3):>3}"
            f" {_cut(str(asked['ncpus']), 3):>3}"
        )
        memory = _size(asked["mem"]) if "mem" in asked else " -- "
        elapsed = used.get("walltime", " -- ")
        right = f"{memory:>6.6} {asked['walltime']:>5.5} {told['job_state']} {elapsed:>5.5}"
        lines.append(f"{left} {right}")
    return lines


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}*"


def _size(megabytes: str) -> str:
    """`2400mb`, as PBS writes it in six places."""
    size, unit = int(megabytes.removesuffix("mb")), 2
    while size > _MOST:
        size, unit = -(-size // 1024), unit + 1
    return f"{size}{_UNITS[unit]}b"
