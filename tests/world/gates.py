"""The adapters' own gates, of which the oracle sees what became of each that was to be shut."""

from __future__ import annotations

from metabroker.clusters.gate.gates import Gates
from metabroker.clusters.gate.positions import Position, known
from metabroker.clusters.port import CleanRequest
from metabroker.clusters.transports.base import Files

from .files import ClusterFiles
from .oracle import Violation

_ON_ITS_WAY = {position.value for position in (Position.WAIT, Position.ARMED, Position.GO)}


class SeenGates(Gates):
    """Gates on a cluster's files, as one broker reaches them; `truth`: as they are."""

    def __init__(self, files: Files, truth: ClusterFiles) -> None:
        super().__init__(files)
        self._truth = truth

    def shut(self, request: CleanRequest) -> bool:
        """See `Gates.shut`.

        Raises:
            Violation: it says that the script may have started, and nobody has taken the gate yet.
        """
        shut = super().shut(request)
        if not shut and request.gate is not None:
            with self._truth.mended():
                names = {known(name) for name in self._truth.names(request.gate) or ()}
            if names & _ON_ITS_WAY:
                raise Violation(f"a gate that was to be shut is at {names & _ON_ITS_WAY}")
        return shut
