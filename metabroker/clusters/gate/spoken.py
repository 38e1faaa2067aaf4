"""A job that was submitted by `sbatch` or `qsub`: it sees the number that was printed.

Tools name files by SLURM_JOB_ID, inside the job and outside. So the script has metabroker's number
there, and METABROKER_NATIVE_JOB_ID is its cluster's. Slurm's own commands need that one: in front
of the script's PATH are small scripts of their names, which put it back and call them. What `srun`
starts sees metabroker's number again. No other number is passed on to the cluster: there it would
be somebody else's job.

A cluster of another system has none of this. There its variables are made of what the job has, and
`srun` is metabroker's own (see `steps.sh`).
"""

from __future__ import annotations

import shlex

from metabroker.clusters.port import ComponentRequest

from .tools import bare, text

_NAMES = "srun scontrol scancel squeue sacct sstat sattach sbcast"


def spoken(job: int) -> tuple[str, str]:
    """Shell text for the shell that becomes the script: before the user's variables are set there,
    and behind them. It is for a component that `mb__gate` names."""
    before = f"""\
export METABROKER_NATIVE_JOB_ID="${{SLURM_JOB_ID:-}}" METABROKER_SLURM_CONF="${{SLURM_CONF:-}}"
mb__commands=
case $mb__gate in *:*) ;; *)
    if [ -n "$METABROKER_NATIVE_JOB_ID" ] && mkdir -p "$mb__gate/bin"; then
        mb__commands=$mb__gate/bin
        cat > "$mb__commands/native" <<'mb__END'
{text("native.sh").replace("@JOB@", str(job))}mb__END
        printf '#!/bin/sh\\necho export SLURM_JOB_ID={job}\\necho export SLURM_JOBID={job}\\n' \\
            > "$mb__commands/task-prolog"
        chmod 755 "$mb__commands/native" "$mb__commands/task-prolog"
        for mb__name in {_NAMES}; do ln -sf native "$mb__commands/$mb__name"; done
    fi ;;
esac"""
    behind = f"""\
export SLURM_JOB_ID={job} SLURM_JOBID={job}
if [ -n "$mb__commands" ]; then export PATH="$mb__commands:$PATH"; fi"""
    return before, behind


def spoken_elsewhere(request: ComponentRequest, cluster: str) -> str:
    """The same in a cluster of another system: shell text that goes behind the user's variables."""
    told = {
        "SLURM_JOB_ID": str(request.job),
        "SLURM_JOBID": str(request.job),
        "SLURM_JOB_NAME": request.name,
        "SLURM_SUBMIT_DIR": request.chdir,
        "SLURM_CLUSTER_NAME": cluster,
    }
    exports = [f"export {name}={shlex.quote(value)}\n" for name, value in told.items()]
    others = _NAMES.removeprefix("srun ")
    layout = bare("elsewhere.sh").replace("@NAMES@", others).replace("@STEPS@", bare("steps.sh"))
    return "".join(exports) + layout


# A node's name once for each task that it has.
_NODE_FILE = r"""
awk -v hosts="$mb__hosts" -v counts="${SLURM_TASKS_PER_NODE:-}" 'BEGIN {
    parts = split(counts, part, ",")
    for (i = 1; i <= parts; i++) {
        split(part[i], word, /[(x)]+/)
        for (j = 0; j < (word[2] ? word[2] : 1); j++) tasks[++nodes] = word[1]
    }
    all = split(hosts, host, " ")
    for (i = 1; i <= all; i++) for (j = 0; j < (tasks[i] ? tasks[i] : 1); j++) print host[i]
}' > "$mb__gate/nodefile" && export PBS_NODEFILE="$mb__gate/nodefile"
"""


_NAMES_OF_PBS = "pbs_tmrsh pbsdsh pbs_attach qstat qdel qalter qsig qhold qrls qrerun"
# Open MPI looks for the file of nodes by the job's id, beside PBS_NODEFILE.
_OWN_NUMBER = """
case $mb__gate$mb__hosts in *:* | *[[:space:]]*) ;; *)
    if mkdir -p "$mb__gate/bin" "$mb__gate/aux" &&
        cat "$PBS_NODEFILE" > "$mb__gate/aux/$mb__number"; then
        mb__commands=$mb__gate/bin
        export PBS_JOBID="$mb__number" PBS_NODEFILE="$mb__gate/aux/$mb__number"
        cat > "$mb__commands/native" <<'mb__END'
@COMMAND@
mb__END
        chmod 755 "$mb__commands/native"
        for mb__name in @NAMES@; do ln -sf native "$mb__commands/$mb__name"; done
    fi ;;
esac"""


def spoken_as_pbs(job: int | str, name: str, folder: str) -> tuple[str, str]:
    """The same for `qsub`. In a cluster of PBS a job that is on several nodes keeps its own number,
    by which its processes are started on the others."""
    before = f"""\
mb__commands= mb__number='{job}.metabroker'
export METABROKER_NATIVE_JOB_ID="${{PBS_JOBID:-${{SLURM_JOB_ID:-}}}}"
if [ -z "${{PBS_JOBID:-}}" ]; then
export PBS_JOBID="$mb__number" PBS_ENVIRONMENT=PBS_BATCH
export PBS_JOBNAME={shlex.quote(name)} PBS_O_WORKDIR={shlex.quote(folder)}{_NODE_FILE}\
elif [ -r "${{PBS_NODEFILE:-}}" ]; then{_OWN_NUMBER}
fi"""
    command = bare("native_pbs.sh").replace("@JOB@", str(job))
    before = before.replace("@COMMAND@", command).replace("@NAMES@", _NAMES_OF_PBS)
    return before, 'if [ -n "$mb__commands" ]; then export PATH="$mb__commands:$PATH"; fi'
