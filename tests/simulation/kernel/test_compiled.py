"""Where compiled programs are kept, and that each is found again."""

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from metabroker.simulation.kernel import compiled, conservative, easy, job_mix, queues
from metabroker.simulation.kernel.compiled import digest, entry, folders

NAME = f"metabroker-{digest()}"


def twice(number: int) -> int:
    return 2 * number


def test_beside_their_source_or_in_the_cache_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/home/ada/.cache")
    user = Path("/home/ada/.cache/metabroker") / NAME
    assert folders("") == [compiled.HERE / "__pycache__" / NAME, user]
    monkeypatch.setattr(compiled, "HERE", Path("/nowhere"))
    assert folders("") == [user]


def test_in_the_folder_that_numba_is_told() -> None:
    assert folders("/var/cache/numba") == [Path("/var/cache/numba") / NAME]


def test_where_nothing_can_be_written_it_is_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setattr(compiled, "folders", lambda outer: [file])
    assert entry(twice)(4) == 8


def test_a_second_process_finds_what_the_first_has_compiled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(compiled, "folders", lambda outer: [tmp_path / "cache"])
    assert entry(twice)(4) == 8
    assert list((tmp_path / "cache").rglob("*.nbc"))


@pytest.mark.xdist_group("kernel")
def test_what_two_processes_have_compiled_plays_right_in_a_third(tmp_path: Path) -> None:
    """In numba's names a function that is made anew for each policy has a number of the process
    that compiled it; the loop of one policy was taken for that of another."""
    for policies in (("EASY",), ("AFCFS",), ("EASY", "AFCFS")):
        assert played_anew(policies, tmp_path / "cache") == ""


def played_anew(policies: tuple[str, ...], folder: Path) -> str:
    """Where a new process plays random worlds of these policies wrong; empty: nowhere."""
    looked = f"print(*(differ(p, s) for p in {policies!r} for s in range(4)), sep='', end='')"
    ended = subprocess.run(
        [sys.executable, "-c", f"from tests.simulation.kernel.worlds import differ; {looked}"],
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout


def test_no_two_programs_have_one_name() -> None:
    modules = job_mix, easy, conservative, queues
    loops = [loop for module in modules for loop in (module._loop, module._loop_of_pyss)]
    programs: dict[tuple[str, str], object] = {}
    for loop in loops:
        for function in reached(loop, set()):
            name = function.__module__, function.__qualname__
            assert programs.setdefault(name, function) is function, name
    assert len(programs) > 60


def reached(program: Any, seen: set[Any]) -> set[Any]:
    """The Python functions of a program and of all that it calls, which are compiled by themselves
    (what is merged is not)."""
    function = program.py_func
    if function not in seen:
        if program.targetoptions.get("inline") != "always":
            seen.add(function)
        names = inspect.getclosurevars(function)
        for value in (*names.globals.values(), *names.nonlocals.values()):
            if hasattr(value, "py_func"):
                reached(value, seen)
    return seen
