"""Reservations into which somebody has written others: what is not certain is asked for alone.

No forgery was recorded from a live server: what it would print is by the source of `pbs_rstat`,
which lets line ends in values through (release 23.06.06, and the branch of 2026)."""

from __future__ import annotations

from typing import TypeVar

import pytest

from metabroker.clusters.command_errors import Garbled
from metabroker.clusters.openpbs import listed, reservations
from metabroker.clusters.openpbs.doubts import Doubts
from metabroker.clusters.openpbs.parsing import PbsReservation
from metabroker.clusters.openpbs.snapshot import is_ours
from metabroker.clusters.operation import Operation
from metabroker.clusters.transports.base import Command, Completed
from tests.clusters.slurm.drive import TOKEN, said

from .recorded import case
from .test_reserving import shown

R = TypeVar("R")
BRIEF, FULL = ("pbs_rstat", "-B"), ("pbs_rstat", "-F")


def block(number: int, *, written: str = "", owner: str = "mallory", name: str = "x") -> str:
    """A reservation; `written`: what its user has put, after a line end, into a string resource."""
    text = shown(owner=owner, name=name).stdout.replace("R112", f"R{number}")
    at = "Resource_List.nodect"
    return text.replace(at, f"Resource_List.note = x\n{written}\n{at}") if written else text


class Server:
    """Answers `pbs_rstat` of these reservations; `gone`: since their ids were told."""

    def __init__(self, *blocks: str, gone: tuple[str, ...] = ()) -> None:
        self.blocks = {text.partition("\n")[0].removeprefix("Resv ID: "): text for text in blocks}
        self.gone = gone
        self.doubts = Doubts("mbsvc")
        self.asked: list[tuple[str, ...]] = []

    def answer(self, asked: Command) -> Completed:
        self.asked.append(asked.argv)
        if asked.argv == BRIEF:
            return said("".join(f"Resv ID: {each}\n" for each in (*self.blocks, *self.gone)))
        if asked.argv == FULL:
            return said("".join(self.blocks.values()))
        if asked.argv[0] == "sh":
            mark, ids = asked.stdin.decode().strip(), asked.argv[4:]
            missing = "pbs_rstat: Unknown Reservation Id\n" if set(ids) & set(self.gone) else ""
            told = "".join(f"{mark} {each}\n{self.blocks.get(each, '')}" for each in ids)
            return Completed(0, told, missing)
        raise AssertionError(asked.argv)

    def look(self, token: str = TOKEN) -> list[PbsReservation]:
        """Those of a token."""
        return self.drive(reservations.of_token(token, self.doubts))

    def drive(self, operation: Operation[R]) -> R:
        answer: Completed | None = None
        try:
            while True:
                step = operation.send(answer)
                assert isinstance(step, Command)
                answer = self.answer(step)
        except StopIteration as end:
            found: R = end.value
            return found

    def all(self) -> list[PbsReservation]:
        return self.drive(reservations.look(self.doubts)).found


def forged(number: int | str, **given: str) -> str:
    """A whole reservation, as its forger would write it."""
    text = block(0, **given).replace(
        "R0.", f"{number if isinstance(number, str) else f'R{number}'}."
    )
    return "\n" + text.removesuffix("\n\n")


def test_without_any_forgery_there_are_two_questions_and_one_where_there_is_none() -> None:
    server = Server(block(5), block(6, owner="mbsvc", name=TOKEN))
    assert [r.id for r in server.all()] == ["R5.pbsa", "R6.pbsa"]
    # What is new is there if it is there after that, too.
    assert server.asked == [BRIEF, FULL, BRIEF]
    assert server.all() and server.asked[3:] == [BRIEF, FULL]
    empty = Server()
    assert empty.all() == [] and empty.asked == [BRIEF]


