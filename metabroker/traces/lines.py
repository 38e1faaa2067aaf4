"""The lines of a text file, plain or gzip, with errors that say which file and what is wrong."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from .errors import TraceError

_GZIP = b"\x1f\x8b"


def lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of every line. What is not UTF-8 becomes question marks.

    Raises TraceError: the file cannot be read, or its gzip data is damaged or cut off.
    """
    name = str(path)
    number = 0
    try:
        with _opened(Path(path)) as file:
            for number, raw in enumerate(file, 1):
                yield number, raw.decode("utf-8", "replace").rstrip("\r\n")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        message = f"its gzip data is damaged or cut off ({error})"
        raise TraceError(name, number, message, "fetch the file again") from error
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise TraceError(name, 0, message, "name a readable file") from error


def _opened(path: Path) -> BinaryIO | gzip.GzipFile:
    with path.open("rb") as probe:
        packed = probe.read(2) == _GZIP
    return gzip.open(path) if packed else path.open("rb")
