"""The SSH transport: commands over one kept connection, files over SFTP beside them."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Mapping

import paramiko

from .base import MOST_OUTPUT, Command, CommandLost, Completed, last_line
from .connection import SshConnection
from .remote_shell import RemoteShell, Sent, plain_line
from .sessions import Sessions, begun
from .sftp import SftpFiles
from .ssh_target import CHANNELS, SshTarget

_PIECE = 1 << 15
_FULL = 0.01  # seconds between two looks whether the far side takes more input


class SshTransport:
    """Runs commands on a cluster's login host. `folder`: where its programs lie there."""

    def __init__(
        self,
        reach: SshTarget,
        env: Mapping[str, str],
        *,
        folder: str | None = None,
        command_timeout: float = 30.0,
    ) -> None:
        self._connection = SshConnection(reach)
        self._shell = RemoteShell(env, folder)
        # One is for files.
        self._sessions = Sessions(self._connection, CHANNELS - 1, command_timeout)
        self._timeout = command_timeout
        self.files = SftpFiles(self._connection, self.run, command_timeout)

    def run(self, command: Command) -> Completed:
        """Run a command to its end; see `Transport.run`."""
        seconds = command.seconds if command.seconds is not None else self._timeout
        sent = self._shell.send(command, seconds)
        with self._sessions.one(seconds, sent.what) as channel:
            outputs = _Exchange(channel, sent, seconds).outputs()
        return sent.answer(*outputs)

    def speak(self, command: Command) -> Conversation:
        """A command to speak with over a channel of its own; see `acting.Speaking`."""
        return Conversation(
            begun(self._connection, plain_line(command), self._timeout, command.argv[0])
        )

    def close(self) -> None:
        """End the connection."""
        self._sessions.close()
        self.files.close()
        self._connection.close()


class Conversation:
    """A channel in which a command runs that is spoken with."""

    def __init__(self, channel: paramiko.Channel) -> None:
        self._channel = channel
        self.send = channel.send
        self.recv = channel.recv
        self.settimeout = channel.settimeout
        self.close = channel.close
        self.get_name = channel.get_name

    @property
    def closed(self) -> bool:
        """Whether nothing more can be said."""
        return bool(self._channel.closed)

    def complaint(self) -> str:
        """What the command has said on its standard error so far: the last line."""
        said = b""
        with contextlib.suppress(OSError, EOFError):
            self._channel.settimeout(1.0)
            said = self._channel.recv_stderr(_PIECE)
        return last_line(said.decode("utf-8", "replace"))


class _Exchange:
    """One command's input and both its outputs, up to its end."""

    def __init__(self, channel: paramiko.Channel, sent: Sent, seconds: float) -> None:
        self._channel = channel
        self._what = sent.what
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        self._rest = memoryview(sent.stdin)
        self._outputs = (bytearray(), bytearray())
        self._news = threading.Event()
        for pipe in (channel.in_buffer, channel.in_stderr_buffer):
            pipe.set_event(self._news)

    def outputs(self) -> tuple[bytes, bytes]:
        """Both outputs, whole.

        Raises:
            CommandLost: they did not come, or not to their end.
        """
        try:
            while not self._ended():
                self._send()
                if not self._take():
                    self._wait()
        except (OSError, EOFError, paramiko.SSHException) as error:
            raise CommandLost(f"{self._what}: the connection broke: {error}") from error
        if not self._channel.eof_received:
            raise CommandLost(f"{self._what}: the connection broke before its end")
        stdout, stderr = self._outputs
        return bytes(stdout), bytes(stderr)

    def _ended(self) -> bool:
        channel = self._channel
        over = channel.eof_received or channel.closed
        return bool(over and not channel.recv_ready() and not channel.recv_stderr_ready())

    def _send(self) -> None:
        """As much of the input as goes without waiting; none, once nobody reads it any more."""
        while self._rest and self._channel.send_ready():
            try:
                sent = self._channel.send(bytes(self._rest[:_PIECE]))
            except OSError:
                sent = len(self._rest)
            self._rest = self._rest[sent:]
            if not self._rest:
                with contextlib.suppress(OSError, EOFError):
                    self._channel.shutdown_write()

    def _take(self) -> bool:
        """Whatever has come; whether anything had."""
        stdout, stderr = self._outputs
        before = len(stdout) + len(stderr)
        while self._channel.recv_ready():
            stdout += self._channel.recv(_PIECE)
        while self._channel.recv_stderr_ready():
            stderr += self._channel.recv_stderr(_PIECE)
        if max(len(stdout), len(stderr)) > MOST_OUTPUT:
            raise CommandLost(f"{self._what}: its output is larger than {MOST_OUTPUT >> 20} MB")
        return len(stdout) + len(stderr) > before

    def _wait(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise CommandLost(f"{self._what}: no answer within {self._seconds:g} s")
        # Reading a buffer to its end clears the event, whichever buffer it was set for; what has
        # come since was seen by the look in `_ended`, and what comes from now on sets it again.
        if not self._ended() and not self._something():
            self._news.wait(min(left, _FULL) if self._rest else left)

    def _something(self) -> bool:
        return bool(self._channel.recv_ready() or self._channel.recv_stderr_ready())
