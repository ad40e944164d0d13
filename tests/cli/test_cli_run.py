"""`ensue run`: sources of events, and output of detections."""

import json
import os
import subprocess
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from ensue import detection
from ensue.cli.commands import ensue as group
from ensue.engine.capacity import USUAL, using
from ensue.engine.final import receiver
from ensue.errors import DetectError
from ensue.program import Program
from tests.cli.conftest import EVENTS, SHOP, Command

FOUND = [
    {"type": "comp", "start": 3, "end": 7, "id": 42, "product": "muffins"},
    {"type": "comp", "start": 3, "end": 9, "id": 42, "product": "muffins"},
]


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def write(folder: Path, name: str, *rows: dict[str, Any]) -> None:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


# --- standard input ---------------------------------------------------------------------------------------------------


def test_events_from_standard_input(ensue: Command, folder: Path) -> None:
    text = (folder / "events.jsonl").read_text()
    result = ensue("run", "shop.ensue", "-", input="\ufeff" + text)
    assert (result.exit_code, result.stderr, lines(result.stdout)) == (0, "", FOUND)
    result = ensue("run", "shop.ensue", "-", "-o", "found.jsonl", input=text)
    assert (result.exit_code, lines((folder / "found.jsonl").read_text())) == (0, FOUND)


def test_events_of_one_type_from_standard_input(ensue: Command, folder: Path) -> None:
    write(folder, "parcels.jsonl", *({"time": event["time"], "id": 42} for event in EVENTS[1:]))
    order = json.dumps({"time": 3, "id": 42, "product": "muffins", "qty": 2.0})
    result = ensue("run", "shop.ensue", "order=-", "shipped=parcels.jsonl", input=order)
    assert (result.exit_code, lines(result.stdout)) == (0, FOUND)


def test_standard_input_beside_a_file(ensue: Command, folder: Path) -> None:
    write(folder, "parcels.jsonl", *EVENTS[1:])
    result = ensue("run", "shop.ensue", "parcels.jsonl", "-", input=json.dumps(EVENTS[0]))
    assert (result.exit_code, lines(result.stdout)) == (0, FOUND)


def test_bad_rows_of_standard_input(ensue: Command, folder: Path) -> None:
    text = (folder / "events.jsonl").read_text()
    result = ensue("run", "shop.ensue", "-", input=f'\n{text}no JSON\n{{"type": "order", "time": 9, "id": "x"}}\n')
    assert lines(result.stdout) == FOUND
    assert result.stderr.splitlines() == [
        "<stdin>:5: not JSON: expecting value at column 1",
        "<stdin>:6: attribute 'id' is 'x', not an int",
        "2 rows left out",
    ]
    result = ensue("run", "shop.ensue", "-", input=b'{"type": "order"}\n\xff\n')
    assert (result.exit_code, result.stderr) == (2, "ensue: <stdin>:2 is not UTF-8 text; save the file as UTF-8.\n")
    assert ensue("run", "shop.ensue", "-", input="").stderr == "ensue: There are no events in what was read.\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("-", "-"), "Rules and events cannot both come from standard input, -; name a file for one of them."),
        (("-", "order=-"), "Rules and events cannot both come from standard input, -; name a file for one of them."),
        (("shop.ensue", "-", "-"), "Standard input, -, can be read once only."),
        (("shop.ensue", "order=-", "shipped=-"), "Standard input, -, can be read once only."),
    ],
)
def test_standard_input_is_read_once(ensue: Command, arguments: tuple[str, ...], sentence: str) -> None:
    result = ensue("run", *arguments, input=SHOP)
    assert (result.exit_code, result.stderr) == (2, f"ensue: {sentence} See `ensue run --help`.\n")


# --- where it goes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", [[], ["-o", "-"]])
def test_json_lines_on_standard_output(ensue: Command, output: list[str]) -> None:
    result = ensue("run", "shop.ensue", "events.jsonl", *output)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[0] == '{"type": "comp", "start": 3, "end": 7, "id": 42, "product": "muffins"}'
    assert lines(result.stdout) == FOUND


