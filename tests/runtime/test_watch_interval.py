"""How often components' records are looked at: often at first, and at others' cost never much."""

from __future__ import annotations

from itertools import pairwise

from metabroker.runtime.watcher import FAR, NEAR


def _pauses(took: float, looks: int) -> list[float]:
    """The pauses after looks that find nothing new, after one that did."""
    found = [FAR.after(FAR.slow, took, news=True, on_its_way=True)]
    for _ in range(looks):
        found.append(FAR.after(found[-1], took, news=False, on_its_way=True))
    return found


def test_near_files_are_looked_at_often_while_a_component_is_on_its_way() -> None:
    assert NEAR.after(1.0, 0.5, news=False, on_its_way=True) == NEAR.quick
    assert NEAR.after(1.0, 0.5, news=True, on_its_way=False) == NEAR.slow


def test_what_changed_is_looked_at_again_soon() -> None:
    assert FAR.after(2.0, 0.001, news=True, on_its_way=False) == FAR.quick


def test_looks_take_a_third_of_the_time_at_most_where_they_are_short() -> None:
    for took in (0.02, 0.03, 0.04):
        assert all(took <= (pause + took) / 3 + 1e-9 for pause in _pauses(took, 200))


def test_long_looks_do_not_put_off_the_next_for_long() -> None:
    assert _pauses(30.0, 0) == [FAR.longer]


def test_pauses_grow_to_the_longest_while_nothing_changes_and_no_further() -> None:
    pauses = _pauses(0.01, 200)
    assert all(later > sooner for sooner, later in pairwise(pauses) if later < FAR.slow)
    assert pauses[-1] == FAR.slow == max(pauses)
    assert sum(pauses[:12]) < 1.0, "twelve looks at least in the first second"
