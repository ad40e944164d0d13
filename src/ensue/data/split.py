"""The good rows of a part, by event type."""

from collections.abc import Callable, Mapping

import pyarrow as pa

from ensue import compute as pc
from ensue.data.convert import Schema
from ensue.data.input_part import InputPart
from ensue.data.raw import SLICE, Raw, pick
from ensue.data.stamp import Stamped
from ensue.records import dataclass

FEW_TYPES = 16
"""Up to how many types rows are compared with each of them."""

Selection = list[tuple[int, int, pa.Array]]  # slices of the part: offset, length, indices within it


@dataclass(frozen=True)
class Group:
    """Rows of one type from one part, in their order, attributes still raw."""

    start: pa.ChunkedArray
    end: pa.ChunkedArray
    row: pa.ChunkedArray  # the position over the whole input
    sequence: Raw | None
    columns: Mapping[str, Raw]
    text: bool
    offset: int  # of the part's first row over the whole input
    where: Callable[[int], str]


def split(
    part: InputPart, stamped: Stamped, offset: int, schema: Schema, known: frozenset[str] | None
) -> dict[str, Group]:
    """The rows by type; of a declared type with its attributes only, of a type that is not known with none."""
    rows = pc.add(pa.chunked_array([part.positions]), offset)
    groups = {}
    for event_type, selection in _selections(part, stamped).items():
        if known is not None and event_type not in known:
            names = []
        elif event_type in schema:
            names = [name for name in schema[event_type] if name in part.columns]
        else:
            names = [name for name in part.columns if name not in stamped.taken]
        groups[event_type] = Group(
            start=pick(stamped.start, selection),
            end=pick(stamped.end, selection),
            row=pick(rows, selection),
            sequence=None if stamped.sequence is None else pick(part.columns[stamped.sequence], selection),
            columns={name: pick(part.columns[name], selection) for name in names},
            text=part.text,
            offset=offset,
            where=part.where,
        )
    return groups


def _selections(part: InputPart, stamped: Stamped) -> dict[str, Selection]:
    selections: dict[str, Selection] = {}
    for offset in range(0, part.length, SLICE):
        length = min(SLICE, part.length - offset)
        good = stamped.good.slice(offset, length)
        if stamped.types is None:
            found = {str(part.event_type): pc.indices_nonzero(good)}
        else:
            found = _indices_by_type(pc.if_else(good, stamped.types.slice(offset, length), None))
        for event_type, indices in found.items():
            if len(indices):
                selections.setdefault(event_type, []).append((offset, length, indices))
    return selections


def _indices_by_type(types: pa.ChunkedArray) -> dict[str, pa.Array]:
    """The indices of each type in their order, where there are many from one stable sort; null is no type."""
    encoded = types.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    if len(encoded.dictionary) <= FEW_TYPES:
        names = enumerate(encoded.dictionary.to_pylist())
        return {name: pc.indices_nonzero(pc.equal(encoded.indices, code)) for code, name in names}
    order = pc.array_sort_indices(encoded.indices)
    counts = {item["values"]: item["counts"] for item in encoded.indices.value_counts().to_pylist()}
    found, begin = {}, 0
    for code, event_type in enumerate(encoded.dictionary.to_pylist()):
        found[event_type] = order.slice(begin, counts[code])
        begin += counts[code]
    return found
