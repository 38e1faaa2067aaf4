"""`sinfo`: the partitions that jobs can name, and the nodes behind them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from metabroker import __version__
from metabroker.frontends.link import client
from metabroker.frontends.main import FrontEndError, refuse
from metabroker.frontends.partitions import Partition, partitions
from metabroker.frontends.printing import cell, short_duration
from metabroker.submission.directives.getopt import Given, scan
from metabroker.submission.directives.rows import Command, row
from metabroker.submission.directives.words import Word

_ROWS = tuple(
    row(called, Command())
    for called in (
        "all a", "clusters|cluster M =", "exact e", "federation", "format o =", "help", "hide",
        "list-reasons R", "long l", "local", "noconvert", "nodes n =", "Node N", "noheader h",
        "partition p =", "responding r", "sort S =", "states t =", "summarize s", "usage",
        "verbose v", "version V",
    )
)  # fmt: skip
_REFUSED = {
    **dict.fromkeys(("nodes", "Node", "list-reasons", "states"), "single nodes are not shown"),
    **dict.fromkeys(("long", "summarize"), "that form is not printed here"),
}
_Column = tuple[str, int, bool, str]
"""A field (empty: none), its width, whether it is at the right, and what follows."""
_DEFAULT = "%9P %.5a %.10l %.6D %.6t %N"


_LONG_STATES = {
    "unk": "unknown", "idle": "idle", "mix": "mixed", "alloc": "allocated", "down": "down",
    "drain": "drained", "drng": "draining",
}  # fmt: skip
_FIELDS: dict[str, tuple[str, Callable[[Partition], str]]] = {
    "": ("", lambda each: ""),
    "P": ("PARTITION", lambda each: f"{each.name}*" if each.default else each.name),
    "R": ("PARTITION", lambda each: each.name),
    "a": ("AVAIL", lambda each: "up"),
    "l": ("TIMELIMIT", lambda each: short_duration(each.longest) if each.longest else "infinite"),
    "D": ("NODES", lambda each: str(each.nodes)),
    "t": ("STATE", lambda each: each.state),
    "T": ("STATE", lambda each: _LONG_STATES[each.state]),
    "N": ("NODELIST", lambda each: "n/a"),
    "C": ("CPUS(A/I/O/T)", lambda each: _processors(each)),
    "s": ("JOB_SIZE", lambda each: "1-infinite"),
    "r": ("ROOT", lambda each: "no"),
    "h": ("OVERSUBSCRIBE", lambda each: "NO"),
    "g": ("GROUPS", lambda each: "all"),
}


def _processors(partition: Partition) -> str:
    idle, other, total = partition.idle or 0, partition.other, partition.processors
    return f"{max(0, total - idle - other)}/{idle}/{other}/{total}"


def run(words: list[str]) -> int:
    """The command. Raises `FrontEndError`, `SubmissionError`, `ClientError`."""
    given, rest = scan([Word(word) for word in words], _ROWS, "sinfo", permute=True)
    options = {each.name: each for each in given}
    if "version" in options:
        print(f"slurm metabroker-{__version__}")
        return 0
    refuse(options, _REFUSED)
    if rest:
        raise FrontEndError(f"Unrecognized option: {rest[0].text}")
    among = options["clusters"].value if "clusters" in options else None
    clusters = [None] if among is None else among.split(",")
    way, form = client(), _columns(options)
    for number, cluster in enumerate(clusters):
        if cluster is not None and "noheader" not in options:
            print("\n" * bool(number) + f"CLUSTER: {cluster}")
        for line in _lines(partitions(way, cluster), form, options):
            print(line)
    return 0


def _lines(found: list[Partition], form: list[_Column], options: dict[str, Given]) -> Iterator[str]:
    if "noheader" not in options:
        yield "".join(cell(_FIELDS[f][0], w, right=r) + after for f, w, r, after in form)
    wanted = options["partition"].value if "partition" in options else None
    for each in found:
        if wanted is None or each.name in wanted.split(","):
            yield "".join(cell(_FIELDS[f][1](each), w, right=r) + after for f, w, r, after in form)


def _columns(options: dict[str, Given]) -> list[_Column]:
    text = (options["format"].value if "format" in options else None) or _DEFAULT
    prefix, *tokens = text.split("%")
    found = [("", 0, False, prefix)] if prefix else []
    for token in filter(None, tokens):
        size = re.match(r"(\.?)([0-9]{0,6})", token)
        assert size is not None
        letter = token[size.end() : size.end() + 1]
        if not letter or letter not in _FIELDS:
            raise FrontEndError(f"-o: %{ascii(letter)[1:-1]} is not known here")
        found.append((letter, int(size[2] or 0), bool(size[1]), token[size.end() + 1 :]))
    return found
