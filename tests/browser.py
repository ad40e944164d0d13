"""A browser for tests of pages: Debian's Chromium, driven by Playwright. Tests are skipped where there is none.

`python -m tests.browser`, which is `make browser`, installs one where that needs no questions: as root, with apt-get.
Playwright keeps an event loop running as long as it is started, so a browser lives for one module of tests only.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = "ENSUE_CHROMIUM"
"""The environment variable that names a Chromium which is not on the path."""

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")

FLAGS = (
    "--no-sandbox",  # tests may run as root, in a container
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",  # pages work without network
)

LOCAL = (
    "file:",
    "data:",
    "blob:",
    "about:",
    "http://127.0.0.1",
    "http://localhost",
    "ws://127.0.0.1",
    "ws://localhost",
)

DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}

IMAGES = Path(__file__).parents[1] / "docs" / "images"

LONGEST_INSTALLATION = 300
"""Seconds."""

ADVICE = f"install Debian's package `chromium` (`make browser` does as root), or name a Chromium with {CHROMIUM}"


def find_chromium() -> str | None:
    """The path of a Chromium, or None."""
    named = os.environ.get(CHROMIUM)
    return named or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium without a window, for the tests of a module."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = find_chromium()
    if path is None:
        pytest.skip(f"there is no Chromium: {ADVICE}")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """An empty page as wide as a desktop's, which must neither fail nor load anything from the network."""
    with new_page(browser) as opened:
        yield opened


class new_page:  # noqa: N801 (it is used like a function)
    """A page of a browser, closed at the end; with errors in it, or requests to elsewhere, the test fails."""

    def __init__(self, browser: Any, viewport: dict[str, int] = DESKTOP, **settings: Any) -> None:
        self.context = browser.new_context(viewport=viewport, **settings)
        self.problems: list[str] = []

    def __enter__(self) -> Any:
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("console", lambda message: message.type == "error" and self.problems.append(message.text))
        page.on("request", lambda request: request.url.startswith(LOCAL) or self.problems.append(request.url))
        return page

    def __exit__(self, kind: object, *rest: object) -> None:
        self.context.close()
        if kind is None:
            assert not self.problems, "; ".join(self.problems)


def picture(page: Any, name: str) -> None:
    """Writes a picture of a page for the documents, where `ENSUE_UPDATE_IMAGES` is set."""
    if os.environ.get("ENSUE_UPDATE_IMAGES"):
        IMAGES.mkdir(exist_ok=True)
        page.screenshot(path=IMAGES / f"{name}.png")


def install(quiet: bool) -> int:
    """Install a Chromium if that needs no questions; returns an exit code."""
    found = find_chromium()
    if found is None and hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        print("installing Chromium for tests of pages", flush=True)
        _apt_get("update")
        _apt_get("install", "--yes", "--no-install-recommends", "chromium", "fonts-dejavu-core")
        found = find_chromium()
    if found is not None:
        if not quiet:
            print(f"pages are tested with {found}")
        return 0
    print(f"no Chromium, so tests of pages are skipped: {ADVICE}", file=sys.stderr)
    return 1


def _apt_get(*arguments: str) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            ["apt-get", "-qq", *arguments], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, timeout=LONGEST_INSTALLATION,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        print(f"apt-get {arguments[0]} took too long", file=sys.stderr)
        return
    if done.returncode:
        print(done.stderr.strip()[-2000:], file=sys.stderr)


def address_of(path: Path) -> str:
    """The address at which a browser opens a file."""
    return path.resolve().as_uri()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.browser", description="Installs a browser for tests.")
    parser.add_argument("--quiet", action="store_true", help="say nothing if there is one")
    sys.exit(install(parser.parse_args().quiet))
