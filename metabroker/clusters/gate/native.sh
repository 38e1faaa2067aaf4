#!/bin/sh
# The cluster's own command, for a job that was submitted by metabroker's sbatch: job @JOB@ there is
# $METABROKER_NATIVE_JOB_ID here.
name=${0##*/}
folder=${0%/*}
rest=:$PATH:
while :; do
    case $rest in *":$folder:"*) rest=${rest%%":$folder:"*}:${rest#*":$folder:"} ;; *) break ;; esac
done
rest=${rest#:}
PATH=${rest%:}
export PATH

# Where metabroker's own commands follow, they know its numbers.
case $name in
    scancel | squeue | sacct | scontrol)
        if own=$(command -v "$name") && [ -e "${own%/*}/.metabroker-front-ends" ]; then
            case "$name $1" in
                "scontrol requeue") ;;
                *) exec "$own" "$@" ;;
            esac
        fi ;;
esac

export SLURM_JOB_ID="$METABROKER_NATIVE_JOB_ID" SLURM_JOBID="$METABROKER_NATIVE_JOB_ID"
# Tools that start steps clear all of Slurm's variables.
if [ -n "${METABROKER_SLURM_CONF:-}" ]; then export SLURM_CONF="$METABROKER_SLURM_CONF"; fi
if [ "$name" = srun ]; then
    before=
    for word do
        shift
        case $before$word in
            --output=*%* | --error=*%* | -o*%* | -e*%*)
                word=$(printf '%s\n' "$word" | sed 's/%[jA]/@JOB@/g') ;;
        esac
        case $word in -o | -e | --output | --error) before=$word ;; *) before= ;; esac
        set -- "$@" "$word"
    done
    exec srun --task-prolog="$folder/task-prolog" "$@"
fi
before=
for word do
    shift
    case $before:$word in
        *:@JOB@ | *:@JOB@.*) word=$METABROKER_NATIVE_JOB_ID${word#@JOB@} ;;
        *:-j@JOB@ | *:--job=@JOB@ | *:--jobs=@JOB@) word=--jobs=$METABROKER_NATIVE_JOB_ID ;;
        *:*[!0-9]* | *:) ;;
        -j:* | --job:* | --jobs:* | [!-]*:* | :*)
            echo "$name: error: job $word is not this one; its cluster has other numbers" >&2
            exit 1 ;;
    esac
    before=$word
    set -- "$@" "$word"
done
exec "$name" "$@"
