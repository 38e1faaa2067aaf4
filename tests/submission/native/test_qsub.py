"""Which of qsub's options users may give themselves."""

from __future__ import annotations

import getopt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.submission.native.qsub import check_native

OPTIONS = "a:A:c:C:e:fhIj:J:k:l:m:M:N:o:p:q:r:R:S:u:v:VW:XzP:G:"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["-qlong"],
        ["-Aacct:1/2", "-Pproj", "-p-100", "-mabe", "-Msomebody@example.org"],
        ["-lsoftware=matlab", "-lfoo=1,bar=2"],
        ["-Wgroup_list=physics"],
        ["-Wumask=022,group_list=g@host"],
    ],
)
def test_what_may_be_given(words: list[str]) -> None:
    assert check_native(words) is None


@pytest.mark.parametrize(
    "word",
    [
        *("script.sh", "", "-", "--", "--help", "-q", "-q long", "-q ", "-qlong@other", "-l"),
        *("-lselect", "-lselect=2:ncpus=4", "-lfoo=1,walltime=5", "-lncpus=4", "-lplace=excl"),
        *("-lSELECT=1", "-Nname", "-f", "-h", "-I", "-V", "-vX=1", "-z", "-uroot", "-J0-3"),
        *("-C#X", "-o/x", "-e/x", "-joe", "-koed", "-ry", "-S/bin/bash", "-a1200", "-G", "-X"),
        *("-Wblock=true", "-Wdepend=afterok:1", "-Wumask", "-Wumask=022 block=true"),
        "-Wgroup_list=a,stagein=b@c:d",
    ],
)
def test_what_is_refused(word: str) -> None:
    wrong = check_native(["-ma", word])
    assert wrong is not None and repr(word) in wrong


WORD = st.one_of(
    st.tuples(
        st.sampled_from("aAcCefhIjJklmMNopqrRSuvVWXzPG"), st.text("ab=,: 1@", max_size=6)
    ).map(lambda o: f"-{o[0]}{o[1]}"),
    st.text(max_size=4),
)


@given(st.lists(WORD, max_size=4))
def test_what_gets_through_leaves_the_script_and_the_brokers_options_alone(
    words: list[str],
) -> None:
    if check_native(words) is not None:
        return
    found, rest = getopt.getopt([*words, "-N", "token"], OPTIONS)
    assert rest == [], "that would be the script"
    assert found[-1] == ("-N", "token"), "an option has taken ours for its value"
    assert {name for name, _ in found[:-1]} <= {"-A", "-m", "-M", "-p", "-P", "-q", "-l", "-W"}