@pytest.mark.parametrize(
    "name", ["found.jsonl", "found.ndjson", "found.csv", "found.parquet", "found.arrow", "found.CSV"]
)
def test_a_file_by_its_ending(ensue: Command, folder: Path, name: str) -> None:
    result = ensue("run", "shop.ensue", "events.jsonl", "-o", name, "--emit", "comp")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"found 2 comp; written to {name}\n"
    path = folder / name
    match path.suffix:
        case ".parquet":
            assert pyarrow.parquet.read_table(path).to_pylist() == FOUND
        case ".arrow":
            assert pyarrow.feather.read_table(path).to_pylist() == FOUND
        case ".csv" | ".CSV":
            assert path.read_text().splitlines() == [
                "type,start,end,id,product",
                "comp,3,7,42,muffins",
                "comp,3,9,42,muffins",
            ]
        case _:
            assert lines(path.read_text()) == FOUND
    assert len(list(folder.iterdir())) == 3


def test_the_summary_names_what_was_not_found(ensue: Command, folder: Path) -> None:
    (folder / "found.jsonl").write_text("old")
    assert ensue("run", "shop.ensue", "events.jsonl", "-o", "found.jsonl").stderr == (
        "found 2 comp, 0 late; written to found.jsonl\n"
    )
    assert lines((folder / "found.jsonl").read_text()) == FOUND


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("found.xlsx", "ensue: found.xlsx does not end in .jsonl, "),
        ("found", "ensue: found does not end in .jsonl, "),
        ("nowhere/found.csv", "ensue: There is no folder nowhere to write found.csv to."),
        ("folder.csv", "ensue: folder.csv is a folder; name a file in it."),
    ],
)
def test_places_that_cannot_be_written_to(ensue: Command, folder: Path, output: str, sentence: str) -> None:
    (folder / "folder.csv").mkdir()
    result = ensue("run", "shop.ensue", "events.jsonl", "-o", output)
    assert result.exit_code == 2
    assert result.stderr.startswith(sentence) and result.stderr.count("\n") == 1


def test_attributes_of_the_same_name_and_of_different_types(ensue: Command, folder: Path) -> None:
    (folder / "two.ensue").write_text(
        "event a(n: int).\nevent b(s: string).\nx(v = n) <- a(n).\ny(v = s) <- b(s).\nz(v = n / 2) <- a(n).\n"
    )
    write(
        folder,
        "two.jsonl",
        {"type": "b", "time": 1, "s": "é"},
        {"type": "a", "time": 2, "n": 3},
        {"type": "b", "time": 2, "s": "t"},
    )
    expected = [
        {"type": "y", "start": 1, "end": 1, "v": "é"},
        {"type": "x", "start": 2, "end": 2, "v": 3},
        {"type": "y", "start": 2, "end": 2, "v": "t"},
        {"type": "z", "start": 2, "end": 2, "v": 1.5},
    ]
    assert lines(ensue("run", "two.ensue", "two.jsonl").stdout) == expected
    assert ensue("run", "two.ensue", "two.jsonl", "-o", "found.jsonl").exit_code == 0
    assert lines((folder / "found.jsonl").read_text(encoding="utf-8")) == expected
    table = ensue("run", "two.ensue", "two.jsonl", "-o", "found.csv")
    assert table.exit_code == 2
    assert table.stderr.startswith("ensue: The attribute 'v' is int64 in 'x' and string in 'y'")
    assert ensue("run", "two.ensue", "two.jsonl", "-o", "found.csv", "--emit", "x", "--emit", "z").exit_code == 0


def test_lines_come_in_the_order_of_events(ensue: Command, folder: Path) -> None:
    (folder / "two.ensue").write_text(
        "event a(n: int).\nlong(n) <- o: a(n), w: extend(o, 5).\nshort(n) <- a(n).\n"
        "back(n) <- o: a(n), w: extend_backward(o, 2).\n"
    )
    write(folder, "two.jsonl", *({"type": "a", "time": time, "n": time} for time in (8, 1, 6)))
    found = lines(ensue("run", "two.ensue", "two.jsonl").stdout)
    assert [(row["end"], row["start"], row["type"]) for row in found] == [
        (1, -1, "back"),
        (1, 1, "short"),
        (6, 1, "long"),
        (6, 4, "back"),
        (6, 6, "short"),
        (8, 6, "back"),
        (8, 8, "short"),
    ]


