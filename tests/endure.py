"""Attacks that go on for as long as they are told: `make endure MINUTES=60`.

Four kinds in turn: sessions in which rules come and go, mutated rule files, damaged states, and damaged files of
events. Whatever comes out must be an answer or an error of ours; the first thing that is neither ends it.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

import ensue
from ensue.data.write import write_events
from tests.live.test_changing_rules import Played

OURS = (ensue.RuleError, ensue.DataError, ensue.DetectError, ensue.StateError, ensue.SessionError)
CASES = Path(__file__).parent / "cases"
WORDS = """
    seq and or not within where on recent chronicle continuous cumulative while last collect since each first extend
    policy restricted without in lasting par during before _ count sum {2} + * null 0 -1 1.5 6h "" 99999999999999999999
""".split()  # noqa: SIM905
TOKEN = re.compile(r'"[^"]*"|\w+|[^\w\s]+|\s+')


def rules_that_change(random: Random) -> None:
    """A random session in which rules come and go and states are saved."""
    Played(random.randrange(2**40)).play().check()


class MutatedRules:
    """Rule files with some words changed are checked, advice and all."""

    def __init__(self) -> None:
        files = [path.read_text() for path in sorted(CASES.rglob("*.ensue"))]
        self.texts = [re.sub(r'(?ms)^test ".*?\.\s*$', "", text) for text in files]

    def __call__(self, random: Random) -> None:
        statements = re.split(r"(?<=\.)\s*\n", random.choice(self.texts))
        stated = [each for each in statements if each.lstrip().startswith(("event", "table", "unit", "keep", "param"))]
        rules = random.sample(statements, min(4, len(statements)))
        words = TOKEN.findall("\n".join([*stated, *rules])) or [" "]
        for _ in range(random.choice([1, 1, 2, 3])):
            place, other = random.randrange(len(words)), random.randrange(len(words))
            match random.randrange(4):
                case 0:
                    words[place] = ""
                case 1:
                    words[place] = words[other]
                case 2:
                    words[place] += f" {random.choice(WORDS)} "
                case _:
                    words[place], words[other] = words[other], words[place]
        for diagnostic in ensue.check_rules("".join(words) + "\n", "rules"):
            str(diagnostic)


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
        self.program = ensue.compile(Path(__file__).parent / "live" / "states" / "rules.ensue")
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
    """Files of events with bytes changed: an answer, bad rows, or an error that says what is wrong."""

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
        try:
            self.program.detect(path, max_matches=10_000)
        except OURS:
            return


def main(arguments: list[str] | None = None, say: Callable[[str], object] = print) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.endure", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10)
    chosen = parser.parse_args(arguments)
    attacks: dict[str, Callable[[Random], None]] = {
        "sessions": rules_that_change,
        "rule files": MutatedRules(),
        "states": DamagedStates(),
        "files of events": DamagedFiles(),
    }
    done: Counter[str] = Counter()
    began, number = time.monotonic(), chosen.seed * 1_000_000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while time.monotonic() - began < 60 * chosen.minutes:
            for name, attack in attacks.items():
                share = time.monotonic()
                while time.monotonic() - share < 2:  # each has the same time
                    number += 1
                    try:
                        attack(Random(number))
                    except Exception as error:
                        say(f"{name}, {number}: {type(error).__name__}: {error}")
                        raise
                    done[name] += 1
    say(", ".join(f"{count:,} {name}" for name, count in done.items()) + ": nothing found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
