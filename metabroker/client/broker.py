"""One daemon, and its jobs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Unpack

from metabroker.api.client import ENDED, Client, ClientError, Endpoint
from metabroker.api.remote import Remote
from metabroker.paths import find_socket
from metabroker.paths import token_file as usual_token_file
from metabroker.submission.wire import to_wire

from .jobs import Options, Script, described

Json = dict[str, Any]
_LONG_POLL = 60.0  # seconds


class Job:
    """One job of a broker. Two are equal if they are the same job."""

    def __init__(self, broker: Broker, id: int) -> None:
        self.broker = broker
        self.id = id

    def show(self) -> Json:
        """What `metabroker show --json` prints: at least `job, name, user, state, reason,
        submit_time, start_time, end_time, exit_code, attempts, components`. Times are in Unix
        seconds. Raises `ClientError`: with `status` 404 there is no such job."""
        return self.broker.client.get(f"jobs/{self.id}")

    @property
    def state(self) -> str:
        """Its state now (contract C3). Raises `ClientError`."""
        return str(self.show()["state"])

    @property
    def ended(self) -> bool:
        """Whether it is over. Raises `ClientError`."""
        return self.state in ENDED

    def wait(self, timeout: float | None = None) -> Json:
        """What `show` says once it has ended, however often the daemon is restarted meanwhile.

        Raises:
            TimeoutError: it has not within `timeout` seconds (None: there is no bound).
            ClientError: the daemon does not know it, or was away for too long.
        """
        over = None if timeout is None else time.monotonic() + timeout

        def look(_seen: Json | ClientError) -> None:
            if over is not None and time.monotonic() >= over:
                raise TimeoutError(f"job {self.id} has not ended within {timeout:g} s")

        def every() -> float:  # no request goes on for longer than the caller waits
            return (
                _LONG_POLL if over is None else min(_LONG_POLL, max(0.1, over - time.monotonic()))
            )

        return self.broker.client.wait(self.id, look, every=every)

    def cancel(self) -> Json:
        """End it. Raises `ClientError`: it has ended, or is somebody else's."""
        return self.broker.client.change(self.id, "cancel")

    def hold(self) -> Json:
        """Keep it from starting. Raises `ClientError`."""
        return self.broker.client.change(self.id, "hold")

    def release(self) -> Json:
        """Hold it no more. Raises `ClientError`."""
        return self.broker.client.change(self.id, "release")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Job) and (self.id, self.broker) == (other.id, other.broker)

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<Job {self.id}>"


class Broker:
    """A daemon. It may be used by several threads: each call has a connection of its own."""

    def __init__(
        self,
        url: str | None = None,
        *,
        socket: str | os.PathLike[str] | None = None,
        token_file: str | os.PathLike[str] | None = None,
        ca_file: str | os.PathLike[str] | None = None,
        timeout: float = 60.0,
        patience: float = 30.0,
    ) -> None:
        """Without `url` and `socket` the daemon is found as by the commands: by METABROKER_URL,
        METABROKER_SOCKET, or in the usual places. `timeout`: of one answer, and `patience` with
        answers that are lost, in seconds. Nothing is sent yet.

        Raises:
            ClientError: the URL, the token's file or the authority's cannot be used.
            ValueError: both `url` and `socket` are given.
        """
        if url is not None and socket is not None:
            raise ValueError("a daemon has a url or a socket, not both")
        way = _way(url, socket, token_file, ca_file)
        self.client = Client(way, timeout=timeout, patience=patience)

    def submit(
        self,
        script: Script,
        args: Sequence[str] = (),
        *,
        request_id: str | None = None,
        **options: Unpack[Options],
    ) -> Job:
        """Queue a job; for the options see `Options`. With the `request_id` of a job that is
        there it is that job again, so a submit may be repeated.

        Raises:
            SubmissionError: the job is described wrongly; nothing was sent.
            LostReply: nobody knows whether it is queued: submit it again with the `request_id`
                that the error names.
            ClientError: the daemon refuses it.
        """
        made = described(script, args, options, request_id)
        return self.job(int(self.client.submit(to_wire(made))["job"]))

    def dry_run(self, script: Script, args: Sequence[str] = (), **options: Unpack[Options]) -> Json:
        """Where and when the job would run now; nothing is queued. Raises as `submit`."""
        return self.client.dry_run(to_wire(described(script, args, options)))

    def job(self, id: int) -> Job:
        """The job of this number. Nothing is asked yet."""
        return Job(self, id)

    def jobs(self, *, user: str | None = None) -> Iterator[Json]:
        """All jobs that have not ended, as `metabroker queue --json` has them. Raises
        `ClientError`."""
        for page in self.client.pages("jobs", "jobs", user=user):
            yield from page

    def history(
        self, *, user: str | None = None, since: float | None = None, until: float | None = None
    ) -> Iterator[Json]:
        """Jobs that ended from `since` on and before `until` (Unix seconds), the first end first.
        Raises `ClientError`."""
        for answer in self.client.history(user=user, since=since, until=until):
            yield from answer["jobs"]

    def clusters(self) -> list[Json]:
        """The clusters, as `metabroker clusters --json` has them. Raises `ClientError`."""
        found: list[Json] = self.client.get("clusters")["clusters"]
        return found

    def whoami(self) -> Json:
        """Whom the daemon takes this process for: `user`, `uid`, `token`. Raises `ClientError`."""
        return self.client.get("whoami")


def _way(
    url: str | None,
    socket: str | os.PathLike[str] | None,
    token_file: str | os.PathLike[str] | None,
    ca_file: str | os.PathLike[str] | None,
) -> Endpoint | Path:
    if url is None and socket is None:
        url = os.environ.get("METABROKER_URL") or None
    if url is not None:
        token = usual_token_file() if token_file is None else Path(token_file)
        authority = ca_file or os.environ.get("METABROKER_CA_FILE")
        return Remote(url, token, Path(authority) if authority else None)
    named = socket or os.environ.get("METABROKER_SOCKET")
    return Path(named) if named else find_socket()
