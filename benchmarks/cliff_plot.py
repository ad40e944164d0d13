"""The picture of the benchmark `cliffs` as SVG: a bar for each variant, its speed as a share of the plain rule's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from math import log10
from typing import Any

from benchmarks.plot import SVG

COLUMNS = 3
LABEL, BAR, GAP, LINE, TOP = 178, 170, 18, 13, 40
LEAST, MOST = 0.005, 5.0
"""The ends of the scale, which is logarithmic."""

FIFTH = 0.2
FAST, SLOW = "#1d4ed8", "#c2410c"
MARKS = (0.01, FIFTH, 1.0, 5.0)

Row = str | Mapping[str, Any]
"""The title of a group, or a variant."""


def chart(found: Sequence[Mapping[str, Any]]) -> str:
    """The text of the file; each variant has its group, its name and its ratio."""
    columns = _columns(found)
    width = COLUMNS * (LABEL + BAR + GAP)
    height = TOP + LINE * max(map(len, columns)) + LINE
    parts = [SVG.format(width=width, height=height)]
    title = "Speed as a share of the plain rule's (logarithmic; orange: below a fifth)"
    parts.append(f'<text x="8" y="16" font-size="13" font-weight="bold">{title}</text>')
    for number, rows in enumerate(columns):
        left = number * (LABEL + BAR + GAP)
        parts += [f'<g transform="translate({left} 0)">', *_column(rows), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def _columns(found: Sequence[Mapping[str, Any]]) -> list[list[Row]]:
    """The rows of each column: groups stay together where they can, and none begins with the last line of a column."""
    rows: list[Row] = []
    for group, variants in groupby(found, key=lambda each: each["group"]):
        rows += [str(group), *variants]
    size = -(-len(rows) // COLUMNS) + 1
    columns: list[list[Row]] = [[]]
    for row in rows:
        full = len(columns[-1]) >= size - isinstance(row, str)
        if full and len(columns) < COLUMNS:
            columns.append([])
        columns[-1].append(row)
    return columns


def _at(ratio: float) -> float:
    share = min(max(ratio, LEAST), MOST) / LEAST
    return LABEL + BAR * log10(share) / log10(MOST / LEAST)


def _column(rows: Sequence[Row]) -> Iterator[str]:
    bottom = TOP + LINE * len(rows)
    for mark in MARKS:
        x = _at(mark)
        colour = "#999999" if mark in (FIFTH, 1.0) else "#dddddd"
        yield f'<line x1="{x:.1f}" y1="{TOP - 4}" x2="{x:.1f}" y2="{bottom}" stroke="{colour}"/>'
        yield f'<text x="{x:.1f}" y="{TOP - 8}" text-anchor="middle" font-size="9">{mark:g}</text>'
    for number, row in enumerate(rows):
        y = TOP + LINE * number
        if isinstance(row, str):
            yield f'<text x="8" y="{y + 11}" font-weight="bold">{escape(row)}</text>'
            continue
        ratio = row["ratio"]
        colour = SLOW if ratio < FIFTH else FAST
        yield f'<text x="{LABEL - 6}" y="{y + 10}" text-anchor="end" font-size="10">{escape(row["name"])}</text>'
        yield f'<rect x="{LABEL}" y="{y + 2}" width="{_at(ratio) - LABEL:.1f}" height="{LINE - 4}" fill="{colour}"/>'
