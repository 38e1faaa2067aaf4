"""`metabroker wait`: waits for jobs, with progress for people; the exit code they end with."""

from __future__ import annotations

import sys
import time

import click

from metabroker.api.client import Client, ClientError, Json, exit_code_of
from metabroker.cli import common
from metabroker.cli.errors import complain, one_line
from metabroker.cli.streams import is_terminal
from metabroker.cli.table import duration

_EVERY = 2.0  # seconds between two lines of progress on a terminal
_SELDOM = 60.0  # seconds of one request where nobody looks


@click.command()
@click.argument("jobs", nargs=-1, required=True, type=common.JobId(), metavar="JOB...")
@common.socket_option
@common.json_option
def wait(jobs: tuple[int, ...], socket_path: str | None, as_json: bool) -> int:
    """Wait until each JOB has ended; exit with the job's exit code.

    The code is 1 where a job ended otherwise than by its script's exit (cancelled, time limit).
    With several jobs it is the first one's that is not 0. A restart of the daemon is waited out.
    """
    client = common.connect(socket_path)
    ended = []
    for job in jobs:
        ended.append(wait_for(client, job))
        tell_end(ended[-1])
        if not as_json:
            state, code = ended[-1]["state"], ended[-1].get("exit_code")
            print(f"{job} {state}" + ("" if code is None else f" {code}"), flush=True)
    if as_json:
        common.print_json({"jobs": ended})
    return next((code for code in map(exit_code_of, ended) if code), 0)


def wait_for(client: Client, job: int, *, began: bool = False) -> Json:
    """The job once it has ended."""
    progress = _Progress(job)
    try:
        every = _EVERY if progress.shown else _SELDOM
        return client.wait(job, progress.seen, every=every, began=began)
    except KeyboardInterrupt:
        progress.clear()
        complain(f"job {job} goes on", f"`metabroker cancel {job}` cancels it")
        raise
    finally:
        progress.clear()


def tell_end(job: Json) -> None:
    """On stderr, how the job ended and why. That all went well is told to people only: a script
    sees it by the exit code."""
    number, state = job["job"], job["state"]
    if state != "COMPLETED":
        why = f": {job['reason']}" if job.get("reason") else ""
        complain(f"job {number} {state}{why}", f"see `metabroker show {number}`")
    elif is_terminal(sys.stderr):
        complain(f"job {number} {state}", "")


class _Progress:
    """One line on the terminal that is written over."""

    def __init__(self, job: int) -> None:
        self.shown = is_terminal(sys.stderr)
        self._job = job
        self._began = time.monotonic()
        self._lost = False

    def seen(self, news: Json | ClientError) -> None:
        if isinstance(news, ClientError):
            if not self._lost:
                self.clear()
                complain(f"lost the daemon while waiting for job {self._job}", "trying again")
            self._lost = True
            return
        self._lost = False
        if self.shown:
            why = f": {news['reason']}" if news.get("reason") else ""
            waited = duration(time.monotonic() - self._began)
            line = one_line(f"job {self._job} {news['state']} ({waited}){why}")
            print(f"\r\x1b[K{line[:78]}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
