"""Run as a user: submits what stands on standard input, a line of JSON each, and prints the number
of each job, or why there is none. With `cancels`: holds, releases and cancels jobs of its own, over
and over, until it is ended.

    python asking.py SOCKET [cancels]
"""

from __future__ import annotations

import json
import sys
import time

from metabroker.api.client import Client, ClientError


def submits(client: Client) -> None:
    """Each line, in their order."""
    for line in sys.stdin:
        wire = json.loads(line)
        while True:
            try:
                print(json.dumps(client.submit(wire)["job"]), flush=True)
            except ClientError as error:
                if "limits.per_user" in str(error):
                    time.sleep(0.5)
                    continue
                print(json.dumps(str(error)), flush=True)
            break


def cancels(client: Client) -> None:
    """Jobs that are cancelled at any moment of their lives."""
    wire = json.loads(sys.stdin.readline())
    pause = 0.0
    while True:
        try:
            job = client.submit(wire)["job"]
            time.sleep(pause)
            for verb in ("hold", "release", "cancel"):
                client.change(job, verb)
        except ClientError:
            time.sleep(0.2)
        pause = (pause + 0.13) % 1.5


if __name__ == "__main__":
    (cancels if sys.argv[2:] == ["cancels"] else submits)(Client(sys.argv[1], patience=300.0))
