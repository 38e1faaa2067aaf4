#!/bin/sh
# Slurm's commands for a job that was submitted by metabroker's sbatch to a cluster that has no
# Slurm. `srun` starts the job's tasks on the nodes that it has: by itself on its own node, through
# PBS's pbs_tmrsh on the others. Beside this file `nodes` has a line for each of them: its name, the
# tasks of the job that are there, their processors.
name=${0##*/}
folder=${0%/*}
steps=${folder%/*}/steps
die() { echo "$name: error: $1" >&2; exit "${2:-1}"; }

# Where metabroker's own commands are in the PATH, they know its numbers.
if [ "$name" != srun ]; then
    case "$name $*" in
        "scontrol show hostnames" | "scontrol show hostnames "*)
            printf '%s\n' "${3:-${SLURM_JOB_NODELIST:-}}" | tr , '\n'
            exit ;;
    esac
    own=$(IFS=:; set -f; for place in $PATH; do
        if [ -x "$place/$name" ] && [ -e "$place/.metabroker-front-ends" ]; then
            echo "$place/$name"; break
        fi
    done)
    if [ -n "$own" ]; then exec "$own" "$@"; fi
    die "this cluster has no Slurm, and metabroker's front ends are not in the PATH"
fi

# A shell without job control has what it starts in the background ignore INT and QUIT, and some
# shells (dash) cannot undo that: this becomes a command that does not. (A path with a `=` in it were
# no command to `env`.)
heeding() {
    if env --default-signal=INT,QUIT true 2>/dev/null; then
        exec env --default-signal=INT,QUIT sh -c 'exec "$0" "$@"' "$@"
    elif perl -e 1 2>/dev/null; then
        exec perl -e '$SIG{INT} = $SIG{QUIT} = "DEFAULT"; exec { $ARGV[0] } @ARGV;
            warn "$ARGV[0]: $!\n"; exit 127' "$@"
    fi
    exec "$@"
}

# --- a node ---------------------------------------------------------------------------------------

# The file that a pattern of sbatch's means for a task.
file_of() {
    pattern=$1 host=$(uname -n) LC_ALL=C awk -v step="$step" 'BEGIN {
        word["j"] = word["A"] = ENVIRON["SLURM_JOB_ID"]; word["J"] = word["j"] "." step
        if (ENVIRON["SLURM_ARRAY_JOB_ID"] != "") word["A"] = ENVIRON["SLURM_ARRAY_JOB_ID"]
        word["a"] = ENVIRON["SLURM_ARRAY_TASK_ID"]; word["s"] = step; word["%"] = "%"
        word["t"] = ENVIRON["SLURM_PROCID"]; word["n"] = ENVIRON["SLURM_NODEID"]
        word["N"] = ENVIRON["host"]; word["u"] = ENVIRON["USER"]
        word["x"] = ENVIRON["SLURM_JOB_NAME"]
        rest = ENVIRON["pattern"]
        while (match(rest, /%[0-9]?./)) {
            sign = substr(rest, RSTART + RLENGTH - 1, 1); text = word[sign]
            least = RLENGTH > 2 ? substr(rest, RSTART + 1, 1) + 0 : 0
            while (length(text) < least) text = "0" text
            if (!(sign in word)) text = substr(rest, RSTART, RLENGTH)
            made = made substr(rest, 1, RSTART - 1) text
            rest = substr(rest, RSTART + RLENGTH)
        }
        print made rest
    }'
}

# Where a task writes to: nothing is said of /dev/stdout.
place_of() {
    case $1 in
        '' | all) ;;
        none) echo /dev/null ;;
        *[!0-9]*) file_of "$1" ;;
        *) if [ "$1" != "$SLURM_PROCID" ]; then echo /dev/null; fi ;;
    esac
}

task() {
    out=$(place_of "$output")
    if [ -n "$out" ]; then exec >> "$out" || exit 1; fi
    err=$(place_of "$error")
    if [ -n "$err" ]; then exec 2>> "$err" || exit 1; elif [ -n "$out" ]; then exec 2>&1; fi
    if [ -n "$label" ]; then exec > "$steps/$step/out.$rank" 2> "$steps/$step/err.$rank"; fi
    heeding "$@"
}

# Two readers put a task's number in front of its lines. What it has left behind may keep them.
read_lines() {
    mkfifo "$steps/$step/out.$rank" "$steps/$step/err.$rank" || exit 1
    sed -u "s/^/$rank: /" < "$steps/$step/out.$rank" &
    readers="$readers $!"
    sed -u "s/^/$rank: /" < "$steps/$step/err.$rank" >&2 &
    readers="$readers $!"
}
all_read() {
    naps=0
    for each in $readers; do
        while kill -0 "$each" 2>/dev/null && [ "$naps" -lt 50 ]; do
            naps=$((naps + 1))
            sleep 0.1 2>/dev/null || sleep 1
        done
    done
}

signalled=
pass_on() {
    signalled=yes
    for child in $pids; do kill -s "$1" "$child" 2>/dev/null; done
}

# Waits for all of `pids`; the largest of their exit codes.
all_ended() {
    worst=0
    for each in $pids; do
        while :; do
            signalled=
            wait "$each"
            code=$?
            if [ -z "$signalled" ]; then break; fi
        done
        if [ "$code" -gt "$worst" ]; then worst=$code; fi
    done
    return "$worst"
}

# The same, where the first that fails ends the others. A task that was just being forked loses what
# it is told then, so all that are left are told again a second later; after 30 (Slurm's KillWait)
# they are killed.
tell_left() { for child in $left; do kill -s "$1" "$child" 2>/dev/null; done; }
all_or_none() {
    worst=0 left=$pids naps=0
    while [ -n "$left" ]; do
        still=
        for each in $left; do
            if kill -0 "$each" 2>/dev/null; then still="$still $each"; continue; fi
            wait "$each"
            code=$?
            if [ "$code" -gt "$worst" ]; then worst=$code; fi
            if [ "$code" -ne 0 ]; then pass_on TERM; fi
        done
        left=$still
        if [ "$worst" -ne 0 ]; then naps=$((naps + 1)); fi
        case $naps in 10) tell_left TERM ;; 300) tell_left KILL ;; esac
        sleep 0.1 2>/dev/null || sleep 1
    done
    return "$worst"
}
all_over() { if [ -n "$killing" ]; then all_or_none; else all_ended; fi; }

hear() { for each in HUP INT TERM USR1 USR2 CONT ALRM; do trap "pass_on $each" "$each"; done; }

# $1: the number of the step, $2: that of the node.
agent() {
    step=$1 node=$2 pids= readers=
    . "$steps/$step/settings"
    eval "set -- $words"
    echo $$ > "$steps/$step/agent.$node"
    hear
    SLURM_NODEID=$node SLURM_NTASKS=$tasks SLURM_NPROCS=$tasks SLURM_STEP_ID=$step
    SLURM_STEPID=$step SLURM_STEP_NUM_TASKS=$tasks SLURM_NNODES=$nodes SLURM_STEP_NUM_NODES=$nodes
    export SLURM_NODEID SLURM_NTASKS SLURM_NPROCS SLURM_STEP_ID SLURM_STEPID
    export SLURM_STEP_NUM_TASKS SLURM_NNODES SLURM_STEP_NUM_NODES
    if [ -n "$cpus" ]; then export SLURM_CPUS_PER_TASK="$cpus"; fi
    while read -r rank own at host <&4; do
        if [ "$at" != "$node" ]; then continue; fi
        export SLURM_PROCID="$rank" SLURM_LOCALID="$own" SLURMD_NODENAME="$host"
        if [ -n "$label" ]; then read_lines 3<&- 4<&-; fi
        if [ "$tasks" -eq 1 ]; then (task "$@") <&3 4<&- & else (task "$@") </dev/null 3<&- 4<&- & fi
        pids="$pids $!"
    done 3<&0 4< "$steps/$step/plan"
    all_over
    code=$?
    all_read
    exit "$code"
}
if [ "${1:-}" = --agent ]; then agent "$2" "$3"; fi

# --- the job's first node -------------------------------------------------------------------------

number() { case $1 in '' | *[!0-9]* | 0 | ??????*) die "$2 is no number: $1" ;; esac; }
tasks= nodes= per= cpus= label= output= error= over= killing= named=
while [ $# -gt 0 ]; do
    option=$1 given=
    case $option in
        --) shift; break ;;
        --*=*) given=yes value=${option#*=} option=${option%%=*} ;;
        --*) ;;
        -[ceiDJmnNow]?*) given=yes value=${option#??} option=${option%"${option#??}"} ;;
        -?*) ;;
        *) break ;;
    esac
    shift
    case $option in
        -l | --label) label=yes; continue ;;
        -O | --overcommit) over=yes; continue ;;
        -K | --kill-on-bad-exit) killing=yes; if [ "$given${value:-}" = yes0 ]; then killing=; fi
            continue ;;
        # What changes nothing here: tasks are bound to nothing, and share what the job has.
        -u | --unbuffered | -Q | --quiet | -v | --verbose | -s | --oversubscribe | --overlap | \
            --exact | --exclusive | -X | --disable-status | --use-min-nodes | --contiguous) continue ;;
    esac
    if [ -z "$given" ]; then
        if [ $# -eq 0 ]; then die "option requires an argument: $option"; fi
        value=$1
        shift
    fi
    case $option in
        -n | --ntasks) number "$value" "$option"; tasks=$value ;;
        -N | --nodes) value=${value%%-*}; number "$value" "$option"; nodes=$value ;;
        --ntasks-per-node) number "$value" "$option"; per=$value ;;
        -c | --cpus-per-task) number "$value" "$option"; cpus=$value ;;
        -w | --nodelist) named=$value ;;
        -o | --output) output=$value ;;
        -e | --error) error=$value ;;
        -D | --chdir) cd "$value" || exit 1 ;;
        -i | --input) case $value in
            all | 0) ;;
            none) exec </dev/null ;;
            *) exec <"$value" || exit 1 ;;
        esac ;;
        --jobid) if [ "$value" != "$SLURM_JOB_ID" ]; then die "job $value is not this one"; fi ;;
        --open-mode) case $value in a*) ;; *) die "output is always appended to: $value" ;; esac ;;
        --export) case $value in
            ALL) ;;
            ALL,*=*) old=$IFS IFS=,; set -f
                for each in ${value#ALL,}; do export "$each" || exit 1; done
                IFS=$old; set +f ;;
            *) die "--export=$value is not known in a cluster that has no Slurm" ;;
        esac ;;
        -J | --job-name | -m | --distribution | --mem | --mem-per-cpu | --mem-bind | --cpu-bind | \
            --cpu_bind | --hint | --threads-per-core | --gpus | --gres | --gpus-per-task | \
            --gpus-per-node | --cpus-per-gpu | --ntasks-per-gpu | --gpu-bind) ;;
        --mpi) if [ "$value" != none ]; then die "--mpi=$value is Slurm's own"; fi ;;
        *) die "$option is not known in a cluster that has no Slurm" ;;
    esac
done
if [ $# -eq 0 ]; then die "no command given to execute"; fi
[ -r "$folder/nodes" ] || die "this is no job of metabroker"

# A task for each node in turn, as long as it has processors; numbered node by node.
list=$(awk -v names=",$named," 'names == ",," || index(names, "," $1 ",")' "$folder/nodes")
[ -n "$list" ] || die "the job has no such nodes: $named"
all=$(echo "$list" | awk '{ n += $2 } END { print n }')
if [ -z "$tasks" ]; then
    if [ -n "$per" ]; then tasks=$((per * ${nodes:-$(echo "$list" | wc -l)}))
    elif [ -n "$named" ]; then tasks=$all
    else tasks=${SLURM_NTASKS:-$all}; fi
fi
step=0
mkdir -p "$steps" || exit 1
until mkdir "$steps/$step" 2>/dev/null; do
    [ -d "$steps/$step" ] || die "cannot write to the job's folder"
    step=$((step + 1))
done
echo "$list" | LC_ALL=C awk -v tasks="$tasks" -v use="$nodes" -v per="$per" -v cpus="$cpus" -v over="$over" '
    { host[n + 0] = $1; own[n + 0] = $2; room[n + 0] = int($3 / (cpus ? cpus : 1)); all += $2; n++ }
    END {
        as_job = tasks == all && !use && !cpus
        if (!use) use = tasks < n ? tasks : n
        if (use > n) exit 1
        for (left = tasks; left > 0 && !as_job; left -= placed) {
            placed = 0
            for (i = 0; i < use && placed < left; i++)
                if ((over || count[i] < room[i]) && (!per || count[i] < per)) { count[i]++; placed++ }
            if (!placed) exit 1
        }
        for (i = 0; i < (as_job ? n : use); i++)
            for (j = 0; j < (as_job ? own[i] : count[i]); j++) print rank++, j, i, host[i]
    }' > "$steps/$step/plan" ||
    die "the job has no room for $tasks such tasks on ${nodes:-its} nodes"
quoted() { for word do printf "'%s' " "$(printf '%s\n' "$word" | sed "s/'/'\\\\''/g")"; done; }
nodes=$(awk '{ print $3 }' "$steps/$step/plan" | sort -u | wc -l)
for each in tasks nodes cpus label output error killing; do
    eval "value=\$$each"
    echo "$each=$(quoted "$value")"
done > "$steps/$step/settings"
echo "words=$(quoted "$(quoted "$@")")" >> "$steps/$step/settings"

# The user's PATH may come from where there is no PBS.
tmrsh=$(command -v pbs_tmrsh) ||
    tmrsh=$( (. "${PBS_CONF_FILE:-/etc/pbs.conf}" && echo "$PBS_EXEC/bin/pbs_tmrsh") 2>/dev/null)
here=$(awk '{ print $1; exit }' "$folder/nodes")
if [ ! -x "$tmrsh" ] && [ -n "$(awk -v h="$here" '$4 != h' "$steps/$step/plan")" ]; then
    die "no pbs_tmrsh is found for the other nodes"
fi
host_of() { awk -v n="$1" '$3 == n { print $4; exit }' "$steps/$step/plan"; }
pids=
pass_on() {
    signalled=yes
    for there in "$steps/$step"/agent.*; do
        host=$(host_of "${there##*.}")
        if [ ! -e "$there" ]; then continue; fi
        if [ "$host" = "$here" ]; then kill -s "$1" "$(cat "$there")"; continue; fi
        "$tmrsh" "$host" /bin/kill -s "$1" "$(cat "$there")"
    done 2>/dev/null
}
# What a task of another node writes goes to the job's own output in PBS, wherever srun's goes. So it
# comes through a file, until process $2 has ended.
relay() {
    sent=0
    while :; do
        over=yes
        if kill -0 "$2" 2>/dev/null; then over=; fi
        size=$(($(wc -c < "$1")))
        if [ "$size" -gt "$sent" ]; then
            tail -c +$((sent + 1)) "$1" | head -c $((size - sent))
            sent=$size
        fi
        if [ -n "$over" ]; then break; fi
        sleep 0.2 2>/dev/null || sleep 1
    done
}
relays=
hear
exec 3<&0 # what is started in the background would read nothing
echo $$ > "$steps/$step/pid"
if [ -x "$tmrsh" ]; then (umask 077; export -p > "$steps/$step/environment"); fi
for node in $(awk '!seen[$3]++ { print $3 }' "$steps/$step/plan"); do
    host=$(host_of "$node")
    if [ "$host" = "$here" ]; then
        (heeding "$0" --agent "$step" "$node") <&3 3<&- &
        pids="$pids $!"
        continue
    fi
    out=$steps/$step/out-$node err=$steps/$step/err-$node
    : > "$out" && : > "$err" || exit 1
    line=". $(quoted "$steps/$step/environment"); cd $(quoted "$PWD")"
    line="$line; exec $(quoted "$0") --agent $step $node"
    "$tmrsh" "$host" /bin/sh -c "$line >> $(quoted "$out") 2>> $(quoted "$err")" </dev/null &
    started=$!
    pids="$pids $started"
    relay "$out" "$started" 3<&- &
    relays="$relays $!"
    relay "$err" "$started" 3<&- >&2 &
    relays="$relays $!"
done
all_over
code=$?
for each in $relays; do wait "$each"; done
rm -f "$steps/$step/pid"
exit "$code"
