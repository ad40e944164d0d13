"""Files as they come: packed, as arrays, with other separators, as lines of text, thousands at once."""

import bz2
import gzip
import json
import lzma
from pathlib import Path
from time import perf_counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ensue
from ensue.data import DataError

PROGRAM = ensue.compile("event a(k: int, s: string).  b(k, s) <- a(k, s).")
ROWS = [{"type": "a", "time": n, "k": n, "s": f"s{n}"} for n in range(3)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)
CSV = "type,time,k,s\n" + "".join(f"a,{n},{n},s{n}\n" for n in range(3))
FOUND = [(n, f"s{n}") for n in range(3)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def found(source, **options):
    return [(row["k"], row["s"]) for row in PROGRAM.detect(source, **options).to_pylist()]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("e.json", LINES),
        ("e.json", json.dumps(ROWS)),
        ("e.json", json.dumps(ROWS, indent=2)),
        ("e.json", json.dumps({"Records": ROWS})),
        ("e.json", json.dumps({"version": 1, "events": ROWS}, indent=2)),
        ("e.ndjson", LINES),
        ("e.tsv", CSV.replace(",", "\t")),
        ("e.csv", CSV.replace(",", ";")),
        ("e.csv", CSV.replace(",", "|")),
    ],
)
def test_formats(name, text):
    Path(name).write_text(text)
    assert found(name) == FOUND
    packed = gzip.compress(text.encode())
    Path(f"{name}.gz").write_bytes(packed)
    assert found(f"{name}.gz") == FOUND
    with pa.CompressedOutputStream(f"{name}.zst", "zstd") as stream:
        stream.write(text.encode())
    assert found(f"{name}.zst") == FOUND
    Path(f"{name}.bz2").write_bytes(bz2.compress(text.encode()))
    Path(f"{name}.xz").write_bytes(lzma.compress(text.encode()))
    assert found(f"{name}.bz2") == found(f"{name}.xz") == FOUND


def test_one_object_is_one_event():
    Path("e.json").write_text(json.dumps(ROWS[1], indent=1))
    assert found("e.json") == FOUND[1:2]


def test_a_packed_parquet_file():
    pq.write_table(pa.Table.from_pylist(ROWS), "e.parquet")
    Path("e.parquet.gz").write_bytes(gzip.compress(Path("e.parquet").read_bytes()))
    assert found("e.parquet.gz") == FOUND


def test_a_packed_file_that_is_none():
    Path("e.csv.gz").write_text("type,time\n")
    with pytest.raises(DataError, match=r"e\.csv\.gz cannot be unpacked"):
        found("e.csv.gz")


def test_a_separator_makes_any_file_one_of_fields():
    Path("e.dat").write_text(CSV.replace(",", "^"))
    assert found("e.dat", separator="^") == FOUND
    with pytest.raises(DataError, match="separator="):
        found("e.dat")
    with pytest.raises(DataError, match="it is one character"):
        found("e.dat", separator="ab")


LOG = """\
0 a k=0 s0
1 a k=1 s1

oops
2 a k=2 s2
"""


@pytest.mark.parametrize(
    "regex",
    [
        r"^(?P<time>\d+) (?P<type>\w+) k=(?P<k>\d+) (?P<s>\S*)",
        r"(?i)^(\s*)(?P<time>\d+) (?<type>\w+) (?:K)(=)(?P<k>[[:digit:]]+) (?P<s>\S*)(x)?\z",
    ],
)
def test_lines_by_a_regular_expression(regex):
    Path("app.log").write_text(LOG)
    bad = []
    assert found("app.log", lines=regex, on_bad_row=bad.append) == FOUND
    assert [str(row) for row in bad] == ["app.log:4: does not match --lines: 'oops'"]
    assert PROGRAM.detect({"a": "app.log"}, lines=regex, on_bad_row=bad.append)["b"]["k"].to_pylist() == [0, 1, 2]


def test_no_expression_takes_more_than_linear_time():
    Path("app.log").write_text("a" * 50_000 + "!\n" + LOG)
    started = perf_counter()
    bad = []
    assert found(
        "app.log", lines=r"^(?P<time>\d+) (?P<type>\w+) k=(?P<k>\d+) (?P<s>\S*)$|^(a+)+$", on_bad_row=bad.append
    )
    assert len(bad) == 2
    assert perf_counter() - started < 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lines": "("}, "which is not a regular expression"),
        ({"lines": "x"}, "it needs named groups"),
        ({"lines": 7}, "`lines` is 7, which is not a regular expression"),
        ({"lines": r"(?P<x>a)(?=b)"}, "There is no look-around"),
        ({"lines": r"(?P<x>a)\1"}, "no reference back to a group"),
        ({"lines": "(?P<x>.)", "separator": ";"}, "give either lines or separator"),
        ({"file_name": "x-(.*)"}, "it needs named groups"),
    ],
)
def test_what_cannot_be(options, message):
    Path("e.csv").write_text(CSV)
    with pytest.raises(DataError, match=message):
        found("e.csv", **options)


