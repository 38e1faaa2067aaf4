"""What brokers ask of one cluster about one token: whether they look before they submit again, and
whether what they call clean is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from metabroker.clusters.openpbs.answers import QUEUE_NOT_ENABLED, UNKNOWN_QUEUE
from metabroker.clusters.simulated.model import SimulatedJob
from metabroker.clusters.slurm.parsing import UNTIL_FORMAT, WAITING_FORMAT
from metabroker.clusters.transports.base import Command, Completed

from .oracle import Violation


class Asked:
    """Of the brokers' own commands, each once: what the network makes of them is no matter here.
    `looked`: when each token was looked for last."""

    def __init__(self) -> None:
        self.looked: dict[str, float] = {}
        self._submitted: set[str] = set()
        self._since: dict[str, float] = {}  # when each token was submitted last
        self._listings: list[float] = []  # of jobs, by Slurm

    def sent(self, command: Command, now: float) -> None:
        """A broker asks its cluster for that.

        Raises:
            Violation: it submits a token again, and nobody has looked for it since.
        """
        token, found = submitted(command.argv), _looked_for(command.argv)
        if found:
            self._submitted.discard(found)
            self.looked[found] = now
        if token in self._submitted:
            raise Violation(f"{token} is submitted again, and nobody has looked for it")
        if token:
            self._submitted.add(token)
            self._since[token] = now
        if _lists(command.argv):
            self._listings.append(now)

    def listings_since(self, token: str, later: float) -> int:
        """How many listings were asked for so many seconds, or more, after a token's submission."""
        return sum(1 for asked in self._listings if asked >= self._since.get(token, 0.0) + later)

    def answered(self, command: Command, done: Completed) -> None:
        """The cluster's answer has come. Where it has no such queue, or one that takes nothing,
        nothing was submitted: the broker may ask for its reservation's queue, and submit there."""
        if command.argv[0] == "qsub" and done.exit_status in (UNKNOWN_QUEUE, QUEUE_NOT_ENABLED):
            self._submitted.discard(submitted(command.argv))

    def cut(self, command: Command, done: Completed) -> None:
        """Its answer is `done`, which is not all. Where that ends as a whole one would, nobody can
        see it, and who asked has not looked."""
        if done.stdout == "" or done.stdout.endswith("\n"):
            self.looked.pop(_looked_for(command.argv), None)

    def left(
        self,
        token: str,
        jobs: Iterable[SimulatedJob],
        row: dict[str, Any] | None,
        unsure: tuple[float, float],
    ) -> SimulatedJob | None:
        """A native job of the token that was there when it was looked for last, and still is,
        though the token is clean. Not one that was renamed before its id was known (`row`: what the
        store has of the component), or by when it was submitted (`unsure`: in that time nobody has
        looked at a clock that was set): nobody can find that."""
        looked = self.looked.get(token)
        for job in jobs:
            if looked is None or job.name != token or job.state.ended:
                continue
            known = row is not None and str(row["native_id"]).partition(".")[0] == str(job.id)
            known = known and not unsure[0] <= job.extra["came"] <= unsure[1]
            if job.extra["came"] < looked and (known or "renamed" not in job.extra):
                return job
        return None


def submitted(argv: tuple[str, ...]) -> str:
    """The token that a command submits a job for; "": none."""
    if argv[0] == "sbatch":
        return next(w for w in argv if w.startswith("--job-name=")).partition("=")[2]
    return argv[argv.index("-N") + 1] if argv[0] == "qsub" else ""


def _lists(argv: tuple[str, ...]) -> bool:
    """Whether it asks Slurm for all jobs of ours."""
    if argv[0] != "squeue" or "-n" in argv or "-j" in argv:
        return False
    return argv[argv.index("-o") + 1] not in (WAITING_FORMAT, UNTIL_FORMAT)


def _looked_for(argv: tuple[str, ...]) -> str:
    """The token whose jobs a command asks for; "": none."""
    if argv[0] == "squeue" and "-n" in argv:
        return argv[argv.index("-n") + 1]
    return argv[argv.index("-N") + 1] if argv[0] == "qselect" and "-N" in argv else ""
