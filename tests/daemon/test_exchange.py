"""Components of one job tell each other things, over real clusters and simulated ones."""

from __future__ import annotations

from tests.daemon.harness import Site, eventually, until

TELL = r"""#!/bin/sh
set -e
n=$METABROKER_COMPONENT
printf 'from %s\n  second line' "$n" | metabroker-exchange put greeting
other=0
while [ $other -lt "$METABROKER_COMPONENTS" ]; do
    metabroker-exchange get $other greeting --timeout 60 | sed "s/^/$n: /"
    other=$((other + 1))
done
metabroker-exchange barrier told --timeout 60
echo "$n: past the barrier"
"""


def told(site: Site, job: int, components: int) -> None:
    for n in range(components):
        lines = (site.work / f"metabroker-{job}.{n}.out").read_text().splitlines()
        wanted = [f"{n}: {w}" for m in range(components) for w in (f"from {m}", "  second line")]
        assert lines == [*wanted, f"{n}: past the barrier"]


def test_components_tell_each_other(site: Site) -> None:
    site.start_and_look()
    job = site.submit("--components 4,4,4", TELL)
    site.wait_end(job, "COMPLETED")
    told(site, job, 3)
    site.wait_clean()


def test_what_was_put_while_the_daemon_was_killed_arrives(site: Site) -> None:
    script = TELL.replace("other=0", f"echo > here.$n\n{until('go-on')}\nother=0", 1)
    site.start_and_look()
    job = site.submit("--components 4,4", f"{script}")
    eventually(lambda: len([*site.work.glob("here.*")]) == 2, "both have put")
    site.kill()
    (site.work / "go-on").touch()
    site.start()
    site.wait_end(job, "COMPLETED")
    told(site, job, 2)
    site.wait_clean()


def test_last_words_arrive(site: Site) -> None:
    script = r"""#!/bin/sh
case $METABROKER_COMPONENT in
    0) echo | metabroker-exchange put begun; metabroker-exchange get 1 heard --timeout 60
       echo farewell | metabroker-exchange put last ;;
    *) metabroker-exchange get 0 begun --timeout 60; echo | metabroker-exchange put heard
       sleep 0.3; metabroker-exchange get 0 last --timeout 30 ;;
esac
"""
    site.start_and_look()
    jobs = [site.submit("--components 4,4", script) for _ in range(4)]
    for job in jobs:
        site.wait_end(job, "COMPLETED")
        assert "farewell\n" in (site.work / f"metabroker-{job}.1.out").read_text()
    site.wait_clean()


def test_a_job_that_floods_its_exchange_costs_others_nothing(site: Site) -> None:
    flood = r"""#!/bin/sh
gate=${METABROKER_PEERS_FILE%/*}
if [ "$METABROKER_COMPONENT" = 0 ]; then
    i=1
    while [ ! -e WORK/enough ]; do
        { echo ":key"; echo " $i"; } > "$gate/out.$i"
        [ $((i % 100)) != 0 ] || echo $i >> WORK/put
        i=$((i + 1))
        : > "$gate/out.x$i"
        mkdir "$gate/in.1" 2>/dev/null
    done
else
    mkdir "$gate/in.0"
    echo garbage > "$gate/out.7"
fi
""".replace("WORK", str(site.work))
    site.start_and_look()
    hostile = site.submit("--components 4,4", flood)
    site.wait_state(hostile, "RUNNING")
    job = site.submit("--components 4,4,4", TELL)
    site.wait_end(job, "COMPLETED")
    told(site, job, 3)
    assert site.job(hostile)["state"] == "RUNNING", "it goes on with it"
    said = site.work / "put"
    eventually(lambda: said.exists() and len(said.read_text().split()) > 5, "it has put hundreds")
    (site.work / "enough").touch()
    site.wait_end(hostile, "COMPLETED", "FAILED")
    assert "Traceback" not in site.log.read_text()
    site.wait_clean()
