"""Mistakes at the gate and in what clusters are asked."""

from __future__ import annotations

import contextlib
from typing import Any

from metabroker.broker import tokens
from metabroker.broker.effects import Submit
from metabroker.broker.job import Component
from metabroker.broker.saga.pending import PendingSteps
from metabroker.clusters.gate import gates, records
from metabroker.clusters.gate.positions import Position
from metabroker.clusters.port import CleanRequest
from metabroker.clusters.slurm import cluster as slurm_cluster
from metabroker.clusters.slurm import operations
from metabroker.clusters.transports.local_files import LocalFiles
from metabroker.runtime import requests

from .planting import among, mutation, rewrite, swap

_TAKE = 'mv "$mb__gate/go" "$mb__mine" 2>/dev/null || [ -e "$mb__mine" ] || exit 75'


@mutation
def blind_resubmit(stack: contextlib.ExitStack) -> None:
    """A submit without an answer is repeated without looking, and its gate laid out anew."""

    def effect(self: Any, component: Component, again: bool) -> Any:
        made = old(self, component, again)
        return (
            made
            if not isinstance(made, Submit)
            else Submit(
                made.ref,
                made.cluster,
                made.processors,
                made.seconds,
                made.reservation,
                made.barrier,
            )
        )

    def move(self: Any, gate: str, old_: Any, new: Any) -> bool:
        """The gate lets everybody through."""
        if old_ is Position.GO:
            return False
        return bool(old_move(self, gate, old_, new))

    old = swap(stack, PendingSteps, "_effect", effect)
    old_move = swap(stack, gates.Gates, "_move", move)
    rewrite(stack, _TAKE, f'{_TAKE[:-8]} [ -e "$mb__gate/run" ] || exit 75')


@mutation
@among("lossy")
def old_folder_taken_for_new(stack: contextlib.ExitStack) -> None:
    """A gate whose folder is there already counts as new, and is laid out again."""

    def make_folder(self: Any, path: str) -> bool:
        old(self, path)
        return True

    old = swap(stack, LocalFiles, "make_folder", make_folder)


@mutation
def twin_not_stopped_at_the_gate(stack: contextlib.ExitStack) -> None:
    """The component's job does not mind whether its gate has been passed already."""
    rewrite(stack, _TAKE, f'{_TAKE[:-8]} [ -e "$mb__gate/run" ] || exit 75')
    rewrite(
        stack,
        'until [ -e "$mb__gate/go" ]',
        'until [ -e "$mb__gate/go" ] || [ -e "$mb__gate/run" ]',
    )
    rewrite(
        stack,
        'if [ ! -e "$mb__gate/wait" ]',
        'if [ ! -e "$mb__gate/wait" ] && [ ! -e "$mb__gate/run" ]',
    )


@mutation
@among("twins")
def start_before_the_gate_is_taken(stack: contextlib.ExitStack) -> None:
    """The wrapper looks whether its gate is open, and does not take it."""
    rewrite(stack, _TAKE, f'[ -e "$mb__gate/go" ] || exit 75; {_TAKE[:-8]} :')


@mutation
@among("opened-in-part")
def patience_ends_an_armed_wait(stack: contextlib.ExitStack) -> None:
    """A component gives up although its gate is armed."""
    rewrite(
        stack,
        'mv "$mb__gate/wait" "$mb__gate/abort" 2>/dev/null; then',
        '{ mv "$mb__gate/wait" "$mb__gate/abort" 2>/dev/null || :; }; then'.replace(
            "{ ", "( "
        ).replace("; }", " )"),
    )


@mutation
def end_not_written(stack: contextlib.ExitStack) -> None:
    """The wrapper leaves no record of the script's end."""
    rewrite(stack, 'echo "$mb__status $mb__signalled" > "$mb__gate/ended"', ":")


@mutation
def exit_code_of_the_wrapper(stack: contextlib.ExitStack) -> None:
    """The record tells the exit code of something else than the script."""
    rewrite(stack, "mb__status=$?", "mb__status=0")


