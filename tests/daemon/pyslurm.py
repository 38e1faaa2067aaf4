"""Real Slurm clusters that the daemon asks through pyslurm, where some Python has it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.daemon.kinds import Slurm


@dataclass
class SlurmByPyslurm(Slurm):
    """They are of the release that `python`'s pyslurm is for; their truth is told by commands."""

    python: str = ""

    def configuration(self, folder: Path) -> dict[str, dict[str, Any]]:
        by = {"access": "pyslurm", "pyslurm_python": self.python}
        return {name: {**one, **by} for name, one in super().configuration(folder).items()}