def test_only_the_types_asked_for(ensue: Command) -> None:
    assert ensue("run", "shop.ensue", "events.jsonl", "--emit", "late").stdout == ""
    wrong = ensue("run", "shop.ensue", "events.jsonl", "--emit", "copm")
    assert wrong.exit_code == 2
    assert wrong.stderr.startswith("ensue: No rule derives 'copm'")


# --- where events come from -------------------------------------------------------------------------------------------


def test_timestamps_come_back_as_timestamps(ensue: Command, folder: Path) -> None:
    write(
        folder,
        "events.jsonl",
        {"type": "order", "time": "2026-03-02T08:00:00Z", "id": 1, "product": "tea", "qty": 2},
        {"type": "order", "time": "2026-03-02T08:00:00.25Z", "id": 2, "product": "jam", "qty": 2},
        {"type": "shipped", "time": "2026-03-02T15:00:00+01:00", "id": 2, "tracking": "x"},
    )
    found = lines(ensue("run", "shop.ensue", "events.jsonl").stdout)
    assert found == [
        {"type": "late", "start": "2026-03-02T08:00:00Z", "end": "2026-03-02T14:00:00Z", "id": 1},
        FOUND[0] | {"start": "2026-03-02T08:00:00.250000Z", "end": "2026-03-02T14:00:00Z", "id": 2, "product": "jam"},
    ]


def test_csv_with_columns_of_other_names(ensue: Command, folder: Path) -> None:
    (folder / "events.csv").write_text("kind,at,id,product,qty,tracking\norder,3,42,muffins,2,\nshipped,7,42,,,x\n")
    result = ensue("run", "shop.ensue", "events.csv", "--type", "kind", "--time", "at")
    assert lines(result.stdout) == FOUND[:1]


def test_events_that_last(ensue: Command, folder: Path) -> None:
    (folder / "lasting.ensue").write_text("event a(x: int).\nevent b(x: int).\nboth(x) <- a(x) par b(x).\n")
    (folder / "events.csv").write_text("type,from,to,x\na,1,5,1\nb,3,9,1\n")
    result = ensue("run", "lasting.ensue", "events.csv", "--start", "from", "--end", "to")
    assert lines(result.stdout) == [{"type": "both", "start": 1, "end": 9, "x": 1}]
    both = ensue("run", "lasting.ensue", "events.csv", "--start", "from", "--time", "to")
    assert both.exit_code == 2


def test_a_sequence_orders_what_happens_at_once(ensue: Command, folder: Path) -> None:
    (folder / "steps.ensue").write_text("event a(x: int).\nlast_two(list(x)) <- while last 2: collect a(x).\n")
    (folder / "events.csv").write_text("type,time,n,x\na,1,2,10\na,1,1,20\n")
    found = lines(ensue("run", "steps.ensue", "events.csv", "--sequence", "n").stdout)
    assert {"type": "last_two", "start": 1, "end": 1, "list": [20, 10]} in found


def test_tables_by_type(ensue: Command, folder: Path) -> None:
    (folder / "orders.csv").write_text("time,id,product,qty\n3,42,muffins,2\n")
    (folder / "shipped1.csv").write_text("time,id,tracking\n7,42,x\n")
    (folder / "shipped2.csv").write_text("time,id,tracking\n9,42,y\n")
    by_type = ["order=orders.csv", "shipped=shipped1.csv", "shipped=shipped2.csv"]
    assert lines(ensue("run", "shop.ensue", *by_type).stdout) == FOUND
    assert lines(ensue("run", "shop.ensue", "order=orders.csv", "shipped=shipped*.csv").stdout) == FOUND


def test_tables_by_type_and_others_do_not_mix(ensue: Command) -> None:
    result = ensue("run", "shop.ensue", "order=orders.csv", "events.jsonl")
    assert result.exit_code == 2
    assert "events.jsonl does not" in result.stderr and "ensue run --help" in result.stderr


