"""The attributes of a group of rows: as declared, or of the types of their values."""

from collections.abc import Collection, Sequence

import pyarrow as pa

from ensue import compute as pc
from ensue.data.convert import ARROW_TYPES, AttributeTypes, arrow_type_of, bad_values, convert, nulls, wrong_value
from ensue.data.errors import not_taken
from ensue.data.infer import as_inferred, infer, unblanked
from ensue.data.raw import Raw, any_of, has_values, keep, value_at
from ensue.data.split import Group
from ensue.data.stamp import Fault
from ensue.records import dataclass


@dataclass(frozen=True)
class Piece:
    """Rows of one type whose attributes are read; the sequence column is still raw."""

    table: pa.Table
    sequence: Raw | None
    text: bool
    faults: tuple[Fault, ...]  # of rows of the group, which are not in the table


@dataclass(frozen=True)
class _Attribute:
    name: str
    kind: str
    raw: Raw
    values: pa.ChunkedArray
    used: bool = True  # by some rule, so that a value which does not fit makes a bad row


def read_declared(
    group: Group, types: AttributeTypes, instant: bool = False, used: Collection[str] | None = None
) -> Piece:
    """A declared type has all its attributes, null where the source lacks one, and no others.

    A value that does not fit is null where its attribute is not `used`; None stands for all.
    """
    attributes = []
    for name, kind in types.items():
        raw = group.columns.get(name)
        if raw is None:
            missing = nulls(len(group.row), arrow_type_of(kind))
            attributes.append(_Attribute(name, kind, missing, missing))
        else:
            seen = unblanked(raw, kind, group.text)
            values = convert(seen, kind, group.text)
            attributes.append(_Attribute(name, kind, seen, values, used is None or name in used))
    return _piece(group, attributes, [_lasting(group)] if instant else [])


def read_undeclared(groups: Sequence[Group], used: Collection[str] | None = None) -> list[Piece]:
    """An undeclared type has the columns that hold a value in one of its rows, wherever those came from."""
    attributes: list[list[_Attribute]] = [[] for _ in groups]
    for name in dict.fromkeys(name for group in groups for name in group.columns):
        pieces = [
            (group.columns[name], group.text) if name in group.columns else (nulls(len(group.row), pa.null()), False)
            for group in groups
        ]
        inferred = infer(pieces)
        if inferred is None:
            continue
        kind = inferred if inferred in ARROW_TYPES else "string"
        for (raw, text), values, listed in zip(pieces, as_inferred(pieces, inferred), attributes, strict=True):
            listed.append(_Attribute(name, kind, unblanked(raw, inferred, text), values, used is None or name in used))
    return [_piece(group, listed) for group, listed in zip(groups, attributes, strict=True)]


def whole_floats(group: Group) -> bool:
    """True if some column of floats holds whole numbers only: they may have been integers."""
    return any(
        not isinstance(raw, list)
        and pa.types.is_floating(raw.type)
        and has_values(raw)
        and pc.all(pc.equal(raw, pc.floor(raw))).as_py()
        for raw in group.columns.values()
    )


def _piece(group: Group, attributes: Sequence[_Attribute], more_faults: Sequence[Fault] = ()) -> Piece:
    names = ["start", "end", "row", *(attribute.name for attribute in attributes)]
    columns = [group.start, group.end, group.row, *(attribute.values for attribute in attributes)]
    table = pa.Table.from_arrays(columns, names=names)
    possible = (*more_faults, *(_fault(attribute) for attribute in attributes if attribute.used))
    faults = tuple(fault for fault in possible if pc.any(fault.rows).as_py())
    if not faults:
        return Piece(table, group.sequence, group.text, faults)
    good = pc.invert(any_of([fault.rows for fault in faults]))
    sequence = None if group.sequence is None else keep(group.sequence, good)
    return Piece(table.filter(good), sequence, group.text, faults)


def _lasting(group: Group) -> Fault:
    """Fault of rows of an instantaneous type whose start is not their end."""
    return Fault(
        pc.not_equal(group.start, group.end),
        lambda _: "its type is declared as `instant`, but it starts before its end",
    )


def only_derived(group: Group, event_type: str) -> Fault:
    """Fault of all rows of a type that only rules derive."""
    every = pa.chunked_array([pa.repeat(True, len(group.row))])
    return Fault(every, lambda _: not_taken(event_type))


def _fault(attribute: _Attribute) -> Fault:
    def reason(index: int) -> str:
        return wrong_value(attribute.name, value_at(attribute.raw, index), attribute.kind)

    return Fault(bad_values(attribute.raw, attribute.values), reason)
