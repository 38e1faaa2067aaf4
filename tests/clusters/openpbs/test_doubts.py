"""Reservations that make others doubtful: how many questions that costs, and what is believed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

import pytest

from metabroker.clusters.openpbs import listed
from metabroker.clusters.openpbs.doubts import MOST
from metabroker.clusters.openpbs.own_reservations import OwnReservations
from metabroker.clusters.port import UnknownOutcome
from metabroker.clusters.transports.base import Command, Completed
from tests.clusters.slurm.drive import TOKEN

from .test_listed import FULL, Server, block, forged
from .test_reserving import shown

OTHERS = range(1000, 1300)


def heads(numbers: Iterable[int]) -> str:
    return "\n".join(f"Resv ID: R{n}.pbsa" for n in numbers)


def own(state: str = "RESV_CONFIRMED", number: int = 5) -> str:
    text = shown(state=state, owner="mbsvc", name=TOKEN).stdout
    return text.replace("R112", f"R{number}")


def states(server: Server) -> list[str]:
    """Of the broker's own, in a look."""
    return [r.state for r in server.all() if r.name == TOKEN]


def looks_until_all_are_known(server: Server) -> None:
    while True:
        with contextlib.suppress(UnknownOutcome):
            server.all()
            return


def many(forgers: Iterable[int] = (), *, told: str | None = None) -> Server:
    """Three hundred; each of the `forgers` holds heads of all of them."""
    written = heads(OTHERS) if told is None else told
    return Server(*(block(n, written=written if n in forgers else "") for n in OTHERS))


def asked_alone(server: Server) -> list[str]:
    return [each for argv in server.asked if argv[0] == "sh" for each in argv[4:]]


def test_a_new_one_that_makes_all_others_doubtful_costs_a_few_questions_and_then_one() -> None:
    server = many()
    everybody = server.all()
    assert len(everybody) == 300 and not asked_alone(server)
    server.blocks["R1300.pbsa"] = block(1300, written=heads(OTHERS))
    for _ in range(3):
        server.asked.clear()
        found = server.all()
        assert {r.id for r in found} == {f"R{n}.pbsa" for n in (*OTHERS, 1300)}
        assert asked_alone(server) == ["R1300.pbsa"]


@pytest.mark.parametrize("forger", [OTHERS[0], OTHERS[137], OTHERS[-1]])
def test_where_it_was_there_at_the_first_look_all_are_known_within_some_looks(forger: int) -> None:
    server = many([forger])
    looks = 0
    while True:
        server.asked.clear()
        looks += 1
        try:
            found = server.all()
        except UnknownOutcome as unknown:
            assert "reservations are not known yet" in str(unknown)
            assert len(asked_alone(server)) == MOST
        else:
            break
    assert looks <= 300 // MOST + 1
    assert {r.id for r in found} == {f"R{n}.pbsa" for n in OTHERS}
    server.asked.clear()
    assert server.all() and asked_alone(server) == [f"R{forger}.pbsa"]


def test_however_many_forge_there_are_so_many_questions_in_a_look() -> None:
    """The others count as they were read before. One that nobody has read yet is not held to be
    gone where it may be the one that is looked for."""
    server = many()
    server.all()
    for n in range(1300, 1400):
        server.blocks[f"R{n}.pbsa"] = block(n, written=heads([*OTHERS, *range(1300, 1400)]))
    for _ in range(6):
        server.asked.clear()
        found = {r.id: r.owner for r in server.all()}
        assert {f"R{n}.pbsa" for n in OTHERS} <= set(found)
        assert len(asked_alone(server)) == MOST
    assert len(found) == 400  # by and by all have been asked
    server.blocks |= {f"R{n}.pbsa": block(n, written=heads(OTHERS)) for n in range(1400, 1500)}
    with pytest.raises(UnknownOutcome):
        server.look()


def test_one_is_taken_out_of_a_listing_only_if_it_is_certain_which_text_is_its_own() -> None:
    two, forger, four = block(2), block(3, written=heads([2, 4])), block(4)
    text, order = two + forger + four, ["R2.pbsa", "R3.pbsa", "R4.pbsa"]
    left = listed.without(text, {"R3.pbsa": forger}, order)
    assert left == (two + four, ["R2.pbsa", "R4.pbsa"], False)
    assert listed.holds_others(forger) and not listed.holds_others(two)
    # It has changed; it has grown by what follows; it is gone.
    other = block(3, written=heads([2, 4]) + "x")
    for told in (other, f"{forger}{four}", ""):
        assert listed.without(text, {"R3.pbsa": told}, order) == (text, order, False)
    # Another one holds all of it.
    copied = two + block(5, written=forger) + forger + four
    ids = ["R2.pbsa", "R5.pbsa", "R3.pbsa", "R4.pbsa"]
    assert listed.without(copied, {"R3.pbsa": forger}, ids) == (copied, ids, False)


