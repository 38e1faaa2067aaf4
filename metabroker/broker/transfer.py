"""How long a job's files take to come to each cluster, as far as that can be foretold."""

from __future__ import annotations

from collections.abc import Sequence

from metabroker.submission.inputs import Inputs

from .links import Links
from .rejected import Rejected
from .settings import Settings

_MEGABYTE = 1e6
_MOST_KNOWN = 4096
_LONGEST = 1e9  # seconds; what takes longer takes too long all the same


def costs(inputs: Inputs, settings: Settings, links: Links) -> tuple[float, ...]:
    """For each cluster, the seconds until the input of a component is there: what is sent with the
    job, and each file that does not lie there from the copy that comes soonest, one after another.

    A link between clusters is as fast as it was measured, else `Settings.bandwidth`. A file that
    lies in clusters that are not known counts nowhere. (): nothing is to come.
    """
    names = [cluster.name for cluster in settings.clusters]
    files = [(size, set(at).intersection(names)) for size, at in inputs.files]
    found = []
    for name in names:
        seconds = inputs.staged / (settings.staging.get(name, settings.bandwidth) * _MEGABYTE)
        for size, at in files:
            if at and name not in at:
                seconds += size / max(_speed(one, name, settings, links) for one in at)
        found.append(min(seconds, _LONGEST))
    return tuple(found) if any(found) else ()


class Costs:
    """What a placement is to go by, as to the files of jobs; remembered for some thousand jobs."""

    def __init__(self, settings: Settings, links: Links) -> None:
        self._settings = settings
        self._links = links
        self._known: dict[Inputs, tuple[float, ...]] = {}

    def of(self, inputs: Inputs) -> tuple[float, ...]:
        """`costs`; () where they do not matter: it is not to go by files, or all clusters are
        alike."""
        if not inputs or not self._settings.close_to_files:
            return ()
        found = self._known.get(inputs)
        if found is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            found = self._known[inputs] = costs(inputs, self._settings, self._links)
        return found if len(set(found)) > 1 else ()

    def forget(self) -> None:
        """Links were measured."""
        self._known.clear()


def checked(inputs: Inputs, settings: Settings) -> Inputs:
    """The same. Raises `Rejected` for a file in a cluster that there is not."""
    names = [cluster.name for cluster in settings.clusters if cluster.configured]
    for _, at in inputs.files:
        for name in at:
            if name not in names:
                what = f"--input-at: there is no cluster {name!r}"
                raise Rejected(what, f"choose one of: {', '.join(names)}")
    return inputs


def told(seconds: float, clusters: Sequence[str]) -> str:
    """For users: how long the files take to come to where a job goes."""
    where = " and ".join(sorted(set(clusters)))
    if not seconds:
        return f"its files lie in {where}"
    return f"its files take some {max(1, round(seconds))} s to come to {where}"


def _speed(one: str, other: str, settings: Settings, links: Links) -> float:
    """In bytes a second."""
    link = links.between(one, other)
    measured = None if link is None else link.bandwidth
    return (measured or settings.bandwidth) * _MEGABYTE
