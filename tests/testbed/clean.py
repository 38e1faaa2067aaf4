"""A clean Debian to install into: unpacked packages, and processes that see nothing else.

The root holds what a minimal Debian 12 has (Python and systemd's tools among it), unpacked from the
distribution's packages once and copied for each test. dpkg knows them as installed, so that it says
whether a package's dependencies are there. Its processes are in namespaces of their own: the host's
processes, mounts and network are not theirs, and they end with the root.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.testbed import apt
from tests.testbed.apt import PackagesUnavailable
from tests.testbed.packages import REPOSITORY, cache_folder, locked
from tests.testbed.processes import captured

SUITE, PYTHON = "bookworm", "3.11"
PACKAGES = (
    *("apt", "base-files", "base-passwd", "bash", "coreutils", "dash", "debianutils", "diffutils"),
    *("findutils", "grep", "groff-base", "gzip", "hostname", "init-system-helpers", "libc-bin"),
    *("login", "mawk", "passwd", "perl-base", "procps", "python3", "sed", "systemd"),
    *("tar", "usr-is-merged", "util-linux"),
)
BUILDER = (*PACKAGES, "build-essential", "debhelper", "python3-pip")
"""What a Debian has on which packages are built."""
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
}
_MEMORY = Path("/dev/shm")
_ROOM = 4 * 2**30  # bytes; a root has a tenth of it
_UNPACK = """
dpkg-deb --fsys-tarfile "$1" | tar -x --keep-directory-symlink -C "$2"
{ dpkg-deb --field "$1"; printf 'Status: install ok installed\\n\\n'; } >> "$2/var/lib/dpkg/status"
"""
_LOOPBACK_UP = """
import fcntl, os, socket, struct, time
with socket.socket() as any:  # SIOCSIFFLAGS, IFF_UP
    fcntl.ioctl(any, 0x8914, struct.pack("16sH14x", b"lo", 1))
print("ready", flush=True)
while True:
    try:
        os.wait()
    except ChildProcessError:
        time.sleep(0.05)
