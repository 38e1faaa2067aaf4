"""A process that serves the fake: `python -m tests.api.serve_fake SOCKET`."""

from __future__ import annotations

import signal
import sys
import threading

from metabroker.api.server import ApiServer
from tests.api.fake import FakeService


def main() -> None:
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    server = ApiServer(FakeService(), sys.argv[1])
    server.start()
    print("ready", flush=True)
    stop.wait()
    server.stop()


if __name__ == "__main__":
    main()
