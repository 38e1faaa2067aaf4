"""Makes the picture of the page that the documentation shows, of real clusters at work:

python -m tests.web.screenshot docs/images/page.png [light|dark]
"""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
import time
from io import BytesIO
from pathlib import Path

from PIL import Image

from tests.daemon.harness import Site
from tests.daemon.kinds import Slurm
from tests.daemon.test_offline import free_port
from tests.testbed import Testbed
from tests.web import browser as chromium

SCRIPT = "#!/bin/sh\nsleep 600\n"
APART = 9  # seconds between submissions, so that starts differ
JOBS = (
    "--on delft:48,leiden:16 -t 4 --job-name climate-ensemble",
    "-n 32 --cluster delft -t 6 --job-name wing-section-42",
    "--components 16,16 -t 3 --job-name plasma",
    "-n 8 --cluster lab -t 5 --job-name sequence-fold",
    "-n 24 --cluster delft -t 7 --job-name mesh-refine",
)
WAITING = (
    "--on delft:96,leiden:32,lab:16 -t 10 --job-name ocean-atmosphere",
    "--components 64,32 -t 10 --job-name galaxy",
    "-n 32 --cluster lab -t 5 --job-name training",
    "-n 16 --cluster lab -t 5 --job-name training-2",
    "-n 8 --hold --cluster leiden -t 5 --job-name report",
)


def main() -> None:
    """Start all, photograph it, and end all."""
    target = Path(sys.argv[1])
    scheme = sys.argv[2] if len(sys.argv) > 2 else "light"
    folder = Path(tempfile.mkdtemp(prefix="mb-"))
    folder.chmod(0o755)
    with Testbed() as testbed, chromium.running(chromium.install()) as browser:
        address = f"127.0.0.1:{free_port()}"
        site = Site(folder, Slurm(testbed.clusters), {"metrics": address, "page": "jobs"})
        try:
            _fill(site, testbed)
            browser.size(1120, 1190)
            browser.scheme(scheme)
            browser.open(f"http://{address}/")
            time.sleep(3)
            with Image.open(BytesIO(browser.driver.get_screenshot_as_png())) as picture:
                picture.convert("RGB").quantize(256, kmeans=3).save(target, optimize=True)
        finally:
            site.close()
            shutil.rmtree(folder, ignore_errors=True)


def _fill(site: Site, testbed: Testbed) -> None:
    site.start_and_look()
    site.kind.local_job(site.folder, "locals", "leiden", 12)
    site.kind.local_job(site.folder, "others", "delft", 22)
    drained = ("NodeName=lab2", "State=DRAIN", "Reason=disk")
    testbed["lab"].run("scontrol", "update", *drained, check=True)
    for options in JOBS:
        site.submit(shlex.split(options), SCRIPT)
        time.sleep(APART)
    for options in WAITING:
        site.submit(shlex.split(options), SCRIPT)
    time.sleep(APART)


if __name__ == "__main__":
    main()
