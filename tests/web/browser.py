"""A real browser without a screen: Debian's Chromium, driven by its own driver."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys

from tests.daemon.harness import eventually
from tests.testbed import apt
from tests.testbed.apt import PackagesUnavailable
from tests.testbed.packages import cache_folder, locked

PACKAGES = ("chromium", "chromium-driver")
INSTALL_SECONDS = 900

# As root it cannot have its sandbox; and nothing of its own may go anywhere.
OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--hide-scrollbars"),
)


@dataclass(frozen=True)
class Programs:
    """The browser and its driver."""

    browser: str
    driver: str


def install() -> Programs:
    """Those of this machine; root installs the distribution's packages (they need too much of the
    system to be only unpacked). Raises `PackagesUnavailable`."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / "chromium.lock"):
        found = _found()
        if found is None:
            if os.geteuid() != 0:
                raise PackagesUnavailable(
                    f"{PACKAGES[0]} is missing: apt-get install {' '.join(PACKAGES)}"
                )
            _install()
            found = _found()
        if found is None:
            raise PackagesUnavailable(f"{' and '.join(PACKAGES)} are installed, but not on PATH")
        return found


def begin_to_install() -> None:
    """While other tests run: it takes a minute. `install` then waits for it, and tells errors."""

    def quietly() -> None:
        with contextlib.suppress(PackagesUnavailable):
            install()

    threading.Thread(target=quietly, name="chromium", daemon=True).start()


def _found() -> Programs | None:
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    return None if browser is None or driver is None else Programs(browser, driver)


def _install() -> None:
    apt.machine_mirror()  # else the words for a system that is not Debian
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    apt.run([*quiet, "update"], apt.UPDATE_SECONDS)
    waits = ["-o", "DPkg::Lock::Timeout=300"]
    words = [*waits, "--yes", "--no-install-recommends", "install", *PACKAGES]
    apt.run([*quiet, *words], INSTALL_SECONDS)


class Browser:
    """One window, and all that it was heard to say and ask for."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, url: str) -> None:
        """Go there, and forget what was before."""
        for log in ("browser", "performance"):
            self.driver.get_log(log)  # type: ignore[no-untyped-call]
        self.driver.get(url)

    def size(self, width: int, height: int) -> None:
        """The window's inside, in CSS pixels; narrow ones are telephones'."""
        self._cdp(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )

    def scheme(self, name: str) -> None:
        """`light` or `dark`."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self._cdp("Emulation.setEmulatedMedia", features=features)

    def run(self, script: str, *arguments: Any) -> Any:
        """JavaScript's answer, from outside of the page's policy."""
        return self.driver.execute_script(script, *arguments)

    def texts(self, selector: str) -> list[str]:
        """The text of each element, in order."""
        script = "return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText)"
        found: list[str] = self.run(script, selector)
        return found

    def text(self, selector: str = "body") -> str:
        """All of them together."""
        return "\n".join(self.texts(selector))

    def width(self, selector: str) -> float:
        """How wide the first of them is."""
        script = "return document.querySelector(arguments[0]).getBoundingClientRect().width"
        return float(self.run(script, selector))

    def until(self, found: Callable[[], Any], what: str) -> Any:
        """Wait for it; else tell what the page shows instead."""
        try:
            return eventually(found, what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.text()}\n{self.complaints()}") from None

    def press(self, *keys: str) -> None:
        """Keys, to whatever has the focus."""
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def focused(self) -> str:
        """The text of what has the focus."""
        return str(self.run("return document.activeElement.innerText"))

    def complaints(self) -> list[str]:
        """What was said on the console: errors, and breaches of the page's policy."""
        entries = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [str(entry["message"]) for entry in entries]

    def hosts_asked(self) -> set[str]:
        """Every host and port that was asked for anything since `open`."""
        found = set()
        for entry in self.driver.get_log("performance"):  # type: ignore[no-untyped-call]
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.add(urlsplit(message["params"]["request"]["url"]).netloc)
        return found

    def _cdp(self, command: str, **arguments: Any) -> None:
        self.driver.execute_cdp_cmd(command, arguments)


@contextlib.contextmanager
def running(programs: Programs) -> Iterator[Browser]:
    """A browser with an empty profile."""
    with tempfile.TemporaryDirectory(prefix="mb-browser-", ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = programs.browser
        for option in (*OPTIONS, f"--user-data-dir={Path(profile)}"):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(programs.driver))
        try:
            yield Browser(driver)
        finally:
            driver.quit()


__all__ = ["Browser", "Keys", "Programs", "begin_to_install", "install", "running"]
