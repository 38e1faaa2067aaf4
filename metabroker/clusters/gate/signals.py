"""`--signal=[B:]USR2@90`: a signal so many seconds before a job's time is over.

Slurm sends it itself, to the steps that `srun` has started, or with `B:` to the first shell of the
job, which is the wrapper's. In a cluster of another system the wrapper counts the seconds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_SIGNAL = re.compile(r"--signal=(?:R?(B?)R?:)?([A-Z0-9]{1,9})(?:@([0-9]{1,5}))?")
_BEFORE = 60  # seconds, where it is not said
_WAITS = ")\nmb__status=$?\n"
_RUNS = """    exec "$mb__gate/script" "$@"
"""
# A shell without job control has what it starts in the background ignore INT and QUIT, and some
# shells (dash) cannot undo that. (A path with a `=` in it were no command to `env`.)
_HEEDING = """    if env --default-signal=INT,QUIT true 2>/dev/null; then
        exec env --default-signal=INT,QUIT sh -c 'exec "$0" "$@"' "$mb__gate/script" "$@"
    elif perl -e 1 2>/dev/null; then
        exec perl -e '$SIG{INT} = $SIG{QUIT} = "DEFAULT"; exec { $ARGV[0] } @ARGV;
            warn "$ARGV[0]: $!\\n"; exit 127' "$mb__gate/script" "$@"
    fi
"""
# A wait that the signal has ended is begun anew.
_FORWARDS = """) &
mb__script=$!
mb__sent=
trap 'mb__signalled=signalled; kill -SIGNAL "$mb__script" && mb__sent=1' SIGNAL
while :; do
    wait "$mb__script"
    mb__status=$?
    [ -n "$mb__sent" ] || break
    mb__sent=
done
"""
_TIMER = """
(
    trap 'kill "$mb__sleep"; exit' TERM
    sleep SECONDS &
    mb__sleep=$!
    wait "$mb__sleep" || exit
    WHAT
) </dev/null >/dev/null 2>&1 &
mb__timer=$!
trap 'kill "$mb__timer" 2>/dev/null' EXIT
"""
_TO_STEPS = (
    """for mb__step in "$mb__gate"/steps/*/pid; do kill -SIGNAL "$(cat "$mb__step")"; done"""
)


def is_signal(word: str) -> bool:
    """Whether it is that option."""
    return _SIGNAL.fullmatch(word) is not None


def _last(native: Sequence[str]) -> re.Match[str] | None:
    found = [match for word in native if (match := _SIGNAL.fullmatch(word)) is not None]
    return found[-1] if found else None


def forwarded(native: Sequence[str], tail: str) -> str:
    """The end of the wrapper, where it passes on to the script what is for that alone."""
    found = _last(native)
    if found is None or not found[1]:
        return tail
    tail = tail.replace(_RUNS, _HEEDING + _RUNS, 1)
    return tail.replace(_WAITS, _FORWARDS.replace("SIGNAL", found[2].removeprefix("SIG")), 1)


def timer(native: Sequence[str], seconds: int) -> str:
    """Shell text by which the wrapper of a job of so many seconds sends it itself, if it is asked
    for."""
    found = _last(native)
    if found is None:
        return ""
    after = max(0, seconds - int(found[3] or _BEFORE))
    what = "kill -SIGNAL $$" if found[1] else _TO_STEPS
    text = _TIMER.replace("SECONDS", str(after)).replace("WHAT", what)
    return text.replace("SIGNAL", found[2].removeprefix("SIG"))
