"""The OpenSSH transport: the system's own ssh, over one kept connection (ControlMaster).

For sites with Kerberos, second factors, or an ssh_config of their own: whatever ssh can log in
by without asking, this can. A connection's master runs in the background until it is told to
end, or nobody has used it for a minute; each command is a short-lived client of it.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import stat
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from .back_off import BackOff
from .base import Command, CommandLost, CommandMissing, Completed, Unreached, last_line
from .children import talk
from .local import scrubbed
from .pipe import Pipe
from .remote_files import CommandFiles
from .remote_shell import LINE, RemoteShell, plain_line
from .ssh_target import CHANNELS, Hop, SshTarget
from .turns import turn

_LEFT_ALONE = 60  # seconds that an unused master stays, if this process dies without a word
_OWN_WORD = 255  # ssh's own exit status; a command's never gets here (see `remote_shell`)
# A client whose master is gone must not connect by itself, past all pauses: this it runs instead.
_NO_MASTER = "metabroker: no master"
# Of the daemon's environment: where agents and tickets are.
_OF_LOGINS = ("SSH_AUTH_SOCK", "KRB5CCNAME", "KRB5_CONFIG", "XDG_RUNTIME_DIR")
_NO_HURRY = ("Permission denied", "Host key verification failed", "host key is known")


class OpenSshTransport:
    """Runs commands on a cluster's login host. `folder`: where its programs lie there."""

    def __init__(
        self,
        reach: SshTarget,
        env: Mapping[str, str],
        *,
        folder: str | None = None,
        command_timeout: float = 30.0,
        program: str | None = None,
    ) -> None:
        self._shell = RemoteShell(env, folder)
        self._free = threading.BoundedSemaphore(CHANNELS)
        self._timeout = command_timeout
        self._master = Master(reach, program)
        self.files = CommandFiles(self.run)

    def run(self, command: Command) -> Completed:
        """Run a command to its end; see `Transport.run`."""
        seconds = command.seconds if command.seconds is not None else self._timeout
        sent = self._shell.send(command, seconds)
        busy = f"{sent.what}: not run: the connection is busy with other commands"
        with turn(self._free, seconds, busy):
            argv = self._master.client()
            process = self._master.start([*argv, LINE])
            try:
                stdout, stderr = talk(process, sent.stdin, seconds)
            except CommandLost as lost:
                raise CommandLost(f"{sent.what}: {lost}") from None
        if process.returncode == 0:
            return sent.answer(stdout, stderr)
        word = last_line(stderr.decode("utf-8", "replace"))
        if _NO_MASTER.encode() in stderr:
            raise Unreached(f"{sent.what}: not run: the connection is lost")
        if process.returncode in (_OWN_WORD, -13):
            raise CommandLost(f"{sent.what}: the connection broke: {word}")
        # Only a far shell that never began to read ends so, whatever its number.
        return sent.answer(stdout, stderr)

    def speak(self, command: Command) -> Pipe:
        """A command to speak with over a client of its own; see `acting.Speaking`."""
        words = [*self._master.client(), plain_line(command)]
        return Pipe(lambda both, errors: self._master.start(words, both, errors))

    def close(self) -> None:
        """End the connection."""
        self._master.close()


