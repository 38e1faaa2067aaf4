"""Mistakes in what is carried between components."""

from __future__ import annotations

import contextlib
from typing import Any

from metabroker.broker.exchange import Exchange
from metabroker.clusters.gate.letters import Letters
from metabroker.runtime.carrier import Carrier

from .planting import mutation, swap


@mutation
def letters_of_another_component(stack: contextlib.ExitStack) -> None:
    """What one component has put is laid down as another's."""

    def deliver(self: Any, gate: str, sender: str, content: bytes) -> Any:
        job, dot, component = sender.rpartition(".")
        return old(self, gate, f"{job}{dot}{max(0, int(component) - 1)}", content)

    old = swap(stack, Letters, "deliver", deliver)


@mutation
def only_the_first_letter_is_carried(stack: contextlib.ExitStack) -> None:
    """Later versions of an outbox are not read."""

    def seen(self: Any, ref: Any, version: int, now: float) -> Any:
        return old(self, ref, min(version, 1), now)

    old = swap(stack, Exchange, "seen", seen)


@mutation
def lost_letters_count_as_delivered(stack: contextlib.ExitStack) -> None:
    """What may not have come is not sent again."""

    def delivered(self: Any, done: Any, now: float, *, sure: bool) -> None:
        old(self, done, now, sure=True)

    old = swap(stack, Exchange, "delivered", delivered)


@mutation
def letters_end_with_one_component(stack: contextlib.ExitStack) -> None:
    """Nothing of a job is carried any more once one of its components has ended."""

    def unwatch(self: Any, ref: Any) -> None:
        with self._lock:
            self._watched.pop((ref.job, ref.attempt), None)
            self._exchange.leave(ref)
        old(self, ref)

    old = swap(stack, Carrier, "unwatch", unwatch)


@mutation
def last_letters_are_dropped(stack: contextlib.ExitStack) -> None:
    """The gate of who has ended is removed, whatever has not been passed on."""
    swap(stack, Carrier, "last_words", lambda _self, _ref, _cluster: None)
