"""Generated source with plain indices: one dimension, and never negative.

``T0[q, 3]`` becomes ``t0[u(q * 7 + 3)]``, where `t0` is the same memory in one dimension. Compiled, that is an address
and nothing else: no check for indices that count from the end, no width to look up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ensue.engine.compiled.layout import Layout

NAME = re.compile(r"\b([A-Za-z]+[0-9]*)\[")
FLOATS = {"T": "F", "D": "E", "Q": "R", "B": "BG", "W": "V", "G": "GF", "M": "MF"}
"""The name that holds the same rows as floats."""


def widths(layout: Layout) -> dict[str, int]:
    """How wide the rows of each array are, under both of its names."""
    found = {}
    for letter, tables in (
        ("T", layout.stores), ("D", layout.derived), ("Q", layout.queues), ("B", layout.buffers), ("W", layout.groups),
    ):  # fmt: skip
        for table in tables.values():
            found[f"{letter}{table.number}"] = found[f"{FLOATS[letter]}{table.number}"] = table.width
    for groups in layout.groups.values():
        found[f"G{groups.number}"] = found[f"GF{groups.number}"] = groups.columns
    for queue in layout.queues.values():
        if not queue.ordered:
            found[f"P{queue.number}"] = 2
    for space in layout.spaces.values():
        found[f"KV{space.number}"] = len(space.kinds)
    for members in layout.members.values():
        found[f"M{members.number}"] = found[f"MF{members.number}"] = members.width
    return found


def flattened(source: str, layout: Layout) -> str:
    """The source with its indices made plain."""
    known = widths(layout)
    head, *lines = source.split("\n")
    views = []
    for name, width in known.items():
        letter = name.rstrip("0123456789")
        if letter in FLOATS or letter in ("P", "KV"):
            views.append(f"    {name.lower()}_ = {name}.reshape({name}.shape[0] * {width})")
            if letter in FLOATS:
                other = f"{FLOATS[letter]}{name[len(letter) :]}"
                views.append(f"    {other.lower()}_ = {name.lower()}_.view(np.float64)")
    kept = [line for line in lines if ".view(np.float64)" not in line or line.strip()[0] in "EZ" or "BI" in line]
    return "\n".join([head, *views, *(_line(line, known) for line in kept)])


def _line(line: str, known: Mapping[str, int]) -> str:
    found, at = [], 0
    for match in NAME.finditer(line):
        name = match.group(1)
        if match.start() < at or name in ("N", "Z", "ZF", "BI", "BF") or name.startswith("kd"):
            continue
        end = _closing(line, match.end())
        inside = line[match.end() : end]
        found.append(line[at : match.start()])
        if name in known:
            row, column = _parted(inside)
            found.append(f"{name.lower()}_[u(({_line(row, known)}) * {known[name]} + {column})]")
        else:
            found.append(f"{name}[u({_line(inside, known)})]")
        at = end + 1
    return "".join(found) + line[at:]


def _closing(line: str, at: int) -> int:
    depth = 0
    for index in range(at, len(line)):
        if line[index] in "([":
            depth += 1
        elif line[index] in ")]":
            if depth == 0:
                return index
            depth -= 1
    raise AssertionError(line)


def _parted(inside: str) -> tuple[str, str]:
    """Row and column."""
    row, _, column = inside.rpartition(", ")
    return row, column
