"""The two forms in which PBS's commands print whole objects, as attributes by name.

`-F json` is the better one, but up to release 23.06.06 a single value such as `nan`, `inf` or `5.`
makes the document invalid, and any user can have a job of that name. `-F dsv` cannot be broken so:
one object a line, what is special in a value escaped. Values drift in type between releases
(numbers, strings), so all are text here.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from metabroker.clusters.command_errors import Garbled

Entries = dict[str, dict[str, str]]
_LARGEST = 64  # levels of a document; PBS has four
_COLUMN = re.compile(r"((?:[^|\\]|\\.)*)(?:\||$)", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class EntrySection(NamedTuple):
    """What objects are called: in a JSON document, and at the start of a line of dsv."""

    key: str
    head: str


JOBS = EntrySection("Jobs", "Job Id: ")
NODES = EntrySection("nodes", "Name=")
SERVERS = EntrySection("Server", "Server: ")
QUEUES = EntrySection("Queue", "Queue: ")


def entries(text: str, section: EntrySection) -> Entries:
    """The objects by their names, in either form; parts of an attribute as `Resource_List.ncpus`.

    Raises:
        Garbled: it is of neither form, or cut off.
    """
    return _json(text, section.key) if text.lstrip().startswith("{") else _dsv(text, section.head)


def _json(text: str, key: str) -> Entries:
    try:
        # Every number as it is written: so `1e999` is no infinity, and a long one no error.
        document = json.loads(
            text, strict=False, parse_int=str, parse_float=str, parse_constant=_no_constant
        )
    except (ValueError, RecursionError) as error:
        raise Garbled(f"not valid JSON: {error}") from error
    if not isinstance(document, dict) or "timestamp" not in document:
        raise Garbled(f"not one of PBS's documents: {text[:100]!r}")
    found = document.get(key, {})
    if not isinstance(found, dict) or not all(isinstance(v, dict) for v in found.values()):
        raise Garbled(f"{key} are not objects")
    return {name: _flat(value, "", 0) for name, value in found.items()}


def _no_constant(word: str) -> str:
    raise ValueError(f"{word} is not JSON")


def _flat(value: dict[str, Any], prefix: str, depth: int) -> dict[str, str]:
    flat: dict[str, str] = {}
    if depth > _LARGEST:
        raise Garbled("a document that is nested too deeply")
    for name, part in value.items():
        if isinstance(part, dict):
            flat |= _flat(part, f"{prefix}{name}.", depth + 1)
        elif isinstance(part, list):
            flat[prefix + name] = ", ".join(str(item) for item in part)
        else:
            flat[prefix + name] = str(part)
    return flat


def _dsv(text: str, head: str) -> Entries:
    found: Entries = {}
    if text and not text.endswith("\n"):
        raise Garbled(f"an answer that is cut off: {text[-100:]!r}")
    for line in text.split("\n"):
        if not line.strip():
            continue
        if not line.startswith(head):
            raise Garbled(f"a line that does not begin with {head!r}: {line[:100]!r}")
        name, *columns = _columns(line.removeprefix(head)) or [""]
        if not name:
            raise Garbled(f"a line that ends before it names anything: {line[:100]!r}")
        attributes: dict[str, str] = {}
        for column in columns:
            key, _, value = column.partition("=")
            attributes.setdefault(key, value)
        found[name] = attributes
    return found


def _columns(line: str) -> list[str]:
    parts, start = [], 0
    while start < len(line):
        match = _COLUMN.match(line, start)
        if match is None:  # it ends in a lone backslash
            parts.append(line[start:])
            break
        parts.append(_ESCAPED.sub(r"\1", match[1]))
        start = match.end()
    return parts
