#!/bin/sh
# PBS's own command, for a job that was submitted by metabroker's qsub: job @JOB@ there is
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
    q*) if own=$(command -v "$name") && [ -e "${own%/*}/.metabroker-front-ends" ]; then
        exec "$own" "$@"
    fi ;;
esac
export PBS_JOBID="$METABROKER_NATIVE_JOB_ID"
for word do
    shift
    case $word in '@JOB@' | '@JOB@.metabroker') word=$METABROKER_NATIVE_JOB_ID ;; esac
    set -- "$@" "$word"
done
exec "$name" "$@"
