#!/bin/sh
# metabroker-launch: one program over all components of a job.
#
# The same line stands in the script of every component. Component 0 leads: it starts what brings
# the program up (mpiexec, mpirun, a scheduler), and puts what the others need into the exchange.
# In each component `srun` or `pbs_tmrsh` starts one agent on each node (this script again, with
# --agent), and nothing goes from one cluster to another but what the program itself sends. How
# component 0 ends is how all end.
usage='metabroker-launch: usage:
  metabroker-launch [--with KIND] [--label] [--timeout SECONDS] [--] PROGRAM [ARGUMENT ...]
KIND is one of
  slots      one process for each slot (the default), its rank in METABROKER_RANK
  mpich      one MPI world, by the mpiexec of MPICH (Hydra)
  openmpi    one MPI world, by the mpirun of Open MPI
  torchrun   PyTorch: its torchrun on each node
  dask       a scheduler, workers on all nodes, and PROGRAM in component 0
  ray        the same with Ray
In a job that has joined another one, dask and ray start workers alone, for that job'"'"'s program.'
die() { echo "metabroker-launch: $1" >&2; exit "${2:-1}"; }
wrong() { echo "$usage" >&2; exit 2; }
umask 077
gate=${METABROKER_PEERS_FILE:-}
gate=${gate%/*}
if [ ! -r "$gate/peers.json" ]; then die "this is no component of a metabroker job" 2; fi
own=${METABROKER_COMPONENT:-0} all=${METABROKER_COMPONENTS:-1} joined=${METABROKER_JOINED_JOB:-}
work=$gate/launch
self=$gate/bin/metabroker-launch
exchange=$gate/bin/metabroker-exchange

# The table of nodes: component, number in it, number of all, first rank, slots, name, address.
table() {
    LC_ALL=C awk '/^  \{"component": / {
        n = split($0, part, /\{"name": "/)
        for (i = 2; i <= n; i++) {
            name = part[i]; sub(/".*/, "", name)
            address = part[i]; sub(/.*"addresses": \["?/, "", address); sub(/[]"].*/, "", address)
            slots = part[i]; sub(/.*"slots": /, "", slots); sub(/[^0-9].*/, "", slots)
            print component + 0, i - 2, nodes + 0, rank + 0, slots, name, address
            nodes++; rank += slots
        }
        component++
    }' "$gate/peers.json"
}

# --- on a node ------------------------------------------------------------------------------------

# $1: number of the launch, $2: number of the node in this component.
agent() {
    node=${2:-${SLURM_NODEID:-0}}
    . "$work/$1.plan"
    set -- "$1" $(awk -v c="$own" -v n="$node" '$1 == c && $2 == n' "$work/$1.nodes")
    launch=$1 METABROKER_NODE_RANK=$4 first=$5 slots=$6 name=$7 address=$8
    if [ -z "$slots" ]; then die "node $node is none of this component's"; fi
    METABROKER_LAUNCH=$launch
    export METABROKER_LAUNCH METABROKER_NODE_RANK METABROKER_MASTER_ADDR METABROKER_MASTER_PORT
    echo $$ > "$work/$launch.agent.$node"
    case $kind in
        slots) agent_slots ;;
        mpich)
            until [ -e "$work/$launch.command" ]; do
                if [ ! -e "$work/$launch.plan" ]; then exit 1; fi # it is over
                nap
            done
            line=$(sed "s/@NODE@/$METABROKER_NODE_RANK/" "$work/$launch.command")
            proxy=$(command -v hydra_pmi_proxy) || proxy=
            case $line in */hydra_pmi_proxy\ *)
                if [ -n "$proxy" ]; then line="$proxy ${line#*/hydra_pmi_proxy }"; fi ;;
            esac
            eval "exec $line" ;;
        openmpi) agent_openmpi ;;
        torchrun)
            eval "set -- $words"
            exec torchrun --nnodes "$METABROKER_NNODES" --node-rank "$METABROKER_NODE_RANK" \
                --nproc-per-node "$slots" --master-addr "$METABROKER_MASTER_ADDR" \
                --master-port "$METABROKER_MASTER_PORT" "$@" ;;
        dask)
            # One that comes and goes hands over what it has when it is told to end.
            if [ -n "$joined" ]; then set -- --no-nanny --preload "$work/leaving.py"; else set --; fi
            exec dask worker "tcp://$scheduler" "$@" \
                --nworkers 1 --nthreads "$slots" --no-dashboard --death-timeout 60 \
                ${address:+--host "$address"} \
                --name "$METABROKER_CLUSTER-$name${joined:+-$METABROKER_JOB_ID}" \
                --local-directory "${TMPDIR:-/tmp}" ;;
        ray)
            if [ -z "$joined" ] && [ "$METABROKER_NODE_RANK" -eq 0 ]; then exec sleep 1000000; fi
            exec ray start --block --address "$scheduler" \
                --num-cpus "$slots" ${address:+--node-ip-address "$address"} \
                --disable-usage-stats ;;
    esac
}

