"""One connection, kept; broken ones; hosts and accounts that are not what they should be."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import paramiko
import pytest

from metabroker.clusters.transports.back_off import MOST, BackOff
from metabroker.clusters.transports.base import Command, CommandLost, Transport, Unreached
from metabroker.clusters.transports.known_hosts import KnownHosts
from metabroker.clusters.transports.ssh_target import Hop
from tests.daemon.harness import eventually
from tests.testbed.proxy import Proxy
from tests.testbed.sshd import Sshd

from .conftest import MakeFar, make_far, reach

TRUE = Command(("true",))


def word(transport: Transport, text: str = "here") -> str:
    return transport.run(Command(("echo", text))).stdout


def answers(transport: Transport) -> bool:
    """Whether it answers again."""
    with contextlib.suppress(CommandLost, Unreached):
        return word(transport) == "here\n"
    return False


def refusal(transport: Transport) -> str:
    """Why nothing can be run there."""
    with pytest.raises(Unreached) as caught:
        transport.run(TRUE)
    return str(caught.value)


# --- broken ones ------------------------------------------------------------------------------


def test_one_connection_is_kept(far: MakeFar, sshd: Sshd, way: Proxy) -> None:
    transport = far(reach(sshd, way.port))
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda _: word(transport), range(24)))
    transport.files.list("/")
    assert way.accepted == 1
    transport.close()
    eventually(lambda: not way.open, "closed, it is ended")


def test_never_more_than_four_sessions_at_once(far: MakeFar, sshd: Sshd, place: Path) -> None:
    """Each counts those that run beside it."""
    transport = far(reach(sshd))
    transport.files.rename("/nowhere/a", "/nowhere/b")  # a session for files, if it has one
    script = 'touch "$0/$$"; ls "$0" | wc -l; sleep 0.2; rm "$0/$$"'
    with ThreadPoolExecutor(12) as pool:
        command = Command(("sh", "-c", script, str(place)))
        told = list(pool.map(lambda _: int(transport.run(command).stdout), range(16)))
    assert 1 < max(told) <= 4


@pytest.mark.parametrize("how", ["cut", "silent"])
def test_what_a_broken_connection_leaves_is_not_known(
    far: MakeFar, sshd: Sshd, way: Proxy, place: Path, how: str
) -> None:
    transport = far(replace(reach(sshd, way.port), keepalive=1.0))
    word(transport)
    script = f"touch {place}/begun; sleep 3; touch {place}/done"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(transport.run, Command(("sh", "-c", script)))
        while not (place / "begun").exists():
            assert not running.done(), running.exception()
            time.sleep(0.01)
        if how == "cut":
            way.cut()
        else:
            way.silence()
        with pytest.raises(CommandLost, match="connection broke"):
            running.result(15)
    way.heal()
    eventually(lambda: answers(transport), "it answers again")


def test_one_cut_on_its_way_runs_whole_or_not_at_all(
    far: MakeFar, sshd: Sshd, way: Proxy, place: Path
) -> None:
    """Wherever the cut comes, what runs has all of its input; and what is answered has run."""
    transport = far(reach(sshd, way.port))
    content = b"0123456789abcde\n" * 3000
    command = Command(("sh", "-c", f"wc -c >> {place}/counts"), stdin=content)
    transport.run(command)
    before = way.passed
    transport.run(command)
    length = way.passed - before
    answered = 2
    for part in (0, 2, 4, 5, 7, 9):
        eventually(lambda: answers(transport), "it answers again")
        way.cut_after(max(1, length * part // 10))
        try:
            transport.run(command)
            answered += 1
        except (CommandLost, Unreached):
            pass
        way.heal()
    time.sleep(0.3)
    counts = (place / "counts").read_text().split()
    assert set(counts) == {str(len(content))}
    assert answered <= len(counts) <= 8


def test_a_session_whose_end_cannot_be_told_is_given_back(
    far: MakeFar, sshd: Sshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection broke: to close a channel tells the other side, and raises then."""
    transport = far(reach(sshd))
    close = paramiko.Channel.close

    def broken(channel: paramiko.Channel) -> None:
        close(channel)
        raise EOFError

    monkeypatch.setattr(paramiko.Channel, "close", broken)
    for _ in range(6):  # more than there are sessions
        assert transport.run(Command(("echo", "done"))).stdout == "done\n"


