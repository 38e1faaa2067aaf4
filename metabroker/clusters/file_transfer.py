"""Files of a component, sent to its work folder and brought back from it, part by part.

An operation that pauses after each part, so that whoever carries it out may stop it there, and
that other files of the cluster (its gates) never wait for longer than one part takes. Large files
are never held whole.
"""

from __future__ import annotations

import contextlib
import errno
import secrets
from collections.abc import Iterator, Sequence

from metabroker.broker.states import Cause
from metabroker.clusters.transports.base import CommandLost, CommandMissing, Files, Listed, TooMany
from metabroker.clusters.transports.trust import Unsafe

from .matching import Patterns
from .operation import Operation, Pause
from .port import ClusterRefusal, FetchRequest, StageRequest, Transferred, UnknownOutcome
from .submit_directory import SubmitDirectory

PART = 4 << 20  # bytes
WORK = "work"
_UNFINISHED = "unfinished"
_PARTS = ".metabroker-unfinished"  # at home, beside the results that are whole
_AT_ONCE = 1000  # names that are looked at between two pauses
# What is the user's own to mend: trying it again brings the same.
_THEIRS = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.EROFS, 0})


def work_folder(gate: str) -> str:
    """Where the component of a gate finds its files, and leaves its results."""
    return f"{gate}/{WORK}"


def sending(
    files: Files, home: SubmitDirectory, request: StageRequest, part: int = PART
) -> Operation[Transferred]:
    """Send the request's files, by parts of so many bytes; those that an earlier try has sent are
    left as they are. Nothing is synced: they are still at home, and a job that loses its files with
    its file server ends, or finds that they are gone.

    Raises:
        ClusterRefusal: one cannot be read (OWN, or BUSY: for now), or not be written.
        UnknownOutcome: the connection broke; what is whole is not sent again.
    """
    work = work_folder(request.gate)
    sources = [_source(home, request.folder, name) for name in request.files]
    with _far("cannot write its files"):
        files.make_folder(request.gate)
        files.make_folder(work)
        there = {f.path: f.size for f in files.tree(work)} if request.again else {}
        new = _place_of_this_try(files, request)
    for source in sources:
        if there.get(source.path) != source.size:
            yield from _send(files, home, request, source, new, part)
        else:
            yield Pause(0)
    return Transferred(len(sources), sum(source.size for source in sources))


def _place_of_this_try(files: Files, request: StageRequest) -> str:
    """Where files are made, each until it is whole. No other try's: a part that nobody waits for
    any more may still be written, late, and must not come into a file of this one."""
    if request.again:
        for entry in files.list(request.gate) or ():
            if entry.name.startswith(_UNFINISHED):
                files.remove_tree(f"{request.gate}/{entry.name}")
    folder = f"{request.gate}/{_UNFINISHED}-{secrets.token_hex(4)}"
    files.make_folder(folder)
    return f"{folder}/part"


def _send(
    files: Files, home: SubmitDirectory, request: StageRequest, source: Listed, new: str, part: int
) -> Operation[None]:
    for offset in _offsets(source.size, part):
        with _near(source.path, "cannot be sent", theirs=Cause.OWN):
            content = home.get(request.folder, source, offset, part)
        with _far(f"cannot write {source.path}"):
            files.put(new, offset, content, executable=source.executable)
        yield Pause(0)
    with _far(f"cannot write {source.path}"):
        for folder in _folders(work_folder(request.gate), source.path):
            files.make_folder(folder)
        if not files.rename(new, f"{work_folder(request.gate)}/{source.path}"):
            raise UnknownOutcome(f"{source.path} was not written whole")


def fetching(
    files: Files, home: SubmitDirectory, request: FetchRequest, part: int = PART
) -> Operation[Transferred]:
    """Bring back what the request's patterns match, by parts of so many bytes.

    Raises:
        ClusterRefusal: one cannot be written where the job was submitted (INVALID: ever), or not
            be read.
        UnknownOutcome: the connection broke; what is whole is not brought again.
    """
    with _far("cannot list its results"):
        found = sorted(files.tree(work_folder(request.gate)), key=lambda file: file.path)
    patterns = Patterns(request.patterns)
    wanted = []
    for count, file in enumerate(found):
        if patterns.match(file.path):
            wanted.append(file)
        if count % _AT_ONCE == _AT_ONCE - 1:
            yield Pause(0)
    # No other try's: what of one of those is written or renamed late finds nothing.
    parts = f"{request.into}/{_PARTS}"
    new = f"{parts}/{secrets.token_hex(8)}"
    if wanted:
        with _near(request.into, "cannot be written"):
            home.clear(request.folder, parts)
    for file in wanted:
        if not _sound(file.path):
            raise ClusterRefusal(Cause.INVALID, f"the name {file.path[:100]!r} cannot be used here")
        with _near(file.path, "cannot be brought back"):
            before = (
                home.look(request.folder, f"{request.into}/{file.path}") if request.again else None
            )
        if before is None or (before.size, before.modified) != (file.size, file.modified):
            yield from _fetch(files, home, request, file, new, part)
        else:
            yield Pause(0)
    if wanted:
        with _near(request.into, "cannot be written"):
            home.clear(request.folder, parts)
        yield from _last(home, request, wanted)
    return Transferred(len(wanted), sum(file.size for file in wanted))


