"""A broker's way to a cluster: its commands, and its steps at gates. Each is let through by the
broker's own lease, and may come too late: when the process was stopped just after it had asked."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from metabroker.clusters.transports.base import (
    BulkRead,
    Command,
    CommandLost,
    Completed,
    Files,
    FolderEntry,
    Listed,
)
from metabroker.clusters.transports.local_files import LocalFiles

from . import virtual
from .cluster import WorldCluster
from .virtual.system import on

if TYPE_CHECKING:
    from .host import Host

T = TypeVar("T")


class WorldTransport:
    """Commands and files of one cluster, for one broker."""

    def __init__(self, host: Host, cluster: WorldCluster) -> None:
        self._host = host
        self._cluster = cluster
        self.files: Files = WorldFiles(host, cluster)

    def run(self, command: Command) -> Completed:
        """See `Transport.run`."""
        if not self._host.acts() or self._host.claims():
            self._cluster.asked.sent(command, self._host.world.now)
        done = virtual.call(partial(self._host.world.network.send, self._cluster, command))
        assert isinstance(done, Completed)
        self._cluster.asked.answered(command, done)
        return done

    def close(self) -> None:
        """See `Transport.close`."""


class WorldFiles:
    """The daemon's own `LocalFiles` on a cluster's shared folder, as one broker reaches it: each
    change takes its time, and a step of a transfer may get lost."""

    def __init__(self, host: Host, cluster: WorldCluster) -> None:
        self._host = host
        self._cluster = cluster
        self._inner = LocalFiles()
        draw = random.Random(f"{host.world.scenario.seed} {cluster.plan.name} is there")
        self._tells = draw.random() < 0.5

    def read(self, path: str) -> bytes | None:
        """See `Files`."""
        return self._seen(lambda: self._inner.read(path))

    def list(self, path: str) -> Sequence[FolderEntry] | None:
        """See `Files`."""
        return self._seen(lambda: self._inner.list(path))

    def bulk_read(self, _folders: Sequence[str], _names: Sequence[str]) -> BulkRead:
        """See `Files`."""
        return self

    def is_there(self, path: str) -> bool | None:
        """See `Files`: in some clusters that can be told."""
        if not self._tells:
            return None
        folder, _, name = path.rpartition("/")
        found = self.list(folder)
        return found is not None and any(entry.name == name for entry in found)

    def tree(self, path: str) -> Sequence[Listed]:
        """See `Files`."""
        return self._step(lambda: self._seen(lambda: self._inner.tree(path)))

    def get(self, path: str, offset: int, length: int) -> bytes:
        """See `Files`."""
        return self._step(lambda: self._seen(lambda: self._inner.get(path, offset, length)))

    def make_folder(self, path: str) -> bool:
        """See `Files`."""
        return self._change(lambda: self._inner.make_folder(path), made=path)

    def write(self, path: str, content: bytes, *, executable: bool = False) -> None:
        """See `Files`."""
        letter = path.rpartition("/")[2].startswith("in.")
        fate = self._host.world.post.fate(path) if letter else "well"
        if fate == "request":
            raise CommandLost("no answer")
        self._change(lambda: self._inner.write(path, content, executable=executable))
        if fate == "reply":
            raise CommandLost("no answer")

    def rename(self, old: str, new: str) -> bool:
        """See `Files`."""
        return self._change(lambda: self._inner.rename(old, new), new)

    def remove_tree(self, path: str) -> None:
        """See `Files`."""
        self._change(lambda: self._inner.remove_tree(path))

    def put(self, path: str, offset: int, content: bytes, *, executable: bool = False) -> None:
        """See `Files`."""

        def put() -> None:
            self._inner.put(path, offset, content, executable=executable)

        self._step(lambda: self._change(put))

    def _seen(self, look: Callable[[], T]) -> T:
        virtual.check()
        with on(self._cluster.files):
            return look()

    def _step(self, step: Callable[[], T]) -> T:
        """A step of a transfer, which may get lost on its way there or back."""
        fate = self._cluster.files.fate()
        if fate == "request":
            raise CommandLost("no answer")
        done = step()
        if fate == "reply":
            raise CommandLost("no answer")
        return done

    def _change(self, change: Callable[[], T], to: str = "", made: str = "") -> T:
        """What is made too late, or by one that was stopped in the midst, may be left behind,
        empty; also where it, or the folder that it lies in, was there before, and was removed
        meanwhile."""
        late = self._host.acts(self._cluster.plan.name, to)
        folders, stops = set(self._cluster.files.folders), self._host.stops
        try:
            done = self._seen(change)
        finally:  # it may also be killed in the midst of it
            if late or self._host.stops > stops:
                there = set(self._cluster.files.folders)
                self._cluster.litter.update(there - folders, {made} - {""})
                self._cluster.litter.update(f for f in there if made.startswith(f"{f}/"))
        virtual.sleep(self._host.rng.uniform(0.0001, 0.01))
        self._host.in_the_midst()
        return done
