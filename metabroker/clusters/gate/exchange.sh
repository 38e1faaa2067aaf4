#!/bin/sh
# metabroker-exchange: small values between the components of a job, carried by the broker.
#
# What a component puts stands in one file of its gate, `out.VERSION`: lines `:KEY`, each followed
# by the lines of its value behind a blank. The broker lays a copy of the newest as `in.COMPONENT`
# into the gates of all others, and as `in.JOB.COMPONENT` into those of the job that its own has
# joined, and of those that have joined its own. A version is claimed by `ln`, which succeeds once,
# and counts if it is the newest then: of several who put at once none is lost.
usage='metabroker-exchange: usage:
  metabroker-exchange put KEY < VALUE                       (text; printf %s VALUE | ...)
  metabroker-exchange get COMPONENT KEY [--timeout SECONDS]
  metabroker-exchange get JOB.COMPONENT KEY [--timeout SECONDS]   (of a job that it has joined, or
                                                            that has joined it)
  metabroker-exchange barrier NAME [--timeout SECONDS]      (all components; each name once)'
most=60000
die() { echo "metabroker-exchange: $2" >&2; exit "$1"; }
wrong() { echo "$usage" >&2; exit 2; }
umask 077
LC_ALL=C
export LC_ALL
gate=${METABROKER_PEERS_FILE:-}
gate=${gate%/*}
if [ ! -d "$gate" ]; then die 2 "this is no component of a metabroker job, or it has ended"; fi
all=${METABROKER_COMPONENTS:-1} own=${METABROKER_COMPONENT:-0}
tmp=
trap 'if [ -n "$tmp" ]; then rm -f "$tmp"; fi' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# The newest version of what this component has put; 0: nothing yet.
newest() {
    version=0
    for file in "$gate"/out.*; do
        number=${file##*/out.}
        case $number in '' | 0* | *[!0-9]*) continue ;; esac
        if [ "$number" -gt "$version" ]; then version=$number; fi
    done 2>/dev/null
}

is_key() {
    case $1 in '' | *[!A-Za-z0-9_.-]*) die 2 "$1 is no key: letters, digits, _, . and - are" ;; esac
    if [ "${#1}" -gt 64 ]; then die 2 "the key $1 is longer than 64 characters"; fi
}

# $1: key, its value on stdin.
put() {
    value=$(cat && echo .) || die 1 "the value cannot be read"
    value=${value%.}
    if [ "${#value}" -gt "$most" ]; then
        die 1 "the value has more than $most bytes: write it into a file, and send that otherwise"
    fi
    while :; do
        # A new file each time: the last one is a version already where `ln` has done what it says it
        # has not, as NFS may. And a name that nobody else has: in containers numbers of processes
        # are alike.
        if [ -n "$tmp" ]; then rm -f "$tmp"; fi
        tmp=$(mktemp "$gate/.out-XXXXXX") || die 1 "there is no space for it"
        newest
        old=/dev/null
        if [ "$version" -gt 0 ]; then old=$gate/out.$version; fi
        {
            awk -v key=":$1" '/^:/ { skip = $0 == key } !skip' "$old" 2>/dev/null
            echo ":$1"
            if [ -n "$value" ]; then
                printf '%s\n' "$value" | sed -e 's/^/ /' |
                    if [ "${value%
}" != "$value" ]; then sed -e '$d'; else cat; fi
            fi
        } > "$tmp" || die 1 "there is no space for it"
        # Somebody has gone on meanwhile: what was read may not be whole.
        if [ "$old" != /dev/null ] && [ ! -e "$old" ]; then continue; fi
        set -- "$1" $(wc -c < "$tmp")
        if [ "$2" -gt "$most" ]; then
            die 1 "with it this component's values would have $2 bytes, and $most are the most"
        fi
        if [ "$(grep -c '^:' "$tmp")" -gt 256 ]; then die 1 "a component can put 256 keys at most"; fi
        next=$((version + 1))
        ln "$tmp" "$gate/out.$next" 2>/dev/null || { pause; continue; }
        newest
        if [ "$version" -eq "$next" ]; then break; fi
        rm -f "$gate/out.$next"
    done
    rm -f "$tmp"
    for file in "$gate"/out.*; do
        number=${file##*/out.}
        case $number in '' | 0* | *[!0-9]*) continue ;; esac
        if [ "$number" -lt "$((next - 1))" ]; then rm -f "$file"; fi
    done
}

# Who has waited for long waits longer: a program may run for days.
naps=0
pause() {
    naps=$((naps + 1))
    nap=0.02
    if [ "$naps" -gt 20 ]; then nap=0.05; fi
    if [ "$naps" -gt 200 ]; then nap=0.25; fi
    if [ "$naps" -gt 400 ]; then nap=1; fi
    sleep "$nap" 2>/dev/null || sleep 1
}

# $1: component, $2: key, $3: until when. Prints its value, without a word if $4 is given.
get() {
    while :; do
        file=$gate/in.$1
        case $1 in *.*) ;; *)
            if [ "$1" -eq "$own" ]; then newest; file=$gate/out.$version; fi ;;
        esac
        if [ -e "$file" ] && awk -v key=":$2" -v quiet="${4:-}" '
            /^:/ { here = $0 == key; if (here) found = 1; next }
            here && !quiet { print substr($0, 2) }
            END { exit !found }' "$file" 2>/dev/null; then return 0; fi
        if [ ! -d "$gate" ]; then die 1 "the job has ended"; fi
        if [ "$(date +%s)" -ge "$3" ]; then
            die 1 "component $1 has put no $2 in time"
        fi
        pause
    done
}

command=${1:-}
case $command in put | get | barrier) shift ;; *) wrong ;; esac
seconds=300 words=
while [ $# -gt 0 ]; do
    case $1 in
        --timeout) if [ $# -lt 2 ]; then wrong; fi; seconds=$2; shift ;;
        --timeout=*) seconds=${1#*=} ;;
        -*) wrong ;;
        *[!A-Za-z0-9_.-]* | '') die 2 "$1 is no key: letters, digits, _, . and - are" ;;
        *) words="$words $1" ;;
    esac
    shift
done
case $seconds in '' | *[!0-9]*) die 2 "--timeout $seconds is no number of seconds" ;; esac
until=$(($(date +%s) + seconds))
set -- $words
case $command.$# in
    put.1) is_key "$1"; put "$1" ;;
    get.2)
        part=${1#"${METABROKER_JOB_ID:-}".}
        case $part in .* | *. | *.*.* | *[!0-9.]*) wrong ;; *.*) ;; *)
            if [ "$part" -ge "$all" ]; then
                die 2 "there is no component $part: they are 0 to $((all - 1))"
            fi ;;
        esac
        is_key "$2"
        get "$part" "$2" "$until" ;;
    barrier.1)
        is_key "barrier.$1"
        put "barrier.$1" < /dev/null
        part=0
        while [ "$part" -lt "$all" ]; do
            get "$part" "barrier.$1" "$until" quiet
            part=$((part + 1))
        done ;;
    *) wrong ;;
esac
