#!/bin/sh
# One component of a metabroker job: waits at its gate, runs the user's script, and writes down
# how it ended. It needs a POSIX shell, mv and sleep, and the gate's folder; see the notes on the
# gate in metabroker/clusters/gate/__init__.py for the positions that the token file can take.
# SETTINGS

hosts=${SLURM_JOB_NODELIST:-}
case $hosts in
    *\[*) hosts=$(scontrol show hostnames "$hosts" 2>/dev/null) || hosts=$SLURM_JOB_NODELIST ;;
    '') if [ -r "${PBS_NODEFILE:-}" ]; then hosts=$(sort -u "$PBS_NODEFILE"); fi ;;
esac
if [ -z "$hosts" ]; then hosts=$(uname -n); fi

# Whole when it is there: who looks in between would learn of no hosts.
note() {
    echo $hosts > "$gate/.$1-$$" && mv "$gate/.$1-$$" "$gate/$1"
}

wait_at_gate() {
    nap=0.05
    sleep "$nap" 2>/dev/null || nap=1
    naps=0
    limit=$patience
    if [ "$nap" = 0.05 ]; then limit=$((patience * 20)); fi
    until [ -e "$gate/go" ]; do
        if [ ! -d "$gate" ] || [ -e "$gate/abort" ] || [ -e "$gate/run" ]; then exit 75; fi
        # The same note under another name: that takes no space on the disk.
        if [ -e "$gate/armed" ] && [ -e "$gate/arrived" ]; then
            mv "$gate/arrived" "$gate/ready" 2>/dev/null
        fi
        if [ "$naps" -ge "$limit" ] && mv "$gate/wait" "$gate/abort" 2>/dev/null; then
            echo "metabroker: gave up waiting at the barrier" >&2
            exit 75
        fi
        naps=$((naps + 1))
        sleep "$nap"
    done
}

# Its files are there, and what it leaves there is brought back.
if [ -n "$work" ]; then cd "$gate/work" || exit 75; fi

if [ -n "$patience" ]; then
    if [ ! -e "$gate/wait" ]; then exit 75; fi
    note arrived || exit 75
    wait_at_gate
fi

# Of several who come here for the same component, the rename succeeds for one only. The others
# say nothing: their output goes to the same file.
mv "$gate/go" "$gate/run" 2>/dev/null || exit 75
note started || : > "$gate/started" # on a full disk it tells the time at least

if [ -z "$patience" ]; then
    list=
    for host in $hosts; do list="$list${list:+, }\"$host\""; done
    printf '{"components": [{"component": 0, "cluster": "%s", "processors": %s, "hosts": [%s]}]}\n' \
        "$METABROKER_CLUSTER" "$METABROKER_PROCESSORS" "$list" > "$METABROKER_PEERS_FILE"
fi

# A signal for the whole job reaches the script too; stay to write down how it ends.
signalled=
trap 'signalled=signalled' HUP INT TERM USR1 USR2
"$gate/script" "$@"
status=$?
trap '' HUP INT TERM USR1 USR2
echo "$status $signalled" > "$gate/ended"
exit "$status"
