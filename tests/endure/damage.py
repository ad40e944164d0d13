"""Mutated rule files, damaged states and damaged files of events: an answer or an error of ours comes out."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

import ensue
from ensue.data.write import write_events
from tests.live.test_changing_rules import Played, Sharing

OURS = (ensue.RuleError, ensue.DataError, ensue.DetectError, ensue.StateError, ensue.SessionError)
TESTS = Path(__file__).parents[1]
CASES = TESTS / "cases"
WORDS = """
    seq and or not within where on recent chronicle continuous cumulative while last collect since each first extend
    policy restricted without in lasting par during before _ count sum {2} + * null 0 -1 1.5 6h "" 99999999999999999999
""".split()  # noqa: SIM905
TOKEN = re.compile(r'"[^"]*"|\w+|[^\w\s]+|\s+')


def rules_that_change(random: Random) -> None:
    """A random session in which rules come and go and states are saved."""
    random.choice([Played, Played, Sharing])(random.randrange(2**40)).play().check()


class MutatedRules:
    """Rule files with some words changed are checked, advice and all."""

    def __init__(self) -> None:
        files = [path.read_text() for path in sorted(CASES.rglob("*.ensue"))]
        self.texts = [re.sub(r'(?ms)^test ".*?\.\s*$', "", text) for text in files]

    def __call__(self, random: Random) -> None:
        statements = re.split(r"(?<=\.)\s*\n", random.choice(self.texts))
        stated = [each for each in statements if each.lstrip().startswith(("event", "table", "unit", "keep", "param"))]
        others = [each for each in statements if each not in stated]
        rules = random.sample(others, min(random.choice([1, 2, 4]), len(others)))
        words = TOKEN.findall("\n".join([*stated, *rules])) or ["."]
        for _ in range(random.choice([1, 1, 2, 3])):
            place, other = random.randrange(len(words)), random.randrange(len(words))
            match random.randrange(8):
                case 0:
                    words[place] = ""
                case 1:
                    words[place] = words[other]
                case 2:
                    words[place] += f" {random.choice(WORDS)} "
                case 3:
                    words[place], words[other] = words[other], words[place]
                case _:  # such a change is often found by the checker rather than by the parser
                    kind = kind_of(words[place])
                    words[place] = random.choice([word for word in words if kind_of(word) == kind])
        for diagnostic in ensue.check_rules("".join(words) + "\n", "rules"):
            str(diagnostic)


def kind_of(word: str) -> str:
    """A word of the language, or the beginning of a name, a number, a string, a sign or white space as its kind."""
    if word in WORDS:
        return "word"
    return "name" if word.isidentifier() else "number" if word[:1].isdigit() else word[:1]


def damaged(data: bytes, random: Random) -> bytes:
    """Bytes with some changed, cut off or put in."""
    found = bytearray(data)
    for _ in range(random.choice([1, 1, 2, 8])):
        place = random.randrange(len(found) + 1)
        match random.randrange(4):
            case 0:
                del found[place : place + random.randint(1, 9)]
            case 1:
                found[place:place] = random.randbytes(random.randint(1, 9))
            case 2:
                del found[place:]
            case _:
                if place < len(found):
                    found[place] ^= 1 << random.randrange(8)
    return bytes(found)


class DamagedStates:
    """States with bytes changed are refused, or resumed where nothing has changed."""

    def __init__(self) -> None:
        self.program = ensue.compile(TESTS / "live" / "states" / "rules.ensue")
        session = self.program.start(lateness=3)
        rows = [{"type": "order", "time": n, "id": n % 5, "product": "tea", "qty": 1.0} for n in range(30)]
        session.send(rows)
        self.state = session.save()

    def __call__(self, random: Random) -> None:
        state = damaged(self.state, random)
        try:
            self.program.resume(state)
        except ensue.StateError:
            return
        assert state == self.state, "a state that was damaged has been resumed"


class DamagedFiles:
    """Files of events with bytes changed: an answer, bad rows, or an error that says what is wrong.

    Arrow ends the process on a few damaged Parquet files, when it is asked for the metadata of a column. These are left
    out.
    """

    def __init__(self) -> None:
        self.program = ensue.compile("event a(x: int, s: string). seen(x, s) <- a(x, s) where x > 1.")
        self.folder = Path(tempfile.mkdtemp(prefix="ensue-endure-"))
        rows = [{"type": "a", "time": n, "x": n % 7, "s": f"text {n} é"} for n in range(40)]
        table = pa.Table.from_pylist(rows)
        pq.write_table(table, self.folder / "whole.parquet")
        feather.write_feather(table, str(self.folder / "whole.arrow"), compression="uncompressed")
        write_events(table, self.folder / "whole.csv")
        write_events(table, self.folder / "whole.jsonl")
        self.whole = {path.suffix: path.read_bytes() for path in self.folder.iterdir()}

    def __call__(self, random: Random) -> None:
        suffix = random.choice(sorted(self.whole))
        path = self.folder / f"damaged{suffix}"
        path.write_bytes(damaged(self.whole[suffix], random))
        if suffix == ".parquet" and ends_arrow(path):
            return
        try:
            self.program.detect(path, max_matches=10_000)
        except OURS:
            return


def ends_arrow(path: Path) -> bool:
    """True if Arrow ends the process that looks at the metadata of a file's columns; tried in a child."""
    child = os.fork()
    if child == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # Arrow writes to standard error
            metadata = pq.read_metadata(path)
            for group in map(metadata.row_group, range(metadata.num_row_groups)):
                for place in range(metadata.num_columns):
                    group.column(place)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])
