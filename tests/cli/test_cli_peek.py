"""`ensue peek`: a look at data, as a rule file to start from."""

import json
import shlex
import unicodedata
from pathlib import Path

import pytest

from ensue.language.diagnostics import Report, Source
from ensue.language.parse import parse
from ensue.language.syntax import EventDeclaration
from ensue.program import check_rules
from tests.cli.conftest import Command

ACCESS = """\
Date,Time,Action,Pid,Note
2017-05-16,00:00:00.008,open,2931,
2017-05-16,00:00:00.272,open,2811,
2017-05-16,00:00:01.551,close,2931,done
"""


def command_of(text: str) -> list[str]:
    """The arguments of the command that a look at data shows."""
    (line,) = (line for line in text.splitlines() if line.startswith("# ensue run"))
    return shlex.split(line.removeprefix("# ensue run RULES"))


def test_a_look_at_csv(ensue: Command, folder: Path) -> None:
    (folder / "access.csv").write_text(ACCESS)
    result = ensue("peek", "access.csv")
    assert result.stdout == (
        "# access.csv: 3 rows\n"
        "#\n"
        "#   Date    timestamp  100 %  2017-05-16\n"
        "#   Time    string     100 %  00:00:00.008, 00:00:00.272, 00:00:01.551\n"
        "#   Action  string     100 %  open, close\n"
        "#   Pid     int        100 %  2931, 2811\n"
        "#   Note    string      33 %  done\n"
        "#\n"
        "# Times are in Date+Time, from 2017-05-16T00:00:00.008000Z to 2017-05-16T00:00:01.551000Z.\n"
        "# Types of events are in Action:\n"
        "#           2  open\n"
        "#           1  close\n"
        "#\n"
        "# ensue run RULES access.csv --time Date+Time --type Action\n"
        "\n"
        "event open(Pid: int).\n"
        "event close(Pid: int, Note: string).\n"
    )
    assert not [d for d in check_rules(result.stdout) if d.severity.name == "ERROR"]


def test_what_it_writes_runs(ensue: Command, folder: Path) -> None:
    (folder / "access.csv").write_text(ACCESS)
    rules = ensue("peek", "access.csv").stdout + "done(p) <- open(p) seq close(p, _) within 1m.\n"
    (folder / "access.ensue").write_text(rules)
    result = ensue("run", "access.ensue", *command_of(rules))
    assert result.exit_code == 0
    assert json.loads(result.stdout)["p"] == 2931


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("a.csv", "ts,x\n1445191307978,1\n1445191308978,2\n", ["a=a.csv", "--time", "ts", "--time-unit", "ms"]),
        ("a.csv", "when,x\n10/2/2017 10:56,1\n", ["a=a.csv", "--time", "when", "--time-format", "%m/%d/%Y %H:%M"]),
        ("a.csv", "date,x\n19580329,1\n", ["a=a.csv", "--time", "date", "--time-format", "%Y%m%d"]),
        ("a.jsonl", '{"type": "b", "time": 3, "x": 1}\n', ["a.jsonl"]),
        ("a.json", '[{"start": "2026-01-01", "end": "2026-01-02", "kind": 7}]', ["a.json", "--type", "kind"]),
        ("2026-log.csv", "id,x\n7,8\n", ["row=2026-log.csv"]),
        ("a.tsv", "time\ttype\n2026-01-01\tb\n", ["a.tsv"]),
    ],
)
def test_the_command_that_reads_it(ensue: Command, folder: Path, name: str, text: str, shown: list[str]) -> None:
    (folder / name).write_text(text)
    result = ensue("peek", name)
    assert result.exit_code == 0
    assert command_of(result.stdout) == shown


def test_a_guess_says_so(ensue: Command, folder: Path) -> None:
    (folder / "a.csv").write_text("when,x\n10/2/2017 10:56,1\n")
    assert "may be of another format, too: %d/%m/%Y %H:%M. Which is it?" in ensue("peek", "a.csv").stdout
    (folder / "b.log").write_text("Dec 10 06:55:46 host sshd: hello\n")
    result = ensue(
        "peek", "line=b.log", "--lines", r"(?P<time>\w+ +\d+ \S+) (?P<host>\S+) (?P<program>\w+): (?P<text>.*)"
    )
    assert "They have no year;" in result.stdout
    assert "event line(host: string, program: string, text: string)." in result.stdout


def test_nested_values_and_odd_names(ensue: Command, folder: Path) -> None:
    rows = [
        {"type": "log on", "time": 1, "user": {"id": 7, "home": {"city": "B"}}, "event": {"code": 1}, "tags": ["a"]},
        {"type": "log on", "time": 2, "user": {"id": 8}, "first name": "Zoë"},
        {"type": "count", "time": 3},
    ]
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = ensue("peek", "a.jsonl")
    assert (
        "event `log on`(user.id: int, user.home.city: string, `event.code`: int, `first name`: string)."
        in result.stdout
    )
    assert not [d for d in check_rules(result.stdout) if d.severity.name == "ERROR"]


