"""What is installed: wheels and the Debian package, built from this source."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.testbed.clean import BUILDER, clean_root, wheelhouse
from tests.testbed.packages import cache_folder, locked

ROOT = Path(__file__).parents[2]
OFFLINE = {
    "PIP_NO_INDEX": "1",
    "PIP_FIND_LINKS": "/src/wheels",
    # Tests install it once or twice: it need not be small.
    "DPKG_DEB_COMPRESSOR_TYPE": "gzip",
    "DPKG_DEB_COMPRESSOR_LEVEL": "1",
}


def source(folder: Path) -> Path:
    """A copy of what packages are built from: what `make deb` takes, and the Makefile."""
    folder.mkdir(parents=True)
    unwanted = shutil.ignore_patterns("__pycache__", "*.so")
    for name in packaged():
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=unwanted)
        else:
            shutil.copy(ROOT / name, folder)
    return folder


def wheel(source: Path, out: Path) -> Path:
    """The wheel of a source."""
    words = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(out)]
    subprocess.run([sys.executable, "-m", "pip", *words, str(source)], check=True, timeout=150)
    (built,) = out.glob("metabroker-*.whl")
    return built


def deb(to: Path) -> Path:
    """The Debian package, copied to `to`: built on a clean Debian, again after each change.

    Raises `PackagesUnavailable` where no clean Debian can be had.
    """
    folder = cache_folder() / "clean"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work, locked(folder / "deb.lock"):
        fresh = source(Path(work, "source"))
        place = folder / f"deb-{_digest(fresh)}"
        if not place.exists():
            built = _build(fresh, Path(work, "root"))
            for old in folder.glob("deb-*/"):
                shutil.rmtree(old)
            built.rename(place)
        (found,) = place.glob("metabroker_*.deb")
        return Path(shutil.copy(found, to))


def _build(fresh: Path, folder: Path) -> Path:
    """The folder with what `make deb` has made, without any network."""
    with clean_root(folder, BUILDER) as root:
        (folder / "src").mkdir()
        subprocess.run(["cp", "-a", wheelhouse(), folder / "src/wheels"], check=True)
        shutil.copytree(fresh, folder / "src/metabroker", symlinks=True)
        done = root.sh("make -C /src/metabroker deb", env=OFFLINE, timeout=300)
    assert done.returncode == 0, f"{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return folder / "src/metabroker/dist"


NEWER = """
set -e
cd {folder}
dpkg-deb --raw-extract metabroker_*.deb tree
sed -i 's/^Version: .*/Version: {version}/' tree/DEBIAN/control
sed -i '1i # Of a later version.' tree/etc/metabroker/metabroker.yaml
code=$(echo tree/usr/lib/metabroker/lib/python3*/site-packages/metabroker/__init__.py)
sed -i 's/^__version__ = .*/__version__ = "{version}"/' "$code"
python3 -m compileall -qf --invalidation-mode unchecked-hash "$code"
rm metabroker_*.deb
dpkg-deb -Znone --build tree metabroker_{version}_all.deb
rm -r tree
"""
"""The package in a folder made one of a later version, which begins with other configuration."""


def packaged() -> list[str]:
    """What the package is built from."""
    found = re.search(r"^PACKAGED := ((?:.*\\\n)*.*)", (ROOT / "Makefile").read_text(), re.M)
    assert found is not None
    return [*found[1].replace("\\\n", "").split(), "Makefile"]


def _digest(folder: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        found.update(str(path.relative_to(folder)).encode())
        if path.is_symlink():
            found.update(str(path.readlink()).encode())
        elif path.is_file():
            found.update(path.read_bytes())
    return found.hexdigest()[:16]
