"""Passes requests on to the broker that leads, and waits for its answers.

What nobody has begun when its time is up is taken back, so it is certain that it was not done;
what was begun and not answered may have been done, and whoever asks is told just that.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from metabroker.api.service import Failure, Json, ServiceError
from metabroker.store import StoreUnavailable
from metabroker.store.database import OutcomeUnknown
from metabroker.store.listener import Listener
from metabroker.store.requests import Requests
from metabroker.submission.model import Caller

from .background import Background

log = logging.getLogger(__name__)

_LOOK = 0.5  # seconds between two looks at the rows, where no notification is heard
_SOON = 0.02
_LONGER = 30.0  # seconds more for an answer to what was begun


@dataclass(slots=True)
class _Asked:
    """Somebody waits. `until`: by the monotonic clock; `begun`: it cannot be taken back."""

    future: Future[Json]
    until: float
    begun: bool = False


class RpcClient(Background):
    """Between `start` and `stop`, one thread that hears answers."""

    def __init__(self, requests: Requests, listener: Listener, broker: str) -> None:
        """`broker`: the name of the one that passes on."""
        super().__init__("rpc-client")
        self._requests = requests
        self._listener = listener
        self._broker = broker
        self._lock = threading.Lock()
        self._asked: dict[int, _Asked] = {}
        self._asking = 0  # requests whose numbers are not known yet

    def stop(self, seconds: float | None = None) -> None:
        """Whoever still waits is told that the broker ends."""
        super().stop(seconds)
        with self._lock:
            left, self._asked = list(self._asked.values()), {}
        for asked in left:
            _fail(asked.future, _undecided("the daemon is stopping"))

    @property
    def alive(self) -> bool:
        """Whether it listens."""
        return self._thread.is_alive()

    def ask(
        self, name: str, caller: Caller | None, arguments: Mapping[str, Any], seconds: float
    ) -> Future[Json]:
        """Have whoever leads carry out a call. The future holds a `ServiceError` where it was
        refused, was not begun in so many seconds, or may have been done.

        Raises:
            ServiceError: it cannot be passed on now; nothing was done, unless it says otherwise.
        """
        future: Future[Json] = Future()
        with self._lock:
            self._asking += 1
        number = None
        try:
            number = self._requests.ask(self._broker, name, _told(caller), sent(arguments), seconds)
        except OutcomeUnknown as error:
            raise _undecided(str(error)) from error
        except StoreUnavailable as error:
            raise ServiceError(
                Failure.UNAVAILABLE, str(error), "try again later; nothing was changed"
            ) from error
        finally:
            with self._lock:
                self._asking -= 1
                if number is not None:
                    self._asked[number] = _Asked(future, time.monotonic() + seconds)
        return future

    def _run(self) -> None:
        unsettled = False
        while not self._stopping.is_set():
            self._listener.wait(_SOON if unsettled else _LOOK)
            # An answer may come before its request is known here.
            unsettled = self._asking > 0
            try:
                self._look()
            except StoreUnavailable as error:
                log.debug("answers cannot be read now: %s", error)
            except Exception:
                log.exception("answers of the leader")
            self._give_up()
        self._listener.close()

    def _look(self) -> None:
        """Hand out the answers there are, and take back what has waited for long enough."""
        with self._lock:
            numbers = list(self._asked)
        if not numbers:
            return
        self._hand_out(self._requests.collect(numbers))
        now = time.monotonic()
        with self._lock:
            late = [n for n, asked in self._asked.items() if not asked.begun and now > asked.until]
        for number in late:
            if self._requests.withdraw(number):
                self._end(number, _nobody_leads())
            else:
                self._asked[number].begun = True

    def _hand_out(self, answers: Mapping[int, Any]) -> None:
        for number, told in answers.items():
            with self._lock:
                asked = self._asked.pop(number)
            if not asked.future.set_running_or_notify_cancel():
                continue
            if "error" in told:
                asked.future.set_exception(_error(told["error"]))
            else:
                asked.future.set_result(told["done"])

    def _give_up(self) -> None:
        """Tell who has waited longer than it makes sense, also while the store is away."""
        now = time.monotonic()
        with self._lock:
            late = [n for n, asked in self._asked.items() if now > asked.until + _LONGER]
        for number in late:
            self._end(number, _undecided("the leader has not answered"))

    def _end(self, number: int, error: ServiceError) -> None:
        with self._lock:
            asked = self._asked.pop(number)
        _fail(asked.future, error)


def _told(caller: Caller | None) -> dict[str, Any]:
    """Who asks, as this broker has established it; nobody: the broker itself."""
    return {} if caller is None else {"uid": caller.uid, "user": caller.user, "token": caller.token}


def _fail(future: Future[Json], error: ServiceError) -> None:
    if future.set_running_or_notify_cancel():
        future.set_exception(error)


def _nobody_leads() -> ServiceError:
    return ServiceError(
        Failure.UNAVAILABLE,
        "this broker is a stand-by, and no broker leads now",
        "try again later; nothing was changed",
    )


def _undecided(why: str) -> ServiceError:
    advice = "it may have been done, or may still be: check before you repeat it"
    return ServiceError(Failure.UNDECIDED, why, advice)


def sent(arguments: Mapping[str, Any]) -> Any:
    """A call's arguments as other brokers, also older ones, have them: a submission as it is."""
    return arguments.get("submission", dict(arguments))


def received(name: str, body: Any) -> Mapping[str, Any]:
    """What `sent` was given."""
    return {"submission": body} if name in ("submit", "dry run") else body or {}


def answer_sent(name: str, answer: Json) -> Any:
    """A call's answer as other brokers, also older ones, have it: clusters as a list."""
    return answer["clusters"] if name == "clusters" else answer


def error_told(error: ServiceError) -> Json:
    """A refusal as it crosses the database."""
    return {
        "error": {
            "failure": error.failure.value,
            "message": error.message,
            "advice": error.advice,
            "headers": error.headers,
        }
    }


def _error(told: Mapping[str, Any]) -> ServiceError:
    return ServiceError(
        Failure(told["failure"]), told["message"], told["advice"], told.get("headers")
    )
