#!/bin/sh
# How a component meets its peers: a part of the wrapper (see wrapper.sh) where it has any.

# What its peers are to know of its nodes: tasks and addresses of each, and a port that is free on
# this one. A name server that does not answer is not waited for.
mb__tell_nodes() {
    mb__more=
    case $mb__hosts in
        *[!A-Za-z0-9._-]*) mb__more=$(timeout 1 getent ahosts $mb__hosts 2>/dev/null) ;;
    esac
    mb__ips=$(hostname -I 2>/dev/null) || mb__ips=
    if [ -z "$mb__ips" ]; then mb__more="$mb__more
$(timeout 1 getent ahosts "${mb__hosts%%[!A-Za-z0-9._-]*}" 2>/dev/null)"; fi
    set -- "${PBS_NODEFILE:-/dev/null}"
    # The first one's port is that of all. To read which are taken costs a hundredth of a second.
    if [ "$mb__component" -eq 0 ]; then set -- "$1" /proc/net/tcp /proc/net/tcp6; fi
    for mb__file do
        shift
        if [ -r "$mb__file" ]; then set -- "$@" "$mb__file"; fi
    done
    mb__nodes=$(mb__more=$mb__more LC_ALL=C awk -v hosts="$mb__hosts" \
        -v counts="${SLURM_TASKS_PER_NODE:-}" -v ips="$mb__ips" -v tasks="$mb__tasks" \
        -v seed="$$" '
    function short(name) { sub(/[.].*/, "", name); return name }
    FILENAME == ENVIRON["PBS_NODEFILE"] { slots[$1]++; next }
    $1 ~ /^[0-9]+:$/ { sub(/.*:/, "", $2); used[$2] = 1 }
    END {
        n = split(ENVIRON["mb__more"], line, "\n")
        for (i = 1; i <= n; i++) {
            m = split(line[i], word, " ")
            if (m < 2 || word[2] != "STREAM") continue
            if (m > 2) name = short(word[3])
            found[name] = found[name] "+" word[1]
        }
        n = split(hosts, host, " ")
        parts = split(counts, part, ",")
        for (i = 1; i <= parts; i++) {
            split(part[i], word, /[(x)]+/)
            for (j = 0; j < (word[2] ? word[2] : 1); j++) task[++nodes] = word[1]
        }
        if (n == 1 && !task[1] && !slots[host[1]]) task[1] = tasks
        sep = " addresses="
        for (i = 1; i <= n; i++) {
            own = i == 1 ? ips : ""
            gsub(/ +$/, "", own); gsub(/ +/, "+", own)
            if (own == "") own = substr(found[short(host[i])], 2)
            all = all sep own
            sep = ","
            its = task[i] ? task[i] : slots[host[i]]
            told = told (i > 1 ? "," : "slots=") its
        }
        srand(seed * 7919 + n)
        for (i = 0; i < 64; i++) {
            port = 20000 + int(rand() * 12000)
            if (!(sprintf("%04X", port) in used)) break
        }
        print told all " port=" port
    }' "$@" /dev/null 2>/dev/null)
}

# What the peers file says of all, for the environment.
mb__read_peers() {
    while IFS= read -r mb__line; do
        mb__value=${mb__line#*: }
        mb__value=${mb__value%,}
        case $mb__line in
            ' "leader": '*'"address": "'*)
                mb__port=${mb__value##*'"port": '}
                mb__port=${mb__port%\}*}
                mb__leader=${mb__value#*'"address": "'}
                mb__leader=${mb__leader%%\"*} ;;
            ' "world_size": '*) mb__world=$mb__value ;;
            ' "nnodes": '*) mb__nnodes=$mb__value ;;
            ' "rank_offsets": '*) mb__of_list "$mb__value"; mb__rank=$mb__one ;;
            ' "node_offsets": '*) mb__of_list "$mb__value"; mb__node=$mb__one ;;
            ' "components": '*) break ;;
        esac
    done < "$mb__gate/peers.json"
} 2>/dev/null
mb__of_list() {
    mb__words=${1#?}
    IFS=', '
    set -- ${mb__words%?}
    unset IFS
    mb__one=
    if [ "$#" -gt "$mb__component" ]; then
        shift "$mb__component"
        mb__one=$1
    fi
}

# The peers file of a job that has no others.
mb__own_peers() {
    mb__secret=
    for mb__id in $(od -An -N16 -tx4 /dev/urandom 2>/dev/null); do mb__secret=$mb__secret$mb__id; done
    printf '%s\n' "$mb__hosts" "$mb__nodes" | LC_ALL=C awk -v cluster="$mb__cluster" \
        -v processors="$mb__processors" -v secret="$mb__secret" '
    /^slots=/ { for (i = 1; i <= NF; i++) { split($i, pair, "="); told[pair[1]] = pair[2] }; next }
    { for (i = 1; i <= NF; i++) host[++n] = $i }
    END {
        split(told["slots"], slots, ","); split(told["addresses"], ips, ",")
        for (i = 1; i <= n; i++) {
            if (slots[i] + 0 < 1) slots[i] = int(processors / n) + (i <= processors % n)
            size += slots[i]
            names = names (i > 1 ? ", " : "") "\"" host[i] "\""
            gsub(/[+]/, "\", \"", ips[i])
            nodes = nodes (i > 1 ? ", " : "") "{\"name\": \"" host[i] "\", \"addresses\": [" \
                (ips[i] == "" ? "" : "\"" ips[i] "\"") "], \"slots\": " slots[i] "}"
        }
        first = ips[1] == "" ? host[1] : ips[1]
        sub(/".*/, "", first)
        print "{\n \"version\": 2,\n \"secret\": \"" secret "\","
        print " \"leader\": {\"component\": 0, \"host\": \"" host[1] "\", \"address\": \"" \
            first "\", \"port\": " told["port"] "},"
        print " \"world_size\": " size ",\n \"nnodes\": " n ","
        print " \"rank_offsets\": [0],\n \"node_offsets\": [0],\n \"components\": ["
        print "  {\"component\": 0, \"cluster\": \"" cluster "\", \"processors\": " processors \
            ", \"hosts\": [" names "], \"rank_offset\": 0, \"nodes\": [" nodes "]}\n ]\n}"
    }' > "$mb__gate/peers.json"
}
