"""Files that a job reads: how large they are, and in which clusters they lie already.

`--input-at CLUSTER:PATH[:SIZE]` names a file; copies of it are named one after another:
`delft:/data/x,leiden:/scratch/x:20G`. Nobody looks whether it is there. The size is in bytes, or
with K, M, G or T in thousands of them, as network speeds are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from metabroker.submission.errors import SubmissionError
from metabroker.submission.text import check_cluster, check_line, shown

MOST_INPUTS = 100
"""Files of one job."""
LARGEST = 10**18
"""Bytes of a file, and of all that is sent."""
USUAL = 10**9
"""Bytes of a file whose size is not said."""
_MOST_COPIES = 16
_LONGEST = 32 * 1024  # characters of all files of a job
_SIZE = re.compile(r"([0-9]{1,19}(?:\.[0-9]{1,6})?)([kmgt]?)b?", re.IGNORECASE)
_BYTES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_COPIES = re.compile(r",(?=[A-Za-z0-9][A-Za-z0-9_-]*:/)")
_EXAMPLE = "write for example --input-at delft:/data/x:20G"


@dataclass(frozen=True)
class InputFile:
    """A file of `size` bytes. `copies`: clusters, by name, and its path in each."""

    copies: tuple[tuple[str, str], ...]
    size: int

    def __str__(self) -> str:
        return ",".join(f"{cluster}:{path}" for cluster, path in self.copies) + f":{self.size}"

    def seen_from(self, cluster: str) -> str:
        """Its path, where it lies in this cluster; else its first copy, as `CLUSTER:PATH`."""
        name, path = self.copies[0]
        return dict(self.copies).get(cluster) or f"{name}:{path}"

    def renamed(self, names: Mapping[str, str]) -> InputFile:
        """The same where clusters have new names, by the old ones."""
        copies = tuple((names.get(cluster, cluster), path) for cluster, path in self.copies)
        return InputFile(copies, self.size)


@dataclass(frozen=True)
class Inputs:
    """What a job reads, as far as that says where it should run. `staged`: bytes that are sent to
    each of its components (`--stage-in`). `files`: of each other file its bytes, and the clusters
    by name in which it lies."""

    staged: int = 0
    files: tuple[tuple[int, tuple[str, ...]], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.staged or self.files)

    def told(self) -> dict[str, Any] | None:
        """As JSON, without the paths, which are nobody else's business; None: nothing."""
        if not self:
            return None
        files = [{"size": size, "clusters": list(clusters)} for size, clusters in self.files]
        return {"staged": self.staged, "files": files}

    def renamed(self, names: Mapping[str, str]) -> Inputs:
        """The same where clusters have new names, by the old ones."""
        files = ((size, tuple(names.get(at, at) for at in where)) for size, where in self.files)
        return Inputs(self.staged, tuple(files))

    @classmethod
    def read(cls, told: Mapping[str, Any] | None) -> Inputs:
        """What `told` has told."""
        if told is None:
            return NOTHING
        files = tuple((each["size"], tuple(each["clusters"])) for each in told["files"])
        return cls(told["staged"], files)


NOTHING = Inputs()


def parse_input(text: str) -> InputFile:
    """The file that `--input-at` names. Raises `SubmissionError`."""
    check_line("--input-at", text, _LONGEST)
    rest, size = text, USUAL
    before, _, last = text.rpartition(":")
    found = _SIZE.fullmatch(last)
    if found is not None and ":" in before:
        whole, _, part = found[1].partition(".")
        millionths = int(whole + part.ljust(6, "0"))
        rest, size = before, millionths * _BYTES[found[2].lower()] // 10**6
    if size > LARGEST:
        raise SubmissionError(f"{shown(text)} is larger than any file", _EXAMPLE)
    copies = []
    for copy in _COPIES.split(rest):
        cluster, colon, path = copy.partition(":")
        if not colon or not path.startswith("/"):
            what = f"{shown(copy)} does not say in which cluster a file lies, and at which path"
            raise SubmissionError(what, f"{_EXAMPLE}; the path is absolute")
        check_cluster(cluster)
        copies.append((cluster, path))
    if len(copies) > _MOST_COPIES:
        raise SubmissionError(f"{len(copies)} copies are too many", f"name {_MOST_COPIES} at most")
    if len({cluster for cluster, _ in copies}) < len(copies):
        what = f"{shown(text)} names two copies in one cluster"
        raise SubmissionError(what, "name one of them, or give --input-at for each file")
    return InputFile(tuple(copies), size)


def parse_inputs(texts: Iterable[str]) -> tuple[InputFile, ...]:
    """All files of a job. Raises `SubmissionError`."""
    texts = tuple(texts)
    if len(texts) > MOST_INPUTS:
        raise SubmissionError(
            f"--input-at is given {len(texts)} times", f"name {MOST_INPUTS} files at most"
        )
    if sum(map(len, texts)) > _LONGEST:
        what = f"all files of --input-at together have more than {_LONGEST} characters"
        raise SubmissionError(what, "name the folders that they are in")
    return tuple(parse_input(text) for text in texts)


def inputs_of(texts: Iterable[str], staged: int) -> Inputs:
    """What the files, and the bytes that are sent, say about where a job should run. Raises
    `SubmissionError`."""
    if not 0 <= staged <= LARGEST:
        raise SubmissionError(f"{shown(str(staged))} bytes cannot be sent", "send fewer files")
    files = parse_inputs(texts)
    return Inputs(staged, tuple((each.size, tuple(c for c, _ in each.copies)) for each in files))
