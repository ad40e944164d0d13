"""A playground in this process, with its child processes, on rules and events in a folder."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ensue.cli.files import replace_file
from ensue.data.columns import Columns
from ensue.play.events import load
from ensue.play.files import Document, Files
from ensue.play.lane import Lane, Limits
from ensue.play.server import Playground
from ensue.play.session import Session, Start
from tests.cli.conftest import SHOP

RULES = SHOP

HOSTILE = '<img src=x onerror="document.title=1">'

EVENTS = [
    {"type": "order", "time": 3, "id": 42, "product": "muffins", "qty": 2},
    {"type": "shipped", "time": 7, "id": 42, "tracking": "x"},
    {"type": "order", "time": 8, "id": 9007199254740993, "product": "tea", "qty": 1},
    {"type": "shipped", "time": 30000, "id": 9007199254740993, "tracking": "y"},
]

EXPLODING = "event order(id: int, product: string, qty: int).\nall pair(a, b) <- {}.\n"


def exploding(events: int = 8) -> str:
    """Rules that pair everything with everything."""
    body = ", ".join(f"order(qty=q{number}, id={'a' if number == 0 else 'b' if number == 1 else f'i{number}'})"
                     for number in range(events))  # fmt: skip
    return EXPLODING.format(body)


def text_of(events: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


def new_session(folder: Path, limits: Limits) -> Session:
    """A session on the rules and events of a folder."""
    (folder / "shop.ensue").write_text(RULES)
    (folder / "events.jsonl").write_text(text_of(EVENTS))
    loaded, columns = load([str(folder / "events.jsonl")], Columns())
    files = Files(folder, replace_file)
    files.documents["rules"] = Document(folder / "shop.ensue", RULES)
    files.documents["events"] = Document(folder / "events.jsonl", loaded.text)
    settings = {"columns": columns.saved(), "tables": {}}
    return Session(files, Start(RULES, loaded), settings, Lane(limits, evaluates=False), Lane(limits))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("play")


@pytest.fixture(scope="module")
def session(folder: Path) -> Iterator[Session]:
    opened = new_session(folder, Limits(seconds=3))
    opened.open()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def playground(session: Session) -> Iterator[Playground]:
    server = Playground(session)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()
