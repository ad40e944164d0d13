"""Files that are saved: those named on the command line, and new ones in the folder, never any other."""

from __future__ import annotations

from pathlib import Path

import pytest

from ensue.cli.files import replace_file
from ensue.data.columns import Columns, columns_of
from ensue.data.errors import DataError
from ensue.play import events
from ensue.play.events import load
from ensue.play.files import AlreadyThereError, Document, Files


@pytest.fixture
def files(tmp_path: Path) -> Files:
    (tmp_path / "folder").mkdir()
    return Files(tmp_path / "folder", replace_file)


def test_a_named_file_is_written(files: Files, tmp_path: Path) -> None:
    path = tmp_path / "shop.ensue"
    path.write_bytes(b"a().\r\n")
    files.documents["rules"] = Document(path, "a().\n", "\r\n")
    assert files.save("rules", "b().\n", None, False) == "shop.ensue"
    assert path.read_bytes() == b"b().\r\n"
    files.save("rules", "c().\n", None, False)
    assert path.read_bytes() == b"c().\r\n"


def test_what_someone_else_wrote_is_replaced_only_if_that_is_wanted(files: Files, tmp_path: Path) -> None:
    path = tmp_path / "shop.ensue"
    path.write_text("changed().\n")
    files.documents["rules"] = Document(path, "a().\n")
    with pytest.raises(AlreadyThereError, match="changed by someone else"):
        files.save("rules", "b().\n", None, False)
    files.save("rules", "b().\n", None, True)
    assert path.read_text() == "b().\n"


def test_a_new_file_is_made_in_the_folder(files: Files) -> None:
    with pytest.raises(DataError, match="have no file yet"):
        files.save("events", "{}\n", None, False)
    assert files.save("events", "{}\n", "events.jsonl", False) == "events.jsonl"
    assert (files.folder / "events.jsonl").read_text() == "{}\n"
    (files.folder / "other.jsonl").write_text("mine\n")
    with pytest.raises(AlreadyThereError, match="is there already"):
        files.save("events", "{}\n", "other.jsonl", False)


OUTSIDE = ("../x.ensue", "/x.ensue", "a/b.ensue", "..\\x.ensue", "C:x.ensue", ".x.ensue", "", "a\0.ensue", "x\n.ensue")


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_name_leads_nowhere_else(files: Files, name: str) -> None:
    with pytest.raises(DataError, match="not the name of a file"):
        files.save("rules", "a().", name, True)


def test_endings_and_links_are_refused(files: Files, tmp_path: Path) -> None:
    for name in ("x.py", "x.jsonl", "ensue"):
        with pytest.raises(DataError, match=r"ends in \.ensue"):
            files.save("rules", "a().", name, True)
    target = tmp_path / "precious"
    target.write_text("mine")
    (files.folder / "link.ensue").symlink_to(target)
    (files.folder / "folder.ensue").mkdir()
    for name in ("link.ensue", "folder.ensue"):
        with pytest.raises(DataError, match="not a plain file"):
            files.save("rules", "a().", name, True)
    assert target.read_text() == "mine"
    with pytest.raises(DataError, match="nothing else"):
        files.save("tables", "", None, True)


def test_json_lines_are_shown_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"type": "a",  "time": 1}\n\n{"x": 1.50}\n')
    loaded, columns = load([str(path)], Columns())
    assert loaded.text == path.read_text() and loaded.file == path and columns == Columns()


def test_other_files_become_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    path.write_text("at;id;note\n2026-01-02T03:04:05Z;7;\n")
    loaded, columns = load({"order": [str(path)]}, columns_of("at", separator=";"))
    assert loaded.text == '{"type": "order", "at": "2026-01-02T03:04:05Z", "id": "7"}\n'
    assert loaded.file is None and columns == columns_of("at")


def test_of_a_large_file_the_first_events_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"a": 1}\n' * 5)
    monkeypatch.setattr(events, "MOST_EVENTS", 3)
    loaded, _ = load([str(path)], Columns())
    assert loaded.text == '{"a": 1}\n' * 3 and loaded.cut and loaded.file is None
    monkeypatch.setattr(events, "MOST_BYTES", 20)
    assert load([str(path)], Columns())[0].text == '{"a": 1}\n' * 2