"""
"""The first process: it takes up those whose parents have ended, as init does."""


class CleanRoot:
    """A root file system at `path`, and a way to run commands in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        mounts = (
            f'mount --bind /dev "{path}/dev" && '
            f"exec chroot \"{path}\" /usr/bin/python3 -c '{_LOOPBACK_UP}'"
        )
        self._first = subprocess.Popen(
            [
                *("unshare", "--mount", "--pid", "--net", "--fork", "--kill-child"),
                *(f"--mount-proc={path}/proc", "sh", "-c", mounts),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._first.stdout is not None and self._first.stderr is not None
        if self._first.stdout.readline() != "ready\n":
            self._first.kill()
            raise PackagesUnavailable(f"no namespaces: {self._first.stderr.read().strip()}")

    def argv(self, *words: str) -> list[str]:
        """The command line by which the host runs a command there."""
        spaces = f"/proc/{self._first.pid}/ns"
        return [
            *("nsenter", f"--mount={spaces}/mnt", f"--pid={spaces}/pid_for_children"),
            *(f"--net={spaces}/net", "chroot", str(self.path), *words),
        ]

    def sh(
        self,
        script: str,
        user: str = "root",
        env: Mapping[str, str] | None = None,
        timeout: float = 150,
    ) -> subprocess.CompletedProcess[str]:
        """Run it there, in a folder that all may write; a user has root's HOME, as after `su`."""
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
        return captured(
            self.argv(*become, "sh", "-c", f"cd /tmp && {script}"),
            env={**ENVIRONMENT, **(env or {})},
            stdin=subprocess.DEVNULL,
            timeout=timeout,
        )

    def close(self) -> None:
        self._first.kill()
        self._first.wait()
        for stream in (self._first.stdout, self._first.stderr):
            assert stream is not None
            stream.close()


@contextlib.contextmanager
def clean_root(folder: Path, packages: Sequence[str] = PACKAGES) -> Iterator[CleanRoot]:
    """A clean Debian at `folder`. Raises `PackagesUnavailable` where none can be had.

    Of one on which packages are built the files are links: no tool of the build writes into them.
    """
    copy = "-al" if packages is BUILDER else "-a"
    apt.run(["cp", copy, _unpacked(packages), folder], 120)
    root = CleanRoot(folder)
    try:
        yield root
    finally:
        root.close()


@contextlib.contextmanager
def quick_folder(otherwise: Path) -> Iterator[Path]:
    """A folder for thousands of files: in memory, where there is room and programs may be run; else
    `otherwise`. To remove them from some disks takes minutes."""
    try:
        told = os.statvfs(_MEMORY)
    except OSError:
        told = None
    barred = os.ST_NOEXEC | os.ST_NOSUID | os.ST_RDONLY
    if told is None or told.f_flag & barred or told.f_bavail * told.f_frsize < _ROOM:
        yield otherwise
        return
    with tempfile.TemporaryDirectory(prefix="mb-", dir=_MEMORY) as name:
        Path(name).chmod(0o755)
        yield Path(name)


def wheelhouse() -> Path:
    """A folder with the wheels of all that metabroker's package is built from."""
    locks = [REPOSITORY / "requirements-lock.txt", REPOSITORY / "debian" / "requirements.txt"]
    folder = cache_folder() / "clean"
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"wheels-{_digest([lock.read_text() for lock in locks])}"
    with locked(folder / "wheels.lock"):
        if not place.exists():
            with tempfile.TemporaryDirectory(dir=folder) as name:
                download = [sys.executable, "-m", "pip", "download", "--quiet", "--require-hashes"]
                only = ["--only-binary=:all:", "--python-version", PYTHON]
                wanted = [word for lock in locks for word in ("--requirement", str(lock))]
                apt.run([*download, *only, *wanted, "--dest", f"{name}/wheels"], 300)
                Path(name, "wheels").rename(place)
    return place


def _digest(names: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]


def _unpacked(packages: Sequence[str]) -> Path:
    if os.geteuid() != 0:
        raise PackagesUnavailable("only root can change its root")
    if not all(map(shutil.which, ("unshare", "nsenter", "chroot"))):
        raise PackagesUnavailable("unshare, nsenter and chroot are needed")
    folder = cache_folder() / "clean"
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{SUITE}-{_digest(packages)}"
    smaller = None if packages is PACKAGES else _unpacked(PACKAGES)
    with locked(folder / f"{SUITE}.lock"):
        if not place.exists():
            with tempfile.TemporaryDirectory(dir=folder) as name:
                _build(Path(name), packages, smaller)
                Path(name, "root").rename(place)
    return place


def _build(work: Path, packages: Sequence[str], smaller: Path | None) -> None:
    """Unpacked, not installed: no package's script is run, but for what follows here. What the
    `smaller` root has is there already; its files are links."""
    root = work / "root"
    status = root / "var/lib/dpkg/status"
    if smaller is None:
        _begin(root, status)
    else:
        apt.run(["cp", "-al", smaller, root], 120)
        status.unlink()
        shutil.copy(smaller / status.relative_to(root), status)
    for archive in apt.download(SUITE, packages, work / "apt", status):
        apt.run(["sh", "-c", _UNPACK, "sh", archive, root], 60)
    if smaller is None:
        for name in ("passwd", "group"):
            shutil.copy(root / "usr/share/base-passwd" / f"{name}.master", root / "etc" / name)
    for name in ("doc", "locale", "i18n", "zoneinfo"):
        shutil.rmtree(root / "usr/share" / name, ignore_errors=True)
    compile_all = ["/usr/bin/python3", "-m", "compileall", "-q", "/usr/lib/python3.11"]
    apt.run(["chroot", root, *compile_all], 120)  # as the packages' scripts do


def _begin(root: Path, status: Path) -> None:
    """The folders that no package brings."""
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    status.parent.mkdir(parents=True)
    status.touch()
    for name in ("tmp", "opt"):
        (root / name).mkdir()
    (root / "tmp").chmod(0o1777)
