"""The gate: where a component and the broker meet, and who may let the user's script start.

Each component has a folder of its own, which only its account can enter, and in it one *token
file* whose name is the gate's position. Every change of position is a rename of that one file, so
of two who try different changes exactly one succeeds, on any POSIX file system, whatever was
lost, repeated or late:

    wait  --broker-->  armed  --broker-->  go  --component-->  run
    wait  --component, at its deadline-->  abort
    wait, armed, go  --broker, undoing-->  abort

- A component of a co-allocated job begins at `wait`. Once `armed` it does not give up by itself,
  so the broker may commit when all components are armed, and then open all of them (P3).
  Before arming, it is told who its peers are: what comes after the commit needs no space on disk.
  A component that sees its gate armed says so (`ready`); one that does not has died at the
  barrier, whatever its cluster still shows, and nothing is committed.
- A single component begins at `go`.
- The script starts only after `go -> run`, which succeeds once: a twin of the same component, or
  a job that a crashed controller brought back to life, finds no `go` and ends at once (P2). On
  the way it is `run.ID` for a moment, with an ID that no other process has (its node's name is in
  it): over NFS a rename whose answer is lost may be told to have failed, and a component knows by
  that name that it was its own.
- The broker that undoes an attempt moves the gate to `abort`, or learns that it is at `run`. What
  it cannot see (a gate that is gone or replaced, files that are not mounted) may be at `run`.
- A folder that is gone is a gate that is shut, and so is one that has been replaced by a link
  or for somebody else's: the component looks whose it is, too.
- The token file is laid under another name and renamed into its first position: what a stopped
  broker does too late, when it goes on, cannot make a second one.

Beside the token file the component writes down its arrival, its start and its end: the exit
status that counts, also where the cluster forgets ended jobs. With its start it tells which job of
its cluster it is: one that was renamed before that was known is found by this id. It is a user's
word: it is believed only of a job of the component's own account, submitted between the making of
the gate and the start.
"""

from .gates import Gates
from .paths import APART, HOME, former_gate_path, gate_path
from .positions import Position
from .signals import is_signal
from .wrapper import wrapper

__all__ = [
    "APART",
    "HOME",
    "Gates",
    "Position",
    "former_gate_path",
    "gate_path",
    "is_signal",
    "wrapper",
]
