"""Small changes to what carries decisions out, and to what is kept of them, made without a look at
what the oracle checks."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

from metabroker.broker.events import Armed, Refused, Unsure
from metabroker.broker.job import Component, Job
from metabroker.broker.observation import NativeJob
from metabroker.broker.states import Cause
from metabroker.clusters import cleanup, file_transfer
from metabroker.clusters.gate import gates
from metabroker.clusters.gate.positions import Position
from metabroker.clusters.operation import Operation
from metabroker.clusters.submit_directory import LocalSubmitDirectory
from metabroker.clusters.transports import fenced
from metabroker.runtime import execution, executor, requests
from metabroker.store import store

from .planting import among, mutation, rewrite, shared, swap


@mutation
@among("cancelled")
def goal_not_kept(stack: contextlib.ExitStack) -> None:
    """The store does not keep what is to become of a job."""
    _left_out(stack, "job_row", "goal")


@mutation
@among("heirs")
def native_id_not_kept(stack: contextlib.ExitStack) -> None:
    """The store does not keep the numbers of native jobs."""
    _left_out(stack, "component_row", "native_id")


@mutation
def reservation_not_kept(stack: contextlib.ExitStack) -> None:
    """The store does not keep which components are reserved."""
    _left_out(stack, "component_row", "reserves", False)


@mutation
def exit_code_not_kept(stack: contextlib.ExitStack) -> None:
    """The store does not keep the exit codes of components whose job goes on."""

    def row(component: Component, names: Any) -> dict[str, Any]:
        made: dict[str, Any] = old(component, names)
        return made if component.phase.value == "gone" else {**made, "exit_code": None}

    old = swap(stack, store, "component_row", row)


def _left_out(stack: contextlib.ExitStack, row: str, key: str, value: object = None) -> None:
    def made(thing: Job | Component, names: Any) -> dict[str, Any]:
        return {**old(thing, names), key: value}

    old = swap(stack, store, row, made)


@mutation
def first_entry_only(stack: contextlib.ExitStack) -> None:
    """Of what a turn notes only the first entry is written."""

    def commit(self: Any, batch: Any, names: Any) -> None:
        first = replace(batch.ready, journal=batch.ready.journal[:1])
        old(self, replace(batch, ready=first), names)

    old = swap(stack, store.Store, "_commit", commit)


@mutation
def cancelled_is_ended(stack: contextlib.ExitStack) -> None:
    """A job that was told to end has ended."""

    def clean(token: str, find: Any, cancel: Any, delete: Any, spare: int = 0) -> Operation[Any]:
        jobs = yield from find([])
        yield from cancel(jobs)
        if delete is not None:
            yield from delete()
        return jobs[0] if jobs else None

    swap(stack, cleanup, "clean", clean)


@mutation
@among("lossy")
def no_answer_is_no(stack: contextlib.ExitStack) -> None:
    """A command without an answer was not carried out."""

    def carry(self: Any, effect: Any) -> Any:
        event = old(self, effect)
        if isinstance(event, Unsure):
            return Refused(event.ref, event.step, Cause.REFUSED, event.detail)
        return event

    old = swap(stack, executor.ClusterExecutor, "_carry_out", carry)


@mutation
def doubt_is_swallowed(stack: contextlib.ExitStack) -> None:
    """Nobody is told of a step whose outcome is not known."""

    def post(self: Any, effect: Any) -> Any:
        event = old(self, effect)
        if isinstance(event, Unsure):
            self._post, before = (lambda _event: None), self._post
            self._after_doubt = before
        elif hasattr(self, "_after_doubt"):
            self._post = self._after_doubt
        return event

    old = swap(stack, executor.ClusterExecutor, "_carry_out", post)


@mutation
def first_nap_is_an_answer(stack: contextlib.ExitStack) -> None:
    """Who arms a component does not wait for its answer."""

    def arming(effect: Any, cluster: Any, builder: Any) -> Operation[Any]:
        gate = builder.gate(effect.ref)
        cluster.introduce(gate, builder.peers(effect.ref))
        cluster.arm(gate)
        yield from ()
        return Armed(effect.ref)

    swap(stack, execution, "_arming", arming)


@mutation
@among("lossy")
def token_file_before_the_script(stack: contextlib.ExitStack) -> None:
    """A gate has its token file before it has its script."""

    def prepare(self: Any, request: Any) -> None:
        files, gate = self._files, request.gate
        files.make_folder(gate)
        first = Position.GO if request.barrier_seconds is None else Position.WAIT
        files.write(f"{gate}/{first.value}", b"")
        if request.works:
            files.make_folder(file_transfer.work_folder(gate))
        files.write(f"{gate}/{gates.SCRIPT}", request.script, executable=True)

    swap(stack, gates.Gates, "prepare", prepare)


@mutation
@among("patience")
def go_without_armed(stack: contextlib.ExitStack) -> None:
    """Who opens a gate takes it from wherever it is."""

    def open_(self: Any, gate: str, peers: Any) -> None:
        for position in (Position.ABORT, Position.WAIT, Position.ARMED):
            if self._move(gate, position, Position.GO):
                return

    swap(stack, gates.Gates, "open", open_)


@mutation
def exit_codes_made_one(stack: contextlib.ExitStack) -> None:
    """A script that fails has the exit code 1."""
    rewrite(stack, "mb__status=$?", 'mb__status=$?; [ "$mb__status" -eq 0 ] || mb__status=1')


@mutation
def late_part_counts(stack: contextlib.ExitStack) -> None:
    """Each part of a file is written at its beginning."""

    def offsets(size: int, part: int) -> range:
        return range(1) if size else range(0)

    swap(stack, file_transfer, "_offsets", offsets)


@mutation
def finished_without_a_rename(stack: contextlib.ExitStack) -> None:
    """Results keep the names that they have while they are brought."""
    swap(stack, LocalSubmitDirectory, "finish", lambda self, folder, new, made: None)


@shared
def files_not_fenced(stack: contextlib.ExitStack) -> None:
    """Only commands ask whether this broker still leads."""
    swap(stack, fenced, "fenced", lambda files, _permit: files)


@mutation
def one_folder_for_all_tries(stack: contextlib.ExitStack) -> None:
    """The results of each attempt come to the same place, whatever was there."""

    def into(self: Any, effect: Any) -> Any:
        request = old(self, effect)
        return replace(request, into=request.into.split(".")[0])

    old = swap(stack, requests.RequestBuilder, "fetch", into)


@mutation
@among("heirs")
def jobs_of_others_are_cleaned(stack: contextlib.ExitStack) -> None:
    """A renamed job is found by its number alone."""

    swap(stack, NativeJob, "is_of", lambda self, native: self.native_id == native.id)
