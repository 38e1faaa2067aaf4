"""The saga, as scenarios that can be read: see `golden/*.txt`, and `script` for their language."""

from __future__ import annotations

from pathlib import Path

import pytest

from metabroker.broker.states import TRANSITIONS

from .script import Script

FOLDER = Path(__file__).with_name("golden")
FILES = sorted(FOLDER.glob("*.txt"))


def replay(text: str) -> tuple[str, set[tuple[str, str]]]:
    """The file as it should be, and every change of a job's state in it."""
    changes: set[tuple[str, str]] = set()
    paragraphs = []
    script = Script()
    for paragraph in text.strip().split("\n\n"):
        lines = paragraph.split("\n----")[0].splitlines()
        events = [line for line in lines if not line.startswith("#")]
        if events and events[0].startswith("begin"):
            if script.bench is not None:
                changes |= script.bench.changes
            script.close()
            script = Script()
        answers = [line for event in events for line in script.play(event)]
        body = [*lines, "----", *answers] if events else lines
        paragraphs.append("\n".join(body))
    if script.bench is not None:
        changes |= script.bench.changes
    script.close()
    return "\n\n".join(paragraphs) + "\n", changes


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_golden(path: Path, request: pytest.FixtureRequest) -> None:
    before = path.read_text()
    after, _changes = replay(before)
    if request.config.getoption("--rewrite-golden", default=False):
        path.write_text(after)
    else:
        assert after == before, "if this is right: pytest tests/broker --rewrite-golden"


def test_the_scenarios_take_every_step_of_the_state_table_and_no_other() -> None:
    changes = {change for path in FILES for change in replay(path.read_text())[1]}
    table = {(old.value, new.value) for old, after in TRANSITIONS.items() for new in after}
    assert changes == table