def test_one_that_is_not_there_is_no_reservation_and_its_forger_has_none_either() -> None:
    server = Server(block(5), block(6, written=forged("M7")), block(8))
    assert {r.id: r.owner for r in server.all()} == {"R5.pbsa": "mallory", "R8.pbsa": "mallory"}
    # Its text has an empty line in it: nobody knows where the next one begins.
    assert [argv[4:] for argv in server.asked[2:]] == [("R6.pbsa",), ("R5.pbsa", "R8.pbsa")]
    assert server.all() and [argv[4:] for argv in server.asked[6:]] == [("R6.pbsa",)]


def test_of_one_that_is_there_twice_the_server_is_believed_and_nobody_else() -> None:
    """Whether it is shown first, last or in the middle, and whatever of ours is said to be."""
    ours = block(7, owner="mbsvc", name=TOKEN)
    lies = forged(7, owner="mallory", name="other") + "\n" + forged("R9", owner="mbsvc", name=TOKEN)
    for blocks in ([ours, block(6, written=lies)], [block(6, written=lies), ours]):
        server = Server(*blocks)
        (found,) = server.look()
        assert (found.id, found.owner, found.processors) == ("R7.pbsa", "mbsvc", 4)
        assert is_ours(found, "mbsvc", "mb-abcdef01-")


def test_nothing_of_anybodys_bears_our_token_because_somebody_says_so() -> None:
    """The broker would delete it, or submit into it."""
    theirs = block(8, owner="alice")
    server = Server(theirs, block(6, written=forged(8, owner="mbsvc", name=TOKEN)))
    assert server.look() == []
    renamed = block(6, name=f"{TOKEN}\nReserve_Owner = mbsvc@pbsa")
    assert Server(renamed).look() == []
    assert Server(theirs, renamed).all()[0].owner == "alice"


def test_one_that_tells_twice_what_is_read_of_it_is_left_out() -> None:
    all_nodes = "resv_nodes = (n01:ncpus=9999)+(n02:ncpus=9999)"
    server = Server(block(5), block(6, written=all_nodes))
    assert [r.id for r in server.all()] == ["R5.pbsa"]
    assert not any(argv[0] == "sh" for argv in server.asked)
    harmless = block(6, written="anything = else")
    assert [r.id for r in Server(harmless).all()] == ["R6.pbsa"]


def test_a_mark_that_somebody_has_written_is_no_mark() -> None:
    server = Server(block(5), block(6, written=f"0123 R5.pbsa\n{forged(5, owner='mbsvc')}"))
    assert [(r.id, r.owner) for r in server.all()] == [("R5.pbsa", "mallory")]


def test_those_that_come_and_go_between_two_questions() -> None:
    """What is new is seen by the next look; nothing else is lost because of it."""
    server = Server(block(5), block(6))
    text = "".join(server.blocks.values())
    found, doubtful = listed.reservations(text, ["R5.pbsa"])
    assert (found, doubtful) == ([], ["R5.pbsa"])
    lies = block(6, written=forged(7))
    server = Server(block(5), lies, gone=("R6.pbsa",))  # it is asked for alone when it is gone
    del server.blocks["R6.pbsa"]
    found, doubtful = listed.reservations(block(5) + lies, ["R5.pbsa", "R6.pbsa"])
    assert ([r.id for r in found], doubtful) == (["R5.pbsa"], ["R6.pbsa"])
    assert server.drive(reservations._one_by_one(doubtful)) == {"R6.pbsa": ""}


@pytest.mark.parametrize("text", ["Resv ID: R1.p", "R1.p\n", "Resv ID: 1.p\n", "Unknown Host.\n"])
def test_ids_that_are_none_are_garbled(text: str) -> None:
    with pytest.raises(Garbled):
        listed.ids(text)


def test_one_alone_is_the_one_that_was_asked_for() -> None:
    text = case("50/04").stdout
    found = listed.alone(text, "R112.pbsa")
    assert found is not None and found.id == "R112.pbsa"
    assert listed.alone("", "R112.pbsa") is None
    for other in ("R111.pbsa", "R112"):
        with pytest.raises(Garbled):
            listed.alone(text, other)
    with pytest.raises(Garbled, match="nothing is told of R5"):
        listed.each(f"mark R4.p\n{text}", "mark", ["R5.p"])
