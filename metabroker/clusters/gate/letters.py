"""What a component has put for the others, and what they have, in the gates of one cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from metabroker.clusters.transports.base import Files

from .gates import doubted
from .outbox import inbox_of, name_of
from .positions import Spoilt


class Letters:
    """The broker's side of it. `placed`: where a gate is in the cluster.

    Both may end in `UnknownOutcome`.
    """

    def __init__(self, files: Files, placed: Callable[[str], str]) -> None:
        self._files = files
        self._placed = placed

    @doubted
    def outbox(self, gate: str, version: int) -> bytes | None:
        """What the component has put, in this version; None: it is gone, or no plain file."""
        with Spoilt():
            folder, name = self._placed(gate), name_of(version)
            return self._files.bulk_read([folder], [name]).read(f"{folder}/{name}")
        return None

    @doubted
    def deliver(self, gate: str, sender: str, content: bytes) -> bool:
        """Lay down what another component has put. False: the gate is gone, or is spoilt by its
        own component."""
        with Spoilt(), contextlib.suppress(FileNotFoundError):
            self._files.write(f"{self._placed(gate)}/{inbox_of(sender)}", content)
            return True
        return False
