"""The words of `#SBATCH` and `#PBS` lines, by the rules of the commands that read them.

Both look at the lines before the first command alone. For sbatch a directive begins its line, and
the words of all lines are one command line, so that the value of an option may stand on the next.
For qsub a directive may be indented, each line is by itself, and there are no comments in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from metabroker.submission.errors import SubmissionError
from metabroker.submission.text import shown

_SPACES = " \t\n\v\f\r"  # C's isspace


@dataclass(frozen=True)
class Word:
    """One word, and where it stands: `job.sh:3`; empty: on the command line."""

    text: str
    where: str = ""

    @property
    def place(self) -> str:
        """How an error begins that is about it."""
        return f"{self.where}: " if self.where else ""


def sbatch_words(script: bytes, file: str) -> list[Word]:
    """What sbatch reads in a script. Raises `SubmissionError` with file and line."""
    found: list[Word] = []
    for where, line in _before_commands(script, file):
        if not line.startswith("#SBATCH"):
            continue
        text = line.removeprefix("#SBATCH")
        if text.lower().split(None, 1)[:1] in (["hetjob"], ["packjob"]):
            what = f"{where}: heterogeneous jobs are not supported"
            raise SubmissionError(what, "co-allocate: metabroker submit --components, or --on")
        found += _split(text, where, of_slurm=True)
    return found


def qsub_lines(script: bytes, file: str) -> list[list[Word]]:
    """What qsub reads in a script, by lines. Raises `SubmissionError` with file and line."""
    return [
        list(_split(line.removeprefix("#PBS"), where, of_slurm=False))
        for where, line in (
            (where, line.lstrip(_SPACES)) for where, line in _before_commands(script, file)
        )
        if line.startswith("#PBS")
    ]


def _before_commands(script: bytes, file: str) -> Iterator[tuple[str, str]]:
    """Comments and empty lines, with their places."""
    for number, raw in enumerate(script.split(b"\n"), start=1):
        line = raw.decode("utf-8", "surrogateescape")
        if line.strip(_SPACES) and not line.lstrip(_SPACES).startswith("#"):
            return
        yield f"{file}:{number}", line


def _split(text: str, where: str, *, of_slurm: bool) -> Iterator[Word]:
    at = 0
    while True:
        while at < len(text) and text[at] in _SPACES:
            at += 1
        if at == len(text) or (of_slurm and text[at] == "#"):
            return
        word, at = _word(text, at, where, of_slurm)
        if not word:
            what = f"{where}: an empty word in {shown(text.strip())}"
            raise SubmissionError(what, "write an option and its value as one word")
        yield Word(word, where)


def _word(text: str, at: int, where: str, of_slurm: bool) -> tuple[str, int]:
    """The word that begins there, and where it ends. A backslash takes the next character as it is
    (for sbatch in quotes too); for sbatch `#` begins a comment, in a word too."""
    parts: list[str] = []
    quote = ""
    while at < len(text):
        char = text[at]
        if char == "\\" and (of_slurm or not quote) and at + 1 < len(text):
            at += 1
            parts.append(text[at])
        elif quote:
            if char == quote:
                quote = ""
            else:
                parts.append(char)
        elif char in "\"'":
            quote = char
        elif char in _SPACES or (of_slurm and char == "#"):
            break
        else:
            parts.append(char)
        at += 1
    if quote:
        what = f"{where}: {shown(text.strip())} cannot be split into words"
        raise SubmissionError(what, "close every quote")
    return "".join(parts), at