# --- the broker's own ---------------------------------------------------------------------------


def test_its_own_is_known_since_it_was_made_however_much_is_forged() -> None:
    server = Server(*(block(n) for n in range(1000, 1020)))
    server.all()
    ids = range(1100, 1300)
    for n in ids:
        server.blocks[f"R{n}.pbsa"] = block(n, written=heads([*ids, 5, *range(1000, 1020)]))
    server.blocks["R5.pbsa"] = own()
    (made,) = (r for r in Server(own()).all())
    told = OwnReservations("mbsvc")
    told.doubts = server.doubts
    told.told(TOKEN, made)
    assert all(states(server) == ["RESV_CONFIRMED"] for _ in range(3))


def test_what_becomes_of_its_own_is_seen_however_many_come_that_forge() -> None:
    server = Server(own(), *(block(n) for n in range(10, 40)))
    server.all()
    server.blocks["R5.pbsa"] = own("RESV_DEGRADED")
    for first in range(1000, 1100, 25):
        new = range(first, first + 26)
        server.blocks = {n: b for n, b in server.blocks.items() if int(n[1:-5]) < 1000}
        for n in new:
            server.blocks[f"R{n}.pbsa"] = block(n, written=heads([5, *range(10, 40), *new]))
        assert states(server) == ["RESV_DEGRADED"]


def test_to_look_for_one_of_its_own_costs_little_however_many_are_known_to_forge() -> None:
    server = many(OTHERS)
    server.blocks["R5.pbsa"] = own()
    looks_until_all_are_known(server)
    server.asked.clear()
    assert [r.id for r in server.look()] == ["R5.pbsa"]
    assert not asked_alone(server)
    for n in OTHERS:
        server.blocks[f"R{n}.pbsa"] = block(n, written=heads([*OTHERS, 5]))
    server.asked.clear()
    assert [r.id for r in server.look()] == ["R5.pbsa"]
    assert asked_alone(server) == ["R5.pbsa"]


class Between(Server):
    """Something happens as it is asked for the listing, once it was made."""

    def happens(self) -> None:
        pass

    def answer(self, asked: Command) -> Completed:
        done = super().answer(asked)
        if asked.argv == FULL:
            self.happens()
        return done


def test_one_that_has_gone_is_not_there_because_another_one_tells_of_it() -> None:
    """And leaves out what its own text tells again, so that nothing is told twice."""
    text = block(6)
    tail = text[text.index("Resource_List.nodect") :].split("\n")
    told = {line.partition(" = ")[0] for line in tail}
    lines = forged(8, owner="mbsvc", name=TOKEN).split("\n")
    lie = "\n".join(line for line in lines if not line or line.partition(" = ")[0] not in told)
    blocks = block(5), block(6, written=lie), block(9)
    shows = listed.reservations("".join(blocks), [f"R{n}.pbsa" for n in (5, 6, 8, 9)])[0]
    assert TOKEN in {r.name for r in shows}

    class Gone(Between):
        def happens(self) -> None:
            self.gone = ()

    server = Gone(*blocks, gone=("R8.pbsa",))
    assert TOKEN not in {r.name for r in server.all()}
    server.gone = ("R8.pbsa",)
    assert server.look() == []


def test_a_text_that_is_changed_as_it_is_asked_for_takes_nothing_of_others_away() -> None:
    """So that another one's word on them would count, which stands behind them."""
    victim = own(number=8)
    plain = block(6, name="x\n" + heads([8]))
    tail = plain[plain.index(heads([8])) + len(heads([8])) :]
    other = block(9, name="y" + tail + "Resv ID: R8.pbsa\nReserve_Name = mine")
    whole = block(6, name="x\n" + heads([8]) + tail + victim + other[: other.index(tail)])
    assert whole in plain + victim + other

    class Altered(Between):
        def happens(self) -> None:
            if self.altered:
                self.blocks |= {"R6.pbsa": whole, "R9.pbsa": block(9)}

        altered = False

    for looks in (0, 3):
        server = Altered(block(2), plain, victim, other, block(10, owner="alice"))
        for _ in range(looks):
            assert states(server) == ["RESV_CONFIRMED"]
        server.altered = True
        assert [(r.id, r.owner) for r in server.look()] == [("R8.pbsa", "mbsvc")]
        server.blocks |= {"R6.pbsa": plain, "R9.pbsa": other}
        assert states(server) == ["RESV_CONFIRMED"]


