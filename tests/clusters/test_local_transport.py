"""Commands and files of this host: what only these do (`transports` has what all transports do)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from metabroker.clusters.transports.base import Command, CommandLost, CommandMissing, Completed
from metabroker.clusters.transports.local import LocalTransport
from metabroker.clusters.transports.local_files import LocalFiles
from metabroker.clusters.transports.remote_shell import LINE, RemoteShell
from tests.daemon.harness import eventually

PYTHON = sys.executable


def run(
    *argv: str, transport: LocalTransport | None = None, stdin: bytes = b"", **given: object
) -> Completed:
    return (transport or LocalTransport({})).run(Command(argv, stdin=stdin, **given))  # type: ignore[arg-type]


# --- commands ---------------------------------------------------------------------------------


def test_a_scrubbed_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_CPU_BIND", "SQUEUE_FORMAT", "SECRET", "LD_PRELOAD_X", "LANG", "TMPDIR"):
        monkeypatch.setenv(name, "leaks")
    transport = LocalTransport({"SLURM_CONF": "/etc/slurm/delft.conf", "HOME": "/other"})
    done = run("env", transport=transport, env=(("SLURM_TIME_FORMAT", "%s"),))
    seen = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert seen.keys() - {"PWD", "SHLVL", "_"} == {
        "HOME", "USER", "LOGNAME", "SHELL", "PATH", "LC_ALL", "SLURM_CONF", "SLURM_TIME_FORMAT",
    }  # fmt: skip
    assert seen["SLURM_CONF"] == "/etc/slurm/delft.conf"
    assert seen["HOME"] == "/other"
    assert "leaks" not in done.stdout


def test_the_path_of_the_configuration_is_searched(tmp_path: Path) -> None:
    (tmp_path / "squeue").write_text("#!/bin/sh\necho mine\n")
    (tmp_path / "squeue").chmod(0o755)
    transport = LocalTransport({"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert run("squeue", transport=transport).stdout == "mine\n"


def by_login_shell(shell: RemoteShell) -> Callable[[Command], Completed]:
    """Runs the line that a login shell is given, by a shell of this host."""

    def run(command: Command) -> Completed:
        sent = shell.send(command, 20.0)
        done = subprocess.run(["sh", "-c", LINE], input=sent.stdin, capture_output=True)
        return sent.answer(done.stdout, done.stderr)

    return run


@pytest.mark.parametrize("far", [False, True], ids=["local", "login shell"])
def test_a_folder_of_commands_is_the_only_place_they_come_from(tmp_path: Path, far: bool) -> None:
    """Another `squeue` along PATH may be of another release, or know another cluster."""
    own, other = tmp_path / "own", tmp_path / "other"
    for folder, name in ((own, "sinfo"), (other, "sinfo"), (other, "squeue")):
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(f"#!/bin/sh\necho {folder.name}\n")
        (folder / name).chmod(0o755)
    env = {"PATH": f"{other}:{os.defpath}"}
    here = LocalTransport(env, folder=str(own)).run
    run = by_login_shell(RemoteShell(env, folder=str(own))) if far else here
    assert run(Command(("sinfo",))).stdout == "own\n"
    with pytest.raises(CommandMissing, match=f"squeue: not found in {own}$"):
        run(Command(("squeue",)))
    assert run(Command(("sh", "-c", "echo $PATH"))).stdout.startswith(f"{own}:{other}:")
    assert run(Command(("date", "+%s"))).stdout.strip().isdigit()


def test_a_login_shell_tells_where_a_command_was_looked_for() -> None:
    with pytest.raises(CommandMissing, match=r"squeue: not found in /nowhere$"):
        by_login_shell(RemoteShell({"PATH": "/nowhere"}))(Command(("squeue",)))


@pytest.mark.parametrize("script", [
    "{ready}; sleep 300",
    "sleep 300 & echo $! >> pids; sleep 300 & echo $! >> pids; {ready}; wait",
    "trap '' TERM HUP INT; sleep 300 & echo $! >> pids; {ready}; wait; sleep 300",
    # It is over, but a child holds its output open.
    "sleep 300 & echo $! >> pids; {ready}; exit 0",
])  # fmt: skip
def test_one_that_hangs_is_lost_within_its_bound_and_its_children_are_gone(
    tmp_path: Path, script: str
) -> None:
    script = "echo $$ >> pids; " + script.format(ready=": > ready")
    for seconds in (0.4, 2, 10, 50):  # on a busy machine it may not even have begun so soon
        with pytest.raises(CommandLost, match="no answer within"):
            run("sh", "-c", script, cwd=str(tmp_path), seconds=seconds)
        if (tmp_path / "ready").exists():
            break
    assert (tmp_path / "ready").exists()
    pids = (tmp_path / "pids").read_text().split()
    eventually(lambda: not any(alive(pid) for pid in pids), "its children are gone")


def alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_every_command_has_a_bound() -> None:
    with pytest.raises(CommandLost, match=r"no answer within 0.2 s"):
        run("sleep", "300", transport=LocalTransport({}, command_timeout=0.2))


# --- files ------------------------------------------------------------------------------------

files = LocalFiles()


def test_a_folder_and_the_one_of_gates_above_it_for_one_account_only(tmp_path: Path) -> None:
    path = tmp_path / ".metabroker" / "mb-1"
    files.make_folder(str(path))
    files.make_folder(str(path))
    assert [oct(p.stat().st_mode & 0o777) for p in (path, path.parent)] == ["0o700", "0o700"]
    with pytest.raises(FileNotFoundError):
        files.make_folder(str(tmp_path / "a" / "b" / "c"))


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    files.write(str(path), b"one")
    files.write(str(path), b"two", executable=True)
    assert path.read_bytes() == b"two"
    assert oct(path.stat().st_mode & 0o777) == "0o700"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    assert files.read(str(path)) == b"two"


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "full").write_text("")
    with pytest.raises(OSError):
        files.write(str(tmp_path / "folder"), b"x")
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]
    with pytest.raises(FileNotFoundError):
        files.write(str(tmp_path / "gone" / "file"), b"x")


def test_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for gone in (tmp_path / "gone", tmp_path / "file" / "inside"):
        assert files.read(str(gone)) is None
        assert files.list(str(gone)) is None
        assert files.rename(str(gone), str(tmp_path / "other")) is False
        files.remove_tree(str(gone / "a"))
    assert (tmp_path / "file").exists()


def test_listing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    os.utime(tmp_path / "file", (1000.5, 1000.5))
    (tmp_path / "link").symlink_to("nowhere")
    found = {entry.name: entry.modified for entry in files.list(str(tmp_path)) or ()}
    assert found.keys() == {"file", "link"}
    assert found["file"] == 1000.5


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "private").write_text("secret")
    (tmp_path / "link").symlink_to(tmp_path / "private")
    with pytest.raises(OSError, match="symbolic links"):
        files.read(str(tmp_path / "link"))
    files.write(str(tmp_path / "link"), b"new")
    assert (tmp_path / "private").read_text() == "secret"


def test_removing_does_not_leave_through_links(tmp_path: Path) -> None:
    (tmp_path / "keep").mkdir()
    (tmp_path / "keep" / "file").write_text("")
    gate = tmp_path / ".metabroker" / "mb-1"
    files.make_folder(str(gate))
    (gate / "link").symlink_to(tmp_path / "keep")
    files.remove_tree(str(gate))
    assert (tmp_path / "keep" / "file").exists()
    assert not gate.parent.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        files.write(str(tmp_path / "file"), b"")
    with pytest.raises(PermissionError):
        files.make_folder(str(tmp_path / "a" / "b"))
