"""`metabroker-exchange` in a component, by each shell that is here, and what may be carried."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import metabroker.clusters.gate as package
from metabroker.clusters.gate.outbox import Malformed, checked, newest

from .running import SHELLS, with_tool

TOOL = Path(package.__file__).parent / "exchange.sh"
NAMESPACE = ("unshare", "--pid", "--fork")
try:
    NAMESPACES = subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode == 0
except OSError:
    NAMESPACES = False
Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture(params=SHELLS, ids=" ".join)
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    """Runs it as component 0 of three, unless another is named."""
    gate = tmp_path / "a gate"
    gate.mkdir()

    def run(
        *words: str,
        value: bytes = b"",
        component: int = 0,
        path: str = os.environ["PATH"],
        alone: bool = False,
    ) -> subprocess.CompletedProcess[bytes]:
        env = {
            "PATH": path,
            "METABROKER_PEERS_FILE": f"{gate}/peers.json",
            "METABROKER_COMPONENT": str(component),
            "METABROKER_COMPONENTS": "3",
            "METABROKER_JOB_ID": "12",
        }
        argv = [*(NAMESPACE if alone else ()), *request.param, str(TOOL), *words]
        return subprocess.run(argv, input=value, env=env, capture_output=True, timeout=60)

    return run


VALUES = [
    b"plain\n",
    b"",
    b"no end",
    b"\n\n",
    b":key\n :other\n  $(touch ran) `id` \\n %s '\"\n\n",
    "gr\u00fc\u00df \u2603\n".encode() * 100,
]


@pytest.mark.parametrize("value", VALUES)
def test_a_value_comes_out_as_it_went_in(run: Run, tmp_path: Path, value: bytes) -> None:
    for key in ("before", "key", "behind"):
        assert run("put", "key" if key == "key" else key, value=value).returncode == 0
    got = run("get", "0", "key")
    ended = value if value.endswith(b"\n") or not value else value + b"\n"
    assert (got.returncode, got.stdout, got.stderr) == (0, ended, b"")
    gate = tmp_path / "a gate"
    version = newest(path.name for path in gate.iterdir())
    content = (gate / f"out.{version}").read_bytes()
    assert checked(content) == content
    (gate / "in.2").write_bytes(content)
    assert run("get", "2", "key").stdout == ended
    assert not [path for path in gate.iterdir() if path.name.startswith(".")]


def test_a_key_that_is_put_again_has_the_new_value(run: Run) -> None:
    for value in (b"one\ntwo\n", b"three\n"):
        run("put", "k", value=value)
        run("put", "other", value=b"as it was\n")
    assert run("get", "0", "k").stdout == b"three\n"
    assert run("get", "0", "other").stdout == b"as it was\n"


def test_what_was_put_before_stays_where_ln_says_wrongly_that_it_has_failed(
    run: Run, tmp_path: Path
) -> None:
    """NFS asks for a link again whose answer was lost, and is told that it is there."""
    run("put", "first", value=b"one\n")
    ln = shutil.which("ln")
    script = f'{ln} "$@" || exit\nmkdir "{tmp_path}/lost" 2>/dev/null && exit 1\nexit 0\n'
    path = with_tool(tmp_path, "ln", script)
    assert run("put", "second", value=b"two\n", path=path).returncode == 0
    assert (tmp_path / "lost").exists()
    assert run("get", "0", "first", "--timeout", "0").stdout == b"one\n"
    assert run("get", "0", "second", "--timeout", "0").stdout == b"two\n"
    assert not list((tmp_path / "a gate").glob(".out*"))


@pytest.mark.skipif(not NAMESPACES, reason="no PID namespaces can be made")
def test_of_some_whose_processes_have_the_same_numbers_none_is_lost(run: Run) -> None:
    """As those of ranks in containers."""
    with ThreadPoolExecutor(8) as pool:
        done = list(
            pool.map(lambda n: run("put", f"k{n}", value=b"%d\n" % n, alone=True), range(8))
        )
    assert [each.returncode for each in done] == [0] * 8
    got = [run("get", "0", f"k{n}", "--timeout", "0").stdout for n in range(8)]
    assert got == [b"%d\n" % n for n in range(8)]


def test_of_many_who_put_at_once_none_is_lost(run: Run) -> None:
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda n: run("put", f"k{n}", value=b"%d\n" % n), range(16)))
    assert [one.returncode for one in done] == [0] * 16
    assert [run("get", "0", f"k{n}").stdout for n in range(16)] == [b"%d\n" % n for n in range(16)]


def test_components_of_other_jobs_have_the_job_before_theirs(run: Run, tmp_path: Path) -> None:
    gate = tmp_path / "a gate"
    run("put", "k", value=b"own\n")
    (gate / "in.1").write_text(":k\n of 1\n")
    (gate / "in.13.0").write_text(":k\n of 13\n")
    (gate / "in.14.7").write_text(":k\n of 14\n")
    got = [run("get", whose, "k").stdout for whose in ("12.0", "12.1", "13.0", "14.7")]
    assert got == [b"own\n", b"of 1\n", b"of 13\n", b"of 14\n"]


def test_a_barrier_waits_for_all(run: Run, tmp_path: Path) -> None:
    assert run("barrier", "b", "--timeout", "0").returncode == 1
    for other in ("in.1", "in.2"):
        (tmp_path / "a gate" / other).write_text(":barrier.b\n")
    assert run("barrier", "b", "--timeout", "0").returncode == 0


@pytest.mark.parametrize(
    ("words", "value", "code", "told"),
    [
        ((), b"", 2, "usage"),
        (("put",), b"", 2, "usage"),
        (("put", "a b"), b"", 2, "is no key"),
        (("put", "x" * 65), b"", 2, "longer than 64"),
        (("put", "k"), b"x" * 60001, 1, "more than 60000 bytes"),
        (("put", "k"), b"\n" * 59999, 1, "and 60000 are the most"),
        (("get", "3", "k"), b"", 2, "there is no component 3: they are 0 to 2"),
        (("get", "x", "k"), b"", 2, "usage"),
        (("get", "12.3", "k"), b"", 2, "there is no component 3: they are 0 to 2"),
        (("get", "13.0", "k", "--timeout", "0"), b"", 1, "component 13.0 has put no k in time"),
        (("get", "13.", "k"), b"", 2, "usage"),
        (("get", ".0", "k"), b"", 2, "usage"),
        (("get", "1.2.3", "k"), b"", 2, "usage"),
        (("get", "../1", "k"), b"", 2, "is no key"),
        (("get", "1", "k", "--timeout", "0"), b"", 1, "component 1 has put no k in time"),
        (("get", "1", "k", "--timeout", "soon"), b"", 2, "is no number of seconds"),
        (("get", "1", "k", "--wrong"), b"", 2, "usage"),
    ],
)
def test_what_is_refused(
    run: Run, words: tuple[str, ...], value: bytes, code: int, told: str
) -> None:
    done = run(*words, value=value)
    assert done.returncode == code
    assert told in done.stderr.decode(), done.stderr


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "no end"),
        (b":k", "no end"),
        (b" value\n", "line 1"),
        (b":k\nvalue\n", "line 2"),
        (b":k\n v\n:a key\n", "line 3"),
        (b":k\n \0\n", "NUL"),
        (b":k\n" * 257, "more than 256"),
        (b":k\n" + b" x\n" * 65536, "65536 bytes"),
    ],
)
def test_what_is_not_carried(content: bytes, told: str) -> None:
    with pytest.raises(Malformed, match=told):
        checked(content)