# These processes and all that they have started, by their numbers.
family() {
    cat /proc/[0-9]*/stat 2>/dev/null | LC_ALL=C awk -v roots="$*" '
        { pid = $1; sub(/.*[)] /, ""); parent[pid] = $2 }
        END {
            n = split(roots, root, " ")
            for (i = 1; i <= n; i++) all[root[i]] = 1
            do {
                more = 0
                for (pid in parent) if (!(pid in all) && parent[pid] in all) more = all[pid] = 1
            } while (more)
            for (pid in all) print pid
        }' | sort -n
}

# End them, with force after a while: what they have started would go on without them, and a step
# whose output is still open is not over for Slurm for a minute.
end_family() {
    if [ $# -eq 0 ]; then return; fi
    # One that is stopped starts nothing more: so none is missed.
    family=
    while found=$(family "$@") && [ "$found" != "$family" ]; do
        family=$found
        kill -STOP $family 2>/dev/null
    done
    kill $family 2>/dev/null
    kill -CONT $family 2>/dev/null
    tries=0
    while [ "$tries" -lt 20 ]; do
        left=
        for pid in $family; do
            # One that has ended, and that nobody has waited for, can be signalled yet.
            case $(cut -d ' ' -f 3 "/proc/$pid/stat" 2>/dev/null) in '' | Z) ;; *) left=yes ;; esac
        done
        if [ -z "$left" ]; then return; fi
        sleep 0.1 2>/dev/null || sleep 1
        tries=$((tries + 1))
    done
    kill -KILL $family 2>/dev/null
}

# A process for each slot; the first that fails ends the others.
agent_slots() {
    eval "set -- $words"
    pids= local=0
    trap 'end_family $pids; exit 143' TERM INT HUP
    while [ "$local" -lt "$slots" ]; do
        (
            METABROKER_RANK=$((first + local)) METABROKER_LOCAL_RANK=$local
            export METABROKER_RANK METABROKER_LOCAL_RANK
            if [ -z "$label" ]; then exec "$@"; fi
            labelled "$@"
        ) &
        pids="$pids $!"
        local=$((local + 1))
    done
    failed=
    # Slowly, once they have been up for a while: nothing else waits for this.
    naps=0
    while [ -n "$pids" ]; do
        left=
        for pid in $pids; do
            if kill -0 "$pid" 2>/dev/null; then left="$left $pid"; continue; fi
            wait "$pid" || failed=${failed:-$?}
        done
        pids=$left
        if [ -n "$failed" ]; then
            end_family $pids
            break
        fi
        if [ -n "$pids" ]; then nap; fi
    done
    wait
    exit "${failed:-0}"
}

# A command whose lines bear the rank's number; its exit code.
labelled() {
    { { { "$@" 2>&1 >&3 3>&- 4>&-; echo $? >&4; } | sed -u "s/^/[$METABROKER_RANK] /" >&2; } 3>&1 |
        sed -u "s/^/[$METABROKER_RANK] /" >&5; } 4>"$work/$METABROKER_LAUNCH.code.$METABROKER_RANK" 5>&1
    read -r code < "$work/$METABROKER_LAUNCH.code.$METABROKER_RANK"
    exit "${code:-1}"
}

