"""Whose a connection is, for its share of all: a user of this host, or the host that it comes from.

Of a Unix socket the kernel says it (SO_PEERCRED). Of a TCP connection within this host it says
whose the socket at the other end is (sock_diag(7)); a connection whose owner cannot be told (it is
closed already, or this is not Linux) counts for its address, as one from elsewhere does.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import struct

from metabroker.api.identity import peer_uid

Who = int | str
"""Of a Unix socket the user's id, of one within this host `uid N`, else the address it is from."""

_SOCK_DIAG, _BY_FAMILY, _REQUEST = 4, 20, 1  # NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST
_HEADER = struct.Struct("=LHHLL")  # nlmsghdr: length, type, flags, sequence, port
_ASKED = struct.Struct("=BBBBL")  # inet_diag_req_v2: family, protocol, extensions, padding, states
_SOCKET = struct.Struct("!HH16s16s")  # inet_diag_sockid: ports and addresses
_ANY = struct.pack("=LLL", 0, 0xFFFFFFFF, 0xFFFFFFFF)  # its interface and cookie
_ESTABLISHED = 1
_TOLD = struct.Struct("=BBBB48sLLLLL")  # inet_diag_msg


def who(transport: asyncio.BaseTransport) -> Who:
    """Whose connection that is. Raises `OSError`."""
    connection = transport.get_extra_info("socket")
    if connection.family == socket.AF_UNIX:
        return peer_uid(connection)
    peer, own = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
    if not peer or not own:
        raise OSError("the connection is closed")
    address = _plain(peer[0])
    if address.is_loopback or address == _plain(own[0]):
        with contextlib.suppress(OSError, struct.error):
            uid = _owner((address, peer[1]), (_plain(own[0]), own[1]))
            if uid is not None:
                return f"uid {uid}"
    return host(str(address))


_NETWORK = 64  # bits of an address of IPv6 that are not its host's own


def host(address: str) -> str:
    """Whom an address counts for; of IPv6 a whole network, which one host may have."""
    found = _plain(address)
    if found.version == 4:
        return str(found)
    return str(ipaddress.ip_network((found, _NETWORK), strict=False))


_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_End = tuple[_Address, int]


def _plain(text: str) -> _Address:
    """The address; one of IPv4 that an IPv6 socket shows is of IPv4."""
    found = ipaddress.ip_address(text.partition("%")[0])
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found


def _owner(peer: _End, own: _End) -> int | None:
    """The user of the socket whose own end is `peer`; None: there is none any more."""
    family = socket.AF_INET if peer[0].version == 4 else socket.AF_INET6
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as kernel:
        kernel.settimeout(1.0)
        ends = _SOCKET.pack(peer[1], own[1], peer[0].packed, own[0].packed)
        asked = _ASKED.pack(family, socket.IPPROTO_TCP, 0, 0, 0xFFFFFFFF) + ends + _ANY
        kernel.send(_HEADER.pack(_HEADER.size + len(asked), _BY_FAMILY, _REQUEST, 1, 0) + asked)
        answer = kernel.recv(4096)
    _length, kind, *_rest = _HEADER.unpack_from(answer)
    if kind != _BY_FAMILY:
        return None
    _family, state, _timer, _retries, _id, _expires, _in, _out, uid, inode = _TOLD.unpack_from(
        answer, _HEADER.size
    )
    # Of a socket that its process has closed the kernel says 0: it does not know any more.
    return int(uid) if state == _ESTABLISHED and inode else None
