"""Text that is read in pieces, and tables with a few bad rows: the same events and the same report as row by row."""

import json
import random

import pytest

import ensue
from ensue.data import plain
from ensue.data.columns import Columns
from ensue.request import Request

RULES = """
    event a(id: int, user: string, amount: float).
    event b(id: int, user: string, amount: float).
    event c(id: int, note: string).
    m(id, user, x = amount) <- a(id, user, amount) seq b(id, _, _) within 20s.
"""
PROGRAM = ensue.compile(RULES)
NAMES = ["type", "time", "id", "user", "amount", "note"]

BAD = {
    "a time": {"time": "yesterday"},
    "no time": {"time": None},
    "a type": {"type": None},
    "a value": {"type": "a", "id": "x"},
    "a value that no rule reads": {"type": "c", "id": "x"},
    "a value of a type that no rule knows": {"type": "z", "id": "x"},
    "two values": {"id": "x", "amount": "y", "time": "never"},
    "a line": {},
}


def rows_of(rng, count=60):
    return [
        {
            "type": rng.choice("aabbc"), "time": f"2026-01-01T00:00:{number:02}Z", "id": rng.randrange(4),
            "user": rng.choice(["x", "y", "Zoë"]), "amount": rng.choice([1.5, 2.25, None]),
            "note": rng.choice(["n", None]),
        }
        for number in range(count)
    ]  # fmt: skip


def write(path, rows):
    with path.open("w", encoding="utf-8") as file:
        if path.suffix == ".csv":
            file.write(",".join(NAMES) + "\n")
        for row in rows:
            if not row:
                file.write("oops\n")
            elif path.suffix == ".csv":
                file.write(",".join("" if row[name] is None else str(row[name]) for name in NAMES) + "\n")
            else:
                file.write(json.dumps(row) + "\n")
            file.write("\n" * (len(row.get("user") or "") % 3 == 0))


def read(path):
    found, events = PROGRAM.detect_tables(path, Request())
    return found, (events.bad, events.bad_count, events.rows, events.first_end, events.last_end, events.timestamps)


@pytest.fixture
def row_by_row(monkeypatch):
    """The result where every row is looked at."""

    def called(path):
        with monkeypatch.context() as patched:
            patched.setattr(plain, "plain_rows", lambda *_: None)
            return read(path)

    return called


@pytest.fixture
def small_pieces(monkeypatch):
    for name, size in (("csv_rows._PIECE", 300), ("csv_rows._LEAST", 60), ("json_rows._PIECE", 600)):
        monkeypatch.setattr(f"ensue.data.{name}", size)
    monkeypatch.setattr("ensue.data.json_rows._LEAST", 120)


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize("places", [[0], [30], [59], [0, 1, 59], list(range(20, 40))], ids=str)
@pytest.mark.parametrize("what", BAD)
def test_bad_rows_anywhere(what, places, suffix, tmp_path, small_pieces, row_by_row):
    rows = rows_of(random.Random(what))
    for place in places:
        rows[place] = rows[place] | BAD[what] if BAD[what] else {}
    path = tmp_path / f"events.{suffix}"
    write(path, rows)
    found, report = read(path)
    assert (found, report) == row_by_row(path)
    assert found["m"].num_rows > 5
    bad, count, total, *_ = report
    good = "no rule" in what
    assert (len(bad), count, total) == (0 if good else len(places), 0 if good else len(places), 60)
    lines = path.read_text().splitlines()
    for place, row in zip(places, bad, strict=False):
        line = int(str(row).split(":")[1])
        assert (lines[line - 1] == "oops") == (what == "a line")
        assert len([each for each in lines[: line - 1] if each]) == place + (suffix == "csv")


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize("seed", range(40))
def test_random_bad_rows(seed, suffix, tmp_path, small_pieces, row_by_row):
    rng = random.Random(seed)
    rows = rows_of(rng)
    for place in rng.sample(range(60), rng.choice([1, 3, 20])):
        fault = BAD[rng.choice(list(BAD))]
        rows[place] = rows[place] | fault if fault else {}
    path = tmp_path / f"events.{suffix}"
    write(path, rows)
    assert read(path) == row_by_row(path)


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize("what", BAD)
def test_good_rows_are_not_looked_at_one_by_one(what, suffix, tmp_path, small_pieces, monkeypatch):
    rows = rows_of(random.Random(1))
    rows[30] = rows[30] | BAD[what] if BAD[what] else {}
    path = tmp_path / f"events.{suffix}"
    write(path, rows)
    monkeypatch.setattr("ensue.detection.read_events_for", lambda *_: pytest.fail("all rows are looked at"))
    assert read(path)[0]["m"].num_rows > 5


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_file_without_bad_rows_is_one_part(suffix, tmp_path, small_pieces):
    path = tmp_path / f"events.{suffix}"
    write(path, rows_of(random.Random(1)))
    wanted = {name: dict(event.attributes) for name, event in PROGRAM.typed.events.items() if event.given}
    parts = list(plain.read_parts(str(path), Columns(), wanted, wanted, set(wanted)).parts)
    assert [part.length for part in parts] == [60]
    assert not read(path)[1][0]


def test_blank_lines_are_no_piece(tmp_path, small_pieces, row_by_row):
    path = tmp_path / "events.csv"
    write(path, rows_of(random.Random(1)))
    text = path.read_text()
    half = text.index("\n", len(text) // 2) + 1
    path.write_text(text[:half] + "\n" * 5000 + text[half:].replace(",0,", ",oh,") + "\r\n" * 5000)
    found, report = read(path)
    assert (found, report) == row_by_row(path)
    assert report[1] > 0 and report[2] == 60


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_the_first_bad_row_is_an_error_if_asked(suffix, tmp_path, small_pieces):
    rows = rows_of(random.Random(1))
    for place in (40, 41, 20):
        rows[place] |= {"type": "a", "id": f"x{place}"}
    path = tmp_path / f"events.{suffix}"
    write(path, rows)
    with pytest.raises(ensue.DataError, match="x20"):
        PROGRAM.detect(path, strict=True)


def test_rows_behind_a_detection_are_counted_with_bad_ones(tmp_path, small_pieces):
    rows = rows_of(random.Random(1))
    path = tmp_path / "events.csv"
    write(path, rows)
    before = PROGRAM.detect(path, provenance=True).to_pylist()
    write(path, [{}, *rows])
    with pytest.warns(ensue.BadRowsWarning):
        after = PROGRAM.detect(path, provenance=True).to_pylist()
    assert [[source + 1 for source in row["sources"]] for row in before] == [row["sources"] for row in after]


def test_an_attribute_without_values_is_noted_beside_bad_rows(tmp_path, small_pieces):
    rows = [row | {"amount": None if row["type"] == "a" else 1.0} for row in rows_of(random.Random(1))]
    rows[7] |= {"type": "b", "id": "x"}
    path = tmp_path / "events.csv"
    write(path, rows)
    with pytest.warns(ensue.BadRowsWarning), pytest.warns(ensue.EmptyAttributeWarning, match="amount"):
        PROGRAM.detect(path)