# What mpirun wants run on this node, once it says so; nothing, if it has something there itself.
agent_openmpi() {
    line=$("$exchange" get 0 "l$launch.$METABROKER_NODE_RANK" --timeout 1000000) || exit 1
    # Nobody else has one of this name; and it is short, since sockets lie in it.
    OMPI_MCA_orte_tmpdir_base=$(mktemp -d "${TMPDIR:-/tmp}/mb.XXXXXX") || exit 1
    PRTE_MCA_prte_tmpdir_base=$OMPI_MCA_orte_tmpdir_base
    export OMPI_MCA_orte_tmpdir_base PRTE_MCA_prte_tmpdir_base
    trap 'rm -rf "$OMPI_MCA_orte_tmpdir_base"' EXIT
    eval "$line" &
    pid=$!
    trap 'kill $pid 2>/dev/null; wait; exit 143' TERM INT HUP
    wait "$pid"
    code=$?
    echo "$code" | "$exchange" put "l$launch.$METABROKER_NODE_RANK.ended"
    exit "$code"
}

# --- what mpirun calls in the place of ssh: HOST COMMAND ------------------------------------------

remote() {
    while :; do case $1 in -*) shift ;; *) break ;; esac; done
    node=${1#mb-}
    shift
    case $node in '' | *[!0-9]*) die "$node is none of the job's nodes" ;; esac
    printf '%s\n' "$*" | "$exchange" put "l$METABROKER_LAUNCH.$node" || exit 1
    to=$(awk -v n="$node" '$3 == n { print $1 }' "$work/$METABROKER_LAUNCH.nodes")
    code=$("$exchange" get "$to" "l$METABROKER_LAUNCH.$node.ended" --timeout 1000000) || exit 1
    exit "$code"
}

# A rank of MPICH. Hydra ends all of them for one that a signal ends, and not always for one that
# ends itself without MPI_Finalize.
rank() {
    "$@"
    code=$?
    if [ "$code" -eq 0 ]; then exit 0; fi
    echo "$code" | "$exchange" put "l$METABROKER_LAUNCH.failed"
    kill -KILL $$
}

# --- in a component -------------------------------------------------------------------------------

quoted() {
    for word do
        printf "'%s' " "$(printf '%s\n' "$word" | sed "s/'/'\\\\''/g")"
    done
}

naps=0
nap() {
    naps=$((naps + 1))
    if [ "$naps" -lt 20 ]; then sleep 0.02 2>/dev/null || sleep 1; return; fi
    if [ "$naps" -lt 100 ]; then sleep 0.05 2>/dev/null || sleep 1; return; fi
    if [ "$naps" -lt 400 ]; then sleep 0.2 2>/dev/null || sleep 1; return; fi
    sleep 1
}

# One agent on each node of this component, until all have ended.
agents() {
    nodes=$(awk -v c="$own" '$1 == c' "$work/$launch.nodes" | wc -l)
    srun=$(command -v srun)
    # An srun that is told to end may kill what it has started, without the time that the cluster
    # gives: on one's own node it is not needed.
    if [ "$nodes" -eq 1 ] && [ -n "$joined" ]; then exec "$self" --agent "$launch" 0; fi
    # Beside metabroker's own, in a job of PBS, there is a file of its nodes.
    if [ -n "${SLURM_JOB_ID:-}" ] && [ -n "$srun" ] && [ ! -e "${srun%/*}/nodes" ]; then
        bind=
        if scontrol show config 2>/dev/null | grep -q '^TaskPlugin .*affinity'; then
            bind=--cpu-bind=none
        fi
        by_srun --overlap --nodes="$nodes" --ntasks="$nodes" --ntasks-per-node=1 \
            $bind --kill-on-bad-exit=1 --quiet
    elif [ -n "${PBS_JOBID:-}" ] && [ "$nodes" -gt 1 ]; then
        by_tmrsh
    else
        exec "$self" --agent "$launch" 0
    fi
}

# $@: options of srun. One that cannot start its step, as where a slurmd is down, says so at once
# and then waits for a minute or more: so what it says itself is read here. What the program prints
# does not come this way.
by_srun() {
    if ! { : >> "/proc/$$/fd/2"; } 2>/dev/null || ! mkfifo "$work/$launch.srun"; then
        exec srun "$@" "$self" --agent "$launch"
    fi
    srun "$@" --error="/proc/$$/fd/2" --open-mode=append "$self" --agent "$launch" \
        2> "$work/$launch.srun" &
    srun=$! failed=
    trap 'kill "$srun" 2>/dev/null' TERM INT HUP
    while IFS= read -r said; do
        printf '%s\n' "$said" >&2
        case $said in *': error: Application launch failed: '*) failed=yes; break ;; esac
    done < "$work/$launch.srun"
    if [ -n "$failed" ]; then
        echo "metabroker-launch: a node of component $own does not start what it is given" >&2
        kill -KILL "$srun" 2>/dev/null
        wait "$srun"
        exit 1
    fi
    wait "$srun"
    exit
}