def test_no_file(ensue: Command) -> None:
    result = ensue("peek", "missing.csv")
    assert (result.exit_code, result.stderr) == (2, "ensue: There is no file missing.csv.\n")


HOSTILE = (
    "v\nevil(x) <- a(x = x).\n#",
    "order\n# x",
    "r\rb(x) <- a(x = x).",
    "s\u2028t\x85u",
    "tick`): y(x) <- a(x = x). #`",
    "\x1b[31mred",
    "# x",
    "a.b(x: int). evil(x) <- a(x = x).",
    "x: int). evil(x) <- a(x = x). event z(",
    "end.\nevil",
    "",
    " ",
    "\\",
    '"',
)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_in_data_write_no_rules(ensue: Command, folder: Path, name: str) -> None:
    rows = [
        {"type": "a", "time": 1, name: 7, "user": {name: "v"}, "text": name},
        {"type": name, "time": 2, "x": 1},
    ]
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for arguments in (("a.jsonl",), ("a.jsonl", "--type", "text"), ("only=a.jsonl",)):
        result = ensue("peek", *arguments)
        assert result.exit_code == 0, result.stderr
        assert not [d for d in check_rules(result.stdout) if d.severity.name == "ERROR"]
        source = Source(result.stdout)
        file = parse(source, Report(source))
        assert file.statements or "text" in arguments
        assert all(isinstance(statement, EventDeclaration) for statement in file.statements)
        assert not {sign for sign in result.stdout if unicodedata.category(sign) in ("Cc", "Zl", "Zp")} - {"\n"}


def test_a_name_that_cannot_be_written_is_left_out_and_told(ensue: Command, folder: Path) -> None:
    (folder / "a.jsonl").write_text(json.dumps({"type": "a", "time": 1, "b\nc": 2, "d": 3}) + "\n")
    lines = ensue("peek", "a.jsonl").stdout.splitlines()
    assert lines[-2:] == [
        r"# The column b\nc is left out: a name of rules cannot hold these characters.",
        "event a(d: int).",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--time", "a+b"), "There is no column 'a'; there is 'time', 'type', 'id'."),
        (("--time", ""), "There is no column ''; there is 'time', 'type', 'id'."),
        (("--time", "tme"), "There is no column 'tme'; there is 'time', 'type', 'id'. Did you mean 'time'?"),
        (("--type", "typ"), "There is no column 'typ'; there is 'time', 'type', 'id'. Did you mean 'type'?"),
        (("--column", "id=nope"), "There is no column 'nope'; there is 'time', 'type', 'id'."),
    ],
)
def test_columns_that_are_not_there(ensue: Command, folder: Path, arguments: tuple[str, str], message: str) -> None:
    (folder / "a.csv").write_text("time,type,id\n1,b,2\n")
    result = ensue("peek", "a.csv", *arguments)
    assert (result.exit_code, result.stderr) == (2, f"ensue: {message}\n")


@pytest.mark.parametrize(("name", "text"), [("a.jsonl", ""), ("a.json", "[]"), ("a.csv", "time,x\n")])
def test_an_empty_file(ensue: Command, folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    result = ensue("peek", name)
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", f"ensue: There is nothing in {name}.\n")


def test_an_empty_file_without_a_header(ensue: Command, folder: Path) -> None:
    (folder / "a.csv").write_text("")
    result = ensue("peek", "a.csv")
    assert (result.exit_code, result.stderr) == (1, "ensue: There is nothing in a.csv.\n")


def test_one_row_and_plain_integers(ensue: Command, folder: Path) -> None:
    (folder / "a.jsonl").write_text('{"type": "b", "time": 3}\n')
    lines = ensue("peek", "a.jsonl").stdout.splitlines()
    assert lines[0] == "# a.jsonl: 1 row"
    assert (
        "# They are plain integers: write `unit s.` in the rules, or give --time-unit ms if they count from 1970."
        in lines
    )


def test_files_of_different_columns(ensue: Command, folder: Path) -> None:
    (folder / "req.csv").write_text("time,id,url\n1,3,/a\n")
    (folder / "resp.csv").write_text("time,id,code\n2,3,200\n")
    said = "ensue peek req=req.csv resp=resp.csv"
    assert said in ensue("peek", "req.csv", "resp.csv").stderr
    assert said not in ensue("peek", "req.csv", "req.csv").stderr
    assert ensue("peek", "req=req.csv", "resp=resp.csv").stderr == ""


def test_a_reserved_name(ensue: Command, folder: Path) -> None:
    (folder / "a.csv").write_text("type,time,start,id\na,1,home,3\n")
    lines = ensue("peek", "a.csv").stdout.splitlines()
    assert lines[-1] == "event a(id: int)."
    assert lines[-2].startswith("# The column start is left out: the name is reserved for times of events.")
    (folder / "b.csv").write_text("type,time,start,end,id\na,,1,2,3\n")
    assert "left out" not in ensue("peek", "b.csv").stdout
