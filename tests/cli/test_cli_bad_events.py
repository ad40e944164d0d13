"""`ensue run` on events that cannot be read, as a whole or row by row."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command

GOOD = '{"type": "order", "time": 3, "id": 1, "product": "tea", "qty": 1}\n'

BAD_ROWS = {
    "not json": "not JSON",
    "[1]": "not a JSON object",
    '{"type": "order", "id": 2}': "column 'time' is empty",
    '{"type": "order", "time": "soon", "id": 2}': "column 'time' is 'soon'",
    '{"time": 4, "id": 3}': "column 'type' is empty",
    '{"type": "order", "time": 4, "id": "abc"}': "attribute 'id' is 'abc', not an int",
}


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("missing.jsonl", None, "There is no file missing.jsonl."),
        ("missing.csv", None, "There is no file missing.csv."),
        ("missing*.csv", None, "No file matches missing*.csv."),
        ("events.xlsx", b"", "events.xlsx does not end in .parquet, "),
        ("empty.parquet", b"", "empty.parquet is empty, "),
        ("garbage.csv", b"\xff\xfe\x80garbage", "garbage.csv:1 is not UTF-8 text"),
        ("garbage.jsonl", b"\xff\xfe\x80garbage", "garbage.jsonl:1 is not UTF-8 text"),
        ("garbage.parquet", b"PAR1 garbage PAR1", "garbage.parquet is not a Parquet file that can be read: "),
        ("garbage.arrow", b"\xff\xfe\x80garbage", "garbage.arrow is not an Arrow file that can be read: "),
        ("columns.csv", b"type,at,id\norder,3,1\n", "columns.csv has no column 'time', nor 'start' and 'end', it has "),
        ("typeless.csv", b"time,id\n3,1\n", "typeless.csv has no column 'type', it has 'time', 'id'. "),
        ("nofile", None, "There is no file nofile."),
        ("headless.csv", b"a,1,1\n", "headless.csv has more than one column '1'; rename one of them. The first "),
        ("values.csv", b"a,1,2\n", "values.csv has no column 'time', nor 'start' and 'end', it has 'a', '1', '2'. "),
        ("cases.csv", b"type,Time\n", "cases.csv has no column 'time', nor 'start' and 'end', it has 'type', 'Time'. "),
        ("shop.ensue", None, "shop.ensue does not end in .parquet, "),
        (".", None, None),
        ("", None, None),
    ],
)  # fmt: skip
def test_files_that_cannot_be_read(
    ensue: Command, folder: Path, name: str, content: bytes | None, sentence: str | None
) -> None:
    (folder / "events.jsonl").unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    result = ensue("run", "shop.ensue", name)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"ensue: {sentence or ''}") and result.stderr.count("\n") == 1


@pytest.mark.parametrize("option", ["--time", "--start", "--end", "--type", "--sequence"])
def test_columns_that_are_not_there(ensue: Command, option: str) -> None:
    result = ensue("run", "shop.ensue", "events.jsonl", option, "nothing")
    assert result.exit_code == 2
    assert result.stderr.startswith("ensue: events.jsonl has no column ")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(ensue: Command, folder: Path) -> None:
    (folder / "events.jsonl").chmod(0)
    result = ensue("run", "shop.ensue", "events.jsonl")
    assert (result.exit_code, result.stderr) == (2, "ensue: events.jsonl cannot be read: Permission denied.\n")


@pytest.mark.parametrize(("name", "content"), [("none.jsonl", ""), ("none.csv", "type,time,id\n")])
def test_no_events_is_no_failure(ensue: Command, folder: Path, name: str, content: str) -> None:
    (folder / name).write_text(content)
    result = ensue("run", "shop.ensue", name)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "ensue: There are no events in what was read.\n"


@pytest.mark.parametrize(("row", "reason"), BAD_ROWS.items())
def test_a_bad_row_is_left_out(ensue: Command, folder: Path, row: str, reason: str) -> None:
    (folder / "bad.jsonl").write_text(f"{GOOD}{row}\n")
    result = ensue("run", "shop.ensue", "bad.jsonl", "--until", "6h1m", "--emit", "late")
    assert result.exit_code == 0
    assert result.stdout == '{"type": "late", "start": 3, "end": 21603, "id": 1}\n'
    row_line, count = result.stderr.splitlines()
    assert row_line.startswith(f"bad.jsonl:2: {reason}")
    assert count == "1 row left out"


@pytest.mark.parametrize(("row", "reason"), BAD_ROWS.items())
def test_strict_stops_at_the_first_bad_row(ensue: Command, folder: Path, row: str, reason: str) -> None:
    (folder / "bad.jsonl").write_text(f"{GOOD}{row}\n{row}\n")
    result = ensue("run", "shop.ensue", "bad.jsonl", "--strict")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"ensue: bad.jsonl:2: {reason}") and result.stderr.count("\n") == 1


def test_bad_rows_of_csv(ensue: Command, folder: Path) -> None:
    (folder / "bad.csv").write_text("type,time,id\norder,3,1\norder,x,2\n\norder,4\norder,5,none\n")
    result = ensue("run", "shop.ensue", "bad.csv")
    places = [line.split(": ")[0] for line in result.stderr.splitlines()]
    assert places == ["bad.csv:3", "bad.csv:5", "bad.csv:6", "ensue", "ensue", "3 rows left out"]
    assert "No row of 'order' has a value for 'product', which the rules use." in result.stderr


def test_many_bad_rows_are_told_in_groups(ensue: Command, folder: Path) -> None:
    wrong = '{"type": "order", "time": 9, "id": "x%s", "product": "tea", "qty": 1}\n'
    (folder / "bad.jsonl").write_text(GOOD + "no\n" * 2 + "".join(wrong % n for n in range(30)) + "[]\n")
    assert ensue("run", "shop.ensue", "bad.jsonl").stderr.splitlines() == [
        "30 rows: attribute 'id' is …, not an int",
        "  bad.jsonl:4: attribute 'id' is 'x0', not an int",
        "  bad.jsonl:5: attribute 'id' is 'x1', not an int",
        "  bad.jsonl:6: attribute 'id' is 'x2', not an int",
        "  …",
        "2 rows: not JSON",
        "  bad.jsonl:2: not JSON: expecting value at column 1",
        "  bad.jsonl:3: not JSON: expecting value at column 1",
        "bad.jsonl:34: not a JSON object",
        "33 rows left out",
    ]


def test_more_bad_rows_than_are_kept(ensue: Command, folder: Path) -> None:
    (folder / "bad.jsonl").write_text(GOOD + "no\n" * 1500)
    shown = ensue("run", "shop.ensue", "bad.jsonl").stderr.splitlines()
    assert shown[0] == "1000 rows: not JSON"
    assert shown[-2:] == ["… and 500 more rows, which were not looked at so closely", "1500 rows left out"]


@pytest.mark.parametrize(
    ("rows", "sentence"), [(1, "The only row cannot be used."), (3, "None of the 3 rows can be used.")]
)
def test_nothing_but_bad_rows(ensue: Command, folder: Path, rows: int, sentence: str) -> None:
    (folder / "bad.jsonl").write_text('{"type": "order", "time": "soon"}\n' * rows)
    result = ensue("run", "shop.ensue", "bad.jsonl")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == f"ensue: {sentence}"


def test_bad_rows_are_told_before_until_is_judged(ensue: Command, folder: Path) -> None:
    (folder / "events.jsonl").write_text('{"type": "order", "time": "2026-13-01", "id": 1}\n')
    result = ensue("run", "shop.ensue", "events.jsonl", "--until", "2026-01-02")
    assert (result.exit_code, result.stderr.splitlines()) == (
        2,
        ["events.jsonl:1: column 'time' is '2026-13-01', not a time", "ensue: The only row cannot be used."],
    )


def test_times_of_two_kinds(ensue: Command, folder: Path) -> None:
    (folder / "other.jsonl").write_text('{"type": "order", "time": "2026-03-02T08:00:00Z", "id": 1}\n')
    result = ensue("run", "shop.ensue", "events.jsonl", "other.jsonl")
    assert result.exit_code == 2
    assert result.stderr.startswith("ensue: Times are integers in events.jsonl but timestamps in other.jsonl;")


def test_csv_on_standard_input(ensue: Command) -> None:
    csv = "type,time,id,product\norder,1,3,tea\n"
    result = ensue("run", "shop.ensue", "-", input=csv)
    assert result.exit_code == 2
    assert "Standard input, -, is read as JSON lines; for CSV add --separator ," in result.stderr
    assert "Standard input, -, is read as JSON lines" in ensue("peek", "-", input=csv).stderr
    assert ensue("run", "shop.ensue", "-", "--separator", ",", input=csv).exit_code == 0


@pytest.mark.skipif(os.name == "nt", reason="there are no named pipes in folders")
def test_a_pipe(ensue: Command, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    result = ensue("run", "shop.ensue", "pipe")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "- reads JSON lines from standard input" in result.stderr


def test_an_empty_csv_in_a_folder(ensue: Command, folder: Path) -> None:
    (folder / "more").mkdir()
    (folder / "more" / "a.csv").write_text("")
    (folder / "more" / "b.csv").write_text("type,time,id,product,qty,tracking\norder,1,3,tea,1,\nshipped,2,3,,,x\n")
    result = ensue("run", "shop.ensue", "more")
    assert (result.exit_code, "comp" in result.stdout) == (0, True)
    alone = ensue("run", "shop.ensue", "more/a.csv")
    assert (alone.exit_code, alone.stderr) == (0, "ensue: There are no events in what was read.\n")


def test_types_that_the_rules_do_not_use(ensue: Command, folder: Path) -> None:
    (folder / "e.csv").write_text("type,time\nordr,1\nping,2\n")
    said = ensue("run", "shop.ensue", "e.csv").stderr
    assert "None of the events is of a type that the rules use (order, shipped" in said
    assert "; there is 'ordr', 'ping'. Did you mean 'order'?" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "shop.ensue", "events.jsonl", "--emit", "lat"), "Did you mean 'late'?"),
        (("rum", "shop.ensue"), "No such command 'rum'. Did you mean 'run'?"),
        (("run", "shop.ensue", "events.jsonl", "--engine", "flink"), "embedded, reference, spark"),
        (("run", "shop.ensue", "events.jsonl", "--column", "idd=id"), "use no attribute 'idd'"),
    ],
)
def test_slips(ensue: Command, arguments: tuple[str, ...], said: str) -> None:
    assert said in ensue(*arguments).stderr


def test_an_output_that_cannot_be_written(ensue: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Path.open

    def refused(path: Path, *arguments: Any, **settings: Any) -> Any:
        if path.name.startswith(".x.jsonl"):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *arguments, **settings)

    monkeypatch.setattr(Path, "open", refused)
    assert ensue("run", "shop.ensue", "events.jsonl", "-o", "x.jsonl").stderr == "ensue: x.jsonl: Permission denied.\n"
