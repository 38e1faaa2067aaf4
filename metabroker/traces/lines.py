"""The lines of a text file, plain or gzip, with errors that say which file and what is wrong."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from .errors import TraceError

LONGEST = 1 << 20  # bytes of a line
LARGEST = 8 << 30  # bytes of all lines, unpacked
_GZIP = b"\x1f\x8b"


def lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of every line. What is not UTF-8 becomes question marks.

    Raises TraceError: the file cannot be read, its gzip data is damaged or cut off, or it is no
    log: a line or the whole of it is longer than that of any.
    """
    name = str(path)
    number = 0
    left = LARGEST
    try:
        with _opened(Path(path)) as file:
            for number, raw in enumerate(iter(lambda: file.readline(LONGEST + 1), b""), 1):
                left -= len(raw)
                if len(raw) > LONGEST or left < 0:
                    what = "this line is longer" if len(raw) > LONGEST else "the file is larger"
                    message = f"{what} than any log's ({LONGEST >> 20} MB, {LARGEST >> 30} GB)"
                    raise TraceError(name, number, message, "name a log, or a part of it")
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
