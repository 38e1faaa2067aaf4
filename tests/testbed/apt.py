"""Packages from the machine's own Debian mirror, without root and without touching the system.

apt-get is given a private state: its own lists, an empty status file (so that a package's
whole closure is resolved, libc included) and one source, on the mirror this machine already
uses. What it downloads is verified by the distribution's keyring as always.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import pytest

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
UPDATE_SECONDS = 120
DOWNLOAD_SECONDS = 600

# The machine's configuration stays in force (proxies, certificates); its hooks and pins do not:
# they concern the system's packages.
CONFIGURATION = """\
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Invoke;
#clear DPkg::Post-Invoke;
#clear DPkg::Pre-Install-Pkgs;
Dir::State "{folder}/state";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}/cache";
Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "{folder}/none";
Dir::Etc::preferences "{folder}/none/preferences";
Dir::Etc::preferencesparts "{folder}/none";
APT::Default-Release "";
APT::Sandbox::User "";
APT::Install-Recommends "false";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
Acquire::Retries "2";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
"""


class SlurmUnavailable(Exception):
    """Real clusters cannot be had on this machine; the text says why."""


class PackagesUnavailable(SlurmUnavailable):
    """The packages cannot be had here; the text says why."""


def leave_out(why: str) -> NoReturn:
    """Skip a test for that reason; where everything must be tested, fail."""
    if os.environ.get("METABROKER_REQUIRE_SLURM") == "1":
        pytest.fail(f"left out, {why}", pytrace=False)
    pytest.skip(f"left out, {why}")


def run(argv: Sequence[str | Path], timeout: float) -> str:
    """Run a tool and return what it printed; any failure is `PackagesUnavailable`."""
    command = " ".join(str(word) for word in argv[:6])
    try:
        done = subprocess.run(
            [str(word) for word in argv],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    except OSError as error:
        raise PackagesUnavailable(f"cannot run {argv[0]}: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise PackagesUnavailable(f"no answer within {timeout:.0f} s from: {command}") from error
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("E:")]
        reason = "; ".join(lines[:3]) or done.stderr.strip()[-300:] or "no message"
        raise PackagesUnavailable(f"{command}: exit {done.returncode}: {reason}")
    return done.stdout


def machine_mirror() -> str:
    """The address of the mirror this machine's apt takes its distribution from."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise PackagesUnavailable("this machine has no apt-get and dpkg-deb: not a Debian system")
    output = run(["apt-get", "update", "--print-uris"], UPDATE_SECONDS)
    found = re.findall(r"^'([^']+)/dists/([a-z]+)/InRelease'", output, re.MULTILINE)
    mirrors = [address for address, _ in found if address.rstrip("/").endswith("debian")]
    mirrors += [address for address, _ in found]
    if not mirrors:
        raise PackagesUnavailable("apt on this machine knows no distribution mirror")
    return str(mirrors[0])


def download(
    suite: str, packages: Sequence[str], folder: Path, status: Path | None = None
) -> list[Path]:
    """Download `packages` of `suite`, and all they depend on; return the .deb files. What is
    installed by the dpkg `status` is not needed again."""
    configuration = _private_state(suite, machine_mirror(), folder)
    if status is not None:
        shutil.copy(status, folder / "status")
    apt_get = ["apt-get", "-qq", "-c", str(configuration)]
    run([*apt_get, "update"], UPDATE_SECONDS)
    run([*apt_get, "--yes", "--download-only", "install", *packages], DOWNLOAD_SECONDS)
    return sorted((folder / "cache" / "archives").glob("*.deb"))


def _private_state(suite: str, mirror: str, folder: Path) -> Path:
    for name in ("state/lists/partial", "cache/archives/partial", "none"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
    (folder / "sources.list").write_text(f"deb {signed}{mirror} {suite} main\n")
    configuration = folder / "apt.conf"
    configuration.write_text(CONFIGURATION.format(folder=folder))
    return configuration
