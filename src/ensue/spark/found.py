"""Derived events as columns of Spark frames: between stages, and in the result."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from ensue.data import DataError
from ensue.data.combine import combined
from ensue.data.results import arrow_type
from ensue.engine.provenance import SOURCES
from ensue.language import typed
from ensue.language.walk import atoms
from ensue.records import dataclass
from ensue.spark.provenance import united
from ensue.spark.rejected import REJECTED, REJECTED_TYPE, rejected_struct
from ensue.spark.sql import among, quoted
from ensue.spark.suppressed import SUPPRESSED
from ensue.spark.wire import Column, Wire

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType


@dataclass(frozen=True)
class Found:
    """A column for each attribute of derived events: one for all events where it has the same name and type."""

    columns: tuple[Column, ...]
    types: Mapping[str, DataType]
    """The Spark type of each column."""
    time: DataType
    wanted: tuple[str, ...]
    shown_types: Mapping[str, DataType]
    """The attributes that people see, and their types."""

    def columns_of(self, events: Collection[str]) -> tuple[Column, ...]:
        """The columns of some events."""
        return tuple(column for column in self.columns if any(column.holds(event) for event in events))

    def as_shown(self) -> Found | None:
        """The same with the columns that people see, so that nothing is left to be done; None if they are others."""
        columns = []
        for name, type_ in self.shown_types.items():
            held = [c for c in self.columns_of(self.wanted) if c.attribute == name]
            if len(held) > 1 or self.types[held[0].name] != type_:
                return None
            columns.append(replace(held[0], name=name))
        return replace(self, columns=tuple(columns), types=self.shown_types)

    def spark_schema(self, columns: Iterable[Column]) -> StructType:
        from pyspark.sql.types import StringType, StructField, StructType

        fields = [StructField("type", StringType()), StructField("start", self.time), StructField("end", self.time)]
        return StructType([*fields, *(StructField(column.name, self.types[column.name]) for column in columns)])

    def schema(self, columns: Iterable[Column]) -> pa.Schema:
        """The same as Arrow has it."""
        return arrow_schema(self.spark_schema(columns))

    def distinct(self, frame: DataFrame, columns: Iterable[Column], apart: Collection[str] = ()) -> DataFrame:
        """Each event once, but for those of types whose matches are kept `apart`.

        Maps are compared as text; floats are compared as Spark does, but keep their values.
        """
        keys = {column.name: column.name for column in columns}
        for name, type_ in ((name, self.types[name].simpleString()) for name in list(keys)):
            if "map<" in type_ or "variant" in type_:
                keys[name] = f"to_json(named_struct('value', {name}))"
            elif "float" not in type_ and "double" not in type_:
                del keys[name]
        traced = SOURCES in frame.columns
        if not keys and not apart and not traced:
            return frame.dropDuplicates()
        made = {f"key_{name}": key for name, key in keys.items()}
        if apart:
            kept_apart = among("type", apart)
            made["key_apart "] = f"case when {kept_apart} then monotonically_increasing_id() end"
        added = frame.selectExpr("*", *(f"{key} as {quoted(name)}" for name, key in made.items()))
        kept = [name for name in added.columns if name not in keys and name != SOURCES]
        if traced:
            return united(added, kept, frame.columns)
        return added.dropDuplicates(kept).drop(*made)

    def shown(self, frame: DataFrame, rejected: bool = False, suppressed: bool = False) -> DataFrame:
        """Detections as people see them: type, start, end, then the union of the attributes.

        With `rejected` rows stay that have a reason why they took no part, and there is a column for that; with
        `suppressed` the same for rows with numbers of suppressed events.
        """
        there = set(frame.columns)
        found, columns = among("type", self.wanted), ["`type`", "`start`", "`end`"]
        if suppressed:
            columns = [f"if({SUPPRESSED} is null, {name}, null) as {name}" for name in columns]
            found = f"{SUPPRESSED} is not null or {found}"
        for name, type_ in self.shown_types.items():
            held = [c.name for c in self.columns_of(self.wanted) if c.attribute == name and c.name in there]
            values = [f"cast({c} as {type_.simpleString()})" if self.types[c] != type_ else c for c in held]
            value = f"coalesce({', '.join(values)})" if len(values) > 1 else values[0]
            columns.append(f"{value} as {quoted(name)}")
        if SOURCES in there:
            columns.append(SOURCES)
        if suppressed:
            columns.append(SUPPRESSED)
        if rejected:
            struct = rejected_struct("reason", "row")
            columns.append(f"if(reason is null, cast(null as {REJECTED_TYPE}), {struct}) as {REJECTED}")
            found = f"reason is not null or {found}"
        return frame.where(found).selectExpr(*columns)


def found_columns(
    rules: typed.Program, wanted: Iterable[str], time: DataType, given: Wire, types: Mapping[str, DataType]
) -> Found:
    """The columns of all that the rules derive. `types` are the Spark types of the columns of given events."""
    names = [name for name, event in rules.events.items() if event.derived]
    timezone = "UTC" if time.typeName() == "timestamp" else None
    timestamps = time.typeName() != "long"
    columns: list[Column] = []
    known: dict[str, DataType] = {}
    for event in names:
        for attribute, type_ in rules.events[event].attributes.items():
            arrow = arrow_type(type_, timestamps, timezone)
            spark = _spark_type(arrow) if arrow is not None else _carried(rules, event, attribute, given, types)
            text = spark.simpleString()
            for place, column in enumerate(columns):
                if column.attribute == attribute and column.type == text:
                    assert column.events is not None
                    columns[place] = Column(column.name, attribute, text, (*column.events, event))
                    break
            else:
                columns.append(Column(f"d{len(columns)}", attribute, text, (event,)))
                known[columns[-1].name] = spark
    chosen = tuple(name for name in names if name in set(wanted))
    return Found(tuple(columns), known, time, chosen, _shown_types(rules, chosen, columns, known))


def _shown_types(
    rules: typed.Program, wanted: Iterable[str], columns: Iterable[Column], types: Mapping[str, DataType]
) -> dict[str, DataType]:
    """The attributes of one table; those of one name and several types have none: an error."""
    empty = {}
    for event in wanted:
        held = {c.attribute: types[c.name] for c in columns if c.holds(event)}
        fields = [(name, _arrow_type(held[name])) for name in rules.events[event].attributes]
        empty[event] = pa.schema([("start", pa.int64()), ("end", pa.int64()), *fields]).empty_table()
    whole = combined(empty).schema
    found = {}
    for field in whole:
        if field.name not in ("type", "start", "end"):
            alike = [
                types[c.name] for c in columns if c.attribute == field.name and _arrow_type(types[c.name]) == field.type
            ]
            found[field.name] = alike[0] if alike else _spark_type(field.type)
    return found


def _carried(
    rules: typed.Program, event: str, attribute: str, given: Wire, types: Mapping[str, DataType],
    seen: frozenset[tuple[str, str]] = frozenset(),
) -> DataType:  # fmt: skip
    """The type of an attribute whose values are passed on unchanged."""
    found = {type_.simpleString(): type_ for type_ in _origins(rules, event, attribute, given, types, seen)}
    if len(found) > 1:
        found.pop("void", None)  # a column of nulls has no type
    if len(found) == 1:
        return next(iter(found.values()))
    raise DataError(
        f"The type of {attribute!r} of {event!r} cannot be told from the rules"
        + (f": it may be {' or '.join(sorted(found))}" if found else "")
        + ". Declare the events that it comes from, as in `event order(id: int).`"
    )


def _origins(
    rules: typed.Program, event: str, attribute: str, given: Wire, types: Mapping[str, DataType],
    seen: frozenset[tuple[str, str]],
) -> Iterator[DataType]:  # fmt: skip
    if (event, attribute) in seen:
        return
    seen = seen | {(event, attribute)}
    if not rules.events[event].derived:
        yield from (types[c.name] for c in given.columns if c.attribute == attribute and c.holds(event))
        return
    for rule in rules.rules:
        if rule.event != event:
            continue
        term = dict(rule.head)[attribute]
        for atom in atoms(rule.body):
            match term:
                case typed.Variable(name=name):
                    held = [a for a, value in atom.fields if isinstance(value, typed.Variable) and value.name == name]
                case typed.AttributeOf(label=label, attribute=of) if atom.label == label:
                    held = [of]
                case _:
                    held = []
            for each in held:
                yield from _origins(rules, atom.event, each, given, types, seen)


def arrow_schema(schema: StructType) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(schema, timezone="UTC", error_on_duplicated_field_names_in_struct=True)


def _spark_type(type_: pa.DataType) -> DataType:
    from pyspark.sql.pandas.types import from_arrow_type

    return from_arrow_type(type_, prefer_timestamp_ntz=True)


def _arrow_type(type_: DataType) -> pa.DataType:
    from pyspark.sql.types import StructField, StructType

    return arrow_schema(StructType([StructField("x", type_)])).field("x").type
