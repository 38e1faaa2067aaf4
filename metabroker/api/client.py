"""The command line's side of the API: HTTP over a Unix socket or TLS, by the standard library
alone.

A command should answer before its user notices that it is written in Python, so this module must
import little. What may be repeated without harm is repeated when its reply was lost: reading, and
a submit, which always carries a request id; and whatever the daemon says has come too often, after
the time that it names.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from .endpoint import ClientError as ClientError
from .endpoint import ClientReply as ClientReply
from .endpoint import Endpoint as Endpoint
from .endpoint import Exchange as Exchange
from .endpoint import LostReply as LostReply
from .endpoint import SocketEndpoint, reason_of
from .endpoint import Unreachable as Unreachable
from .socket_http import BadReply

Json = dict[str, Any]
_T = TypeVar("_T")

ENDED = frozenset({"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"})
JOBS_AT_ONCE = 300
"""Numbers of jobs in one question: its line may have 8190 bytes, and a number 18 digits."""
_TIMEOUT = 60.0  # seconds for one reply
_PATIENCE = 30.0  # seconds in which a request whose reply was lost is repeated
_WAIT_PATIENCE = 600.0  # seconds that a wait bears a daemon that is not there
_LONG_POLL = 60.0  # seconds of one request of a wait
_LONGEST_PAUSE = 2.0  # seconds between two tries
_UNDECIDED = 504  # the daemon's word that it does not know yet whether it will be done
_TOO_OFTEN = 429


class Client:
    """Calls of one daemon. Every method raises `ClientError`."""

    def __init__(
        self, way: Endpoint | Path | str, *, timeout: float = _TIMEOUT, patience: float = _PATIENCE
    ) -> None:
        """`way`: the daemon's socket, or how else it is reached. `timeout` of one reply and
        `patience` with lost ones, in seconds."""
        self._endpoint: Endpoint = SocketEndpoint(str(way)) if isinstance(way, (Path, str)) else way
        self._timeout = timeout
        self._patience = patience

    def submit(self, wire: Mapping[str, Any]) -> Json:
        """Queue the submission `wire`; the same job again if its `request_id` is known."""
        request_id = wire.get("request_id") or new_id()
        body = {**wire, "request_id": request_id}
        try:
            return self._repeated("POST", "/v1/jobs", body)
        except LostReply as error:
            raise LostReply(
                f"{error.message}, and it is not known whether the job is queued",
                f"repeat the command with --request-id {request_id}: the job is queued only once",
            ) from error

    def dry_run(self, wire: Mapping[str, Any]) -> Json:
        """Where and when the submission would run now."""
        return self._repeated("POST", "/v1/jobs?dry_run=1", wire)

    def change(self, job: int | str, verb: str, **body: int) -> Json:
        """`cancel`, `hold`, `release`, `change` (`body`: what) or `abandon` it, or some tasks."""
        try:
            return self._request("POST", f"/v1/jobs/{_quoted(str(job))}/{verb}", body)
        except LostReply as error:
            advice = f"check with `metabroker show {job}` whether it was done"
            raise LostReply(error.message, advice) from error

    def change_cluster(self, cluster: str, verb: str, **body: str) -> Json:
        """`drain` or `resume` the cluster; to do it twice does no harm."""
        return self._repeated("POST", f"/v1/clusters/{_quoted(cluster)}/{verb}", body)

    def tell_links(self, links: list[Json]) -> Json:
        """Have what was measured between clusters kept; to do it twice does no harm."""
        return self._repeated("POST", "/v1/links", {"links": links})

    def create_token(self, wanted: Mapping[str, Any]) -> Json:
        """A new token. It is not repeated: a lost reply has lost the token."""
        try:
            return self._request("POST", "/v1/tokens", wanted)
        except LostReply as error:
            advice = "see `metabroker token list`: if a token was made, revoke it, and make another"
            raise LostReply(error.message, advice) from error

    def revoke_token(self, id: str) -> Json:
        """Revoke a token; to do it twice does no harm."""
        return self._repeated("POST", f"/v1/tokens/{_quoted(id)}/revoke", {})

    def remove_leftovers(self, names: list[str] | None) -> Json:
        """Have these removed, or all (None); to do it twice does no harm."""
        return self._repeated("POST", "/v1/leftovers/remove", {"names": names})

    def get(self, path: str, **query: object) -> Json:
        """What `/v1/PATH` says; parts of the query that are None are left out."""
        return self._repeated("GET", _url(path, query))

    def pages(self, path: str, key: str, **query: object) -> Iterator[list[Json]]:
        """The list that `get` has under `key`, page by page as it comes, in little memory.

        It is asked for again, as by `get`, until its first page is there. One that is cut off
        later raises `LostReply`, and what came before it is not all.
        """
        url = _url(path, query)
        pages = self._insist(lambda: self._paused(lambda: self._first_of(url, key)))
        return (json.loads(page) for page in pages)

    def history(self, **query: object) -> Iterator[Json]:
        """The answers of `/v1/history`, one after the other until there are no more: neither side
        ever holds all of them."""
        after = None
        while True:
            answer = self.get("history", **query, after=after)
            yield answer
            after = answer.get("next")
            if after is None:
                return

    def wait(
        self,
        job: int,
        seen: Callable[[Json | ClientError], None],
        *,
        every: float | Callable[[], float] = _LONG_POLL,
        began: bool = False,
    ) -> Json:
        """The job once it has ended, however often the daemon restarts meanwhile.

        `seen` is told the job's state every `every` seconds, or after as many as `every` says each
        time anew, and each time the daemon is lost.
        Unless the wait `began` before, a daemon that is not there now is an error at once.
        """
        lost_at: float | None = None
        pause = 0.1
        while True:
            try:
                seconds = every() if callable(every) else every
                path = f"/v1/jobs/{job}/wait?timeout={seconds}"
                state = self._request("GET", path, timeout=seconds + self._timeout)
            except ClientError as error:
                first = not began and lost_at is None
                if error.status not in (None, 503) or (first and isinstance(error, Unreachable)):
                    raise
                lost_at = time.monotonic() if lost_at is None else lost_at
                if time.monotonic() - lost_at > (_WAIT_PATIENCE if began else self._patience):
                    raise
                seen(error)
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                continue
            began, lost_at, pause = True, None, 0.1
            if state.get("state") in ENDED:
                return state
            seen(state)

    def _repeated(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Json:
        return self._insist(lambda: self._request(method, path, body))

    def _insist(self, ask: Callable[[], _T]) -> _T:
        """Asks again when the reply was lost, or the daemon says that it is stopping.

        That nothing was changed, as a daemon in trouble says, is said of the last try: an earlier
        one whose reply was lost may be carried out yet.
        """
        give_up: float | None = None
        lost_once = False
        pause = 0.1
        while True:
            try:
                return ask()
            except ClientError as error:
                lost_once = lost_once or isinstance(error, LostReply)
                again = isinstance(error, LostReply) or error.status == 503
                if not again and (give_up is None or not isinstance(error, Unreachable)):
                    raise
                failure = error
            now = time.monotonic()
            give_up = now + self._patience if give_up is None else give_up
            if now + pause > give_up:
                if isinstance(failure, Unreachable):
                    raise LostReply("the daemon ended the connection before it replied")
                if lost_once and failure.status == 503:
                    raise LostReply(failure.message, "see its log", 503)
                raise failure
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
    ) -> Json:
        return self._paused(lambda: self._once(method, path, body, timeout or self._timeout))

    def _paused(self, ask: Callable[[], _T]) -> _T:
        """Asked again as often as the daemon names a time for that."""
        give_up = time.monotonic() + self._patience
        while True:
            try:
                return ask()
            except ClientError as error:
                pause = error.again_after
                if pause is None or time.monotonic() + pause > give_up:
                    raise
            time.sleep(pause)

    def _once(self, method: str, path: str, body: Mapping[str, Any] | None, timeout: float) -> Json:
        with self._replied(method, path, body, timeout) as reply:
            return _understood(reply.status, reply.read(), reply.header("Retry-After"))

    def _first_of(self, url: str, key: str) -> Iterator[bytes]:
        """The pages, of which the first has come."""
        pages = self._page_texts(url, key)
        return chain([first for first in (next(pages, b""),) if first], pages)

    def _page_texts(self, url: str, key: str) -> Iterator[bytes]:
        with self._replied("GET", url, None, self._timeout) as reply:
            again, lines = reply.header("Retry-After"), _lines(reply.pieces())
            head = next(lines, b"")
            if reply.status >= 400 or not head.endswith(b"["):  # in one piece
                answer = _understood(reply.status, b"".join((head, *lines)), again)
                yield json.dumps(answer[key]).encode()
                return
            for line in lines:
                if not line.startswith(b"]"):
                    yield b"[%s]" % line.removesuffix(b",")

    @contextmanager
    def _replied(
        self, method: str, path: str, body: Mapping[str, Any] | None, timeout: float
    ) -> Iterator[ClientReply]:
        """The reply to one request, of which the head has come. Whatever is wrong with it is a
        `ClientError`."""
        connection = self._endpoint.connection(timeout)
        try:
            content = None if body is None else json.dumps(body).encode("ascii")
            headers = {"Content-Type": "application/json", **self._endpoint.headers()}
            with suppress(BrokenPipeError):  # one that is too large is answered before its end
                connection.request(method, path, content, headers)
            response = connection.reply()
            if response.length is None and not response.chunked:  # its head has no end, as it came
                raise LostReply("the daemon's reply was cut off", "see its log")
            yield response
        except (OSError, BadReply) as error:
            reason = "no reply in time" if isinstance(error, TimeoutError) else reason_of(error)
            raise LostReply(f"the daemon did not reply: {reason}", "see its log") from error
        finally:
            connection.close()


def exit_code_of(job: Json) -> int:
    """What a command that waited for the job ends with: the job's own exit code; 1 where it ended
    otherwise, or is an array that did not succeed, whatever its tasks' scripts ended with."""
    if job["state"] == "COMPLETED":
        return 0
    code = job.get("exit_code")
    return code if job["state"] == "FAILED" and isinstance(code, int) and 0 < code < 256 else 1