@pytest.mark.parametrize("argument", ["=orders.csv", "order="])
def test_half_a_name_and_path(ensue: Command, argument: str) -> None:
    result = ensue("run", "shop.ensue", argument)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"ensue: {argument} is neither a path nor of the form NAME=PATH")


def test_a_type_that_no_rule_uses_is_noted(ensue: Command) -> None:
    result = ensue("run", "shop.ensue", "ordr=events.jsonl")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.splitlines() == [
        "ensue: The rules use no event 'ordr'; did you mean `order`?",
        "ensue: None of the events is of a type that the rules use (order, shipped).",
    ]


def test_a_path_may_hold_an_equals_sign(ensue: Command, folder: Path) -> None:
    (folder / "day=3").mkdir()
    (folder / "events.jsonl").rename(folder / "day=3" / "events.jsonl")
    for argument in ("day=3/events.jsonl", "day=3", "./day=*/events.jsonl"):
        assert lines(ensue("run", "shop.ensue", argument).stdout) == FOUND


def test_folders_globs_and_several_files(ensue: Command, folder: Path) -> None:
    (folder / "events.jsonl").unlink()
    (folder / "parts").mkdir()
    write(folder / "parts", "a.jsonl", EVENTS[0])
    pyarrow.parquet.write_table(pa.Table.from_pylist(EVENTS[1:]), folder / "parts" / "b.parquet")
    for arguments in (["parts"], ["parts/*"], ["parts/a.jsonl", "parts/b.parquet"]):
        assert lines(ensue("run", "shop.ensue", *arguments).stdout) == FOUND


@pytest.mark.parametrize(
    ("until", "found"), [("7", 1), ("8", 1), ("9", 2), ("9s", 2), ("1m", 2), ("1970-01-01T00:00:07Z", 1)]
)
def test_until_on_integers(ensue: Command, until: str, found: int) -> None:
    result = ensue("run", "shop.ensue", "events.jsonl", "--until", until, "--emit", "comp")
    assert (result.exit_code, len(lines(result.stdout))) == (0, found)


@pytest.mark.parametrize("until", ["2026-03-02T14:00:00Z", "2026-03-02 15:00+01:00", "2026-03-03"])
def test_until_on_timestamps(ensue: Command, folder: Path, until: str) -> None:
    write(folder, "one.jsonl", {"type": "order", "time": "2026-03-02T08:00:00Z", "id": 1})
    assert ensue("run", "shop.ensue", "one.jsonl").stdout == ""
    result = ensue("run", "shop.ensue", "one.jsonl", "--until", until)
    assert lines(result.stdout) == [
        {"type": "late", "start": "2026-03-02T08:00:00Z", "end": "2026-03-02T14:00:00Z", "id": 1}
    ]


def test_until_that_is_no_time(ensue: Command) -> None:
    result = ensue("run", "shop.ensue", "events.jsonl", "--until", "soon")
    assert result.exit_code == 2
    assert result.stderr.startswith("ensue: 'soon' is not a time")


def test_a_table(ensue: Command, folder: Path) -> None:
    (folder / "sites.ensue").write_text(
        "event seen(site: string).\ntable linked(a: string, b: string).\n"
        "move(x, y) <- seen(site = x) seq seen(site = y) where linked(x, y).\n"
    )
    (folder / "links.csv").write_text("a,b\nnorth,south\n")
    write(folder, "seen.jsonl", *({"type": "seen", "time": t, "site": s} for t, s in ((1, "north"), (2, "south"))))
    arguments = ["run", "sites.ensue", "seen.jsonl"]
    assert ensue(*arguments).stdout == ""
    found = lines(ensue(*arguments, "--table", "linked=links.csv").stdout)
    assert found == [{"type": "move", "start": 1, "end": 2, "x": "north", "y": "south"}]
    for wrong in ("linked", "linked=", "=links.csv", "linked=missing.csv", "other=links.csv"):
        result = ensue(*arguments, "--table", wrong)
        assert result.exit_code == 2
        assert result.stderr.startswith("ensue: ") and result.stderr.count("\n") == 1


# --- errors -----------------------------------------------------------------------------------------------------------


def test_rules_that_are_wrong(ensue: Command, folder: Path) -> None:
    (folder / "wrong.ensue").write_text("a(x) <- nothing(x).\n")
    result = ensue("run", "wrong.ensue", "events.jsonl")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.endswith("1 error in 1 file\n")


