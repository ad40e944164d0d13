"""`ensue fmt`."""

import stat
from pathlib import Path

import pytest

from tests.cli.conftest import SHOP, Command

MESSY = "event a( x:int ).\nb(x)<-a(x)   where x>1.\n"
TIDY = "event a(x: int).\nb(x) <- a(x) where x > 1.\n"


@pytest.fixture
def messy(folder: Path) -> Path:
    path = folder / "messy.ensue"
    path.write_text(MESSY)
    return path


def test_a_file_is_formatted_in_place(ensue: Command, messy: Path) -> None:
    messy.chmod(0o640)
    result = ensue("fmt", "messy.ensue", "shop.ensue")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "formatted messy.ensue\n", "")
    assert messy.read_text() == TIDY
    assert stat.S_IMODE(messy.stat().st_mode) == 0o640
    assert {path.name for path in messy.parent.iterdir()} == {"messy.ensue", "shop.ensue", "events.jsonl"}


def test_what_is_formatted_is_not_written(ensue: Command, folder: Path) -> None:
    before = (folder / "shop.ensue").stat()
    result = ensue("fmt", "shop.ensue")
    assert (result.exit_code, result.stdout) == (0, "1 file already formatted\n")
    after = (folder / "shop.ensue").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_what_a_link_points_to_is_formatted(ensue: Command, messy: Path) -> None:
    link = messy.with_name("link.ensue")
    link.symlink_to(messy)
    ensue("fmt", "link.ensue")
    assert link.is_symlink()
    assert messy.read_text() == TIDY


def test_line_ends_stay(ensue: Command, messy: Path) -> None:
    messy.write_bytes(MESSY.replace("\n", "\r\n").encode())
    ensue("fmt", "messy.ensue")
    assert messy.read_bytes() == TIDY.replace("\n", "\r\n").encode()


def test_check_changes_nothing(ensue: Command, messy: Path) -> None:
    result = ensue("fmt", "--check", "messy.ensue", "shop.ensue")
    assert (result.exit_code, result.stdout) == (1, "would format messy.ensue\n")
    assert messy.read_text() == MESSY
    assert ensue("fmt", "--check", "shop.ensue").exit_code == 0


def test_a_difference_is_printed(ensue: Command, messy: Path) -> None:
    result = ensue("fmt", "--diff", "messy.ensue", "shop.ensue")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "--- messy.ensue",
        "+++ messy.ensue (formatted)",
        "@@ -1,2 +1,2 @@",
        "-event a( x:int ).",
        "-b(x)<-a(x)   where x>1.",
        "+event a(x: int).",
        "+b(x) <- a(x) where x > 1.",
    ]
    assert messy.read_text() == MESSY
    assert ensue("fmt", "--diff", "--check", "messy.ensue").exit_code == 1


def test_a_difference_at_the_last_line_end(ensue: Command, messy: Path) -> None:
    messy.write_text(TIDY.rstrip("\n"))
    assert "-b(x) <- a(x) where x > 1.\n\\ No newline at end of file\n" in ensue("fmt", "--diff", "messy.ensue").stdout


def test_standard_input_to_standard_output(ensue: Command) -> None:
    assert ensue("fmt", "-", input=MESSY).stdout == TIDY
    assert ensue("fmt", "-", input=TIDY).stdout == TIDY
    assert ensue("fmt", "--check", "-", input=MESSY).exit_code == 1
    mixed = ensue("fmt", "-", "shop.ensue", input=MESSY)
    assert (mixed.exit_code, mixed.stdout) == (2, "")


def test_rules_that_do_not_parse_are_left_alone(ensue: Command, messy: Path) -> None:
    wrong = messy.with_name("wrong.ensue")
    wrong.write_text("a(x) <- <- .\n")
    result = ensue("fmt", "wrong.ensue", "messy.ensue")
    assert (result.exit_code, result.stdout) == (1, "formatted messy.ensue\n")
    assert result.stderr.startswith("wrong.ensue:1:9: error E002:") and result.stderr.endswith("1 error in 1 file\n")
    assert wrong.read_text() == "a(x) <- <- .\n"


def test_formatted_rules_still_pass_their_tests(ensue: Command, folder: Path) -> None:
    (folder / "shop.ensue").write_text(SHOP.replace(" <- ", "<-").replace("  given", "given"))
    assert ensue("fmt", "shop.ensue").stdout == "formatted shop.ensue\n"
    assert ensue("test", "shop.ensue").stdout.endswith("1 passed, 0 failed\n")