def _quoted(part: str) -> str:
    from urllib.parse import quote

    return quote(part, safe="")


def _url(path: str, query: Mapping[str, object]) -> str:
    from urllib.parse import quote, urlencode

    given = {key: str(value) for key, value in query.items() if value is not None}
    url = f"/v1/{quote(path)}"
    return f"{url}?{urlencode(given, safe=',')}" if given else url


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Without their ends."""
    begun: list[bytes] = []
    for piece in pieces:
        first, *more = piece.split(b"\n")
        begun.append(first)
        for line in more:
            yield b"".join(begun)
            begun = [line]
    yield b"".join(begun)


def new_id() -> str:
    """A random UUID; its module brings others that take a while."""
    x = os.urandom(16).hex()
    return f"{x[:8]}-{x[8:12]}-4{x[13:16]}-{'89ab'[int(x[16], 16) % 4]}{x[17:20]}-{x[20:]}"


def _understood(status: int, raw: bytes, again: str) -> Json:
    try:
        data = json.loads(raw)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        advice = "check that --socket, or --server, is metabroker's"
        raise ClientError(f"the daemon's answer ({status}) is not understood", advice, status)
    if status >= 400:
        message = str(data.get("error") or f"the daemon refused the request ({status})")
        kind = LostReply if status == _UNDECIDED else ClientError
        seconds = float(again) if status == _TOO_OFTEN and again.isdecimal() else None
        raise kind(message, str(data.get("advice") or ""), status, seconds)
    return data