# By itself on its own node, which is the first, and by PBS's pbs_tmrsh on the others. The user's PATH
# may come from where there is no PBS.
by_tmrsh() {
    tmrsh=$(command -v pbs_tmrsh) ||
        tmrsh=$( (. "${PBS_CONF_FILE:-/etc/pbs.conf}" && echo "$PBS_EXEC/bin/pbs_tmrsh") 2>/dev/null)
    if [ ! -x "$tmrsh" ]; then die "no pbs_tmrsh is found for the other nodes"; fi
    export -p > "$work/$launch.environment" || exit 1
    ending= relays= running= n=0
    trap 'ending=yes' TERM INT HUP
    for host in $(awk -v c="$own" '$1 == c { print $6 }' "$work/$launch.nodes"); do
        if [ "$n" -eq 0 ]; then
            "$self" --agent "$launch" 0 &
        else
            : > "$work/$launch.out.$n" && : > "$work/$launch.err.$n" || exit 1
            line=". $(quoted "$work/$launch.environment"); cd $(quoted "$PWD")"
            line="$line; exec $(quoted "$self") --agent $launch $n"
            line="$line >> $(quoted "$work/$launch.out.$n") 2>> $(quoted "$work/$launch.err.$n")"
            "$tmrsh" "$host" /bin/sh -c "$line" </dev/null &
        fi
        running="$running $n:$!"
        if [ "$n" -gt 0 ]; then
            relay "$work/$launch.out.$n" "$!" &
            relays="$relays $!"
            relay "$work/$launch.err.$n" "${running##*:}" >&2 &
            relays="$relays $!"
        fi
        n=$((n + 1))
    done
    failed= told=
    while [ -n "$running" ]; do
        left=
        for each in $running; do
            if kill -0 "${each#*:}" 2>/dev/null; then left="$left $each"; continue; fi
            wait "${each#*:}" || { failed=${failed:-$?}; ending=yes; }
        done
        running=$left
        if [ -n "$running" ] && [ -n "$ending" ]; then end_agents; fi
        if [ -n "$running" ]; then nap; fi
    done
    for pid in $relays; do wait "$pid"; done
    exit "${failed:-0}"
}

# Tell each agent once that it is to end, as soon as its number is known. One that nobody can tell,
# or that does not listen, is not waited for.
end_agents() {
    if [ -z "${give_up:-}" ]; then give_up=$(($(date +%s) + 10)) naps=0; fi
    for each in $running; do
        n=${each%%:*}
        case " $told " in *" $n "*) continue ;; esac
        if [ ! -s "$work/$launch.agent.$n" ]; then continue; fi
        told="$told $n"
        pid=$(cat "$work/$launch.agent.$n")
        if [ "$n" -eq 0 ]; then kill "$pid"; continue; fi
        "$tmrsh" "$(awk -v c="$own" -v n="$n" '$1 == c && $2 == n { print $6 }' \
            "$work/$launch.nodes")" /bin/kill "$pid" </dev/null &
    done 2>/dev/null
    if [ "$(date +%s)" -ge "$give_up" ]; then
        for each in $running; do kill -KILL "${each#*:}" 2>/dev/null; done
    fi
}

# What a process of another node writes goes to the job's own output in PBS, wherever this script's
# goes. So it comes through a file ($1), until process $2 has ended.
relay() {
    trap '' TERM INT HUP
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
        sleep 0.1 2>/dev/null || sleep 1
    done
}

# $1: a process, $2: seconds that it is given to end by itself.
end_in_time() {
    until=$(($(date +%s) + $2))
    while kill -0 "$1" 2>/dev/null; do
        if [ "$(date +%s)" -ge "$until" ]; then kill "$1" 2>/dev/null; break; fi
        sleep 0.1 2>/dev/null || sleep 1
    done
    wait "$1" 2>/dev/null
}

finish() {
    trap '' TERM INT HUP
    kill $main $step $getter 2>/dev/null
    for pid in $main $step $getter; do wait "$pid" 2>/dev/null; done
    rm -f "$work/$launch".*
    : > "$work/$launch/over"
}

