"""`ensue check`."""

from pathlib import Path

import pytest

from tests.cli.conftest import Command

THREE_MISTAKES = """\
event order(id: int).

late(id) <- o: ordr(id), w: extend(o, 6).
done(x) <- order(id).
soon(id) <- order(id) befor order(id).
"""

A_WARNING = "event a(x: int).\nb(x, y) <- a(x) and a(y) within 5.\n"


def test_rules_that_are_fine(ensue: Command) -> None:
    result = ensue("check", "shop.ensue")
    assert (result.exit_code, result.stdout) == (0, "1 file, 2 rules: fine\n")


def test_what_is_kept_for_ever_is_noted_and_fine(ensue: Command) -> None:
    shown = ensue("check", "shop.ensue").stderr
    assert "shop.ensue:5:1: note W003: every `order` is kept for ever here" in shown
    assert shown.endswith("\n1 note in 1 file\n")
    assert "W003" not in ensue("run", "shop.ensue", "events.jsonl").stderr, "running rules is no place for notes"


def test_files_and_rules_are_counted(ensue: Command, folder: Path) -> None:
    (folder / "static.ensue").write_text('table t(a: string).\nt("x").\nu(a) :- t(a).\n')
    assert ensue("check", "shop.ensue", "static.ensue").stdout == "2 files, 3 rules: fine\n"


def test_an_empty_file_is_fine(ensue: Command, folder: Path) -> None:
    (folder / "empty.ensue").touch()
    assert ensue("check", "empty.ensue").stdout == "1 file, 0 rules: fine\n"


def test_a_first_rule_file_with_three_mistakes(ensue: Command, folder: Path) -> None:
    (folder / "first.ensue").write_text(THREE_MISTAKES)
    result = ensue("check", "first.ensue")
    assert result.exit_code == 1
    assert result.stdout == ""
    *messages, closing = result.stderr.rstrip("\n").split("\n\n")
    unknown, unbound, misspelt = messages
    assert unknown.startswith("first.ensue:3:16: error E101:") and "did you mean `order`?" in unknown
    assert unbound.startswith("first.ensue:4:6: error E105:") and "`x`" in unbound
    assert misspelt.startswith("first.ensue:5:23: error E002:") and "did you mean `before`?" in misspelt
    assert "3 | late(id) <- o: ordr(id), w: extend(o, 6).\n  |                ^^^^\n" in unknown
    assert closing == "3 errors in 1 file"


def test_errors_and_warnings_of_several_files_are_counted_together(ensue: Command, folder: Path) -> None:
    (folder / "first.ensue").write_text(THREE_MISTAKES)
    (folder / "warned.ensue").write_text(A_WARNING)
    result = ensue("check", "shop.ensue", "first.ensue", "warned.ensue")
    assert result.exit_code == 1
    assert result.stderr.endswith("\n3 errors, 1 warning, 1 note in 3 files\n")


def test_a_warning_is_no_failure(ensue: Command, folder: Path) -> None:
    (folder / "warned.ensue").write_text(A_WARNING)
    result = ensue("check", "warned.ensue")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "warned.ensue:2:" in result.stderr and ": warning W" in result.stderr
    assert result.stderr.endswith("\n1 warning in 1 file\n")


def test_rules_from_standard_input(ensue: Command) -> None:
    assert ensue("check", "-", input="event a(x: int).").stdout == "1 file, 0 rules: fine\n"
    assert ensue("check", "-", input="a(x) <- .").stderr.startswith("<stdin>:1:9: error E002:")


def test_a_text_that_looks_like_a_path_is_a_text(ensue: Command, folder: Path) -> None:
    (folder / "odd.ensue").write_text("shop.ensue")
    assert ensue("check", "odd.ensue").stderr.startswith("odd.ensue:1:1: error E002:")


def test_line_ends_of_windows(ensue: Command, folder: Path) -> None:
    (folder / "windows.ensue").write_bytes(b"\xef\xbb\xbfevent a(x: int).\r\nb(y) <- a(x).\r\n")
    lines = ensue("check", "windows.ensue").stderr.splitlines()
    assert lines[0].startswith("windows.ensue:2:3: error E105:")
    assert lines[1] == "2 | b(y) <- a(x)."


def test_a_terminal_is_not_told_what_to_do_by_a_rule_file(ensue: Command, folder: Path) -> None:
    (folder / "escape.ensue").write_text("\x1b[31m a(x) <- b(x).\n")
    result = ensue("check", "escape.ensue")
    assert result.exit_code == 1
    assert "\x1b" not in result.stderr


def test_not_everything_that_is_wrong_with_garbage_is_shown(ensue: Command, folder: Path) -> None:
    (folder / "garbage.ensue").write_text("~\n" * 250)
    result = ensue("check", "garbage.ensue")
    assert result.stderr.count(": error ") == 100
    assert result.stderr.endswith("… and 150 more in garbage.ensue\n\n250 errors in 1 file\n")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("missing.ensue", None, "ensue: There is no rule file missing.ensue.\n"),
        ("bin.ensue", b"ab\n\xff\xfe\x00", "ensue: bin.ensue:2 is not UTF-8 text, so bin.ensue is not a rule file.\n"),
        ("nul.ensue", b"a\0b", "ensue: nul.ensue holds binary data, so it is not a rule file.\n"),
        ("", None, "ensue: The path of the rule file is empty.\n"),
        ("a\nb" * 200, None, None),
    ],
)
@pytest.mark.parametrize("command", [["check"], ["test"], ["fmt"], ["run"]])
def test_rule_files_that_cannot_be_read(
    ensue: Command, folder: Path, command: list[str], name: str, content: bytes | None, sentence: str | None
) -> None:
    if content is not None:
        (folder / name).write_bytes(content)
    result = ensue(*command, name, *(["events.jsonl"] if command == ["run"] else []))
    assert result.exit_code == 2
    assert result.stderr.startswith("ensue: ") and result.stderr.count("\n") == 1
    assert sentence is None or result.stderr == sentence


@pytest.mark.parametrize("command", ["check", "test", "fmt", "run"])
def test_a_folder_is_no_rule_file(ensue: Command, folder: Path, command: str) -> None:
    (folder / "rules").mkdir()
    result = ensue(command, "rules", *(["events.jsonl"] if command == "run" else []))
    assert result.exit_code == 2
    assert result.stderr == "ensue: rules is a folder; name the rule files in it, such as rules/*.ensue.\n"


def test_the_other_files_are_checked_all_the_same(ensue: Command, folder: Path) -> None:
    (folder / "first.ensue").write_text(THREE_MISTAKES)
    result = ensue("check", "missing.ensue", "first.ensue")
    assert result.exit_code == 2
    assert result.stderr.startswith("ensue: There is no rule file missing.ensue.\n")
    assert result.stderr.endswith("3 errors in 1 file\n")
