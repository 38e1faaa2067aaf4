"""The keys that hosts are known by: a known_hosts file, which is only ever read."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import paramiko

from .base import Unreached
from .ssh_target import Hop


@dataclass(frozen=True, slots=True)
class _Known:
    line: int
    revoked: bool
    kind: str
    key: str


class KnownHosts:
    """The file, as it is now."""

    def __init__(self, path: Path) -> None:
        """Raises `Unreached` if it cannot be read."""
        self._path = path
        try:
            text = path.read_text("utf-8", "replace")
        except OSError as error:
            raise Unreached(
                f"the file of known host keys, {path}, cannot be read: {error.strerror}; make "
                "it, with the keys of the cluster's hosts in it, or correct `known_hosts`"
            ) from error
        self._lines = text.splitlines()

    def kinds(self, hop: Hop) -> tuple[str, ...]:
        """The kinds of key by which the host is known."""
        return tuple(dict.fromkeys(k.kind for k in self._of(hop) if not k.revoked))

    def check(self, hop: Hop, key: paramiko.PKey) -> None:
        """Raises `Unreached` unless the file says that this is the host's key."""
        found = list(self._of(hop))
        same = [k for k in found if k.key == key.get_base64()]
        if any(k.revoked for k in same):
            raise Unreached(f"{hop}: its host key is revoked ({self._path}:{same[0].line})")
        if same:
            return
        offered = f"{key.get_name()} {key.fingerprint}"
        known = [k for k in found if not k.revoked]
        if known:
            where = ", ".join(f"{self._path}:{k.line}" for k in known)
            raise Unreached(
                f"{hop}: its host key is not the known one: it has {offered}, and {where} "
                "another; either another host answers in its place, or it was reinstalled: ask "
                "its administrator, and only then replace that line"
            )
        raise Unreached(
            f"{hop}: its host key is not known: it has {offered}, and {self._path} none for it; "
            "compare that with what its administrator says, then add the key to the file"
        )

    def _of(self, hop: Hop) -> Iterator[_Known]:
        name = hop.host if hop.port in (None, 22) else f"[{hop.host}]:{hop.port}"
        for number, line in enumerate(self._lines, 1):
            words = line.split()
            marker = words.pop(0) if words and words[0].startswith("@") else ""
            # Certificates of hosts are not asked for: an authority's line says nothing of a key.
            says = len(words) >= 3 and not words[0].startswith("#") and marker in ("", "@revoked")
            if says and _matches(words[0], name):
                yield _Known(number, bool(marker), words[1], words[2])


def _matches(patterns: str, name: str) -> bool:
    """Whether the first field of a line is meant for this host."""
    if patterns.startswith("|1|"):
        salt = patterns.split("|")[2]
        try:
            return bool(paramiko.HostKeys.hash_host(name, f"|1|{salt}|") == patterns)
        except (ValueError, IndexError):
            return False
    found = False
    for pattern in patterns.lower().split(","):
        # Only * and ? are patterns here; the brackets of [host]:port stand for themselves.
        plain = pattern.lstrip("!").replace("[", "[[]")
        if fnmatch.fnmatchcase(name.lower(), plain):
            if pattern.startswith("!"):
                return False
            found = True
    return found
