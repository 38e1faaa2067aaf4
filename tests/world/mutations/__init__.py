"""Deliberate mistakes, planted in the broker to see whether a storm finds them.

Each is one a hurried change could make. A storm that misses one is too gentle, and is repaired. The
modules `of_...` register theirs.
"""

import importlib
import pkgutil

from .planting import AMONG, MUTATIONS, SHARED, planted

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["AMONG", "MUTATIONS", "SHARED", "planted"]
