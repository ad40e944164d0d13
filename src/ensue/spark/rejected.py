"""Rows that take no part in detection: found by expressions in their frames, and returned in a separate column.

The possible faults of a row follow from the types of its columns; a fault that these rule out is not checked. The
reasons are those of `ensue.data` for events in other forms.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ensue.data.columns import Layout
from ensue.data.errors import not_taken
from ensue.data.wall_clock import WallClock
from ensue.language import typed
from ensue.records import dataclass
from ensue.spark.sql import among, as_integer, literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

REJECTED = "rejected"
"""The column of rows that took no part."""

REJECTED_TYPE = "struct<reason: string, row: string>"
"""Reason why a row took no part, and the row as JSON."""

_INTEGERS = ("byte", "short", "integer", "long")
_FRACTIONS = ("float", "double")
_MOMENTS = ("timestamp", "timestamp_ntz", "date")
_STRINGS = ("string", "varchar", "char")
_READ = {
    "int": _INTEGERS,
    "float": (*_INTEGERS, *_FRACTIONS, "decimal"),
    "string": _STRINGS,
    "bool": ("boolean",),
    "timestamp": (*_INTEGERS, *_MOMENTS),
}
"""The Spark types whose values are all of a kind."""

_FLOAT = r"(?i)^[+-]?([0-9]+[.]?[0-9]*(e[+-]?[0-9]+)?|[.][0-9]+(e[+-]?[0-9]+)?|nan|inf|infinity)$"


@dataclass(frozen=True)
class Fault:
    """Possible fault of a row, as SQL: the condition that a good row meets, and the reason where it does not hold.

    The condition is never null.
    """

    right: str
    reason: str


def faults_of(
    schema: StructType, layout: Layout, only: str | None, events: Mapping[str, typed.EventType],
    taken: Iterable[str | None], read: Container[tuple[str, str]],
) -> list[Fault]:  # fmt: skip
    """Possible faults of the rows of a frame; `taken` are the columns that are no attributes.

    A value that does not fit makes a row bad where its attribute is `read` by some rule.

    The columns are called ``r0``, ``r1``, … in the order of the schema.
    """
    places = {field.name: f"r{place}" for place, field in enumerate(schema.fields)}
    found = [*_time_faults(schema, layout, places)]
    if layout.type is not None:
        right = f"coalesce({places[layout.type]} <> '', false)"
        found.append(Fault(right, literal(f"column {layout.type!r} is empty, and an event needs a type")))
    derived = [name for name, event in events.items() if only in (None, name) and not event.given]
    if derived:
        found.append(Fault(*_only_derived(derived, layout, places)))
    own = {name: event for name, event in events.items() if only in (None, name) and event.declared}
    instant = [name for name, event in own.items() if event.instant]
    if instant and layout.start != layout.end:
        start, end = times_of(layout, places)
        reason = "its type is declared as `instant`, but it starts before its end"
        found.append(Fault(f"{_of_others(instant, layout, places)}{start} = {end}", literal(reason)))
    for (attribute, kind), names in _attributes(own, places, set(taken), read).items():
        column, type_ = places[attribute], schema[attribute].dataType
        readable = _readable(column, type_, kind)
        if readable is not None:
            reason = (
                f"concat({literal(f'attribute {attribute!r} is ')}, {_shown(column, type_)}, {literal(_not(kind))})"
            )
            found.append(Fault(f"{_of_others(names, layout, places)}{column} is null or {readable}", reason))
    return found


def ahead_fault(layout: Layout, places: Mapping[str, str], time: DataType, wall: WallClock) -> Fault:
    """Events that end too far ahead of the clock, which stands still while a batch is looked at."""
    kind = time.simpleString()
    end = as_integer(f"cast({times_of(layout, places)[1]} as {kind})", kind)
    now = f"unix_micros(current_timestamp()) div {wall.unit}"
    return Fault(f"coalesce({end} <= {now} + {wall.ahead}, true)", literal(wall.reason))


def never_read(type_: DataType, kind: str) -> bool:
    """True if no value of a Spark type is of a kind, so that every row with a value is bad."""
    return kind in _READ and _readable("x", type_, kind) == "false"


def right_rows(faults: Iterable[Fault]) -> str:
    """A condition on rows with which nothing is wrong."""
    return " and ".join(f"({fault.right})" for fault in faults)


def first_reason(faults: Iterable[Fault]) -> str:
    """The first thing that is wrong with a row; null if nothing is."""
    cases = " ".join(f"when not ({fault.right}) then {fault.reason}" for fault in faults)
    return f"case {cases} end"


def row_as_json(names: Iterable[str]) -> str:
    """A row of columns ``r0``, ``r1``, … as JSON, under the names that they had."""
    fields = ", ".join(f"{literal(name)}, r{place}" for place, name in enumerate(names))
    return f"to_json(named_struct({fields}), map('ignoreNullFields', 'false'))"


def rejected_struct(reason: str, row: str) -> str:
    """The value of the column `REJECTED`."""
    return f"named_struct('reason', {reason}, 'row', {row})"


def with_rejected(found: DataFrame, rejected: DataFrame | None) -> DataFrame:
    """Detections, and rows that took no part, in which every column but the last is null."""
    whole = found.selectExpr("*", f"cast(null as {REJECTED_TYPE}) as {REJECTED}")
    return whole if rejected is None else whole.unionByName(rejected, allowMissingColumns=True)


def times_of(layout: Layout, places: Mapping[str, str]) -> tuple[str, str]:
    """Start and end; where a row has neither, the one time that it may have instead."""
    start, end = places[layout.start], places[layout.end]
    if layout.instant is None:
        return start, end
    instant, neither = places[layout.instant], f"{start} is null and {end} is null"
    return f"if({neither}, {instant}, {start})", f"if({neither}, {instant}, {end})"


def _time_faults(schema: StructType, layout: Layout, places: Mapping[str, str]) -> Iterable[Fault]:
    start, end = times_of(layout, places)
    for name, time in {layout.start: start, layout.end: end}.items():
        if schema[name].nullable:
            yield Fault(f"{time} is not null", literal(f"column {name!r} is empty, and an event needs a time"))
    if layout.start != layout.end:
        said = f"concat('it starts at ', cast({start} as string), ', after its end at ', cast({end} as string))"
        yield Fault(f"coalesce({start} <= {end}, true)", said)


def _only_derived(names: Sequence[str], layout: Layout, places: Mapping[str, str]) -> tuple[str, str]:
    """Fault of rows of types that only rules derive: the condition of good rows, and the reason."""
    if layout.type is None:
        return "false", literal(not_taken(names[0]))
    column, mark = places[layout.type], "\0"
    pieces = [literal(piece) for piece in not_taken(mark).split(mark)]
    return f"not coalesce({among(column, names)}, false)", f"concat({f', {column}, '.join(pieces)})"


def _of_others(names: Iterable[str], layout: Layout, places: Mapping[str, str]) -> str:
    """The beginning of a condition that only events of some types must fulfil."""
    return "" if layout.type is None else f"not coalesce({among(places[layout.type], names)}, false) or "


def _attributes(
    events: Mapping[str, typed.EventType], places: Mapping[str, str], taken: set[str | None],
    read: Container[tuple[str, str]],
) -> dict[tuple[str, str], list[str]]:  # fmt: skip
    """The attributes of a frame that rules read, with their declared types, and the events that declare them."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, event in events.items():
        for attribute, kind in event.attributes.items():
            if attribute in places and attribute not in taken and kind in _READ and (name, attribute) in read:
                found.setdefault((attribute, kind), []).append(name)
    return found


