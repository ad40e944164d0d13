"""The documentation site builds without a warning, its links lead somewhere, and nothing in it comes from elsewhere."""

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parent.parent
DOCS = sorted(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))


class Page(HTMLParser):
    """Anchors of a page, links of its text, addresses that a browser fetches by itself, and its running text."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.fetched = {""}, [], []
        self.text, self._open = "", []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag in ("article", "pre", "code"):
            self._open.append(tag)
        self.anchors.add(values.get("id") or "")
        if tag == "a":
            self.links.append(values.get("href") or "")
        elif tag == "link" and values.get("rel") not in ("canonical", "next", "prev"):
            self.fetched.append(values.get("href") or "")
        elif values.get("src"):
            self.fetched.append(values["src"])

    def handle_endtag(self, tag):
        if tag in self._open:
            self._open.remove(tag)

    def handle_data(self, data):
        if self._open == ["article"]:
            self.text += data


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("zensical")
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "zensical.toml", folder)
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert "No issues found" in built.stdout + built.stderr
    return folder / "build" / "site"


def test_every_page_is_in_the_navigation_and_in_the_site(site):
    config = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    for document in DOCS:
        assert f'"{document}"' in config, document
        assert (site / document.replace("README.md", "index.md")).with_suffix(".html").exists(), document


def test_every_picture_of_a_page_is_shown(site):
    for document in DOCS:
        text = (ROOT / "docs" / document).read_text(encoding="utf-8")
        page = Page((site / document.replace("README.md", "index.md")).with_suffix(".html"))
        for picture in re.findall(r"^\[?!\[.*?\]\((.+?)\)", text, re.MULTILINE):
            assert picture in page.fetched, (document, picture)


def test_every_link_of_the_site_leads_somewhere(site):
    pages = {path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            assert target.exists(), (path.name, link)
            if target in pages:
                assert unquote(parts.fragment) in pages[target].anchors, (path.name, link)


def test_no_markup_is_left_in_the_text(site):
    for path in site.rglob("*.html"):
        left = re.search(r"\*\*|`|\\[<>*_|\[\]]|\]\(", Page(path).text)
        assert left is None, (path.name, left)


def test_pages_fetch_nothing_from_elsewhere(site):
    for path in site.rglob("*.html"):
        for address in Page(path).fetched:
            assert not urlsplit(address).netloc, (path.name, address)
    for style in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import )['\"]?(https?:)?//", style.read_text(encoding="utf-8")), style.name