@pytest.mark.parametrize(("name", "source"), [("k", "time"), ("s", "type")])
def test_a_column_that_another_name_took_away(name, source):
    Path("e.csv").write_text(CSV)
    with pytest.raises(DataError, match=rf"There was one '{source}', which columns= \(--column\) calls '{name}'"):
        found("e.csv", columns={name: source})


def test_columns_from_names_of_files():
    for host in ("north", "south"):
        Path(f"{host}-3.csv").write_text("type,time\na,1\n")
    regex = r"(?P<s>\w+)-(?P<k>\d+)\.csv$"
    assert found("*.csv", file_name=regex) == [(3, "north"), (3, "south")]
    program = ensue.compile("event a(s: string).  b(s) <- a(s).")
    assert program.detect("*.csv", file_name="s")["s"].to_pylist() == ["north-3", "south-3"]
    with pytest.raises(DataError, match="does not match the file_name"):
        found("*.csv", file_name=r"(?P<s>east)")


def test_a_thousand_files():
    for number in range(1000):
        Path(f"{number:04}.jsonl").write_text(json.dumps({"type": "a", "time": number, "k": number, "s": "x"}) + "\n")
    assert [k for k, _ in found("*.jsonl")] == list(range(1000))


def test_a_file_of_which_a_few_lines_are_bad_is_read_in_blocks(monkeypatch):
    monkeypatch.setattr("ensue.data.json_rows._BLOCK", 2000)
    rows = [{"type": "a", "time": n, "k": n, "s": "x"} for n in range(500)]
    lines = [json.dumps(row) for row in rows]
    lines[300] = "oops"
    lines[310] = json.dumps({"type": "a", "time": 310, "k": "310", "s": "x", "more": [1, {}]})
    lines[320] = json.dumps({"type": "a", "time": "2026-01-01", "k": 1})
    lines.insert(100, "")
    Path("e.jsonl").write_text("\n".join(lines))
    bad = []
    assert [k for k, _ in found("e.jsonl", on_bad_row=bad.append)] == [n for n in range(500) if n not in (300, 320)]
    assert [str(row) for row in bad] == [
        "e.jsonl:302: not JSON: expecting value at column 1",
        "e.jsonl:322: column 'time' is '2026-01-01', not an integer",
    ]
    undeclared = ensue.compile("b(k) <- a(k = k).").detect("e.jsonl", on_bad_row=lambda row: None)
    assert undeclared["k"].to_pylist() == [str(n) for n in range(500) if n not in (300, 320)]


def test_only_what_rules_declare_is_read():
    """Nested values and mixed types do not matter where no rule reads them."""
    rows = [
        {"type": "a", "time": n, "k": n, "s": f"s{n}", "more": [{}, [1], "x"][n], "odd": [1, "x", None][n]}
        for n in range(3)
    ]
    Path("e.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert found("e.jsonl") == FOUND
    with pytest.raises(DataError, match=r"it has .*'more'"):
        found("e.jsonl", time="tiem")


@pytest.mark.parametrize("value", ["0x1F", " 7", "+7", "7.0", '"7"', '""', "x", "1e3", "9" * 20])
@pytest.mark.parametrize("kind", ["int", "float", "bool", "string"])
def test_typed_csv_is_what_text_says(kind, value):
    """Arrow reads declared columns as such; where it reads less or more than we do, text is read."""
    Path("e.csv").write_text(f"type,time,v,w\na,1,{value},1\na,2,1,1\n")
    declared = ensue.compile(f"event a(v: {kind}, w: int).  b(v) <- a(v, w) where w = 1.")
    mixed = ensue.compile(f"event a(v: {kind}, w: int).  b(v) <- a(v, w) where w = 1.  event z(v: timestamp).")
    bad, others = [], []
    one = declared.detect("e.csv", on_bad_row=bad.append).to_pylist()
    assert one == mixed.detect("e.csv", on_bad_row=others.append).to_pylist()
    assert bad == others
