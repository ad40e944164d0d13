"""`ensue view`: the page that it writes, and its messages."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command, Process


def test_a_page_is_written(ensue: Command, folder: Path) -> None:
    result = ensue("view", "shop.ensue", "events.jsonl", "-o", "page.html")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "3 events and 2 detections; written to page.html\n"
    assert (folder / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_without_a_name_it_is_called_timeline(ensue: Command, folder: Path) -> None:
    assert ensue("view", "shop.ensue", "events.jsonl", "--title", "A shop").exit_code == 0
    assert "<title>A shop · timeline</title>" in (folder / "timeline.html").read_text(encoding="utf-8")


def test_it_goes_to_standard_output(ensue: Command, folder: Path) -> None:
    text = (folder / "events.jsonl").read_text()
    result = ensue("view", "shop.ensue", "-", "-o", "-", input=text)
    assert result.exit_code == 0
    assert result.stdout.startswith("<!doctype html>")
    assert result.stderr == ""


def test_it_says_as_json_what_it_wrote(ensue: Command) -> None:
    result = ensue("view", "shop.ensue", "events.jsonl", "--only", "tracking=y", "--from", "2", "--to", "1h", "--json")
    assert json.loads(result.stdout) == {
        "output": "timeline.html",
        "events": 1,
        "detections": 0,
        "notes": ["Only tracking=y: 2 events and 2 detections are left out."],
    }


def describe_test_notes_are(ensue: Command) -> None:
    result = ensue("view", "shop.ensue", "events.jsonl", "--to", "4")
    assert "ensue: 2 events outside the window of time are left out.\n" in result.stderr


def test_a_trace_is_written(ensue: Command, folder: Path) -> None:
    pytest.importorskip("perfetto")
    result = ensue("view", "shop.ensue", "events.jsonl", "--format", "perfetto")
    assert result.stderr == "3 events and 2 detections; written to timeline.perfetto-trace\n"
    assert len((folder / "timeline.perfetto-trace").read_bytes()) > 100


def test_a_picture_is_written(ensue: Command, folder: Path) -> None:
    result = ensue("view", "shop.ensue", "events.jsonl", "--format", "svg")
    assert result.stderr == "3 events and 2 detections; written to timeline.svg\n"
    assert (folder / "timeline.svg").read_text(encoding="utf-8").startswith("<svg xmlns=")
    assert ensue("view", "shop.ensue", "events.jsonl", "--format", "svg", "-o", "-").stdout.endswith("</svg>\n")


def test_a_page_is_opened(ensue: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert ensue("view", "shop.ensue", "events.jsonl", "--open").exit_code == 0
    assert opened == [(folder / "timeline.html").resolve().as_uri()]
    assert "--open needs a page" in ensue("view", "shop.ensue", "events.jsonl", "--open", "-o", "-").stderr


def test_what_is_read_is_not_replaced(ensue: Command, folder: Path) -> None:
    before = (folder / "events.jsonl").read_text()
    result = ensue("view", "shop.ensue", "events.jsonl", "-o", "events.jsonl")
    assert result.exit_code != 0
    assert "is one of the files that are read" in result.stderr
    assert (folder / "events.jsonl").read_text() == before
    assert "There is no folder" in ensue("view", "shop.ensue", "events.jsonl", "-o", "none/page.html").stderr
    assert "is a folder" in ensue("view", "shop.ensue", "events.jsonl", "-o", ".").stderr


def test_bad_rows_are_reported(ensue: Command, folder: Path) -> None:
    with (folder / "events.jsonl").open("a") as file:
        file.write('{"type": "order", "id": 1}\n')
    result = ensue("view", "shop.ensue", "events.jsonl")
    assert result.exit_code == 0
    assert "1 row could not be used." in result.stderr


def test_a_lane_that_is_not_there(ensue: Command) -> None:
    result = ensue("view", "shop.ensue", "events.jsonl", "--lanes", "nothing")
    assert result.exit_code != 0
    assert "No event has an attribute 'nothing' for lanes" in result.stderr


def test_help_in_a_process_of_its_own(process: Process) -> None:
    done = process("view", "--help")
    assert done.returncode == 0
    assert "ensue view shop.ensue events.jsonl -o page.html" in done.stdout