def test_rules_without_a_unit_on_integers(ensue: Command, folder: Path) -> None:
    (folder / "shop.ensue").write_text(SHOP.split("test ")[0].replace("unit s.\n", ""))
    result = ensue("run", "shop.ensue", "events.jsonl")
    assert result.exit_code == 2
    assert result.stderr.startswith("ensue: ") and "unit s." in result.stderr


def test_an_empty_rule_file_finds_nothing(ensue: Command, folder: Path) -> None:
    (folder / "empty.ensue").touch()
    result = ensue("run", "empty.ensue", "events.jsonl")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "ensue: There is no rule that derives an event, so nothing is found.\n"


def test_warnings_are_printed_and_do_not_stop(ensue: Command, folder: Path) -> None:
    (folder / "warned.ensue").write_text("event order(id: int).\npair(i, j) <- order(i) and order(j).\n")
    result = ensue("run", "warned.ensue", "events.jsonl")
    assert result.exit_code == 0
    assert lines(result.stdout) == [{"type": "pair", "start": 3, "end": 3, "i": 42, "j": 42}]
    assert result.stderr.endswith("1 warning in 1 file\n")


def test_a_derivation_without_end(ensue: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object) -> NoReturn:
        raise DetectError("the rules for comp do not come to an end")

    monkeypatch.setattr("ensue.engine.tables.detect_mixed", endless)
    result = ensue("run", "shop.ensue", "events.jsonl")
    assert result.exit_code == 2
    assert result.stderr == "ensue: The rules for comp do not come to an end.\n"


def test_an_engine_that_is_not_there(ensue: Command) -> None:
    result = ensue("run", "shop.ensue", "events.jsonl", "--engine", "steam")
    assert result.exit_code == 2
    assert result.stderr.startswith("ensue: There is no engine 'steam' here; there is embedded")


def test_a_file_is_the_same_on_several_threads(ensue: Command, folder: Path) -> None:
    """With several threads it is written while rules still run."""
    events = [{"type": "order", "time": 3 * n, "id": n, "product": "p", "qty": 2, "tracking": "x"} for n in range(500)]
    events += [{"type": "shipped", "time": 3 * n + n % 5, "id": n, "tracking": "x"} for n in range(500)]
    pyarrow.parquet.write_table(pa.Table.from_pylist(sorted(events, key=itemgetter("time"))), folder / "many.parquet")
    found = []
    for threads in ("1", "2"):
        with using(replace(USUAL, thread=50, twice=0)):
            options = "-o", "found.parquet", "--threads", threads, "--about", "rule"
            assert "found 400 comp" in ensue("run", "shop.ensue", "many.parquet", *options).stderr
        found.append((folder / "found.parquet").read_bytes())
    assert found[0] == found[1]
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_a_run_that_ends_early_leaves_no_part_of_a_file(
    ensue: Command, folder: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    """Detections have been written when it ends, to a file of another name."""
    pyarrow.parquet.write_table(pa.Table.from_pylist(EVENTS), folder / "some.parquet")
    (folder / "found.parquet").write_text("before")
    began = []

    def detect_tables(rules: Program, *given: Any) -> None:
        began.append(tables := detection.detect_tables(rules, *given)[0])
        final = receiver()
        assert final is not None
        final.take(tables)
        raise error

    monkeypatch.setattr(Program, "detect_tables", detect_tables)
    arguments = ["run", "shop.ensue", "some.parquet", "-o", "found.parquet", "--threads", "2"]
    assert CliRunner().invoke(group, arguments).exit_code != 0
    assert began
    assert (folder / "found.parquet").read_text() == "before"
    assert not list(folder.glob(".*"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_written_to_and_stays_one(ensue: Command, folder: Path) -> None:
    pipe = folder / "detections.jsonl"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        assert ensue("run", "shop.ensue", "events.jsonl", "-o", str(pipe)).exit_code == 0
        assert reader.communicate(timeout=20)[0] == ensue("run", "shop.ensue", "events.jsonl").stdout
    assert pipe.is_fifo()