def test_one_that_cannot_be_read_is_its_users_matter_alone() -> None:
    end = "reserve_end = Sat Nov 21 04:44:44 "
    far = block(6).replace(f"{end}2026", f"{end}10020")
    never = block(7).replace(f"{end}2026", f"{end}never")
    server = Server(block(5), far, never, own(number=8))
    assert {r.id for r in server.all()} == {"R5.pbsa", "R6.pbsa", "R8.pbsa"}
    assert [r.id for r in server.look()] == ["R8.pbsa"]
    (late,) = (r for r in server.all() if r.id == "R6.pbsa")
    assert late.end_time > 2e11


def test_the_mark_is_none_of_the_arguments_which_anybody_can_see() -> None:
    seen: list[Command] = []

    class Seeing(Server):
        def answer(self, asked: Command) -> Completed:
            seen.append(asked)
            return super().answer(asked)

    assert len(Seeing(*many([OTHERS[20]]).blocks.values()).all()) == len(OTHERS)
    marks = [asked.stdin.decode().strip() for asked in seen if asked.argv[0] == "sh"]
    assert all(len(mark) == 16 for mark in marks) and len(set(marks)) == len(marks) == 3
    assert not any(mark in word for mark in marks for asked in seen for word in asked.argv)


@pytest.mark.parametrize(("forgers", "owned"), [(2, 40), (12, 20), (13, 40), (100, 200)])
def test_the_first_look_comes_to_an_end_however_many_forge(forgers: int, owned: int) -> None:
    """One of them holds the whole text of another one, and none of the two can be taken out."""
    forge, ours, others = range(100, 100 + forgers), range(200, 200 + owned), range(400, 500)
    ids = [*forge, *ours, *others]
    blocks = {n: block(n, written=heads(ids)) for n in forge}
    blocks[100] = block(100, written=f"{blocks[forge[-1]]}{heads([100])}")
    mine = (own(number=n).replace(TOKEN, f"mb-x-{n}") for n in ours)
    server = Server(*blocks.values(), *mine, *(block(n, owner="bob") for n in others))
    for _ in range(30):
        try:
            found = server.all()
            break
        except UnknownOutcome:
            pass
    assert len(found) >= len(ids) - 1  # one tells twice what it is


def test_a_token_is_found_though_many_forge_and_more_come_each_time() -> None:
    standing = range(100, 196)
    server = Server(*(block(n, written=heads(standing)) for n in standing))
    looks_until_all_are_known(server)
    for first in range(1000, 1100, 25):
        server.blocks = {n: b for n, b in server.blocks.items() if int(n[1:-5]) < 1000}
        new = range(first, first + 25)
        for n in new:
            server.blocks[f"R{n}.pbsa"] = block(n)
        for n in standing:
            server.blocks[f"R{n}.pbsa"] = block(n, written=heads([*standing, *new]))
        assert server.look() == []


def test_others_that_have_gone_hold_nothing_because_somebody_says_so() -> None:
    class Gone(Between):
        def happens(self) -> None:
            self.gone = ()

    lie = "Resv ID: R7.pbsa\nReserve_Name = z\nReserve_Owner = mallory@x"
    lie += "\nreserve_state = RESV_CONFIRMED"
    plain = block(6)
    for line in plain.split("\n")[3:]:
        key = line.partition(" = ")[0]
        lie += f"\n{line}" if key in ("reserve_substate", "reserve_start", "reserve_end") else ""
    head, _, tail = plain.partition("Resource_List.nodect")
    kept = "\n".join(line for line in head.split("\n") if line.partition(" = ")[0] not in lie)
    text = f"{kept}Resource_List.note = x\n{lie}\nResource_List.nodect{tail}"
    server = Gone(block(5), text, block(9), gone=("R7.pbsa",))
    assert "R7.pbsa" not in {r.id for r in server.all()}
