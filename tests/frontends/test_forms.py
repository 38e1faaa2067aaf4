"""Formats and orders of `squeue` and `sinfo`."""

from __future__ import annotations

from tests.frontends.conftest import Ask
from tests.frontends.stub import StubClient, job

SPEC = {"chdir": "/w", "output": None, "error": None, "script_name": "s.sh"}


def test_text_before_the_first_field_of_sinfo(ask: Ask) -> None:
    for form, head, line in (
        ("P=%P", "P=PARTITION", "P=batch*"),
        ("in %R:%t", "in PARTITION:STATE", "in batch:idle"),
    ):
        out = ask(StubClient(), "sinfo", "-o", form)[1].splitlines()
        assert out[:2] == [head, line]
    assert "is not known here" in ask(StubClient(), "sinfo", "-o", "%P%.5")[2]


def test_squeue_of_all_fields(ask: Ask) -> None:
    head, line = ask(StubClient(job(1)), "squeue", "-o", "%all")[1].splitlines()
    assert head.startswith("ACCOUNT|JOBID|EXEC_HOST|MIN_CPUS|CPUS|")
    assert line.startswith("(null)|1|n1|1|4|")
    assert head.count("|") == line.count("|") == 37


def test_squeue_sorts_numbers_as_numbers(ask: Ask) -> None:
    def nice(value: str) -> dict[str, object]:
        return {**SPEC, "asked": [{"option": "nice", "value": value}]}

    def at(count: int) -> list[dict[str, object]]:
        return [{"cluster": "d", "hosts": [f"n{n}" for n in range(count)]}]

    long, short = {"cpus_per_task": 10, "memory": 10240}, {"cpus_per_task": 9, "memory": 9000}
    daemon = StubClient(
        job(1, time_limit=600 * 60, components=at(10), shape=long, spec=nice("100")),
        job(2, time_limit=9 * 3600, components=at(2), shape=short, spec=nice("20")),
        job(3, time_limit=1800, components=at(1), shape={}, spec=nice("3")),
    )
    for letter in "lLDcmy":
        assert ask(daemon, "squeue", "-h", "-S", letter, "-o", "%i")[1] == "3\n2\n1\n", letter
        assert ask(daemon, "squeue", "-h", "-S", f"-{letter}", "-o", "%i")[1] == "1\n2\n3\n"
    tasks = [job(20 - n, array_job=9, array_task=n) for n in (2, 10)]
    assert ask(StubClient(*tasks), "squeue", "-h", "-S", "K", "-o", "%K")[1] == "2\n10\n"
