"""The shell of virtual time does what the host's shell does."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.clusters.gate import wrapper
from metabroker.clusters.port import ComponentRequest
from tests.clusters.gate.making import order

from .expansion import Script
from .filesystem import FileSystem
from .meeting import without_meeting
from .shell import Node, Shell

SNIPPETS = {
    "an assignment keeps the status of its command": "x=$(exit 3); echo $? > out",
    "a plain assignment succeeds": "exit_() { return_=1; }; x=1; echo $? > out",
    "the status before is seen in an assignment": "[ -e none ]; x=$?; echo $x > out",
    "words are split where they are not quoted": 'x="a  b"; echo $x "$x" > out',
    "no word of nothing": "x=; printf '%s|%s\\n' a$x$x b > out",
    "defaults": "echo ${no:-d e} ${yes:+no} > out",
    "sums": "x=4; y=$((x * 100)); z=$((y + 2)); echo $z > out",
    "and or": "[ -e none ] && echo a > out || echo b > out",
    "not": "if ! [ -e none ]; then echo yes > out; fi",
    "elif": "if [ 1 -ge 2 ]; then x=1; elif [ 3 -ne 4 ]; then x=2; else x=3; fi; echo $x > out",
    "case": "for w in 'a[b' abc '' 129; do case $w in *\\[*) x=$x,list ;; '') x=$x,none ;;"
    " 129 | 130) x=$x,signal ;; *) x=$x,other ;; esac; done; echo $x > out",
    "for and lists": 'for h in b a; do l="$l${l:+, }\\"$h\\""; done; printf "[%s]\\n" "$l" > out',
    "until": "n=0; until [ $n -ge 3 ]; do n=$((n + 1)); done; echo $n > out",
    "functions and their words": "f() { echo $2 > $1; }; f out done",
    "a subshell keeps its own": "x=1; (x=2; cd /; exit 5); echo $? $x > out",
    "an exit ends all": "echo a > out; exit 7; echo b > out",
    "a rename that fails": "mv none other 2>/dev/null || echo no > out",
    "renamed": "echo a > one; mv one out",
    "quotes": "echo 'a'\\''b' \"c\\\"d\" e\\ f > out",
    "words given": "set -- 'a b' c; printf '%s|%s\\n' \"$@\" > out",
    "a trap's end": "trap 'x=1' TERM; trap '' TERM; echo $? > out",
    "a comment, and a line that goes on": "echo a \\\n b > out # not this",
}


def virtually(text: str, files: FileSystem, folder: str, answer: int = 0) -> int:
    """Run to the end; a user's script ends with `answer`."""
    node = Node("n1", files, lambda: 0.001)
    running = Shell(node, {}, set(), folder=folder).run(text)
    step: float | Script = next(running)
    try:
        while True:
            step = running.send(answer) if isinstance(step, Script) else next(running)
    except StopIteration as end:
        return int(end.value)


@pytest.mark.parametrize("text", SNIPPETS.values(), ids=SNIPPETS)
def test_a_snippet_does_what_it_does_in_the_hosts_shell(tmp_path: Path, text: str) -> None:
    text = f"{text.rstrip()}\nmb=$?\nsleep 0\nexit $mb\n"
    real = subprocess.run(["/bin/sh", "-c", text], cwd=tmp_path, check=False)
    files = FileSystem(lambda: 0.0)
    files.make_folders("/work")
    assert virtually(text, files, "/work") == real.returncode
    assert files.read("/work/out") == (tmp_path / "out").read_bytes()


@pytest.mark.parametrize("barrier", [None, 30])
@pytest.mark.parametrize("position", ["go", "run", "abort"])
def test_the_wrapper_leaves_behind_what_it_leaves_in_the_hosts_shell(
    tmp_path: Path, barrier: int | None, position: str
) -> None:
    it = replace(order(tmp_path, script=b"#!/bin/sh\nexit 3\n"), barrier_seconds=barrier)
    gate = Path(it.gate)
    gate.mkdir(mode=0o700, parents=True)
    (gate / "script").write_bytes(it.script)
    (gate / "script").chmod(0o700)
    (gate / position).write_bytes(b"")
    text = without_meeting(wrapper(it, "delft").decode())
    files = FileSystem(lambda: 0.0)
    files.make_folders(it.gate)
    files.write(f"{it.gate}/script", it.script)
    files.write(f"{it.gate}/{position}", b"")
    real = subprocess.run(
        ["/bin/sh"], input=text.encode(), cwd=tmp_path, capture_output=True, check=False
    )
    assert virtually(text, files, str(tmp_path), answer=3) == real.returncode
    assert _left(files, it) == {each.name for each in gate.iterdir()}
    assert files.read(f"{it.gate}/ended") == (
        (gate / "ended").read_bytes() if (gate / "ended").exists() else None
    )


def _left(files: FileSystem, it: ComponentRequest) -> set[str]:
    return set(files.names(it.gate) or ())
