"""A job that was submitted by `sbatch`: the number that was printed is the one that it sees.

Tools name files by SLURM_JOB_ID, inside the job and outside. So the script has metabroker's number
there, and METABROKER_NATIVE_JOB_ID is its cluster's. Slurm's own commands need that one: in front
of the script's PATH are small scripts of their names, which put it back and call them. What `srun`
starts sees metabroker's number again. No other number is passed on to the cluster: there it would
be somebody else's job.
"""

from __future__ import annotations

import importlib.resources

_NAMES = "srun scontrol scancel squeue sacct sstat sattach sbcast"


def spoken(job: int) -> tuple[str, str]:
    """Shell text for the shell that becomes the script: before the user's variables are set there,
    and behind them. It is for a component that `mb__gate` names."""
    text = importlib.resources.files(__package__).joinpath("native.sh").read_text("ascii")
    before = f"""\
export METABROKER_NATIVE_JOB_ID="${{SLURM_JOB_ID:-}}"
mb__native=
case $mb__gate in *:*) ;; *)
    if [ -n "$METABROKER_NATIVE_JOB_ID" ] && mkdir -p "$mb__gate/bin"; then
        mb__native=$mb__gate/bin
        cat > "$mb__native/native" <<'mb__END'
{text.replace("@JOB@", str(job))}mb__END
        printf '#!/bin/sh\\necho export SLURM_JOB_ID={job}\\necho export SLURM_JOBID={job}\\n' \\
            > "$mb__native/task-prolog"
        chmod 755 "$mb__native/native" "$mb__native/task-prolog"
        for mb__name in {_NAMES}; do ln -sf native "$mb__native/$mb__name"; done
    fi ;;
esac"""
    behind = f"""\
export SLURM_JOB_ID={job} SLURM_JOBID={job}
if [ -n "$mb__native" ]; then export PATH="$mb__native:$PATH"; fi"""
    return before, behind
