"""The transport of a cluster asked through pyslurm: a helper, and the commands beside it."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Mapping

from metabroker.about import about
from metabroker.clusters.slurm import commands
from metabroker.clusters.transports.back_off import BackOff
from metabroker.clusters.transports.base import (
    Command,
    CommandLost,
    Completed,
    Files,
    Transport,
    Unreached,
)
from metabroker.clusters.transports.local import scrubbed
from metabroker.clusters.transports.turns import turn

from .helper import Helper, words
from .requests import Request, request

log = logging.getLogger(__name__)
_BUSY = "not asked: the pyslurm helper is busy with other requests"
_PAUSE = 1.0  # seconds between two helpers
_MOST_LOST = 3  # requests in a row, where the commands can do without it


class Unfit(Exception):
    """pyslurm is not there, or is of another release than the cluster; says what to do."""


class PyslurmTransport:
    """Puts what it can to a helper process of its own, and all else to the commands.

    `beside`: how the commands are run; `env`: their environment; `python`: the interpreter that
    has pyslurm; `falls_back`: whether the commands do all where pyslurm does not fit; `argv`: the
    helper, for tests.
    """

    def __init__(
        self,
        beside: Transport,
        env: Mapping[str, str],
        *,
        name: str,
        python: str,
        falls_back: bool,
        command_timeout: float = 30.0,
        argv: tuple[str, ...] | None = None,
    ) -> None:
        self._beside = beside
        self._env = scrubbed(env) | {"SLURM_TIME_FORMAT": "%s"}
        self._name = name
        self._python = python
        self._argv = argv or words(python)
        self._falls_back = falls_back
        self._timeout = command_timeout
        self._helper: Helper | None = None
        self._by_commands = False  # since pyslurm was found not to do
        self._lost = 0  # requests in a row
        self._which = ""
        self._pacing = BackOff(_PAUSE)
        self._one = threading.Lock()  # Slurm's library answers one at a time

    @property
    def files(self) -> Files:
        """Those of the commands' host."""
        return self._beside.files

    @property
    def pid(self) -> int | None:
        """The helper's process, if there is one."""
        helper = self._helper
        return None if helper is None else helper.pid

    def run(self, command: Command) -> Completed:
        """Ask the helper, or run the command; see `Transport.run`."""
        asked = None if self._by_commands else request(command)
        if asked is not None:
            seconds = command.seconds if command.seconds is not None else self._timeout
            answer = self._asked(asked, seconds)
            if answer is not None:
                return answer
        return self._beside.run(command)

    def which(self) -> str:
        """Which pyslurm answers.

        Raises:
            Unreached: none does; what to do about it.
            CommandMissing: the commands are not there, which tell the cluster's release.
        """
        with turn(self._one, self._timeout, _BUSY):
            try:
                self._running(time.monotonic() + self._timeout)
            except Unfit as unfit:
                self._by_commands = self._falls_back  # who has asked tells it
                raise Unreached(f"not asked: {unfit}") from unfit
            return self._which

    def close(self) -> None:
        """End the helper, whatever it is at."""
        helper = self._helper
        if helper is not None:
            helper.kill()  # whoever has asked it is told so, and gives up its turn
        with self._one:
            if self._helper is not None:
                self._helper.end()
                self._helper = None
        self._beside.close()

    def _asked(self, asked: Request, seconds: float) -> Completed | None:
        """The helper's answer; None: it was not asked, the commands are to do it."""
        deadline = time.monotonic() + seconds
        with turn(self._one, seconds, _BUSY):
            if self._by_commands:  # since somebody else's turn
                return None
            try:
                helper = self._running(deadline)
            except Unfit as unfit:
                if not self._falls_back:
                    raise Unreached(f"not asked: {unfit}") from unfit
                self._fall_back(str(unfit))
                return None
            try:
                answer = _completed(helper.ask(asked, max(0.1, deadline - time.monotonic())))
            except CommandLost as lost:
                self._lose(helper, str(lost))
                raise CommandLost(f"the pyslurm helper: {asked['do']}: {lost}") from lost
            self._lost = 0
            return answer

    def _lose(self, helper: Helper, why: str) -> None:
        """It has died, or is not to be trusted any more."""
        helper.end()
        self._helper = None
        self._lost += 1
        self._pacing.failed(f"not asked: the pyslurm helper: {why}")
        if self._falls_back and self._lost >= _MOST_LOST:
            self._fall_back(f"its pyslurm helper was lost {self._lost} times in a row: {why}")

    def _fall_back(self, why: str) -> None:
        """From now on."""
        extra = about(cluster=self._name)
        log.warning("%s: falling back to the cluster's commands: %s", self._name, why, extra=extra)
        self._by_commands = True

    def _running(self, deadline: float) -> Helper:
        """The helper: a new one where there is none, or it has died while nothing was asked.

        Raises:
            Unreached: there is none now.
            Unfit: there will be none before somebody does something.
        """
        if self._helper is not None and self._helper.alive:
            return self._helper
        if self._helper is not None:
            self._helper.end()
            self._helper = None
        self._pacing.wait()
        try:
            self._helper = self._started(deadline)
        except CommandLost as lost:
            why = f"the pyslurm helper does not start: {lost}"
            self._pacing.failed(f"not asked: {why}")
            if self._falls_back:
                raise Unfit(why) from lost
            raise Unreached(f"not asked: {why}") from lost
        except Unfit as unfit:
            self._pacing.failed(f"not asked: {unfit}", refused=True)
            raise
        self._pacing.made()
        return self._helper

    def _started(self, deadline: float) -> Helper:
        """A new helper, of the cluster's release."""
        try:
            helper = Helper(self._argv, self._env)
        except OSError as error:
            raise Unfit(
                f"{self._python} cannot be run ({error.strerror}): name the interpreter that has "
                "pyslurm in `pyslurm_python`, or write `access: commands`"
            ) from error
        try:
            for _ in ("before pyslurm is imported", "after"):
                self._fits(helper.hello(max(0.1, deadline - time.monotonic())))
        except BaseException:
            helper.end()
            raise
        return helper

    def _fits(self, hello: Mapping[str, object]) -> None:
        """Releases of Slurm do not understand each other, or not surely: pyslurm's must be the
        cluster's, whose own commands tell it."""
        if "failed" in hello:
            raise Unfit(
                f"pyslurm cannot be imported by {self._python} ({hello['failed']}): install the "
                "pyslurm of this cluster's release there (docs/connect.md), or name the "
                "interpreter that has it in `pyslurm_python`, or write `access: commands`"
            )
        if "pyslurm" not in hello:
            raise CommandLost(f"garbage: {str(hello)[:80]}")
        said = self._beside.run(commands.version()).stdout
        mine, theirs = _release(str(hello.get("slurm"))), _release(said)
        self._which = f"pyslurm {hello['pyslurm']}, for Slurm {hello.get('slurm')}"
        if mine and theirs and mine != theirs:
            raise Unfit(
                f"pyslurm {hello.get('pyslurm')} is for Slurm {mine[0]}.{mine[1]:02}, and the "
                f"cluster's commands are {said.strip()}: install the pyslurm of "
                f"{theirs[0]}.{theirs[1]:02} (docs/connect.md) and name its interpreter in "
                "`pyslurm_python`, or write `access: commands`"
            )


def _release(text: str) -> tuple[int, int] | None:
    found = re.search(r"(\d{1,4})\.(\d{1,4})", text)
    return None if found is None else (int(found[1]), int(found[2]))


def _completed(answer: Mapping[str, object]) -> Completed:
    """What the helper says, as a command's answer: with what Slurm's library logged.

    Raises:
        CommandLost: it is no answer.
    """
    match answer:
        case {"status": int(status), "stdout": str(stdout), "stderr": str(stderr)}:
            logged = str(answer.get("said", "")) if status else ""
            return Completed(status, stdout, stderr + logged)
    raise CommandLost(f"garbage: {str(answer)[:80]}")
