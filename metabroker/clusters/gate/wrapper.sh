#!/bin/sh
# One component of a metabroker job: waits at its gate, runs the user's script, and writes down
# how it ended. It needs a POSIX shell whose test knows -O, mv and sleep, and the gate's folder; see
# the notes on the gate in metabroker/clusters/gate/__init__.py for the positions that the token
# file can take. Its own names begin with mb__; what the user exports is set in the shell that
# becomes the user's script, and nowhere else.
# SETTINGS

mb__hosts=${SLURM_JOB_NODELIST:-}
case $mb__hosts in
    *\[*) mb__hosts=$(scontrol show hostnames "$mb__hosts" 2>/dev/null) ||
        mb__hosts=$SLURM_JOB_NODELIST ;;
    '') if [ -r "${PBS_NODEFILE:-}" ]; then # this one is the first there
        mb__hosts=$(awk '!seen[$1]++ { print $1 }' "$PBS_NODEFILE")
    fi ;;
esac
if [ -z "$mb__hosts" ]; then mb__hosts=$(uname -n); fi
mb__native=${SLURM_JOB_ID:-${PBS_JOBID:-}}

# The gate's path is no secret once it is made: nobody else can enter it, or exchange it. But if it
# is gone, somebody could have put another one there.
mb__own() {
    [ ! -h "$mb__gate" ] && [ -O "$mb__gate" ] && [ ! -h "$mb__gate/script" ] &&
        [ -O "$mb__gate/script" ]
}

# A name that no other process has: of the job, its run, this node (the first of its nodes), and
# this process.
mb__here=
for mb__host in $mb__hosts; do mb__here=${mb__here:-$mb__host}; done
mb__me=$mb__native-${SLURM_RESTART_COUNT:-0}-$mb__here-$$
mb__mine=$mb__gate/run.$mb__me

# Who reads a note before its line has ended takes it for not there yet.
mb__note() { echo $mb__hosts $mb__nodes "id=$mb__native" > "$mb__gate/$1"; }

mb__wait_at_gate() {
    # Hundredths of a second: few at first, and when the others are about to start too.
    mb__nap=2
    sleep 0.02 2>/dev/null || mb__nap=100
    mb__waited=0
    mb__limit=$((mb__patience * 100))
    until [ -e "$mb__gate/go" ]; do
        if [ ! -d "$mb__gate" ] || [ -e "$mb__gate/abort" ] || [ -e "$mb__gate/run" ]; then
            exit 75
        fi
        # The same note under another name: that takes no space on the disk.
        if [ -e "$mb__gate/armed" ] && [ -e "$mb__gate/arrived" ]; then
            mv "$mb__gate/arrived" "$mb__gate/ready" 2>/dev/null
        fi
        if [ "$mb__waited" -ge "$mb__limit" ] &&
            mv "$mb__gate/wait" "$mb__gate/abort" 2>/dev/null; then
            echo "metabroker: gave up waiting at the barrier" >&2
            exit 75
        fi
        if [ "$mb__nap" -ne 100 ]; then
            mb__nap=2
            if [ "$mb__waited" -ge 100 ] && [ ! -e "$mb__gate/armed" ]; then
                mb__nap=5
                if [ "$mb__waited" -ge 300 ]; then mb__nap=10; fi
            fi
        fi
        mb__waited=$((mb__waited + mb__nap))
        case $mb__nap in
            100) sleep 1 ;;
            10) sleep 0.1 ;;
            *) sleep "0.0$mb__nap" ;;
        esac
    done
}

# What its peers are to know of it, and what it is told of them.
mb__nodes= mb__world=
# MEETING

mb__own || exit 75

# Its files are there, and what it leaves there is brought back.
if [ -n "$mb__work" ]; then
    [ ! -h "$mb__gate/work" ] && cd "$mb__gate/work" || exit 75
fi

if [ -n "$mb__patience" ]; then
    if [ ! -e "$mb__gate/wait" ]; then exit 75; fi
    if [ -n "$mb__tools" ]; then mb__tell_nodes; fi
    # Whole when it is there: another one who comes for the same component takes nothing of it away.
    mb__note ".arrived-$mb__me" && mv "$mb__gate/.arrived-$mb__me" "$mb__gate/arrived" || exit 75
    # What nobody waits for is done while the others come.
    if [ -n "$mb__tools" ]; then mb__lay_tools; fi
    mb__wait_at_gate
    mb__own || exit 75
fi

# A gate that was shut stays shut, whatever a broker that was stopped puts there too late.
if [ -e "$mb__gate/abort" ]; then exit 75; fi

# Of several who come here for the same component, the rename succeeds for one only. The others
# say nothing: their output goes to the same file. It is to a name that nobody else has at first:
# NFS may ask for a rename again whose answer was lost, and then say that it has failed.
mv "$mb__gate/go" "$mb__mine" 2>/dev/null || [ -e "$mb__mine" ] || exit 75
mv "$mb__mine" "$mb__gate/run" 2>/dev/null || [ -e "$mb__gate/run" ] || exit 75
mb__own || exit 75
# None but the one who has passed writes this.
mb__note started || true > "$mb__gate/begun" # on a full disk it tells the time at least

if [ -z "$mb__patience" ]; then
    if [ -n "$mb__tools" ]; then
        mb__lay_tools
        mb__tell_nodes
        mb__own_peers
    else
        mb__list=
        for mb__host in $mb__hosts; do mb__list="$mb__list${mb__list:+, }\"$mb__host\""; done
        printf '{"components": [{"component": 0, "cluster": "%s", "processors": %s, "hosts": [%s]}]}\n' \
            "$mb__cluster" "$mb__processors" "$mb__list" > "$mb__gate/peers.json"
    fi
fi
if [ -n "$mb__tools" ]; then mb__read_peers; fi

# A signal for the whole job reaches the script too; stay to write down how it ends.
mb__signalled=
trap 'mb__signalled=signalled' HUP INT TERM USR1 USR2
(
# EXPORTS
    exec "$mb__gate/script" "$@"
)
mb__status=$?
# Who ends a whole job signals one process after the other: this shell may be the next.
case $mb__signalled$mb__status in
    129 | 130 | 138 | 140 | 143) sleep 0.2 2>/dev/null || sleep 1 ;;
esac
trap '' HUP INT TERM USR1 USR2
echo "$mb__status $mb__signalled" > "$mb__gate/ended"
exit "$mb__status"
