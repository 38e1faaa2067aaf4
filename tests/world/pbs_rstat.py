"""What `pbs_rstat` shows of reservations, and what somebody may have written into it."""

from __future__ import annotations

from collections.abc import Mapping

from metabroker.clusters.transports.base import Completed

_ALWAYS = """\
reserve_state = RESV_RUNNING
reserve_substate = 5
reserve_start = Thu Jan  1 00:00:00 1970
reserve_end = Thu Jan  1 00:00:00 2099
Resource_List.ncpus = 9999
"""


def listed(
    argv: tuple[str, ...], stdin: bytes, blocks: Mapping[str, str], server: str | None
) -> Completed:
    """The answer to `pbs_rstat -B`, to `-F` with ids or without, or to the script that asks one by
    one. `server`: a user of it has a reservation that tells forgeries."""
    if server is not None:
        forger = f"R888888.{server}"
        blocks = {forger: _forged(forger, server, list(blocks))} | dict(blocks)
    if argv[0] == "sh":
        mark, ids = stdin.decode().strip(), list(argv[4:])
        return _said("".join(f"{mark} {each}\n{blocks.get(each, '')}" for each in ids))
    if argv[1] == "-B":
        return _said("".join(f"Resv ID: {each}\n" for each in blocks))
    ids = list(argv[2:]) or list(blocks)
    found = [blocks[each] for each in ids if each in blocks]
    if ids and not found:
        return Completed(236, "", "pbs_rstat: Unknown Reservation Id\n")
    return _said("".join(found))


def _forged(forger: str, server: str, others: list[str]) -> str:
    """It has not been confirmed, and tells of one that takes all nodes for ever, and of all others
    as what they are not."""
    head = f"Resv ID: {forger}\nReserve_Name = NULL\nReserve_Owner = someone@{server}\n"
    own = "reserve_state = RESV_UNCONFIRMED\nreserve_substate = 1\nResource_List.note = x\n\n"
    nodes = "+".join(f"({server}n{number}:ncpus=9999)" for number in range(4))
    made = "".join(
        f"Resv ID: {each}\nReserve_Name = other\nReserve_Owner = someone@{server}\n{_ALWAYS}"
        f"resv_nodes = {nodes}\n\n"
        for each in (f"M999999.{server}", *others)
    )
    # What it has itself follows what it has written, and would be told twice by the last of these.
    made += f"\nResv ID: M999998.{server}\n"
    rest = "reserve_start = Sat Nov 21 04:43:44 2026\nreserve_end = Sat Nov 21 04:44:44 2026\n\n"
    return head + own + made + rest


def vnodes(where: Mapping[str, int]) -> str:
    """Processors of nodes, as PBS writes them."""
    return "+".join(f"({node}:ncpus={count})" for node, count in where.items())


def _said(stdout: str) -> Completed:
    return Completed(0, stdout, "")