# The leading part: what it prints passes through, its exit code is that of all.
lead() {
    case $kind in
        mpich)
            program=$(command -v "${mpiexec:-mpiexec.hydra}") || program=$(command -v mpiexec) ||
                die "there is no mpiexec of MPICH in the PATH"
            mkfifo "$work/$launch.out" || exit 1
            "$program" -launcher manual -localhost "$METABROKER_MASTER_ADDR" \
                -genvlist METABROKER_JOB_ID ${label:+-prepend-rank} \
                -hosts "$(awk '{ printf "%smb-%s:%s", (NR > 1 ? "," : ""), $3, $5 }' "$work/$launch.nodes")" \
                -n "$METABROKER_WORLD_SIZE" "$self" --rank "$@" > "$work/$launch.out" &
            main=$!
            pass_on < "$work/$launch.out" &
            reader=$! ;;
        openmpi)
            program=$(command -v "${mpiexec:-mpirun.openmpi}") || program=$(command -v mpirun) ||
                die "there is no mpirun of Open MPI in the PATH"
            awk '{ print "mb-" $3 " slots=" $5 }' "$work/$launch.nodes" > "$work/$launch.hosts"
            METABROKER_LAUNCH=$launch
            OMPI_MCA_plm_rsh_agent="$self --remote" PRTE_MCA_plm_ssh_agent="$self --remote"
            OMPI_MCA_plm_rsh_no_tree_spawn=1 PRTE_MCA_plm_ssh_no_tree_spawn=1
            OMPI_MCA_plm=rsh OMPI_MCA_ras=^slurm,tm PRTE_MCA_plm=ssh PRTE_MCA_ras=^slurm,pbs
            export METABROKER_LAUNCH OMPI_MCA_plm_rsh_agent PRTE_MCA_plm_ssh_agent
            export OMPI_MCA_plm_rsh_no_tree_spawn PRTE_MCA_plm_ssh_no_tree_spawn
            export OMPI_MCA_plm OMPI_MCA_ras PRTE_MCA_plm PRTE_MCA_ras
            may_be_root=
            if [ "$(id -u)" -eq 0 ]; then may_be_root=--allow-run-as-root; fi
            "$program" --leave-session-attached $may_be_root ${label:+--tag-output} \
                --hostfile "$work/$launch.hosts" -n "$METABROKER_WORLD_SIZE" "$@" &
            main=$! ;;
        dask)
            dask scheduler --host "$METABROKER_MASTER_ADDR" --port "$METABROKER_MASTER_PORT" \
                --no-dashboard &
            helper=$!
            DASK_SCHEDULER_ADDRESS=tcp://$METABROKER_MASTER_ADDR:$METABROKER_MASTER_PORT
            export DASK_SCHEDULER_ADDRESS
            echo "$launch $scheduler" | "$exchange" put launch.dask
            "$@" &
            main=$! ;;
        ray)
            slots=$(awk 'NR == 1 { print $5 }' "$work/$launch.nodes")
            ray start --head --block --node-ip-address "$METABROKER_MASTER_ADDR" \
                --port "$METABROKER_MASTER_PORT" --num-cpus "$slots" --include-dashboard=false \
                --disable-usage-stats > "$work/ray" 2>&1 &
            helper=$!
            RAY_ADDRESS=$METABROKER_MASTER_ADDR:$METABROKER_MASTER_PORT
            export RAY_ADDRESS
            up=$(($(date +%s) + seconds))
            until ray status >/dev/null 2>&1; do
                if [ "$(date +%s)" -ge "$up" ] || ! kill -0 "$helper"; then
                    cat "$work/ray" >&2
                    die "ray does not start"
                fi
                sleep 1
            done
            echo "$launch $scheduler" | "$exchange" put launch.ray
            "$@" &
            main=$! ;;
    esac
}

# In a job that has joined another one: which launch of that one's, and where its scheduler is.
find_scheduler() {
    by=$(($(date +%s) + seconds))
    while :; do
        left=$((by - $(date +%s)))
        if [ "$left" -lt 0 ]; then left=0; fi
        told=$("$exchange" get "$joined.0" "launch.$kind" --timeout "$left" 2>/dev/null) ||
            die "job $joined has started no $kind that runs, in $seconds s"
        theirs=${told%% *}
        case $theirs in '' | *[!0-9]*) die "job $joined does not say where its $kind is" ;; esac
        scheduler=${told#* }
        # One that has ended is left over until there is another.
        if ! "$exchange" get "$joined.0" "l$theirs.status" --timeout 0 >/dev/null 2>&1; then
            return
        fi
        if [ "$left" -eq 0 ]; then die "the $kind of job $joined has ended" ; fi
        sleep 1
    done
}