def _readable(column: str, type_: DataType, kind: str) -> str | None:
    """A condition under which a value that is not null is of a kind; None where all values of its type are."""
    name = type_.typeName()
    if name in _READ[kind] or name == "void":
        return None
    if kind in ("int", "timestamp") and name in _FRACTIONS:
        return f"({column} >= {literal(-(2.0**63))} and {column} < {literal(2.0**63)} and {column} = rint({column}))"
    if kind in ("int", "timestamp") and name == "decimal":
        if getattr(type_, "scale", 1) == 0 and getattr(type_, "precision", 38) <= 18:
            return None
        return f"({column} between {-(2**63)} and {2**63 - 1} and {column} = floor({column}))"
    converted = conversion(column, type_, kind)
    return "false" if converted is None else f"({converted[0]}) is not null"


def conversion(column: str, type_: DataType, kind: str) -> tuple[str, str] | None:
    """A value as one of another kind, where that loses nothing, and the Spark type that it then has.

    It is null where the value does not convert; None stands for values that are left to the engine, or that nothing
    converts. The same values convert as in `ensue.data.convert`.
    """
    name = type_.typeName()
    if kind == "int" and name in _STRINGS:
        digits = f"regexp_replace(trim({column}), {literal(r'[.]0*$')}, '')"
        right = f"trim({column}) rlike {literal(r'^[+-]?[0-9]+([.]0*)?$')}"
        return f"if({right}, try_cast({digits} as bigint), null)", "bigint"
    if kind == "float" and name in _STRINGS:
        return f"if(trim({column}) rlike {literal(_FLOAT)}, try_cast(trim({column}) as double), null)", "double"
    if kind == "string" and (name in _INTEGERS or name == "boolean"):
        return f"cast({column} as string)", "string"
    if kind == "bool" and name in (*_INTEGERS, *_FRACTIONS):
        return f"case {column} when 1 then true when 0 then false end", "boolean"
    if kind == "bool" and name in _STRINGS:
        cases = "when 'true' then true when '1' then true when 'false' then false when '0' then false"
        return f"case lower(trim({column})) {cases} end", "boolean"
    return None


def _shown(column: str, type_: DataType) -> str:
    text = f"coalesce(cast({column} as string), 'null')"
    return f"concat('''', {text}, '''')" if type_.typeName() in _STRINGS else text


def _not(kind: str) -> str:
    return f", not {'an' if kind == 'int' else 'a'} {kind}"
