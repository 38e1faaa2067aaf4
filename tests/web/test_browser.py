"""The page in a real browser, while jobs run on real clusters."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from metabroker.web.data import everything, totals
from tests.api.shapes import cluster, job, part
from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site, recording, until
from tests.daemon.kinds import Slurm, end_local
from tests.daemon.test_offline import free_port
from tests.testbed import SlurmCluster
from tests.testbed.testbed import SYSTEM_PATH
from tests.web.browser import Browser, Keys
from tests.web.served import Served
from tests.web.test_data import overview

# One browser for all of them.
pytestmark = [pytest.mark.xdist_group("browser")]

HOSTILE = "<img src=x onerror=alert(1)>"
LONG = recording(until("go"))


class Watched:
    """A daemon, and its page in the browser."""

    def __init__(self, site: Site, browser: Browser, address: str) -> None:
        self.site = site
        self.browser = browser
        self.address = address

    def open(self) -> None:
        """Open the page, and wait until it is live."""
        self.browser.open(f"http://{self.address}/")
        self.live()

    def live(self) -> None:
        """Wait until it is."""
        self.browser.until(lambda: self.browser.text("#link") == "live", "the page is live")

    def shows(self, selector: str, *words: str) -> None:
        """Wait until one element there shows all these words."""
        texts = self.browser.texts
        self.browser.until(
            lambda: any(all(word in text for word in words) for text in texts(selector)),
            f"{selector} shows {' and '.join(words)}",
        )

    def clean(self) -> None:
        """Nothing was complained of, and nothing went elsewhere."""
        assert self.browser.complaints() == []
        assert self.browser.hosts_asked() == {self.address}


@pytest.fixture
def watched(clusters: dict[str, SlurmCluster], make_site: MakeSite, browser: Browser) -> Watched:
    address = f"127.0.0.1:{free_port()}"
    site = make_site(Slurm(clusters))
    # So that lab's commands can be taken away.
    (site.folder / "lab-bin").symlink_to(clusters["lab"].bin)
    lab = {"env": {"PATH": f"{site.folder}/lab-bin:{SYSTEM_PATH}"}}
    site.configure({"metrics": address, "page": "jobs", "clusters": {"lab": lab}})
    site.start_and_look()
    browser.size(1200, 900)
    return Watched(site, browser, address)


@pytest.mark.slurm
def test_what_happens_is_seen_as_it_happens(watched: Watched) -> None:
    site, browser = watched.site, watched.browser
    watched.open()
    browser.run("window.onlyOnce = true")
    watched.shows("#clusters > li", "delft", "144", "free of 144")
    watched.shows("#timeline-note", "Nothing runs")

    site.kind.local_job(site.folder, "locals", "leiden", 24)
    watched.shows("#clusters > li", "leiden", "40", "free of 64", "24 held by others")
    bar, part = ("[data-key=leiden] .bar", "[data-key=leiden] .bar .others")
    browser.until(
        lambda: browser.width(part) == pytest.approx(24 / 64 * browser.width(bar), rel=0.05),
        "the part of the bar is as wide as it should be",
    )

    together = site.submit("--on delft:32,lab:16 --job-name climate", LONG)
    site.wait_state(together, "RUNNING")
    watched.shows("#rows > li", f"{together} climate", "1 of 2", "32 procs", "running since")
    watched.shows("#rows > li", f"{together} climate", "2 of 2", "16 procs", "running since")
    watched.shows("#clusters > li", "delft", "32 held by metabroker", "112 free")

    behind = site.submit(["-n", "32", "--cluster", "lab", "--job-name", HOSTILE], LONG)
    watched.shows(".queue li", str(behind), HOSTILE, "asks for lab:32 processors; idle: ")
    assert "asks for lab:32 processors; idle: " in site.job(behind)["reason"]
    assert browser.run("return document.images.length") == 0, "a name is text"

    (site.work / "go").touch()
    site.wait_end(together, "COMPLETED")
    site.wait_end(behind, "COMPLETED")
    watched.shows("#timeline-note", "Nothing runs")
    end_local(site.folder, "locals")
    watched.shows("#clusters > li", "leiden", "64", "free of 64")
    assert browser.run("return window.onlyOnce") is True, "it was never loaded again"
    watched.clean()


@pytest.mark.slurm
def test_by_keyboard_and_on_a_telephone(watched: Watched) -> None:
    site, browser = watched.site, watched.browser
    first = site.submit("--on delft:8,leiden:8 --job-name " + "long" * 12, LONG)
    site.wait_state(first, "RUNNING")
    waiting = [site.submit(f"-n 32 --cluster lab --job-name w{n}", LONG) for n in range(4)]
    browser.size(360, 740)
    watched.open()
    watched.shows(".queue li", "w3")
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        wide = "return [document.documentElement.scrollWidth, window.innerWidth]"
        assert browser.run(wide) == [360, 360], "nothing is cut off, and nothing scrolls sideways"

    browser.press(Keys.TAB)
    assert browser.focused() == "Skip to the clusters"
    browser.press(Keys.ENTER, Keys.TAB)
    assert browser.focused().startswith("delft")
    assert browser.run("return getComputedStyle(document.activeElement).outlineWidth") == "3px"
    browser.press(Keys.TAB, Keys.TAB)
    assert browser.focused().startswith("lab")
    browser.press(Keys.TAB, Keys.TAB, Keys.TAB)  # how to group, what to show, the first queue
    assert browser.focused().startswith(str(waiting[1])), "the first of the queue: one runs"
    browser.press(Keys.END)
    assert browser.focused().startswith(str(waiting[3]))
    site.cli("cancel", str(waiting[3]))
    browser.until(
        lambda: browser.focused().startswith(str(waiting[2])),
        "the focus stays in the list when its row has gone",
    )
    browser.press(Keys.TAB)
    assert f"{first} long" in browser.focused() and "1 of 2" in browser.focused()
    browser.press(Keys.ARROW_DOWN)
    assert "2 of 2" in browser.focused()
    browser.press(Keys.ENTER)
    watched.shows("#job-title", f"Job {first} long")
    watched.shows("#job-events > li", "submitted")
    watched.shows("#job-parts > li", "leiden: 8 processors, running")
    watched.clean()
    (site.work / "go").touch()


@pytest.mark.slurm
def test_a_daemon_or_a_cluster_that_has_gone_is_said_to_be(watched: Watched) -> None:
    site, browser = watched.site, watched.browser
    watched.open()
    commands = site.folder / "lab-bin"
    commands.rename(site.folder / "away")
    watched.shows("#clusters > li", "lab", "unreachable since", "32 not known")
    (site.folder / "away").rename(commands)
    watched.shows("#clusters > li", "lab", "seen", "32 free")
    watched.clean()

    assert site.stop() == 0
    watched.shows("#link", "not connected since")
    site.start()
    watched.live()
    assert browser.hosts_asked() == {watched.address}


# --- what is rare, from a server without a daemon ------------------------------------------------


@pytest.fixture
def served() -> Iterator[Served]:
    made = Served()
    yield made
    made.server.stop()


def open_(browser: Browser, served: Served) -> None:
    browser.size(1200, 900)
    browser.open(served.url)
    browser.until(lambda: browser.text("#link") == "live", "the page is live")


def test_strangers_see_totals_and_how_to_see_more(served: Served, browser: Browser) -> None:
    served.source.shown = totals(overview(job(1, "QUEUED", part(0, "QUEUED"))))
    open_(browser, served)
    assert "100" in browser.text("#clusters .free-of")
    assert "1 waiting" in browser.text(".queue")
    assert "`metabroker page`" in browser.text("#queues-note")
    assert browser.width("#timeline-section") == 0, "it is not there"
    assert "secret-project" not in browser.text()
    assert browser.complaints() == []


def test_what_is_reserved_planned_stale_or_left_out_is_said(
    served: Served, browser: Browser
) -> None:
    now = time.time()
    waiting = [job(n, "QUEUED", part(0, "QUEUED")) for n in range(10, 110)]
    waiting[0]["expected_start"] = {"earliest": now + 60, "latest": now + 900}
    shown = overview(
        job(1, "WAITING", part(0, "WAITING"), part(1, "SUBMITTING", detail="PENDING: Priority")),
        job(2, "QUEUED", part(0, "QUEUED"), earliest_start=now + 300),
        *waiting,
        time=now,
        clusters=[cluster(fresh=False, age_seconds=90.0), cluster("far", reachable=False,
                  idle=None, others=None, down=None, age_seconds=None, error="no route to host")],
        reservations=[{"job": 1, "component": 0, "cluster": "delft", "processors": 8,
                       "start_time": now - 5, "end_time": now + 600}],
    )  # fmt: skip
    for entry in shown["status"]["jobs_by_queue"]:
        if entry["state"] == "QUEUED":
            entry["jobs"] = 1000
    shown["status"]["store"] = "disk full"
    served.source.shown = everything(shown)
    open_(browser, served)
    rows = browser.texts("#rows > li")
    assert any("1 secret-project (1 of 2)" in row and "reserved from" in row for row in rows)
    assert any("(2 of 2)" in row and "submitting: PENDING: Priority" in row for row in rows)
    assert any("2 secret-project" in row and "planned for" in row for row in rows)
    kinds = browser.run("return [...document.querySelectorAll('.track i:first-child')]"
                        ".map((bar) => [bar.className, bar.offsetWidth > 20])")  # fmt: skip
    assert kinds == [["reserved", True], ["starting", True], ["planned", True]]
    seen = browser.text("#clusters")
    assert "stale: last seen" in seen
    assert "unreachable, never seen" in seen and "no route to host" in seen
    assert "124 not known" in seen
    assert browser.text("#trouble") == "the store: disk full"
    (told,) = (text for text in browser.texts(".queue .why") if text.startswith("starts "))
    assert " to " in told
    assert "and 899 more" in browser.text(".queue .more").replace("jobs ", "")
    assert len(browser.texts(".queue .rows > li")) == 10, "the first ones"
    top = "return document.querySelector(arguments[0]).getBoundingClientRect().top"
    assert browser.run(top, ".queue h3") < 900, "queues are seen without scrolling"
    assert browser.text(".queue .all:not([hidden])") == "show all 101"
    browser.run("document.querySelector('.queue .all:not([hidden])').click()")
    assert len(browser.texts(".queue .rows > li")) == 101
    assert browser.complaints() == []


def test_what_is_mine_what_has_these_words_and_whose_jobs_wait(
    served: Served, browser: Browser
) -> None:
    crowd = [job(n, "QUEUED", part(0, "QUEUED"), user="bob") for n in range(10, 60)]
    mine = job(60, "QUEUED", part(0, "QUEUED"), name=HOSTILE)
    runs = job(1, "RUNNING", part(0, "RUNNING", start_time=time.time()), user="bob")
    shown = everything(overview(runs, *crowd, mine, time=time.time()))
    served.source.shown = {**shown, "me": "anna"}
    open_(browser, served)

    def rows() -> list[str]:
        return browser.texts(".queue .rows > li")

    assert len(rows()) == 10 and HOSTILE not in browser.text()
    browser.run("document.getElementById('mine').click()")
    (row,) = rows()
    assert row.startswith("60") and HOSTILE in row
    assert browser.texts("#timeline-note") == ["None of the selected jobs runs or is reserved."]
    browser.run("document.getElementById('mine').click()")
    browser.run("const box = document.getElementById('words'); box.value = 'bob 17';"
                "box.dispatchEvent(new Event('input', {bubbles: true}))")  # fmt: skip
    (row,) = rows()
    assert row.startswith("17")
    browser.run("document.getElementById('words').value = '';"
                "const by = document.getElementById('group'); by.value = 'user';"
                "by.dispatchEvent(new Event('input', {bubbles: true}))")  # fmt: skip
    assert browser.texts(".queue h3") == ["bob", "anna"]
    assert browser.texts(".queue .health") == ["50 waiting", "1 waiting"]
    assert browser.complaints() == []


def test_a_page_that_is_refused_comes_again(served: Served, browser: Browser) -> None:
    served.source.shown = totals(overview())
    assert served.feed is not None
    served.feed._most = 0
    browser.open(served.url)
    browser.until(lambda: "not connected since" in browser.text("#link"), "it is refused")
    served.feed._most = 1
    browser.until(lambda: browser.text("#link") == "live", "it comes again by itself")
