"""What a job waits for beside processors: starts and ends of other jobs, as sbatch's `--dependency`
says it (`afterok:12:13,afterany:14`; `?` in the place of `,`: one of them will do)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from metabroker.submission.errors import SubmissionError
from metabroker.submission.text import shown

MOST_TERMS = 1000  # jobs that one job waits for
_LONGEST = 32 * 1024  # characters
_JOB = re.compile(r"([0-9]{1,18})(?:_(?:([0-9]{1,9})|\*))?(?:\+([0-9]{1,7}))?")
_ADVICE = "write for example --dependency afterok:12:13,afterany:14"
_SLURM_ALONE = frozenset({"afterburstbuffer", "expand"})


class When(Enum):
    """What is waited for: that another job has started, has ended, and how."""

    AFTER = "after"  # started, or cancelled
    ANY = "afterany"
    OK = "afterok"
    NOT_OK = "afternotok"
    CORRESPONDING = "aftercorr"  # between arrays task by task; else as afterok
    SINGLETON = "singleton"  # all earlier jobs of that name and user


class Named(NamedTuple):
    """A job that is waited for; `task`: of an array the one that is meant, -1: all of it."""

    job: int
    task: int = -1


class Term(NamedTuple):
    """One of the things that are waited for. `minutes`: so long after a start; `job` is 0 where no
    other job is named; `task`: of an array the one that is meant, -1: all of it."""

    when: When
    job: int = 0
    minutes: int = 0
    task: int = -1

    @property
    def named(self) -> Named:
        """Which job is meant."""
        return Named(self.job, self.task)

    def __str__(self) -> str:
        if self.when is When.SINGLETON:
            return "singleton"
        task = f"_{self.task}" if self.task >= 0 else ""
        return f"{self.when.value}:{self.job}{task}" + (f"+{self.minutes}" if self.minutes else "")


@dataclass(frozen=True)
class Dependency:
    """All of `terms` must be met, or `either` of them. `kill`: the job is cancelled once they can
    never be; else it waits until somebody does so."""

    terms: tuple[Term, ...]
    either: bool = False
    kill: bool = False

    def __str__(self) -> str:
        """As sbatch reads it."""
        return self._text

    @cached_property
    def _text(self) -> str:  # of a thousand terms, and asked for with each listing
        return ("?" if self.either else ",").join(map(str, self.terms))

    @property
    def named(self) -> frozenset[Named]:
        """The jobs, and tasks, that are named."""
        return frozenset(term.named for term in self.terms if term.job)

    @property
    def corresponding(self) -> tuple[int, ...]:
        """The arrays whose tasks tasks of the same numbers wait for."""
        return tuple(term.job for term in self.terms if term.when is When.CORRESPONDING)

    def named_by(self, tasks: Iterable[int]) -> frozenset[Named]:
        """The jobs that are named, and what they correspond to of an array of these `tasks`."""
        numbers = self.corresponding
        return self.named | {Named(job, task) for task in tasks for job in numbers}

    @property
    def jobs(self) -> frozenset[int]:
        """The numbers of these; of a task that of its array."""
        return frozenset(term.job for term in self.terms if term.job)


def parse_dependency(text: str, *, kill: bool = False) -> Dependency:
    """What `--dependency` says.

    Raises:
        SubmissionError: it cannot be understood, or names too many jobs.
    """
    either = "?" in text
    if len(text) > _LONGEST or (either and "," in text):
        what = "the dependency is too long" if not either else "the dependency mixes , and ?"
        raise SubmissionError(what, _ADVICE)
    terms: dict[Term, None] = {}
    for part in text.split("?" if either else ","):
        terms.update(dict.fromkeys(_terms(part.strip())))
        if len(terms) > MOST_TERMS:
            what = f"the dependency names more than {MOST_TERMS} jobs"
            raise SubmissionError(what, "depend on one job that depends on them")
    return Dependency(tuple(terms), either and len(terms) > 1, kill)


def parse_yes(text: str) -> bool:
    """`yes` or `no`."""
    if text.lower() not in ("yes", "no"):
        raise SubmissionError(f"{shown(text)} is neither yes nor no", "write yes or no")
    return text.lower() == "yes"


def _terms(part: str) -> list[Term]:
    word, *jobs = part.split(":")
    if word.isdigit() and not jobs:  # of old sbatch
        word, jobs = When.ANY.value, [word]
    if word in _SLURM_ALONE:
        raise SubmissionError(f"the dependency {word} is not supported", "leave it out")
    try:
        when = When(word)
    except ValueError:
        raise SubmissionError(f"{shown(part)} is not a dependency", _ADVICE) from None
    if when is When.SINGLETON:
        if jobs:
            raise SubmissionError("singleton names no jobs", _ADVICE)
        return [Term(when)]
    found = [_term(when, job) for job in jobs]
    if not found:
        raise SubmissionError(f"{shown(part)} does not say on which jobs", _ADVICE)
    return found


def _term(when: When, text: str) -> Term:
    found = _JOB.fullmatch(text)
    if found is None or not int(found[1]) or (found[3] and when is not When.AFTER):
        raise SubmissionError(f"{shown(text)} is not a job to depend on", _ADVICE)
    task = -1 if found[2] is None else int(found[2])
    return Term(when, int(found[1]), int(found[3] or 0), task)
