"""Whole Spark jobs from the command line: they find the same as `ensue run`."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ensue.cli.spark.demo import committed
from tests.cli.conftest import SHOP, Command, ensue, folder  # noqa: F401 (fixtures)

pytestmark = pytest.mark.usefixtures("spark")


def arrive(where: Path, number: int, *events: dict[str, object]) -> None:
    """Puts a file into a folder; Spark takes files in the order of their times."""
    where.mkdir(exist_ok=True)
    file = where / f"{number}.jsonl"
    file.write_text("".join(json.dumps(event) + "\n" for event in events))
    os.utime(file, (1_700_000_000 + number,) * 2)


def order(time: int, id_: int) -> dict[str, object]:
    return {"type": "order", "time": time, "id": id_, "product": "tea", "qty": 1}


def shipped(time: int, id_: int) -> dict[str, object]:
    return {"type": "shipped", "time": time, "id": id_, "tracking": "x"}


def in_sink(where: Path) -> list[dict[str, object]]:
    rows = [json.loads(line) for file in committed(where) for line in file.read_text().splitlines()]
    return sorted(rows, key=lambda row: (row["end"], row["start"]))


ONCE = "rule calm: parcel(id) <- shipped(id, _) once per id in 1h.\n"
SAID = "ensue: calm: 1 event not kept, because of `once` or `at most`.\n"


def test_run_finds_the_same_on_spark(ensue: Command, folder: Path) -> None:  # noqa: F811
    (folder / "once.ensue").write_text(SHOP + ONCE)
    here, there = (ensue("run", "once.ensue", "events.jsonl", "--engine", name) for name in ("embedded", "spark"))
    assert there.exit_code == 0, there.stderr
    assert here.stdout
    assert (there.stdout, there.stderr) == (here.stdout, here.stderr)
    assert here.stderr == SAID


def test_run_reads_csv_as_the_rules_declare_it(ensue: Command, folder: Path, spark: object) -> None:  # noqa: F811
    (folder / "orders.csv").write_text("qty,at,id,product\n2,3,42,007\n1,4,x,tea\n1,,44,tea\n")
    (folder / "parcels.csv").write_text("at,id,tracking\n7,42,a\n8,43,b\n9,43,c\n")
    (folder / "once.ensue").write_text(SHOP + ONCE)
    files = ("order=orders.csv", "shipped=parcels.csv", "--emit", "comp", "--emit", "parcel")
    arguments = ("run", "once.ensue", *files, "--time", "at", "--engine", "spark")
    result = ensue(*arguments, "-o", "found", "--output-format", "json")
    assert result.exit_code == 0, result.stderr
    assert "2 rows left out" in result.stderr
    assert SAID in result.stderr
    assert "attribute 'id' is 'x', not an int: " in result.stderr
    rows = [json.loads(line) for file in (folder / "found").glob("*.json") for line in file.read_text().splitlines()]
    comp = {"type": "comp", "start": 3, "end": 7, "id": 42, "product": "007"}
    parcels = [{"type": "parcel", "start": end, "end": end, "id": id_} for end, id_ in ((7, 42), (8, 43))]
    assert sorted(rows, key=lambda row: (row["type"], row["end"])) == [comp, *parcels]
    again = ensue(*arguments, "-o", "found", "--output-format", "json")
    assert again.exit_code == 2
    assert again.stderr.splitlines()[-1].startswith("ensue: Spark:")


NESTED = "event a(user.id: int, n: int). event b(user.id: int).  ab(u) <- a(user.id = u) seq b(u) within 1h.\n"
LOG = "Oct 18 06:55:46 a 1\noops\nOct 18 06:55:47 b 1\n"
ODD = {
    "a.jsonl": (
        '{"type": "a", "time": "18/Oct/2015:18:01:47 +0200", "user": {"id": "1"}, "n": "x"}\n'
        '{"type": "b", "time": "18/Oct/2015:16:01:48 +0000", "user": {"id": 1}}\n',
        (),
    ),
    "b.tsv": ("what\tDate\tTime\tkey\na\t2015-10-18\t18:01:47,5\t1\nb\t2015-10-18\t18:01:48\t1.0\n",
              ("--time", "Date+Time", "--column", "type=what", "--column", "user.id=key", "--timezone", "UTC")),
    "c.csv": ("type,time,user.id\na,1445191307978,1\nb,1445191308978,1\n", ("--time-unit", "ms")),
    "d-1.log": (LOG, ("--year", "2015", "--lines", r"^(?P<time>\w+ +\d+ \S+) (?P<type>\w+) (?P<id>\d+)",
                      "--column", "user.id=id")),
    "e-1.dat": ("type;time\na;2015-10-18 18:01\nb;2015-10-18 18:02\n",
                ("--separator", ";", "--file-name", r"-(?P<id>\d+)\.", "--column", "user.id=id", "--timezone", "UTC")),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_odd_files_are_read_alike(ensue: Command, folder: Path, name: str) -> None:  # noqa: F811
    text, options = ODD[name]
    (folder / "nested.ensue").write_text(NESTED)
    (folder / name).write_text(text)
    here, there = (ensue("run", "nested.ensue", name, *options, "--engine", each) for each in ("embedded", "spark"))
    assert there.exit_code == 0, there.stderr
    rows = [[json.loads(line)["u"] for line in result.stdout.splitlines()] for result in (here, there)]
    assert rows == [[1], [1]], there.stderr
    ends = [json.loads(result.stdout)["end"].removesuffix("Z") for result in (here, there)]
    assert ends[0] == ends[1]
    assert ("left out" in here.stderr) == ("left out" in there.stderr) == ("oops" in text)


@pytest.mark.parametrize("name", ["a.jsonl", "d-1.log"])
def test_odd_files_as_a_stream(ensue: Command, folder: Path, name: str) -> None:  # noqa: F811
    text, options = ODD[name]
    (folder / "nested.ensue").write_text(NESTED)
    (folder / "arriving").mkdir()
    (folder / "arriving" / name).write_text(text)
    last = text.splitlines()[-1].replace("18/Oct", "19/Oct").replace("Oct 18", "Oct 19") + "\n"
    (folder / "arriving" / f"later-{name}").write_text(last)
    source = f"text:{folder / 'arriving'}" if name.endswith(".log") else f"json:{folder / 'arriving'}"
    result = ensue(
        "stream", "nested.ensue", "--source", source, "--sink", "json:found", "--checkpoint", "state",
        "--trigger", "once", "--buckets", "2", *options,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert [row["u"] for row in in_sink(folder / "found")] == [1]


def test_a_stream_goes_on_and_its_state_can_be_read(ensue: Command, folder: Path) -> None:  # noqa: F811
    arguments = (
        "stream", "shop.ensue", "--source", "json:arriving", "--sink", "json:found", "--checkpoint", "state",
        "--trigger", "once", "--buckets", "2",
    )  # fmt: skip
    arrive(folder / "arriving", 1, order(3, 42), order(5, 43))
    first = ensue(*arguments)
    assert first.exit_code == 0, first.stderr
    assert "batch 0: 2 events in, 0 found" in first.stderr
    arrive(folder / "arriving", 2, shipped(7, 42), order(90_000, 44))
    second = ensue(*arguments)
    assert second.exit_code == 0, second.stderr
    assert "watermark 90000" in second.stderr

    whole = ensue("run", "shop.ensue", "arriving/*.jsonl")
    assert in_sink(folder / "found") == [json.loads(line) for line in whole.stdout.splitlines()]
    assert len(whole.stdout.splitlines()) == 2

    (stage,) = json.loads(ensue("state", "state", "--json").stdout)["stages"]
    assert (stage["buckets"], stage["received"], stage["late"], stage["waiting"]) == (2, 4, 0, 1)
    assert stage["time"] == 89_999
    assert sum(node["tuples"] for node in stage["nodes"]) > 0
    assert all(node["bytes"] >= node["tuples"] for node in stage["nodes"])
    assert "evaluated up to  89999" in ensue("state", "state").stdout

    arrive(folder / "arriving", 3, order(90_001, 45))
    other = ensue(*arguments[:-1], "3")
    assert other.exit_code == 2
    assert other.stderr.splitlines()[-1].startswith("ensue: The checkpoint has 2 buckets, not 3")
    assert other.stderr.endswith("or start with a new checkpoint.\n")


CHANGED = "ensue: The rules changed since the checkpoint: "


def test_a_stream_names_the_rules_that_lose_their_state(ensue: Command, folder: Path) -> None:  # noqa: F811
    arguments = (
        "stream", "shop.ensue", "--source", "json:arriving", "--sink", "json:found", "--checkpoint", "state",
        "--trigger", "once", "--buckets", "1", "--quiet",
    )  # fmt: skip
    more = "rule calm: parcel(id) <- s: shipped(id, _), o: order(id, _, _), s before o.\n"
    (folder / "shop.ensue").write_text(SHOP + more)
    arrive(folder / "arriving", 1, order(3, 42), order(5, 43), order(100, 44))
    assert CHANGED not in ensue(*arguments).stderr
    (folder / "shop.ensue").write_text(f"# The same.\n{SHOP}{more}")
    assert CHANGED not in ensue(*arguments).stderr

    (folder / "shop.ensue").write_text(SHOP.replace("6h", "5h"))
    arrive(folder / "arriving", 2, shipped(107, 42), order(90_000, 44))
    result = ensue(*arguments)
    assert result.exit_code == 0, result.stderr
    said = [line for line in result.stderr.splitlines() if line.startswith(CHANGED)]
    assert said == [f"{CHANGED}`late` begins anew, without its state; `calm` is gone."]
    # Of the orders before only the one that waited, at the watermark, can be late.
    assert [(row["type"], row["id"]) for row in in_sink(folder / "found")] == [("comp", 42), ("late", 44)]

    arrive(folder / "arriving", 3, order(90_001, 45))
    assert CHANGED not in ensue(*arguments).stderr


def test_rows_that_took_no_part_go_to_a_place_of_their_own(ensue: Command, folder: Path) -> None:  # noqa: F811
    arguments = (
        "stream", "shop.ensue", "--source", "json:arriving", "--sink", "-", "--rejected", "json:rejected",
        "--checkpoint", "state", "--trigger", "once", "--buckets", "1",
    )  # fmt: skip
    arrive(folder / "arriving", 1, order(3, 42), shipped(7, 42), order(100, 43))
    first = ensue(*arguments)
    assert [json.loads(line)["type"] for line in first.stdout.splitlines()] == ["comp"]
    arrive(folder / "arriving", 2, order(4, 50), order(101, 51) | {"id": "many"})
    second = ensue(*arguments)
    assert second.exit_code == 0, second.stderr
    rows = [
        json.loads(line) for file in folder.glob("rejected/batch=*/*.json") for line in file.read_text().splitlines()
    ]
    assert len(rows) == 2
    assert any('"id": 50' in row["row"] or '"id":50' in row["row"] for row in rows)


def test_a_checkpoint_that_is_none(ensue: Command, folder: Path) -> None:  # noqa: F811
    result = ensue("state", str(folder))
    assert result.exit_code == 2
    assert "has no state of an Ensue stream" in result.stderr


@pytest.mark.slow
def interrupt(process: "subprocess.Popen[str]") -> None:
    """Press Ctrl-C as in a terminal: all processes of the group get the signal."""
    os.killpg(process.pid, signal.SIGINT)


def terminate(process: "subprocess.Popen[str]") -> None:
    process.send_signal(signal.SIGTERM)


@pytest.mark.parametrize("tell", [interrupt, terminate])
def test_a_stream_in_its_own_process_is_quiet_and_stops_when_told(
    folder: Path,  # noqa: F811
    tell: Callable[["subprocess.Popen[str]"], None],
) -> None:
    arrive(folder / "arriving", 1, order(3, 42), shipped(7, 42), order(100, 43))
    command = [
        sys.executable, "-c",
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import ensue.cli; ensue.cli.main()",
        "stream", "shop.ensue", "--source", "json:arriving", "--sink", "json:found", "--checkpoint", "state",
        "--buckets", "1",
    ]  # fmt: skip
    lines = []
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            lines.append(line)
            if " 1 found" in line:
                tell(process)
    assert process.returncode == 0, lines
    assert all(line.startswith(("reading json:", "batch ", "ensue: Stopped")) for line in lines), lines
    assert lines[-1] == "ensue: Stopped. The same command goes on from here.\n"
    assert [row["type"] for row in in_sink(folder / "found")] == ["comp"]
