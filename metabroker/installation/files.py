"""The files of the service, and where they belong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files as resources
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath

import click

from . import manual, reference

UNIT = PurePosixPath("/etc/systemd/system/metabroker.service")
SYSUSERS = PurePosixPath("/etc/sysusers.d/metabroker.conf")
TMPFILES = PurePosixPath("/etc/tmpfiles.d/metabroker.conf")
CONFIGURATION = PurePosixPath("/etc/metabroker/metabroker.yaml")
PROGRAM = PurePosixPath("/usr/local/bin/metabroker")
SHARED = PurePosixPath("/usr/local/share/metabroker")
LIST = SHARED / "installed.json"

_MAN = PurePosixPath("/usr/local/share/man")
_COMPLETIONS = {
    "bash": PurePosixPath("/usr/local/share/bash-completion/completions/metabroker"),
    "zsh": PurePosixPath("/usr/local/share/zsh/site-functions/_metabroker"),
    "fish": PurePosixPath("/usr/local/share/fish/vendor_completions.d/metabroker.fish"),
}
_IN_THE_UNIT = "/usr/bin/metabroker"
_PLAIN = re.compile(r"/[A-Za-z0-9_./+-]+")


class UnusablePath(ValueError):
    """The program lies where a unit cannot name it."""


@dataclass(frozen=True, slots=True)
class File:
    """Text, or a link to somewhere."""

    text: str = ""
    link: str | None = None


def wanted(
    program: PurePosixPath, group: click.Group, summaries: dict[str, str]
) -> dict[PurePosixPath, File]:
    """All files, but for the configuration, of a metabroker whose command is `program`."""
    found = {
        UNIT: File(_unit(program)),
        SYSUSERS: File(_text("systemd", "metabroker.sysusers.conf")),
        TMPFILES: File(_text("systemd", "metabroker.tmpfiles.conf")),
    }
    if program.parent not in (PurePosixPath("/usr/bin"), PROGRAM.parent):
        found[PROGRAM] = File(link=str(program))
    for name, text in manual.pages(group, summaries).items():
        found[_MAN / "man1" / name] = File(text)
    found[_MAN / "man5" / "metabroker.yaml.5"] = File(reference.page())
    for shell, path in _COMPLETIONS.items():
        found[path] = File(completion(shell, group))
    found.update(_examples())
    return found


def configuration() -> File:
    """What the service begins with."""
    return File(_text("configs", "service.yaml"))


def completion(shell: str, group: click.Group) -> str:
    """The completion script of a shell, as its own folder of such scripts wants it."""
    from click.shell_completion import get_completion_class

    cls = get_completion_class(shell)
    assert cls is not None
    return cls(group, {}, "metabroker", "_METABROKER_COMPLETE").source()


def _unit(program: PurePosixPath) -> str:
    if not _PLAIN.fullmatch(str(program)):
        raise UnusablePath(f"{program} has characters that a unit of systemd cannot name")
    text = _text("systemd", "metabroker.service")
    assert text.count(_IN_THE_UNIT) == 1
    return text.replace(_IN_THE_UNIT, str(program))


def _examples() -> Iterator[tuple[PurePosixPath, File]]:
    """Drop-ins of systemd, and the examples of configurations with what belongs to them."""
    for entry in _sorted(_package() / "systemd"):
        if entry.name.startswith("run-as-"):
            yield SHARED / "systemd" / entry.name, File(entry.read_text(encoding="utf-8"))
    yield from _tree(_package() / "configs", SHARED / "configs")


def _tree(folder: Traversable, to: PurePosixPath) -> Iterator[tuple[PurePosixPath, File]]:
    for entry in _sorted(folder):
        if entry.is_dir():
            yield from _tree(entry, to / entry.name)
        else:
            yield to / entry.name, File(entry.read_text(encoding="utf-8"))


def _sorted(folder: Traversable) -> list[Traversable]:
    return sorted(folder.iterdir(), key=lambda entry: entry.name)


def _text(*names: str) -> str:
    return _package().joinpath(*names).read_text(encoding="utf-8")


def _package() -> Traversable:
    return resources(__package__)
