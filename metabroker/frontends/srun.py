"""`srun`: inside a job the cluster's own; outside there is none, since it would start a job."""

from __future__ import annotations

import os

from metabroker import __version__
from metabroker.frontends.main import FrontEndError
from metabroker.paths import without_front_ends


def run(words: list[str]) -> int:
    """The command. Raises `FrontEndError`."""
    if words in (["-V"], ["--version"]):
        print(f"slurm metabroker-{__version__}")
        return 0
    if "SLURM_JOB_ID" not in os.environ:
        raise FrontEndError("jobs are not started by srun", "use sbatch, and srun inside its job")
    become_native("srun", words)
    raise FrontEndError("this node has no srun of its own in PATH", "load its cluster's commands")


def become_native(name: str, words: list[str]) -> None:
    """Be the cluster's own command of that name; returns where none follows in PATH."""
    path = without_front_ends(os.environ.get("PATH", os.defpath))
    for folder in path.split(os.pathsep):
        own = os.path.join(folder, name)
        if os.access(own, os.X_OK):
            os.execv(own, [name, *words])
