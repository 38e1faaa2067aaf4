"""A PostgreSQL server of the test's own: the machine's programs, or the distribution's package
relocated like Slurm; its data in a folder, its socket there and a port of loopback."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import stat
import subprocess
import tempfile
from pathlib import Path

import psycopg

from tests.testbed import apt
from tests.testbed.clock import Clock
from tests.testbed.packages import (
    DEFAULT_SUITE,
    PackagesUnavailable,
    cache_folder,
    gather_libraries,
    locked,
    patchelf,
)
from tests.testbed.ports import PortBlock
from tests.testbed.processes import MARK, Daemon, TestbedError, captured, wait_until

VERSION = "15"
USER = "metabroker"
DATABASE = "postgres"
_MOST = 500  # roles
_SERVER = "nobody"  # postgres refuses to run as root
_PROGRAMS = ("postgres", "initdb", "pg_dump", "pg_restore")
_SETTINGS = """
fsync = off
full_page_writes = off
jit = off
max_connections = 60
shared_buffers = 16MB
autovacuum = off
listen_addresses = '127.0.0.1'
unix_socket_directories = '{folder}'
port = {port}
log_min_messages = fatal
"""
# Who comes by the socket is who the kernel says; who comes by TCP has a password.
_HBA = """
local all all peer map=site
host all all 127.0.0.1/32 scram-sha-256
"""


def install() -> Path:
    """The folder of its programs. Raises `PackagesUnavailable`."""
    here = Path("/usr/lib/postgresql") / VERSION / "bin"
    if (here / "postgres").exists():
        return here
    folder = cache_folder() / "postgresql"
    folder.mkdir(parents=True, exist_ok=True)
    prefix = folder / DEFAULT_SUITE
    with locked(folder / "lock"):
        if not prefix.exists():
            _build(folder, prefix)
        elif not (prefix / str(prefix).replace("/", "%")).exists():  # the folder was moved
            _relocate(prefix, prefix)
    return _programs(prefix)


def _programs(prefix: Path) -> Path:
    """It finds its other files by where they are from here."""
    return prefix / "lib" / "postgresql" / VERSION / "bin"


def _build(folder: Path, prefix: Path) -> None:
    patchelf()
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder) as name:
        work, fresh = Path(name), Path(name) / "fresh"
        for archive in apt.download(DEFAULT_SUITE, [f"postgresql-{VERSION}"], work / "apt"):
            if not archive.name.startswith(("perl", "libperl", "libllvm")):
                apt.run(["dpkg-deb", "-x", archive, work / "root"], 60)
        gather_libraries(work / "root", fresh)
        for place in ("lib", "share"):
            source = work / "root" / "usr" / place / "postgresql" / VERSION
            shutil.copytree(source, fresh / place / "postgresql" / VERSION, symlinks=True)
        _relocate(fresh, prefix)
        fresh.rename(prefix)
    try:
        apt.run([_programs(prefix) / "postgres", "--version"], 10)
    except PackagesUnavailable:
        shutil.rmtree(prefix)  # it runs not here: a later try shall not find it
        raise


def _relocate(tree: Path, prefix: Path) -> None:
    (loader,) = {path.name for path in (tree / "lib").glob("ld-linux*")}
    library = prefix / "lib"
    for name in _PROGRAMS:
        apt.run(
            [
                *(patchelf(), "--set-interpreter", library / loader),
                *("--force-rpath", "--set-rpath", library, _programs(tree) / name),
            ],
            30,
        )
    for old in tree.glob("%*"):
        old.unlink()
    (tree / str(prefix).replace("/", "%")).touch()


def _readable(programs: Path, folder: Path) -> Path:
    """The same programs where every account can run them: themselves, or a copy in `folder`."""
    if all(place.stat().st_mode & stat.S_IXOTH for place in (programs, *programs.parents)):
        return programs
    shutil.copytree(programs.parents[3], folder, symlinks=True)
    _relocate(folder, folder)
    return _programs(folder)


class Postgres:
    """One server, between `start` and `close`."""

    def __init__(self, programs: Path, faketime: Path | None = None) -> None:
        """`faketime`: the library with which its clock can be stepped."""
        self.folder = Path(tempfile.mkdtemp(prefix="mb-pg-"))
        self.folder.chmod(0o755)
        self._programs = _readable(programs, self.folder / "programs")
        self._ports = PortBlock(1)
        self.port = self._ports.ports[0]
        self.password = secrets.token_hex(8)
        self._data = self.folder / "data"
        self._count = 0
        self._make()
        self.clock = None if faketime is None else Clock(self.folder, faketime)
        words = (*self._words(), *(() if self.clock is None else self.clock.words))
        argv: list[str | Path] = [*words, self._programs / "postgres", "-D", self._data]
        env = {"PATH": os.defpath, "TZ": "UTC", MARK: str(self.folder)}
        self.daemon = Daemon("postgres", argv, self.folder, env)

    def _words(self) -> tuple[str, ...]:
        """What runs a command as the server's account."""
        if os.geteuid() != 0:
            return ()
        entry = pwd.getpwnam(_SERVER)
        return ("setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups")

    def _make(self) -> None:
        if os.geteuid() == 0:
            shutil.chown(self.folder, _SERVER)
        initdb = [*self._words(), str(self._programs / "initdb"), "--no-sync"]
        initdb += ["-D", str(self._data), "-U", USER, "-E", "UTF8", "--locale=C", "--auth=peer"]
        made = captured(
            initdb, cwd="/", env={"PATH": os.defpath, "TZ": "UTC", "HOME": str(self.folder)}
        )
        if made.returncode:
            raise TestbedError(f"initdb: {made.stdout}\n{made.stderr}")
        with (self._data / "postgresql.conf").open("a") as settings:
            settings.write(_SETTINGS.format(folder=self.folder, port=self.port))
        (self._data / "pg_hba.conf").write_text(_HBA)
        me = pwd.getpwuid(os.geteuid()).pw_name
        roles = [USER, *(f"mb{number}" for number in range(1, _MOST + 1))]
        lines = [f"site {me} {role}\n" for role in roles]
        (self._data / "pg_ident.conf").write_text("".join(lines))

    def start(self) -> None:
        """Serve."""
        self.daemon.start()
        wait_until(self._answers, 60, f"PostgreSQL answers (see {self.daemon.log})")

    def _answers(self) -> bool:
        if not self.daemon.running():
            raise TestbedError(f"PostgreSQL has ended: {self.daemon.log.read_text()}")
        try:
            self.run("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def stop(self) -> None:
        """End it at once, in good order: connections are ended."""
        if self.daemon.running():
            self.daemon.kill(signal.SIGINT)

    def kill(self) -> None:
        """kill -9; what it had begun is undone at the next start."""
        self.daemon.kill()

    def run(self, statement: str) -> list[tuple[object, ...]]:
        """A statement as the owner of all; its rows."""
        where = f"host={self.folder} port={self.port} user={USER} dbname={DATABASE}"
        with psycopg.connect(where, autocommit=True, connect_timeout=5) as connection:
            done = connection.execute(statement.encode())
            return done.fetchall() if done.description else []

    def database(self) -> str:
        """The name of a new role with an empty schema: all that it sees is its own, and to make
        it takes a tenth of the time of a database. It stays as long as the server does."""
        self._count += 1
        assert self._count <= _MOST, "let the server know more roles"
        name = f"mb{self._count}"
        self.run(f"CREATE ROLE {name} LOGIN PASSWORD '{self.password}'")
        self.run(f"CREATE SCHEMA {name} AUTHORIZATION {name}")
        return name

    def url(self, name: str, port: int | None = None) -> str:
        """By the socket, as the account of the test; with a password by that port of loopback."""
        if port is None:
            return f"postgresql://{name}@/{DATABASE}?host={self.folder}&port={self.port}"
        return f"postgresql://{name}:{self.password}@127.0.0.1:{port}/{DATABASE}"

    def dump(self, name: str) -> bytes:
        """A backup of a role's schema, by PostgreSQL's own means; whoever uses it goes on."""
        return self._by("pg_dump", "--format=custom", f"--schema={name}", f"--username={name}")

    def bring_back(self, name: str, dump: bytes) -> None:
        """The schema as it was then, and nothing of what came since."""
        self.run(f"DROP SCHEMA {name} CASCADE")
        # Who owns a schema that a dump brings back must be allowed to make one.
        self._by("pg_restore", f"--username={USER}", f"--dbname={DATABASE}", given=dump)

    def _by(self, program: str, *words: str, given: bytes = b"") -> bytes:
        where = (f"--host={self.folder}", f"--port={self.port}")
        named = (DATABASE,) if program == "pg_dump" else ()
        done = subprocess.run(
            [self._programs / program, *where, *words, *named],
            input=given,
            capture_output=True,
            check=False,
            timeout=60,
        )
        if done.returncode:
            raise TestbedError(f"{program}: {done.stderr.decode()}")
        return done.stdout

    def close(self) -> None:
        """Leave nothing."""
        self.daemon.send(signal.SIGCONT)
        if self.daemon.running():
            self.daemon.kill(signal.SIGQUIT)
        if self.clock is not None:
            self.clock.close()
        self._ports.release()
        shutil.rmtree(self.folder, ignore_errors=True)
