"""Sound submissions of every kind, for hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from metabroker.submission.environment import OURS
from metabroker.submission.model import Processors, Submission
from metabroker.submission.shape import Shape

names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}", fullmatch=True)
counts = st.integers(1, 999_999_999 // 64)
lines = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=255
)
data = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
variables = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True).filter(
    lambda name: name not in OURS
)
words = st.lists(data, max_size=4).map(tuple)
patterns = st.lists(
    st.sampled_from(["%j", "%c", "%%", "a", "/", "$(x)", "'", ";", " "]), min_size=1
).map("".join)

parts = lines.filter(lambda part: "/" not in part and part not in (".", ".."))
files = st.lists(st.lists(parts, min_size=1, max_size=3).map("/".join), max_size=3).map(tuple)

processors = st.one_of(
    st.builds(Processors, single=counts, cluster=st.none() | names),
    st.builds(Processors, components=st.lists(counts, min_size=1, max_size=5).map(tuple)),
    st.builds(Processors, on=st.lists(st.tuples(names, counts), min_size=1, max_size=5).map(tuple)),
    st.builds(Processors, total=counts),
)

amounts = st.sampled_from([0, 0, 1, 4096])
shapes = st.one_of(
    st.builds(Shape, cpus_per_task=st.integers(1, 64), exclusive=st.booleans()),
    st.builds(Shape, memory=amounts, gpus=amounts),
    st.builds(Shape, memory_per_cpu=amounts, gpus_per_task=amounts),
)

submissions = st.builds(
    Submission,
    script=st.binary(max_size=300).map(lambda body: b"#!/bin/sh\n" + body.replace(b"\0", b"")),
    script_name=lines,
    processors=processors,
    chdir=lines.map(lambda path: f"/{path}"),
    args=words,
    shape=shapes,
    name=st.none() | lines,
    time_limit=st.none() | st.integers(1, 10**8),
    output=st.none() | patterns,
    error=st.none() | patterns,
    environment=st.dictionaries(variables, data, max_size=4),
    native=st.dictionaries(names, words, max_size=3),
    hold=st.booleans(),
    request_id=st.none() | st.uuids().map(str),
    stage_in=files,
    stage_out=files,
    submit_dir=lines.map(lambda path: f"/{path}"),
    input_at=st.lists(
        st.builds("{}:/{}:{}".format, names, lines, st.integers(0, 10**18)), max_size=3
    ).map(tuple),
    staged_bytes=st.integers(0, 10**18),
)
