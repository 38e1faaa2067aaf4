#!/bin/sh
# Part of the wrapper of a job that was submitted by sbatch, in a cluster that has no Slurm: what
# Slurm tells a job. Its nodes are those of PBS, or this host alone.
export METABROKER_NATIVE_JOB_ID="${PBS_JOBID:-}"
mb__list=$(
    if [ -r "${PBS_NODEFILE:-}" ]; then cat "$PBS_NODEFILE"; else
        awk -v host="$(uname -n)" -v n="$mb__tasks" 'BEGIN { for (; n > 0; n--) print host }'
    fi | awk -v cpus="$METABROKER_CPUS_PER_TASK" '{ if (!tasks[$1]++) name[n++] = $1 }
        END { for (i = 0; i < n; i++) print name[i], tasks[name[i]], tasks[name[i]] * cpus }'
)
# What is equal and follows each other is counted: 4(x2),1.
mb__column() {
    printf '%s\n' "$mb__list" | awk -v c="$1" '
        c > 1 && $c == last { again++; next }
        NR > 1 { out = out last (again ? "(x" again + 1 ")" : "") "," }
        { again = 0; last = $c }
        END { print out last (again ? "(x" again + 1 ")" : "") }'
}
export SLURM_JOB_NODELIST="$(mb__column 1)" SLURM_TASKS_PER_NODE="$(mb__column 2)"
export SLURM_JOB_CPUS_PER_NODE="$(mb__column 3)" SLURM_NODELIST="$SLURM_JOB_NODELIST"
export SLURM_NTASKS="$mb__tasks" SLURM_NPROCS="$mb__tasks"
export SLURM_NNODES="$(printf '%s\n' "$mb__list" | awk 'END { print NR }')"
export SLURM_JOB_NUM_NODES="$SLURM_NNODES" SLURM_CPUS_ON_NODE="${SLURM_JOB_CPUS_PER_NODE%%[(,]*}"
export SLURM_CPUS_PER_TASK="$METABROKER_CPUS_PER_TASK" SLURM_TASK_PID="$$"
export SLURM_NODEID=0 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_GTIDS=0
export SLURMD_NODENAME="${SLURM_JOB_NODELIST%%,*}"
case $mb__gate in *:*) ;; *)
    if mkdir -p "$mb__gate/bin"; then
        printf '%s\n' "$mb__list" > "$mb__gate/bin/nodes"
        cat > "$mb__gate/bin/srun" <<'mb__END'
@STEPS@
mb__END
        chmod 755 "$mb__gate/bin/srun"
        for mb__name in @NAMES@; do ln -sf srun "$mb__gate/bin/$mb__name"; done
        export PATH="$mb__gate/bin:$PATH"
    fi ;;
esac
