"""What is in files, read and written over SFTP."""

from __future__ import annotations

import contextlib
import errno
import os
import stat

import paramiko
from paramiko.sftp import (
    CMD_CLOSE,
    CMD_EXTENDED,
    CMD_FSETSTAT,
    CMD_FSTAT,
    CMD_HANDLE,
    CMD_OPEN,
    CMD_WRITE,
    SFTP_FLAG_CREATE,
    SFTP_FLAG_EXCL,
    SFTP_FLAG_WRITE,
    int64,
)

_PART = 32768  # bytes of one answer; servers give no more
_NEW = SFTP_FLAG_WRITE | SFTP_FLAG_CREATE | SFTP_FLAG_EXCL


def write(
    sftp: paramiko.SFTPClient,
    path: str,
    content: bytes,
    *,
    executable: bool = False,
) -> None:
    """Write a file whole: readers see the old one or the new one."""
    mode = 0o700 if executable else 0o600
    if not content:
        # An empty file is whole as soon as it is there. SFTP has one word for all failures: if it
        # was there before, that is seen by the other way.
        try:
            _create(sftp, path, content, mode)
            return
        except TimeoutError:
            raise
        except OSError:
            pass
    folder, name = os.path.split(path)
    new = f"{folder}/.{name}.{os.urandom(8).hex()}"
    try:
        _create(sftp, new, content, mode)
        sftp.posix_rename(new, path)
    except OSError:
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            sftp.remove(new)
        raise


def _create(sftp: paramiko.SFTPClient, path: str, content: bytes, mode: int) -> None:
    """Write a file that is not there yet, with three answers to wait for: that it is open, what
    it is once all is written, and that it is closed (where NFS tells that there is no space)."""
    wanted = paramiko.SFTPAttributes()
    wanted.st_mode = mode
    kind, answer = sftp._request(CMD_OPEN, os.fsencode(path), _NEW, wanted)
    if kind != CMD_HANDLE:
        raise paramiko.SSHException("no handle of a file")
    handle = answer.get_binary()
    try:
        for at in range(0, len(content), _PART):
            part = content[at : at + _PART]
            sftp._async_request(type(None), CMD_WRITE, handle, int64(at), part)
        seen = paramiko.SFTPAttributes._from_msg(sftp._request(CMD_FSTAT, handle)[1])
        if stat.S_IMODE(seen.st_mode or 0) != mode:  # the account's umask has its say
            sftp._request(CMD_FSETSTAT, handle, wanted)
    except BaseException:
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            sftp._async_request(type(None), CMD_CLOSE, handle)
        raise
    sftp._request(CMD_CLOSE, handle)
    if seen.st_size != len(content):
        raise OSError(errno.EIO, "the file was not written whole")


def get(sftp: paramiko.SFTPClient, path: str, offset: int, length: int) -> bytes:
    """So many bytes of a file from `offset` on, asked for at once and not one by one."""
    _regular(sftp, path)
    with sftp.open(path, "rb") as file:
        opened = file.stat()
        if not stat.S_ISREG(opened.st_mode or 0):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        size = opened.st_size or 0
        end = min(offset + length, size)
        parts = [(at, min(_PART, end - at)) for at in range(offset, end, _PART)]
        return b"".join(file.readv(parts)) if parts else b""


def put(
    sftp: paramiko.SFTPClient,
    path: str,
    offset: int,
    content: bytes,
    *,
    executable: bool = False,
    lasting: bool = False,
) -> None:
    """Write a part of a file that is being made. `lasting`: it is on disk then."""
    if offset == 0:
        with contextlib.suppress(FileNotFoundError):
            sftp.remove(path)
    else:
        _regular(sftp, path)
    with sftp.open(path, "wx" if offset == 0 else "r+") as file:
        if offset == 0:
            file.chmod(0o700 if executable else 0o600)
        file.seek(offset)
        file.set_pipelined(True)
        file.write(content)
        if lasting:
            sync(sftp, file)
    if (sftp.lstat(path).st_size or 0) < offset + len(content):
        raise OSError(errno.EIO, "the part was not written whole", path)


def sync(sftp: paramiko.SFTPClient, opened: paramiko.SFTPFile) -> None:
    """What was written to a file, or the names in a folder, last (OpenSSH 6.5 and later)."""
    sftp._request(CMD_EXTENDED, "fsync@openssh.com", opened.handle)


def _regular(sftp: paramiko.SFTPClient, path: str) -> None:
    mode = sftp.lstat(path).st_mode
    if mode is None or not stat.S_ISREG(mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
