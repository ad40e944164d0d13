"""A session that may be killed at any moment, and continues from its last saved state.

Its detections are appended to a file. A state is saved together with the number of batches it has taken in and the
length of that file: lines that were appended after the state are cut off, and its batches are sent again.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random
from typing import Any

import ensue

RULES = """
event a(k: int, s: string).
event b(k: int, x: int).
pair(k, s, x) <- a(k, s) seq b(k, x) within 40.
alone(k) <- o: a(k, _), w: extend(o, 30), while w: not b(k, _).
again(k, n = count(p)) <- w: alone(k), v: extend_backward(w, 100), while v: collect p: pair(k, _, _).
busy(n = count(e), t = sum(x)) <- while each 25: collect e: b(_, x).
rule calm: seen(k) <- b(k, _) once per k in 60.
newest(k, s) <- recent a(k, s) seq b(k, 0).
"""

BATCHES = 120


def batches(seed: int) -> list[list[dict[str, Any]]]:
    """Batches of events, some of them late by up to three, many of them at one time."""
    rng = Random(seed)
    found = []
    for number in range(BATCHES):
        rows = []
        for _ in range(rng.randint(0, 12)):
            row = {"type": rng.choice("ab"), "time": 10 * number + rng.randint(0, 9), "k": rng.randint(0, 9)}
            rows.append(row | ({"s": f"s{rng.randint(0, 99)}"} if row["type"] == "a" else {"x": rng.randint(0, 5)}))
        rows.sort(key=lambda row: row["time"])
        found.append(rows)
    return found


def uninterrupted(seed: int, compiled: bool) -> list[str]:
    """Lines that a session finds which nothing interrupts."""
    session = ensue.compile(RULES).start(lateness=3, compiled=compiled)
    lines = [_lines(session.send(batch)) for batch in batches(seed)]
    return "".join([*lines, _lines(session.close())]).splitlines()


def go_on(folder: str, seed: int, compiled: bool) -> None:
    """Go on from the state in a folder, or begin, up to the end; `done` is written then."""
    place, program = Path(folder), ensue.compile(RULES)
    state = place / "state"
    taken, length = 0, 0
    session = program.start(lateness=3, compiled=compiled)
    if state.exists():
        head, _, saved = state.read_bytes().partition(b"\n")
        taken, length = json.loads(head)
        session = program.resume(saved)
    out = os.open(place / "out", os.O_RDWR | os.O_CREAT)
    os.ftruncate(out, length)
    os.lseek(out, 0, os.SEEK_END)
    rng = Random(os.urandom(8))
    every = rng.choice([1, 1, 3])
    for number, batch in enumerate(batches(seed)):
        if number < taken:
            continue
        length += os.write(out, _lines(session.send(batch)).encode())
        if number % every == 0:
            os.fsync(out)
            _replace(state, json.dumps([number + 1, length]).encode() + b"\n" + session.save())
    os.write(out, _lines(session.close()).encode())
    os.fsync(out)
    (place / "done").touch()


def _replace(path: Path, data: bytes) -> None:
    """Write a file as a whole or not at all."""
    new = path.with_suffix(".new")
    with new.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def _lines(found: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in found)