def test_a_host_that_is_away_is_tried_less_and_less_often(
    far: MakeFar, sshd: Sshd, way: Proxy
) -> None:
    transport = far(reach(sshd, way.port))
    way.refuse()
    deadline = time.monotonic() + 2.0
    while time.monotonic() < deadline:
        assert refusal(transport)
        time.sleep(0.01)
    assert 2 <= way.accepted <= 6
    way.heal()
    eventually(lambda: answers(transport), "it answers again")


def test_a_host_that_does_not_answer(far: MakeFar, sshd: Sshd) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        transport = far(replace(reach(sshd, silent.getsockname()[1]), connect_timeout=1.0))
        began = time.monotonic()
        assert "connect" in refusal(transport)
        assert time.monotonic() - began < 8


def test_a_slow_way_is_slow_and_nothing_else(far: MakeFar, sshd: Sshd, way: Proxy) -> None:
    way.delay = 0.02
    transport = far(reach(sshd, way.port))
    assert word(transport) == "here\n"
    assert way.accepted == 1


def test_the_folder_of_a_daemon_that_was_killed_is_removed(sshd: Sshd) -> None:
    old = Path(tempfile.mkdtemp(prefix="mb-ssh-99999999-", dir="/tmp"))
    (old / "log").write_text("")
    with contextlib.closing(make_far("openssh", sshd, reach(sshd))) as transport:
        assert word(transport) == "here\n"
        own = list(Path("/tmp").glob(f"mb-ssh-{os.getpid()}-*"))
        assert own and not old.exists()
        assert all(path.stat().st_mode & 0o77 == 0 for path in own)


@pytest.mark.parametrize("instead", [None, 0o777])
def test_a_folder_that_was_removed_is_made_again(sshd: Sshd, instead: int | None) -> None:
    """By what cleans up /tmp. One that has come into its place is not used."""
    with contextlib.closing(make_far("openssh", sshd, reach(sshd))) as transport:
        before = set(Path("/tmp").glob(f"mb-ssh-{os.getpid()}-*"))
        word(transport)
        (own,) = set(Path("/tmp").glob(f"mb-ssh-{os.getpid()}-*")) - before
        shutil.rmtree(own)
        if instead is not None:
            own.mkdir()
            own.chmod(instead)
        eventually(lambda: answers(transport), "it answers again")
        if instead is not None:
            assert not list(own.iterdir())
            own.rmdir()


# --- hosts and accounts -----------------------------------------------------------------------


def test_an_unknown_host_is_not_talked_to(far: MakeFar, sshd: Sshd, tmp_path: Path) -> None:
    known = tmp_path / "known hosts"
    known.write_text("")
    why = refusal(far(replace(reach(sshd), known_hosts=str(known))))
    assert str(known) in why and "127.0.0.1" in why and "administrator" in why
    assert known.read_text() == "", "it is not accepted by itself"


def test_another_host_key_is_not_accepted(far: MakeFar, sshd: Sshd, tmp_path: Path) -> None:
    other = sshd.make_key(tmp_path / "other")
    known = tmp_path / "known"
    key = " ".join(other.with_suffix(".pub").read_text().split()[:2])
    known.write_text(f"# a comment\n[127.0.0.1]:{sshd.port} {key}\n")
    why = refusal(far(replace(reach(sshd), known_hosts=str(known))))
    assert str(known) in why and "127.0.0.1" in why


def test_a_key_that_is_refused(far: MakeFar, sshd: Sshd, tmp_path: Path) -> None:
    stranger = sshd.make_key(tmp_path / "a stranger's")
    why = refusal(far(replace(reach(sshd), key=str(stranger))))
    assert sshd.account.name in why and "PRIVATE" not in why