def _last(
    home: SubmitDirectory, request: FetchRequest, fetched: Sequence[Listed]
) -> Operation[None]:
    """What is at home now is there for good: its copy in the cluster is removed next. Also what an
    earlier try has brought, which may have ended before it came to this."""
    names = {name for file in fetched for name in _folders(request.into, file.path)}
    for name in ("", request.into, *sorted(names)):
        with _near(name or request.folder, "cannot be synced"):
            home.sync(request.folder, name)
        yield Pause(0)


def _fetch(
    files: Files,
    home: SubmitDirectory,
    request: FetchRequest,
    file: Listed,
    new: str,
    part: int,
) -> Operation[None]:
    source, name = f"{work_folder(request.gate)}/{file.path}", f"{request.into}/{file.path}"
    for offset in _offsets(file.size, part):
        length = min(part, file.size - offset)
        with _far(f"cannot read {file.path}"):
            content = files.get(source, offset, length)
        if len(content) != length:
            raise UnknownOutcome(f"{file.path} came incomplete")
        with _near(name, "cannot be written", begun=offset > 0):
            home.put(request.folder, new, offset, content)
        yield Pause(0)
    with _near(name, "cannot be written", begun=True):
        made = Listed(name, file.size, file.modified, file.executable)
        home.finish(request.folder, new, made)


def _source(home: SubmitDirectory, folder: str, name: str) -> Listed:
    with _near(name, "cannot be sent", theirs=Cause.OWN):
        found = home.look(folder, name)
    if found is None:
        raise ClusterRefusal(Cause.OWN, f"{name} cannot be sent: it is not in {folder}")
    return found


def _offsets(size: int, part: int) -> range:
    """Where the parts of a file begin: an empty one has one too."""
    return range(0, max(size, 1), part)


def _folders(work: str, path: str) -> Iterator[str]:
    """The folders on the way to a file, from above."""
    for part in path.split("/")[:-1]:
        work = f"{work}/{part}"
        yield work


def _sound(path: str) -> bool:
    """Whether a name that a cluster tells stays below the folder it is to be in."""
    parts: Sequence[str] = path.split("/")
    return "\ufffd" not in path and all(part not in ("", ".", "..") for part in parts)


@contextlib.contextmanager
def _near(
    name: str, what: str, *, begun: bool = False, theirs: Cause = Cause.INVALID
) -> Iterator[None]:
    """Something about the user's own files. `begun`: with what has come of one so far; `theirs`:
    what it is where the user can mend it, which is no matter of any cluster."""
    try:
        yield
    except CommandLost as lost:
        raise UnknownOutcome(f"{name} {what}: {lost}") from lost
    except OSError as error:
        if begun and isinstance(error, FileNotFoundError):
            raise UnknownOutcome(f"{name} {what}: another try has removed its parts") from error
        cause = theirs if error.errno in _THEIRS else Cause.BUSY
        raise ClusterRefusal(cause, f"{name} {what}: {error.strerror}") from error


@contextlib.contextmanager
def _far(what: str) -> Iterator[None]:
    """Something about files in the cluster. A gate's path is a secret: it is not told."""
    try:
        yield
    except CommandLost as lost:
        raise UnknownOutcome(f"{what}: {lost}") from lost
    except CommandMissing as missing:
        raise ClusterRefusal(Cause.UNREACHABLE, f"{what}: {missing}") from missing
    except (Unsafe, TooMany) as error:
        raise ClusterRefusal(Cause.INVALID, f"{what}: {error.strerror}") from error
    except OSError as error:
        cause = Cause.OWN if error.errno in (*_THEIRS, errno.EDQUOT) else Cause.UNREACHABLE
        raise ClusterRefusal(cause, f"{what}: {error.strerror}") from error
