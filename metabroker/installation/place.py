"""Files put in place below a root folder, and taken away again."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from metabroker import __version__

from .files import LIST, File
from .plan import Do, Step, digest


@dataclass(slots=True)
class Installed:
    """The list of installed files: their digests, and the folders made for them."""

    files: dict[str, str] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)


class UnreadableList(Exception):
    """The list of installed files is there, and is none."""


class Place:
    """The host's file system, or a folder that stands for it."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def path(self, name: PurePosixPath) -> Path:
        """Where a file of the service is."""
        return self._root / str(name).lstrip("/")

    def look(self, name: PurePosixPath) -> File | None:
        """What is there. A folder, or anything else that is no file, is another file."""
        path = self.path(name)
        if path.is_symlink():
            return File(link=str(path.readlink()))
        if path.is_file():
            return File(path.read_bytes().decode(errors="surrogateescape"))
        return File(link="") if path.exists() else None

    def installed(self) -> Installed:
        """The list of what an installation has put here."""
        try:
            data = json.loads(self.path(LIST).read_text(encoding="utf-8"))
            return Installed(dict(data["files"]), list(data["folders"]))
        except FileNotFoundError:
            return Installed()
        except (ValueError, KeyError, TypeError) as error:
            raise UnreadableList(str(self.path(LIST))) from error

    def carry_out(self, steps: Iterable[Step], known: Installed) -> None:
        """Do it; what was done is in the list even where a later step fails."""
        try:
            for step in steps:
                self._carry_out(step, known)
        finally:
            self._note(known)

    def _carry_out(self, step: Step, known: Installed) -> None:
        if step.do in (Do.WRITE, Do.UPDATE):
            assert step.file is not None
            self.write(step.path, step.file, known)
        if step.do is Do.REMOVE:
            self.path(step.path).unlink()
        if step.do in (Do.REMOVE, Do.KEEP, Do.GONE):
            known.files.pop(str(step.path), None)
        elif step.file is not None:
            known.files[str(step.path)] = digest(step.file)

    def write(self, name: PurePosixPath, file: File, known: Installed, mode: int = 0o644) -> None:
        """A file, whole or not at all, with the folders it needs."""
        path = self.path(name)
        self._make(name.parent, known)
        folder = Path(tempfile.mkdtemp(prefix=".metabroker-", dir=path.parent))
        try:
            fresh = folder / path.name
            if file.link is not None:
                fresh.symlink_to(file.link)
            else:
                fresh.touch(mode=0o600)
                fresh.write_text(file.text, encoding="utf-8")
                fresh.chmod(mode)
            os.replace(fresh, path)
        finally:
            (folder / path.name).unlink(missing_ok=True)
            folder.rmdir()

    def _make(self, folder: PurePosixPath, known: Installed) -> None:
        if self.path(folder).is_dir():
            return
        self._make(folder.parent, known)
        self.path(folder).mkdir(mode=0o755)
        self.path(folder).chmod(0o755)  # whatever the umask is: others are to read it
        known.folders.append(str(folder))

    def _note(self, known: Installed) -> None:
        """Write the list; with nothing in it, remove it, and the folders that were made."""
        if known.files:
            self._make(LIST.parent, known)
            data = {"version": __version__, "files": known.files, "folders": known.folders}
            self.write(LIST, File(json.dumps(data, indent=1) + "\n"), known)
            return
        self.path(LIST).unlink(missing_ok=True)
        for folder in sorted(known.folders, key=len, reverse=True):
            with contextlib.suppress(OSError):  # it is not empty, and so others need it too
                self.path(PurePosixPath(folder)).rmdir()
