"""Deliberate mistakes, planted in the broker to see whether a storm finds them.

Each is one a hurried change could make. A storm that misses one is too gentle, and is repaired.
"""

from . import of_attempts, of_brokers, of_clusters, of_files, of_gates, of_runtime
from .planting import MUTATIONS, SHARED, planted

__all__ = [
    "MUTATIONS",
    "SHARED",
    "of_attempts",
    "of_brokers",
    "of_clusters",
    "of_files",
    "of_gates",
    "of_runtime",
    "planted",
]
