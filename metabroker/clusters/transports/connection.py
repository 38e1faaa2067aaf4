"""The one SSH connection to a cluster: made when it is needed, and again when it is gone."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from pathlib import Path
from typing import Any

import paramiko
from paramiko.ssh_exception import (
    AuthenticationException,
    ChannelException,
    NoValidConnectionsError,
    PasswordRequiredException,
)

from metabroker import accounts

from .back_off import BackOff
from .base import Unreached
from .known_hosts import KnownHosts
from .ssh_target import Hop, SshTarget
from .turns import turn

# Every packet's fate is no matter for the daemon's log; what goes wrong is told by exceptions.
logging.getLogger("paramiko").setLevel(logging.CRITICAL)

_PORT = 22
_TCP_USER_TIMEOUT = getattr(socket, "TCP_USER_TIMEOUT", None)  # not ours
# A kind of channel that no server knows: its refusal shows that the other side is there.
_PROBE = "alive@metabroker"


class SshConnection:
    """To one login host, over others if need be; used by several threads at once."""

    def __init__(self, reach: SshTarget) -> None:
        self._reach = reach
        self._pacing = BackOff(reach.pause)
        self._making = threading.Lock()
        self._clients: list[paramiko.SSHClient] = []  # the hops, the target last
        self._closed = False

    def session(self, seconds: float) -> paramiko.Channel:
        """A new channel for one command.

        Raises:
            Unreached: there is none, so nothing was run.
        """
        last = ""
        for _ in range(2):  # a connection that has died unnoticed is found out here
            transport = self._transport(seconds)
            try:
                return transport.open_session(timeout=min(seconds, self._reach.connect_timeout))
            except ChannelException as error:
                raise Unreached(f"{self._name}: it opens no session: {error.text}") from error
            except (paramiko.SSHException, OSError, EOFError) as error:
                last = str(error) or type(error).__name__
                transport.close()
        raise Unreached(f"{self._name}: the connection is lost: {last}")

    def close(self) -> None:
        """For good."""
        with self._making:
            self._closed = True
            self._drop()

    @property
    def _name(self) -> str:
        return str(self._reach.target)

    def _transport(self, seconds: float) -> paramiko.Transport:
        with turn(self._making, seconds, f"{self._name}: not yet connected"):
            if self._closed:
                raise Unreached(f"{self._name}: closed")
            current = self._clients[-1].get_transport() if self._clients else None
            if current is not None and current.is_active():
                return current
            return self._connect()

    def _connect(self) -> paramiko.Transport:
        self._drop()
        self._pacing.wait()
        try:
            transport = self._through_hops()
        except Unreached as error:
            self._drop()
            self._pacing.failed(str(error), refused=True)
            raise
        except (paramiko.SSHException, OSError, EOFError) as error:
            self._drop()
            why = f"{self._name}: cannot connect: {_word(error)}"
            self._pacing.failed(why)
            raise Unreached(why) from error
        self._pacing.made()
        keeper = threading.Thread(
            target=_keep, args=(transport, self._reach.keepalive), name=f"{self._name}-alive"
        )
        keeper.daemon = True
        keeper.start()
        return transport

    def _drop(self) -> None:
        for client in reversed(self._clients):
            with contextlib.suppress(Exception):  # it is of no use any more, whatever it says
                client.close()
        self._clients = []

    def _through_hops(self) -> paramiko.Transport:
        reach = self._reach
        known = KnownHosts(Path(reach.known_hosts or Path(accounts.own().home, ".ssh/known_hosts")))
        hops = (*reach.jump, reach.target)
        way: Any = _tcp(hops[0], reach)
        for hop, following in zip(hops, (*hops[1:], None), strict=True):
            transport = self._log_in(hop, way, known)
            if following is not None:
                way = transport.open_channel(
                    "direct-tcpip",
                    (following.host, following.port or _PORT),
                    ("127.0.0.1", 0),
                    timeout=reach.connect_timeout,
                )
        return transport

    def _log_in(self, hop: Hop, way: Any, known: KnownHosts) -> paramiko.Transport:
        reach = self._reach
        client = paramiko.SSHClient()
        client.set_missing_host_key_policy(_Strict(hop, known))
        self._clients.append(client)
        try:
            client.connect(
                hop.host,
                hop.port or _PORT,
                username=hop.user or reach.target.user or accounts.own().name,
                pkey=_key(reach),
                sock=way,
                allow_agent=reach.agent,
                look_for_keys=False,
                timeout=reach.connect_timeout,
                banner_timeout=reach.connect_timeout,
                auth_timeout=reach.connect_timeout,
                channel_timeout=reach.connect_timeout,
                transport_factory=lambda sock, **given: _preferring(known.kinds(hop), sock, given),
            )
        except AuthenticationException as error:
            raise Unreached(_refused(hop, reach, error)) from error
        transport = client.get_transport()
        if transport is None:
            raise paramiko.SSHException("the connection is gone")
        return transport


class _Strict:
    """Asked for every host, since paramiko is given no keys of its own: several keys of one kind,
    and revoked ones, it does not know."""

    def __init__(self, hop: Hop, known: KnownHosts) -> None:
        self._hop = hop
        self._known = known

    def missing_host_key(self, _client: object, _name: str, key: paramiko.PKey) -> None:
        """Raises `Unreached` unless the host is known by this key."""
        self._known.check(self._hop, key)


def _preferring(kinds: tuple[str, ...], sock: Any, given: Any) -> paramiko.Transport:
    """Asks the host for a key by which it is known, if it has several."""
    transport = paramiko.Transport(sock, **given)
    options = transport.get_security_options()
    wanted = {"rsa-sha2-512", "rsa-sha2-256"} if "ssh-rsa" in kinds else set()
    wanted |= set(kinds)
    options.key_types = sorted(options.key_types, key=lambda kind: kind not in wanted)
    return transport


def _tcp(hop: Hop, reach: SshTarget) -> socket.socket:
    sock = socket.create_connection((hop.host, hop.port or _PORT), timeout=reach.connect_timeout)
    # Small packets to and fro: without this each would wait for the answer to the last one.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if _TCP_USER_TIMEOUT is not None:
        milliseconds = int(2000 * reach.keepalive)
        sock.setsockopt(socket.IPPROTO_TCP, _TCP_USER_TIMEOUT, milliseconds)
    return sock


def _key(reach: SshTarget) -> paramiko.PKey | None:
    """The configured key, with its certificate."""
    if reach.key is None:
        return None
    file = reach.key
    try:
        key = paramiko.PKey.from_path(file)
        if reach.certificate is not None:
            file = reach.certificate
            key.load_certificate(file)
    except (PasswordRequiredException, TypeError) as error:
        raise Unreached(
            f"the key {file} is encrypted; give it to an agent, and set `agent: true` without "
            "`key`, or use a key without a passphrase that only the daemon can read"
        ) from error
    except OSError as error:
        raise Unreached(f"the key {file} cannot be read: {error.strerror}") from error
    except (paramiko.SSHException, ValueError, paramiko.pkey.UnknownKeyType) as error:
        raise Unreached(f"{file} is not a usable key: {error}") from error
    return key


def _refused(hop: Hop, reach: SshTarget, error: AuthenticationException) -> str:
    means = [f"the key {reach.key}"] if reach.key else []
    means += ["the keys of the agent"] if reach.agent else []
    user = hop.user or reach.target.user or accounts.own().name
    return (
        f"{hop}: refuses to let {user} in by {' or '.join(means) or 'nothing'} ({error}); put the "
        "public key into authorized_keys there, or correct `user`, `key` or `agent`"
    )


def _keep(transport: paramiko.Transport, interval: float) -> None:
    """End a connection whose other side does not answer any more: nobody else would notice."""
    while True:
        transport.join(interval)
        if not transport.is_active():
            return
        try:
            transport.open_channel(_PROBE, timeout=interval)
        except ChannelException:
            continue  # it says no: it is there
        except Exception:
            transport.close()
            return


def _word(error: Exception) -> str:
    if isinstance(error, NoValidConnectionsError):
        return "nothing listens there"
    if isinstance(error, TimeoutError):
        return "no answer"
    if isinstance(error, EOFError):
        return "it was closed at once"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__  # not ours
