"""Carries out what brokers that stand by pass on, as the API does for users of its own.

Changes are begun in the order in which they were asked, and answered when they are durable; reads
go on beside them.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any

from metabroker.api.calls import ORDERED
from metabroker.api.service import NOBODY, Failure, Json, Service, ServiceError
from metabroker.store import StoreUnavailable
from metabroker.store.listener import Listener
from metabroker.store.requests import Passed, Requests
from metabroker.submission.errors import SubmissionError
from metabroker.submission.model import Caller
from metabroker.threads import started_pool

from .rpc_client import answer_sent, error_told, received

log = logging.getLogger(__name__)

_LOOK = 0.5  # seconds between two looks at the rows, where no notification is heard
_TIDY = 30.0  # seconds
_READERS = 4
_LAST = 3.0  # seconds in which the last answers are written at the end

_Answer = tuple[int, Json]


class RpcServer:
    """The requests of one term, between `start` and `stop`."""

    def __init__(self, requests: Requests, listener: Listener, term: int, service: Service) -> None:
        self._requests = requests
        self._listener = listener
        self._term = term
        self._service = service
        self._stopping = threading.Event()
        self._answers: queue.SimpleQueue[_Answer | None] = queue.SimpleQueue()
        self._tidied = 0.0
        self._readers = started_pool(_READERS, "rpc-read")
        self._threads = [
            threading.Thread(target=run, name=name, daemon=True)
            for run, name in ((self._run, "rpc"), (self._write, "answers"))
        ]

    def start(self) -> None:
        """Take requests from now on."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Take no more; write the answers there are."""
        self._stopping.set()
        if self._threads[0].is_alive():
            self._threads[0].join()
        self._readers.shutdown(wait=False, cancel_futures=True)
        self._answers.put(None)
        if self._threads[1].is_alive():
            self._threads[1].join(_LAST)

    # --- taking -------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._stopping.is_set():
            taken = self._take()
            for passed in taken:
                self._begin(passed)
            if not taken:
                self._listener.wait(_LOOK)
        self._listener.close()

    def _take(self) -> list[Passed]:
        try:
            self._tidy()
            return self._requests.take(self._term)
        except StoreUnavailable as error:
            log.debug("requests cannot be read now: %s", error)
        except Exception:
            log.exception("forwarded requests cannot be read")
        return []

    def _tidy(self) -> None:
        if time.monotonic() - self._tidied > _TIDY:
            self._requests.tidy()
            self._tidied = time.monotonic()

    def _begin(self, passed: Passed) -> None:
        """Changes of jobs are begun in this thread, in their order."""
        if passed.kind in ORDERED:
            self._carry_out(passed)
        else:
            self._readers.submit(self._carry_out, passed)

    def _carry_out(self, passed: Passed) -> None:
        try:
            caller, arguments = _caller(passed.caller), received(passed.kind, passed.body)
            future = self._service.call(caller, passed.kind, arguments)
        except Exception as error:
            self._failed(passed, error)
        else:
            # Called by the core's thread, which must not wait for the database.
            future.add_done_callback(partial(self._done, passed))

    def _done(self, passed: Passed, future: Future[Json]) -> None:
        error = future.exception()
        if error is None:
            self._answers.put((passed.id, {"done": answer_sent(passed.kind, future.result())}))
        else:
            self._failed(passed, error)

    def _failed(self, passed: Passed, error: BaseException) -> None:
        self._answers.put((passed.id, error_told(_refusal(passed, error))))

    # --- answering ----------------------------------------------------------------------------

    def _write(self) -> None:
        """Answers as they come, all that there are in one transaction."""
        while (first := self._answers.get()) is not None:
            answers, ends = [first], False
            while not self._answers.empty():
                more = self._answers.get()
                if more is None:
                    ends = True
                    break
                answers.append(more)
            self._insist(answers)
            if ends:
                return

    def _insist(self, answers: list[_Answer]) -> None:
        while True:
            try:
                self._requests.answer(self._term, answers)
            except StoreUnavailable as error:
                log.debug("answers cannot be written now: %s", error)
                if self._stopping.is_set():
                    return  # a later leader takes these requests again
                time.sleep(_LOOK)
            except Exception:
                log.exception(
                    "answers cannot be written; their callers are told that the outcome is unknown"
                )
                return
            else:
                return


def _caller(told: Mapping[str, Any]) -> Caller:
    """Who asks; the broker itself is nobody, and may only read."""
    return Caller(told["uid"], told["user"], told["token"]) if told else NOBODY


def _refusal(passed: Passed, error: BaseException) -> ServiceError:
    if isinstance(error, SubmissionError):
        return ServiceError(Failure.INVALID, error.message, error.advice)
    if not isinstance(error, ServiceError):
        log.error("a forwarded request: %s", passed.kind, exc_info=error)
        advice = "check before you repeat it; the daemon's log says more"
        return ServiceError(Failure.UNDECIDED, f"{type(error).__name__} in the daemon", advice)
    if passed.again and error.failure is Failure.CONFLICT:
        return ServiceError(
            Failure.UNDECIDED,
            "another broker has become the leader, and does not know whether it was done: "
            f"{error.message}",
            "check the job before you repeat it",
        )
    return error
