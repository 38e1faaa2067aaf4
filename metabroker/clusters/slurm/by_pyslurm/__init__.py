"""A Slurm cluster asked through pyslurm, by a helper process that answers as the commands do."""

from .transport import PyslurmTransport

__all__ = ["PyslurmTransport"]
