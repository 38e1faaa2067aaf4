"""OpenSSH's server and client from the distribution's packages, relocated like Slurm.

With them comes nss_wrapper, so that a server can know an account with a home and a shell of the
test's own making, whatever the machine's user database says.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.testbed import apt
from tests.testbed.packages import (
    DEFAULT_SUITE,
    MANIFEST,
    PackagesUnavailable,
    cache_folder,
    gather_libraries,
    locked,
    patchelf,
    relocate,
)

PACKAGES = ("openssh-server", "openssh-client", "libnss-wrapper")
PROGRAMS = {"bin": ("ssh", "ssh-add", "ssh-agent", "ssh-keygen"), "sbin": ("sshd",)}


@dataclass(frozen=True)
class OpenSsh:
    """A relocated OpenSSH."""

    prefix: Path

    @property
    def bin(self) -> Path:
        return self.prefix / "bin"

    @property
    def sshd(self) -> Path:
        return self.prefix / "sbin" / "sshd"

    @property
    def nss_wrapper(self) -> Path:
        return self.prefix / "lib" / "libnss_wrapper.so"


def install_openssh(suite: str = DEFAULT_SUITE, cache: Path | None = None) -> OpenSsh:
    """The relocated OpenSSH of `suite`: from the cache, or else built (network, some 10 s).

    Raises `PackagesUnavailable`, with the reason, where the packages cannot be had.
    """
    folder = (cache or cache_folder()) / "openssh"
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / f"{suite}.lock"):
        prefix = folder / suite
        try:
            known = json.loads((prefix / MANIFEST).read_text())
        except OSError:
            _build(folder, suite, prefix)
        else:
            if known["prefix"] != str(prefix):  # the folder was moved: its paths are absolute
                relocate(prefix, prefix)
                _write_manifest(prefix, prefix)
    return OpenSsh(prefix)


def _build(folder: Path, suite: str, prefix: Path) -> None:
    """Build in a temporary folder and rename: the cache never holds half of it."""
    patchelf()
    with tempfile.TemporaryDirectory(prefix=f".{suite}-", dir=folder) as name:
        work = Path(name)
        for archive in apt.download(suite, PACKAGES, work / "apt"):
            apt.run(["dpkg-deb", "-x", archive, work / "root"], 60)
        fresh = work / "fresh"
        gather_libraries(work / "root", fresh)
        for place, programs in PROGRAMS.items():
            for program in programs:
                source = work / "root" / "usr" / place / program
                if not source.is_file():
                    raise PackagesUnavailable(f"the packages hold no program {program}")
                shutil.copy2(source, fresh / place / program)
                (fresh / place / program).chmod(0o755)  # ssh-agent comes with a group of its own
        relocate(fresh, prefix)
        _write_manifest(fresh, prefix)
        fresh.rename(prefix)
    try:
        apt.run([prefix / "bin" / "ssh", "-V"], 10)
    except PackagesUnavailable:
        shutil.rmtree(prefix)  # it runs not here: a later try shall not find it
        raise


def _write_manifest(tree: Path, prefix: Path) -> None:
    (tree / MANIFEST).write_text(json.dumps({"prefix": str(prefix)}) + "\n")