class Master:
    """The connection, and the private folder where its clients find it."""

    def __init__(self, reach: SshTarget, program: str | None = None) -> None:
        self._reach = reach
        self._program = program or "ssh"
        self._pacing = BackOff(reach.pause)
        self._making = threading.Lock()
        self._folder: Path | None = None
        kept = {name: os.environ[name] for name in _OF_LOGINS if name in os.environ}
        self._env = scrubbed({**kept, "SSH_ASKPASS_REQUIRE": "never"})

    def client(self) -> list[str]:
        """The words that run a command over the connection, which is made if it is gone.

        Raises:
            Unreached: it cannot be made.
        """
        seconds = self._reach.connect_timeout + 5
        with turn(self._making, seconds, f"{self._reach.target}: not yet connected"):
            if not self._is_usable() or not self._socket.exists():
                self._connect()
        return [
            *(self._program, "-T", "-S", str(self._socket), "-o", "ControlMaster=no"),
            *("-o", f"ProxyCommand=echo {_NO_MASTER} >&2; exit 1", "-o", "BatchMode=yes"),
            *("-o", "LogLevel=ERROR", "-o", "StrictHostKeyChecking=yes", *self._file()),
            *("--", self._reach.target.host),
        ]

    def start(
        self,
        argv: Sequence[str],
        both: int = subprocess.PIPE,
        errors: int = subprocess.PIPE,
    ) -> subprocess.Popen[bytes]:
        """Run ssh; `both`: its input and output."""
        try:
            return subprocess.Popen(
                argv,
                stdin=both,
                stdout=both,
                stderr=errors,
                env=self._env,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            raise CommandMissing(f"{argv[0]}: {error.strerror}") from error

    def close(self) -> None:
        """End the connection, and leave nothing behind."""
        with self._making:
            self._end()
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None

    @property
    def _socket(self) -> Path:
        assert self._folder is not None
        return self._folder / "c"

    def _is_usable(self) -> bool:
        """Whether there is the folder, and nobody else may enter it. What cleans up /tmp may have
        removed it, and somebody else may have made another one of its name since."""
        if self._folder is None:
            return False
        try:
            found = self._folder.lstat()
        except OSError:
            return False
        private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o77
        return private and found.st_uid == os.geteuid()

    def _connect(self) -> None:
        self._pacing.wait()
        if not self._is_usable():
            self._folder = _private_folder()
        assert self._folder is not None
        log = self._folder / "log"
        log.unlink(missing_ok=True)
        limit = self._reach.connect_timeout * (len(self._reach.jump) + 1) + 2
        process = self.start([*self._master_words(log), "--", self._reach.target.host])
        why = f"no answer within {limit:g} s"
        with contextlib.suppress(CommandLost):
            _, stderr = talk(process, b"", limit)
            if process.returncode == 0 and self._socket.exists():
                self._pacing.made()
                return
            said = stderr.decode("utf-8", "replace")
            if log.exists():
                said += log.read_text("utf-8", "replace")
            why = " ".join(line.strip() for line in said.splitlines()[-12:] if "@@@" not in line)
        refused = any(word in why for word in _NO_HURRY)
        text = f"{self._reach.target}: ssh cannot connect: {why.strip() or 'it does not say why'}"
        if "ost key" in why:
            text += (
                "; compare the host's key with what its administrator says, then put it into "
                f"{self._reach.known_hosts or 'known_hosts'} by hand"
            )
        elif refused:
            text += "; see that this account's ssh can log in there without asking anything"
        self._pacing.failed(text, refused=refused)
        raise Unreached(text)

    def _end(self) -> None:
        if self._folder is not None and self._socket.exists():
            argv = [self._program, *self._file(), "-S", str(self._socket), "-O", "exit", "--"]
            with contextlib.suppress(CommandLost, CommandMissing):
                talk(self.start([*argv, self._reach.target.host]), b"", 5.0)

    def _master_words(self, log: Path) -> list[str]:
        reach = self._reach
        seconds = max(1, round(reach.keepalive))
        options = [
            *("ControlMaster=yes", f"ControlPath={self._socket}"),
            f"ControlPersist={_LEFT_ALONE}",
            *(f"ServerAliveInterval={seconds}", "ServerAliveCountMax=1"),
        ]
        if reach.jump:
            options.append(f"ProxyCommand={self._way(reach.jump)}")
        words = [self._program, "-f", "-N", "-T", "-E", str(log), *self._login(reach.target)]
        return [*words, *(word for option in options for word in ("-o", option))]

    def _way(self, hops: Sequence[Hop]) -> str:
        """The command that leads to the host behind these: ssh's -J would not pass on our keys.
        The ssh that is given it replaces `%h` and `%p`, and every `%%` by one `%`."""
        *before, last = hops
        words = [
            *self._login(last),
            *(("-o", f"ProxyCommand={self._way(before)}") if before else ()),
        ]
        rest = shlex.join(word.replace("%", "%%") for word in (*words, "--", last.host))
        return f"{shlex.quote(self._program)} -T -W '[%h]:%p' {rest}"

    def _login(self, hop: Hop) -> list[str]:
        """Who logs in, by what, and where to: never by a question, never to an unknown host."""
        reach = self._reach
        user = hop.user or reach.target.user
        options = [
            *("BatchMode=yes", "StrictHostKeyChecking=yes", "UpdateHostKeys=no"),
            *("ForwardAgent=no", "ForwardX11=no", "ClearAllForwardings=yes"),
            *("PermitLocalCommand=no", "RemoteCommand=none", "TCPKeepAlive=yes"),
            f"ConnectTimeout={max(1, round(reach.connect_timeout))}",
        ]
        if reach.known_hosts is not None:
            options += [f"UserKnownHostsFile={_file_word(reach.known_hosts)}"]
            options += ["GlobalKnownHostsFile=/dev/null"]
        if reach.key is not None:
            options += [f"IdentityFile={_file_word(reach.key)}", "IdentitiesOnly=yes"]
        if reach.certificate is not None:
            options += [f"CertificateFile={_file_word(reach.certificate)}"]
        if not reach.agent:
            options += ["IdentityAgent=none"]
        words = [*self._file(), *(("-l", user) if user else ())]
        words += ["-p", str(hop.port)] if hop.port is not None else []
        return [*words, *(word for option in options for word in ("-o", option))]

    def _file(self) -> list[str]:
        return [] if self._reach.config is None else ["-F", self._reach.config]


def _private_folder() -> Path:
    """Short, since the path of a socket must be; and nobody else may enter it. Those of daemons
    that were killed are removed."""
    for old in Path("/tmp").glob("mb-ssh-*-*"):
        with contextlib.suppress(OSError):
            gone = not Path(f"/proc/{old.name.split('-')[2]}").exists()
            if gone and old.lstat().st_uid == os.geteuid():
                shutil.rmtree(old)
    return Path(tempfile.mkdtemp(prefix=f"mb-ssh-{os.getpid()}-", dir="/tmp"))


def _file_word(path: str) -> str:
    """A path as ssh's configuration reads it: one word, without tokens to expand."""
    return f'"{path.replace("%", "%%")}"'