def test_a_key_with_a_passphrase(
    far: MakeFar, sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is asked for it; without it the same key is good."""
    asked, asking = tmp_path / "asked", tmp_path / "asking"
    asking.write_text(f"#!/bin/sh\ntouch '{asked}'\necho secret\n")
    asking.chmod(0o755)
    for name, value in (("SSH_ASKPASS", str(asking)), ("SSH_ASKPASS_REQUIRE", "force")):
        monkeypatch.setenv(name, value)
    key = sshd.make_key(tmp_path / "locked", "secret")
    way = replace(reach(sshd), key=str(key), certificate=str(sshd.certify(key)))
    assert "secret" not in refusal(far(way))
    assert not asked.exists()
    sshd.unlock(key, "secret")
    assert word(far(way)) == "here\n"


def test_a_certificate(far: MakeFar, sshd: Sshd, tmp_path: Path) -> None:
    key = sshd.make_key(tmp_path / "id")
    certificate = sshd.certify(key)
    elsewhere = certificate.rename(tmp_path / "papers")
    way = replace(reach(sshd), key=str(key))
    assert refusal(far(way))
    assert word(far(replace(way, certificate=str(elsewhere)))) == "here\n"


def test_through_other_hosts(far: MakeFar, sshd: Sshd, way: Proxy) -> None:
    hops = (Hop("127.0.0.1", way.port, sshd.account.name), Hop("127.0.0.1", sshd.port))
    transport = far(replace(reach(sshd), jump=hops))
    assert word(transport) == "here\n"
    assert way.accepted == 1


# --- known_hosts ------------------------------------------------------------------------------


def known_by(tmp_path: Path, *lines: str) -> KnownHosts:
    file = tmp_path / "known_hosts"
    file.write_text("\n".join(lines) + "\n")
    return KnownHosts(file)


@pytest.fixture(scope="module")
def keys() -> tuple[paramiko.PKey, str, str]:
    """A key, its line, and the line of another one."""
    own, other = (paramiko.ECDSAKey.generate() for _ in range(2))
    return own, *(f"{key.get_name()} {key.get_base64()}" for key in (own, other))


@pytest.mark.parametrize(
    "names",
    ["h.example", "a,h.example", "*.example", "h.exampl?", "H.Example", "!x.example,*.example"],
)
def test_a_host_is_known_by_any_of_its_lines(
    tmp_path: Path, keys: tuple[paramiko.PKey, str, str], names: str
) -> None:
    key, own, other = keys
    known_by(tmp_path, f"h.example {other}", f"{names} {own} comment").check(Hop("h.example"), key)


def test_a_hashed_name(tmp_path: Path, keys: tuple[paramiko.PKey, str, str]) -> None:
    key, own, _ = keys
    name = paramiko.HostKeys.hash_host("[h.example]:2222")
    known = known_by(tmp_path, f"{name} {own}")
    known.check(Hop("h.example", 2222), key)
    with pytest.raises(Unreached, match="not known"):
        known.check(Hop("h.example"), key)


@pytest.mark.parametrize("names", ["other", "!h.example,*", "[h.example]:2222", "|1|bad|bad", "h"])
def test_lines_of_other_hosts_say_nothing(
    tmp_path: Path, keys: tuple[paramiko.PKey, str, str], names: str
) -> None:
    key, own, _ = keys
    with pytest.raises(Unreached, match="not known"):
        known_by(tmp_path, f"{names} {own}", f"@cert-authority * {own}").check(
            Hop("h.example"), key
        )


def test_a_revoked_key_is_refused_wherever_it_stands(
    tmp_path: Path, keys: tuple[paramiko.PKey, str, str]
) -> None:
    key, own, _ = keys
    known = known_by(tmp_path, f"h.example {own}", f"@revoked * {own}")
    with pytest.raises(Unreached, match="revoked"):
        known.check(Hop("h.example"), key)


# --- pauses -----------------------------------------------------------------------------------


def test_pauses_double_up_to_a_minute_and_begin_anew() -> None:
    now, slept = 0.0, []

    def sleep(seconds: float) -> None:
        nonlocal now
        slept.append(seconds)
        now += seconds

    pacing = BackOff(1.0, clock=lambda: now, sleep=sleep)
    waits = []
    for _ in range(9):
        pacing.wait()
        pacing.failed("why")
        began = now
        while True:
            try:
                pacing.wait()
            except Unreached as error:
                assert "why" in str(error)
                now += 0.5
            else:
                break
        waits.append(round(now - began))
    assert waits[:4] == [1, 2, 4, 8] and waits[-1] == MOST
    pacing.made()
    began = now
    pacing.wait()
    assert now - began == 1.0
