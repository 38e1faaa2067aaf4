"""Plays a scenario through a daemon and the command line, and compares what came of it."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

from metabroker.api.client import ENDED
from tests.contract.scenario import Expected, Scenario
from tests.daemon.harness import MEET, RECORD, Json, Site, eventually
from tests.daemon.kinds import end_local

WORDS = {"cancel", "hold", "release"}


class Player:
    """One scenario at one site."""

    def __init__(self, scenario: Scenario, site: Site) -> None:
        self.scenario = scenario
        self.site = site
        self.jobs: dict[str, int] = {}
        self.where: dict[str, str] = {}  # local users' jobs and their clusters

    def play(self) -> None:
        """From the first daemon's start to its end in good order."""
        self._prepare()
        for step in self.scenario.steps:
            verb, rest = (step, {}) if isinstance(step, str) else (next(iter(step)), step)
            if verb in WORDS:
                self._change(verb, rest[verb])
            else:
                getattr(self, f"_{verb.replace(' ', '_')}")(rest)
        self._compare()
        self._end_well()

    # --- the stage ----------------------------------------------------------------------------

    def _prepare(self) -> None:
        site, scenario = self.site, self.scenario
        site.configure(scenario.configuration)
        for others in scenario.before:
            where, processors = others["cluster"], others["processors"]
            if "reservation" in others:
                site.kind.reservation(site.folder, others["reservation"], where, processors)
            else:
                self.where[others["local"]] = where
                site.kind.local_job(site.folder, others["local"], where, processors)
        if site.kind.name != "simulated":  # there they are no matter of our daemon
            self._await_first_local()
        options = []
        if scenario.pause is not None:
            options = ["--pause", scenario.pause.replace(" ", ":")]
        site.start(*options)
        self._await_first_local()
        site.look_at_clusters(anew=bool(scenario.before))

    def _await_first_local(self) -> None:
        for name, cluster in list(self.where.items())[:1]:
            self._runs({"runs": name, "cluster": cluster})

    # --- steps --------------------------------------------------------------------------------

    def _submit(self, step: Json) -> None:
        name, script = step["submit"], step.get("script")
        if "refused" in step:
            file = self.site.folder / "script"
            file.write_text(script or "#!/bin/sh\n")
            done = self.site.cli("submit", *_filled(step["options"], self.site).split(), str(file))
            assert done.returncode != 0
            assert step["refused"] in done.stderr, done.stderr
            return
        self.jobs[name] = self.site.submit(
            _filled(step["options"], self.site),
            _filled(script, self.site) if script is not None else None,
            step.get("args", ()),
            step.get("environment"),
        )

    def _change(self, verb: str, name: str) -> None:
        done = self.site.cli(verb, str(self.jobs[name]), "--json")
        assert done.returncode == 0, done.stderr
        assert not json.loads(done.stdout)["errors"]

    def _wait(self, step: Json) -> None:
        number = self.jobs[step["wait"]]
        found = self.site.wait_state(number, *step["state"].split())
        if "reason" in step:
            eventually(
                lambda: step["reason"] in self.site.job(number)["reason"],
                f"its reason says {step['reason']!r}, not {found['reason']!r}",
            )

    def _end(self, step: Json) -> None:
        end_local(self.site.folder, step["end"])

    def _runs(self, step: Json) -> None:
        name = step["runs"]
        eventually(
            lambda: self.site.kind.running(self.site.folder, name, self.where[name]), f"{name} runs"
        )

    def _paused(self, _step: Json) -> None:
        self.site.wait_pause()

    def _go_on(self, _step: Json) -> None:
        self.site.go_on()

    def _looked(self, _step: Json) -> None:
        """The broker knows what is in the clusters now."""
        self.site.look_at_clusters(anew=True)

    def _look(self, step: Json) -> None:
        """What the broker has in the clusters at this moment, by the clusters' own word."""
        for kind, expected in step["look"].items():
            self._see(kind, expected)

    def _see(self, what: str, expected: Json) -> None:
        found = f"{what} are {expected}, and not {self._held(what)}"
        eventually(lambda: self._held(what) == expected, found)

    def _held(self, what: str) -> dict[str, int]:
        """Cluster: processors in our reservations there, or number of our jobs."""
        found = {}
        for cluster in self.site.kind.sizes:
            held = self.site.held(cluster)
            found[cluster] = (
                sum(held.reservations.values()) if what == "reservations" else len(held.jobs)
            )
        return {cluster: count for cluster, count in found.items() if count}

    # --- the end ------------------------------------------------------------------------------

    def _compare(self) -> None:
        shown = {}
        for name, expected in self.scenario.expect.items():
            number = self.jobs[name]
            if expected.state in ENDED:
                self.site.wait_end(number)
            shown[name] = self.site.show(number)
            self._compare_job(name, expected, shown[name])
        times = [shown[name]["start_time"] for name in self.scenario.order]
        assert all(first < then for first, then in itertools.pairwise(times)), times

    def _compare_job(self, name: str, expected: Expected, job: Json) -> None:
        story = json.dumps(job, indent=1)
        assert job["state"] == expected.state, story
        assert job["exit_code"] == expected.exit_code, story
        if expected.attempts is not None:
            assert job["attempts"] == expected.attempts, story
        if expected.clusters is not None:
            assert [part["cluster"] for part in job["components"]] == expected.clusters, story
        if expected.reason is not None:
            assert expected.reason in job["reason"], story
        words = [event["event"] for event in job["events"]]
        for wanted in expected.events:
            assert [word for word in words if word in wanted] == wanted, story
        self._compare_runs(expected, job)
        self._compare_files(expected)

    def _compare_runs(self, expected: Expected, job: Json) -> None:
        runs = self.site.runs(job["job"])
        assert len({(run.attempt, run.component) for run in runs}) == len(runs), "started twice"
        if expected.runs is not None:
            assert len(runs) == expected.runs, runs
        if expected.together:
            met = [run.component for run in self.site.met(job["job"])]
            assert sorted(met) == [part["index"] for part in job["components"]], met
            assert {run.attempt for run in runs} == {job["attempts"]}, runs

    def _compare_files(self, expected: Expected) -> None:
        for name, content in expected.files.items():
            path = Path(self.site.folder / "work" / name)
            assert path.exists(), sorted(str(p) for p in self.site.work.rglob("*"))
            assert path.read_text() == _filled(content, self.site), name
        for name, parts in expected.holding.items():
            text = (self.site.work / name).read_text()
            for part in parts:
                assert _filled(part, self.site) in text, f"{name}: {text}"

    def _end_well(self) -> None:
        """Nothing is left, nobody else's is gone, and the daemon had no trouble of its own."""
        self.site.wait_clean()
        for others in self.scenario.before:
            held = self.site.kind.held(self.site.folder, others["cluster"])
            if "reservation" in others:
                assert held.reservations[others["reservation"]] == others["processors"]
        assert self.site.stop() == 0
        log = self.site.log.read_text()
        assert "Traceback" not in log, log


def _filled(text: Any, site: Site) -> Any:
    """`{work}` is the folder in which the jobs run; `{record}` and `{meet}` are shell."""
    if isinstance(text, list):
        return [_filled(word, site) for word in text]
    for word, meaning in (("work", str(site.work)), ("record", RECORD), ("meet", MEET)):
        text = text.replace(f"{{{word}}}", meaning) if isinstance(text, str) else text
    return text
