"""Columns under the names that rules have for them, whatever holds the values: Arrow columns, or expressions of Spark.

A path leads into nested values, name by name; a name of several may be one with points itself. Where it leads to
nothing, the column of that very name counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

from ensue.data.columns import TOGETHER, Columns, is_path

Held = TypeVar("Held")
Inside = Callable[[Held, list[str]], Held | None]
"""The values inside others, along some names; None where there are none."""


def at_path(
    held: Mapping[str, Held], name: str, inside: Inside[Held], first_of: Callable[[Held, Held], Held]
) -> Held | None:
    """The column to which a path leads, or else, in rows where that leads to nothing, the one of that very name.

    `first_of` gives the values of one column, and those of another where it has none.
    """
    found = held.get(name)
    if is_path(name):
        names = name.split(".")
        for cut in range(len(names) - 1, 0, -1):
            outer = held.get(".".join(names[:cut]))
            inner = None if outer is None else inside(outer, names[cut:])
            if inner is not None:
                found = inner if found is None else first_of(inner, found)
    return found


def in_fields(names: list[str], field: Callable[[str], Held | None], inside: Inside[Held]) -> Held | None:
    """The values to which names lead in something with fields."""
    for cut in range(1, len(names) + 1):
        inner = field(".".join(names[:cut]))
        found = None if inner is None else inside(inner, names[cut:])
        if found is not None:
            return found
    return None


def with_names_of_rules(
    held: Mapping[str, Held], columns: Columns, paths: Collection[str],
    at: Callable[[Mapping[str, Held], str], Held | None], joined: Callable[[list[Held]], Held],
    missing: Callable[[str], None],
) -> dict[str, Held]:  # fmt: skip
    """Columns, renamed, taken out of nested values, and put together.

    `at` finds one by its name or path, `joined` puts parts of a time together, and `missing` is called with a column to
    be renamed that does not exist.
    """
    found = dict(held)
    for name, source in columns.renamed:
        column = at(held, source)
        if column is None:
            missing(source)
            continue
        if all(source != other for other, _ in columns.renamed):
            found.pop(source, None)
        found[name] = column
    for path in paths:
        column = at(found, path)
        if column is not None:
            found[path] = column
    for name in columns.outside:
        if TOGETHER in name and name not in found:
            taken = [at(found, part.strip()) for part in name.split(TOGETHER)]
            parts = [column for column in taken if column is not None]
            if len(parts) == len(taken):
                found[name] = joined(parts)
    return found