# What a worker of Dask does when it is told to end: its scheduler moves what it has to others, and
# gives them its tasks. By itself it would drop them, and each counts that against its task.
leaving() {
    cat > "$work/leaving.py" <<'END' || exit 1
import asyncio
import signal


async def dask_setup(worker):
    leaving = set()

    def leave():  # it may be told so twice
        if not leaving:
            leaving.add(asyncio.ensure_future(worker.close_gracefully()))

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, leave)
END
}

# Hydra says what it wants started on each node; all but their numbers are alike.
pass_on() {
    line=
    while IFS= read -r word; do
        case $word in
            HYDRA_LAUNCH:*) line=${line:-${word#HYDRA_LAUNCH: }} ;;
            HYDRA_LAUNCH_END*) break ;;
            *) printf '%s\n' "$word" ;;
        esac
    done
    if [ -n "$line" ]; then
        printf '%s\n' "$line" | sed 's/--proxy-id [0-9][0-9]*/--proxy-id @NODE@/' |
            "$exchange" put "l$launch.command"
    fi
    exec cat
}

# The exit code of the rank that has ended all, if one can be found in a moment.
of_ranks() {
    tries=0
    while [ "$tries" -lt 15 ]; do
        part=0
        while [ "$part" -lt "$all" ]; do
            if code=$("$exchange" get "$part" "l$launch.failed" --timeout 0 2>/dev/null); then
                status=$code
                return
            fi
            part=$((part + 1))
        done
        sleep 0.2 2>/dev/null || sleep 1
        tries=$((tries + 1))
    done
}

# When process $1 was started, by the node's own clock; nothing: it has ended.
since() { sed -n -e 's/.*) //' -e '/^Z/!p' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

# Whether that launch still runs. One that was killed has not said that it is over.
runs() {
    if [ -e "$work/$1/over" ]; then return 1; fi
    read -r host pid began 2>/dev/null < "$work/$1/who" || return 0 # it has just begun
    [ "$host" != "$(uname -n)" ] || [ "$(since "$pid")" = "$began" ]
}

# A launch that component 0 leads has the same number in all components: the next after the last of
# these. So they go one after the other. Others are this component's alone, and may run side by side.
number_it() {
    before='' launch=1
    case $joined.$kind in *.slots | *.torchrun | ?*.*) before=s launch=s1 ;; esac
    until mkdir "$work/$launch" 2>/dev/null; do
        if [ ! -d "$work/$launch" ]; then die "cannot write to the job's folder"; fi
        if [ -z "$before" ] && [ ! -d "$work/$((launch + 1))" ] && runs "$launch"; then
            die "another one runs already: those --with mpich, openmpi, dask and ray go one after \
the other" 2
        fi
        launch=$before$((${launch#s} + 1))
    done
    echo "$(uname -n) $$ $(since $$)" > "$work/$launch/who" || exit 1
}

plan() {
    {
        echo "kind=$kind label=$label"
        echo "METABROKER_MASTER_ADDR=$METABROKER_MASTER_ADDR"
        echo "METABROKER_MASTER_PORT=$METABROKER_MASTER_PORT"
        echo "scheduler=$(quoted "$scheduler")"
        echo "words=$(quoted "$words")"
    } > "$work/$launch.plan" || exit 1
}

case ${1:-} in
    --agent) shift; agent "$@"; exit ;;
    --remote) shift; remote "$@"; exit ;;
    --rank) shift; rank "$@"; exit ;;
esac
kind=slots label= seconds=120 mpiexec=
while [ $# -gt 0 ]; do
    case $1 in
        --with) if [ $# -lt 2 ]; then wrong; fi; kind=$2; shift ;;
        --with=*) kind=${1#*=} ;;
        --mpiexec) if [ $# -lt 2 ]; then wrong; fi; mpiexec=$2; shift ;;
        --mpiexec=*) mpiexec=${1#*=} ;;
        --timeout) if [ $# -lt 2 ]; then wrong; fi; seconds=$2; shift ;;
        --timeout=*) seconds=${1#*=} ;;
        --label) label=yes ;;
        --) shift; break ;;
        -*) wrong ;;
        *) break ;;
    esac
    shift
