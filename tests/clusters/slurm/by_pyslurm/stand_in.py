"""Stands in for the helper process: says what it is told to, at first and to each request.

    python stand_in.py FOLDER

FOLDER/hello is each of its first two messages, or a list of them; FOLDER/plan has a word for each
request, over all its lives, and it answers well when there are none left. FOLDER/seen gets a line
for each start and each request.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import time
from pathlib import Path
from typing import Any


def main() -> None:
    folder = Path(sys.argv[1])
    note(folder, f"start {os.getpid()}")
    hello = (folder / "hello").read_text()
    if hello == "die":
        print("fatal: no slurm.conf", file=sys.stderr)
        sys.exit(1)
    if hello == "hang":
        time.sleep(600)
    first = json.loads(hello)
    for message in first if isinstance(first, list) else [first, first]:
        if message == "die":
            print("fatal: failed to initialize auth plugin", file=sys.stderr)
            sys.exit(1)
        say(message)
    while head := sys.stdin.buffer.read(4):
        request = json.loads(sys.stdin.buffer.read(struct.unpack(">I", head)[0]))
        note(folder, json.dumps(request))
        answer(next_word(folder), request)


def note(folder: Path, line: str) -> None:
    with (folder / "seen").open("a") as file:
        file.write(line + "\n")


def next_word(folder: Path) -> str:
    plan = (folder / "plan").read_text().split()
    (folder / "plan").write_text(" ".join(plan[1:]))
    return plan[0] if plan else "well"


def say(message: Any) -> None:
    body = json.dumps(message).encode()
    write(struct.pack(">I", len(body)) + body)


def write(raw: bytes) -> None:
    sys.stdout.buffer.write(raw)
    sys.stdout.buffer.flush()


def answer(word: str, request: dict[str, Any]) -> None:
    done = {"id": request["id"], "status": 0, "stdout": "answered\n", "stderr": ""}
    match word:
        case "well":
            say(done)
        case "no":
            print("error: the library's log", file=sys.stderr, flush=True)
            say(done | {"status": 1, "stdout": "", "stderr": "slurm_load_jobs error: refused\n"})
        case "late":
            time.sleep(1.0)
            say(done)
        case "list":
            say([1])
        case "other":
            say(done | {"id": request["id"] - 1})
        case "form":
            say({"id": request["id"], "status": "0", "stdout": 5})
        case _:
            misbehave(word)


def misbehave(word: str) -> None:
    match word:
        case "die":
            print("munmap_chunk(): invalid pointer", file=sys.stderr)
            os.abort()
        case "hang":
            time.sleep(600)
        case "chatter":
            while True:
                os.write(2, b"error: and again\n")
        case "half":
            write(struct.pack(">I", 1000) + b'{"id": 1')
            sys.exit(0)
        case "huge":
            write(b"HTTP/1.1 200 OK\r\n\r\n")
            time.sleep(600)
        case "nothing":
            write(struct.pack(">I", 3) + b"\xff\xfe{")
        case "deep":
            body = b"[" * 100_000
            write(struct.pack(">I", len(body)) + body)


main()
