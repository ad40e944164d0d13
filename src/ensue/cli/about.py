"""`--about KEY`: descriptions of rules, as a column of the detections."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from ensue.program import Program

about_option: Callable[[Any], Any] = click.option(
    "--about",
    metavar="KEY",
    multiple=True,
    help="Add a column with this property of the rules behind a detection, such as severity; rule is their names, "
    "title their titles. May be repeated.",
)


def check_about(program: Program, keys: Iterable[str], emit: Iterable[str]) -> None:
    """Rejects keys that no rule has, and those that are also attributes of detections."""
    from ensue.data import DataError
    from ensue.data.errors import did_you_mean, listed

    known = list(dict.fromkeys(key for rule in program.rules for key in ("rule", "title", *rule.about)))
    for key in keys:
        if key not in known:
            raise DataError(
                f"No rule has a value for {key!r}; the rules have values for {listed(known)}.{did_you_mean(key, known)}"
            )
        for name in emit:
            if key in ("type", "start", "end", *program.typed.events[name].attributes):
                raise DataError(f"{name} already has an attribute {key!r}, so --about {key} cannot add one.")


def about_values(program: Program, key: str) -> dict[str, list[str]]:
    """The values that the rules for each event have under a key, as texts in the order of the rules."""
    found: dict[str, list[str]] = {}
    for rule in program.rules:
        named = {"rule": rule.name, "title": rule.title, **rule.about}.get(key)
        values = named if isinstance(named, tuple) else () if named is None else (named,)
        own = found.setdefault(rule.event, [])
        own.extend(text for text in map(_text, values) if text not in own)
    return found


def has_lists(program: Program, key: str) -> bool:
    """True if the values under a key are lists: a rule writes one, or an event has several values."""
    written = any(isinstance(rule.about.get(key), tuple) for rule in program.rules)
    return written or any(len(values) > 1 for values in about_values(program, key).values())


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def with_about(
    found: Mapping[str, pa.Table], program: Program, keys: Iterable[str], *, lists: bool
) -> dict[str, pa.Table]:
    """Detections with a column for each key. Several values are a list with `lists`, else one text with commas.

    A key that has several values for one event has lists for all, so that a column is of one type.
    """
    import pyarrow as pa

    tables = dict(found)
    for key in keys:
        described = about_values(program, key)
        as_list = lists and has_lists(program, key)
        kind = pa.list_(pa.string()) if as_list else pa.string()
        for name, table in tables.items():
            values = described.get(name)
            value = None if not values else values if as_list else ", ".join(values)
            tables[name] = table.append_column(key, pa.repeat(pa.scalar(value, kind), table.num_rows))
    return tables


def frame_with_about(found: DataFrame, program: Program, keys: Iterable[str], *, lists: bool) -> DataFrame:
    """Detections of Spark with a column for each key, as `with_about` has them."""
    from pyspark.sql import functions as f

    for key in keys:
        as_list = lists and has_lists(program, key)
        column = f.lit(None).cast("array<string>" if as_list else "string")
        for name, values in about_values(program, key).items():
            if values:
                value = f.array(*map(f.lit, values)) if as_list else f.lit(", ".join(values))
                column = f.when(f.col("type") == name, value).otherwise(column)
        found = found.withColumn(key, column)
    return found
