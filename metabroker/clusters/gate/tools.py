"""Commands for components, as POSIX shell that the wrapper lays beside the script.

Nothing is installed in a cluster: their text comes with each component's job. They are laid while
it waits at the barrier for the others. A job of one component has them where its script
names them, and where it joins another job.
"""

from __future__ import annotations

import importlib.resources
from functools import cache

NAMED = b"metabroker-"
"""How their names begin."""
COMMANDS = ("metabroker-exchange", "metabroker-launch")


def laying_tools() -> str:
    """Shell text: a function that lays them into the gate's `bin`."""
    # A gate that is gone is not made again.
    lines = ["mb__lay_tools() {", 'mkdir "$mb__gate/bin" 2>/dev/null || return 0']
    for name in COMMANDS:
        lines += [f"cat > \"$mb__gate/bin/{name}\" <<'mb__END'", bare(f"{name[11:]}.sh"), "mb__END"]
    lines.append('chmod 755 "$mb__gate"/bin/metabroker-*')
    return "\n".join((*lines, "}", ""))


@cache
def text(name: str) -> str:
    """A piece of shell of this package. It is read once: an upgrade may replace it at any time, and
    the pieces go together."""
    return importlib.resources.files(__package__).joinpath(name).read_text("ascii")


def bare(name: str) -> str:
    """The same without its comments: it is part of each job's script."""
    first, *rest = text(name).splitlines()
    return "\n".join((first, *(line for line in rest if line and not line.startswith("#"))))
