"""The lint that proves the core's purity finds what must not be there."""

import sys
from pathlib import Path

import pytest

from tests.testbed.processes import captured
from tools import purity

ROOT = Path(__file__).parents[2]


def messages(source: str) -> list[str]:
    return [f"{finding.line}: {finding.message}" for finding in purity.findings(Path("x"), source)]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("from time import monotonic as m\n", "1: imports time.monotonic: a clock"),
        ("import datetime as d\n", "1: imports datetime: a clock"),
        ("import os.path\n", "1: imports os.path: files"),
        ("import json, random\n", "1: imports random: randomness"),
        ("def f():\n    import socket\n", "2: imports socket: the network"),
        ("import urllib.request\n", "1: imports urllib.request: the network"),
        ("from urllib import request\n", "1: imports urllib.request: the network"),
        ("import logging\n", "1: imports logging: messages"),
        ("def f(p):\n    return open(p)\n", "2: calls open(): I/O"),
        ("print('x')\n", "1: calls print(): I/O"),
        ("x = input()\n", "1: calls input(): I/O"),
        ("exec('x')\n", "1: calls exec(): code that cannot be checked"),
        ("__import__('time')\n", "1: calls __import__(): code that cannot be checked"),
        ("breakpoint()\n", "1: calls breakpoint(): I/O"),
        ("def f():\n    global x\n", "2: changes the module through `global x`"),
    ],
)
def test_an_impure_line_is_found(source: str, message: str) -> None:
    assert messages(source) == [message]


@pytest.mark.parametrize(
    "source",
    [
        "x = []\n",
        "x: dict[str, int] = {}\n",
        "x: Final = {1, 2}\n",
        "x: a | b = {1, 2}\n",
        "x = [a for a in b]\n",
        "x = collections.defaultdict(list)\n",
        "x: ClassVar[dict[int, int]] = dict()\n",
        "class A:\n    x = set()\n",
        "x = (1,)\nx += (2,)\n",
    ],
)
def test_a_shared_variable_that_can_be_changed_is_found(source: str) -> None:
    (message,) = messages(source)
    assert "a shared variable that can be changed" in message


@pytest.mark.parametrize(
    "source",
    [
        "from . import time\n",
        "from .random import x\n",
        "from urllib.parse import quote\n",
        "import json\n",
        "x = (1, 2)\n",
        "x = frozenset({1})\n",
        "x: Mapping[str, int] = {'a': 1}\n",
        "x: Final[collections.abc.Sequence[int]] = [1]\n",
        "x: int\n",
        "__all__ = ['x']\n",
        "class A:\n    __slots__ = ['x']\n    y: list[int] = field(default_factory=list)\n",
        "def f(a):\n    x = [1]\n    x += a\n    return x\n",
        "def f(a):\n    return a.open()\n",
    ],
)
def test_a_pure_line_is_not(source: str) -> None:
    assert messages(source) == []


def test_the_tool_prints_the_place_and_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "inner").mkdir()
    planted = tmp_path / "inner" / "core.py"
    planted.write_text("x = 1\nfrom time import monotonic as m\n")
    assert purity.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out == f"{planted}:2: imports time.monotonic: a clock\n"
    planted.write_text("x = 1\n")
    assert purity.main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == ""


def test_the_tool_needs_something_to_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert purity.main([]) == 2
    assert purity.main([str(tmp_path)]) == 2
    assert "no Python files" in capsys.readouterr().err


def test_the_policies_are_pure() -> None:
    command = [sys.executable, str(ROOT / "tools" / "purity.py"), str(ROOT / "metabroker/policy")]
    done = captured(command)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