done
case $kind in slots | mpich | openmpi | torchrun | dask | ray) ;; *) wrong ;; esac
case $joined.$kind in .* | *.slots | *.dask | *.ray) ;;
    *) die "--with $kind does not go in a job that has joined another one: slots, dask and ray do" 2 ;;
esac
case $seconds in '' | *[!0-9]*) die "--timeout $seconds is no number of seconds" 2 ;; esac
if [ $# -eq 0 ]; then wrong; fi

mkdir -p "$work" || exit 1
number_it
table > "$work/$launch.nodes"
awk '{ print $6 " slots=" $5 }' "$work/$launch.nodes" > "$work/$launch.hostfile"
mv "$work/$launch.hostfile" "$work/hosts" # whole, for programs of other launches that read it now
METABROKER_HOSTFILE=$work/hosts
export METABROKER_HOSTFILE
main= step= getter= reader= helper= theirs=
scheduler=$METABROKER_MASTER_ADDR:$METABROKER_MASTER_PORT
words=$(quoted "$@")
trap 'finish; exit 129' HUP
trap 'finish; exit 130' INT
trap 'finish; exit 143' TERM
leads= from=0
case $kind in
    slots | torchrun) ;;
    *)
        if [ -n "$joined" ]; then
            from=$joined.0
            find_scheduler
            leaving
        elif [ "$own" -eq 0 ]; then
            leads=yes
            lead "$@"
        fi ;;
esac
plan
# Slurm takes a while to start them: those of MPICH wait there for what mpiexec wants started.
agents &
step=$!
if [ "$kind" = mpich ]; then
    "$exchange" get 0 "l$launch.command" --timeout "$seconds" > "$work/$launch.told" || {
        finish
        die "component 0 has not started mpiexec"
    }
    mv "$work/$launch.told" "$work/$launch.command" || { finish; exit 1; }
fi
status=
if [ -n "$leads" ]; then
    # The program tells how all of it has ended; agents that end early have failed.
    gives_up= code=
    while kill -0 "$main" 2>/dev/null; do
        if [ -n "$gives_up" ] && [ "$(date +%s)" -ge "$gives_up" ]; then
            gives_up= code=$status
            end_family "$main"
        fi
        if ! kill -0 "$step" 2>/dev/null && [ -z "$status" ]; then
            wait "$step"
            status=$?
            case $kind.$status in
                *.0) ;;
                mpich.* | openmpi.*) # which see it themselves where a proxy of theirs has ended
                    gives_up=$(($(date +%s) + 5)) ;;
                *) echo "metabroker-launch: what it needs on its nodes has ended" >&2
                    kill "$main" ;;
            esac
        fi
        nap
    done
    wait "$main"
    status=$?
    if [ -n "$code" ]; then status=$code; fi
    if [ -z "$code" ] && [ "$kind" = mpich ] && [ "$status" -ne 0 ]; then of_ranks; fi
    echo "$status" | "$exchange" put "l$launch.status"
    if [ -n "$reader" ]; then wait "$reader"; fi
    if [ -n "$helper" ]; then kill "$helper" 2>/dev/null; wait "$helper" 2>/dev/null; fi
    case $kind in dask | ray) kill "$step" 2>/dev/null ;; esac
    end_in_time "$step" 10
elif [ "$kind" = slots ] || [ "$kind" = torchrun ]; then
    wait "$step"
    status=$?
else
    "$exchange" get "$from" "l${theirs:-$launch}.status" --timeout 1000000 > "$work/$launch.status" 2>/dev/null &
    getter=$!
    while kill -0 "$step" 2>/dev/null && [ ! -s "$work/$launch.status" ]; do nap; done
    if [ ! -s "$work/$launch.status" ]; then
        wait "$step"
        code=$?
        end_in_time "$getter" 8
    else
        case $kind in dask | ray) kill "$step" 2>/dev/null ;; esac
        end_in_time "$step" 10
    fi
    if [ -n "$joined" ]; then # how the program has ended is its own job's matter
        status=0
        if [ ! -s "$work/$launch.status" ]; then status=$code; fi
    elif ! read -r status < "$work/$launch.status"; then
        echo "metabroker-launch: component 0 did not say how the program ended" >&2
        status=$code
        if [ "$status" -eq 0 ]; then status=1; fi
    fi
fi
step= main=
finish
exit "$status"