@mutation
@among("meetings")
def shut_from_the_far_end(stack: contextlib.ExitStack) -> None:
    """Who shuts a gate tries its last position first, so one that moves on meanwhile is missed."""

    def shut(self: Any, request: Any) -> bool:
        if request.gate is None:
            return True
        for position in (Position.GO, Position.ARMED, Position.WAIT):
            if self._move(request.gate, position, Position.ABORT):
                return True
        return bool(self._is_shut(request.gate))

    swap(stack, gates.Gates, "shut", shut)


@mutation
def first_token_is_all(stack: contextlib.ExitStack) -> None:
    """Who shuts a gate is done with a token that is in no position yet; there may be another."""
    shut = gates.Gates.shut

    def first(self: Any, request: Any) -> bool:
        gate, aborted = request.gate, Position.ABORT.value
        if gate is not None and self._files.rename(f"{gate}/{gates._BORN}", f"{gate}/{aborted}"):
            return True
        return bool(shut(self, request))

    swap(stack, gates.Gates, "shut", first)


@mutation
def delete_by_prefix_alone(stack: contextlib.ExitStack) -> None:
    """Whatever is called like a broker's thing is taken for this broker's own."""

    def parse(instance: str, text: str) -> Any:
        return old(text.split("-")[1], text) if text.startswith("mb-") else None

    def clean_token(self: Any, token: str) -> Any:
        return CleanRequest(token)

    def snapshot(look: Any, partition: Any, prefix: str) -> Any:
        return old_snapshot(look, partition, "mb-")

    old: Any = tokens.parse
    for module in (tokens,):
        swap(stack, module, "parse", parse)
    swap(stack, requests.RequestBuilder, "clean_token", clean_token)
    old_snapshot = swap(stack, slurm_cluster, "snapshot", snapshot)


@mutation
def not_armed(stack: contextlib.ExitStack) -> None:
    """The barrier is opened without making sure that nobody gives up meanwhile."""

    def arm(self: Any, gate: str) -> None:
        return None

    def open_(self: Any, gate: str, peers: Any) -> None:
        self._move(gate, Position.WAIT, Position.GO)

    swap(stack, gates.Gates, "arm", arm)
    swap(stack, gates.Gates, "ready", lambda self, gate: True)
    swap(stack, gates.Gates, "open", open_)


@mutation
def never_ready(stack: contextlib.ExitStack) -> None:
    """The broker waits for an answer at the barrier that no component gives."""
    swap(stack, gates.Gates, "ready", lambda self, gate: False)


@mutation
def answer_not_awaited(stack: contextlib.ExitStack) -> None:
    """Who has arrived at the barrier is taken for alive when it opens."""
    swap(stack, gates.Gates, "ready", lambda self, gate: True)


@mutation
def gate_not_fenced(stack: contextlib.ExitStack) -> None:
    """Cleaning does not shut the gate first, and says that it is shut."""
    swap(stack, gates.Gates, "shut", lambda self, order: True)


@mutation
def record_removed_with_the_gate(stack: contextlib.ExitStack) -> None:
    """The component's record is removed while cleaning, before what it says is durable."""

    def remains(self: Any, gate: str | None, *given: Any) -> Any:
        found = old(self, gate, *given)
        if gate is not None:
            self.remove(gate)
        return found

    old = swap(stack, gates.Gates, "remains", remains)


@mutation
def reservation_not_compared(stack: contextlib.ExitStack) -> None:
    """A reservation of another size than asked for is taken all the same."""

    swap(stack, operations, "_holds", lambda found, *_: found is not None)


@mutation
@among("unheard")
def id_in_the_record_not_read(stack: contextlib.ExitStack) -> None:
    """Nobody reads which job it is that says it has started the script."""
    swap(stack, records, "_writer", lambda record, made, started: None)


@mutation
def note_read_before_it_is_whole(stack: contextlib.ExitStack) -> None:
    """What is there of a note counts, though its line has not ended."""

    def note(seen: Any, gate: str, name: str) -> bytes:
        return records._record(seen, f"{gate}/{name}") or b"\n"

    swap(stack, records, "_note", note)
