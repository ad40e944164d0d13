"""Buckets: a stream's events are partitioned into a fixed number of them, by their keys.

The bucket of an event must be the same on every machine and in every version, as a bucket's state outlives both; and
the same for events that were given and those that an earlier stage derived. So it is worked out here for both.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from ensue import compute as pc
from ensue.data.convert import arrow_type_of, convert
from ensue.partitioning import ByKey, ByRow, Parting, Whole
from ensue.records import dataclass
from ensue.spark.wire import Wire

Numbers = np.ndarray[Any, np.dtype[np.int16]]
"""Small ones, as these are sorted sooner."""
Hashes = np.ndarray[Any, np.dtype[np.uint64]]

MOST = 2**15 - 1
"""The largest number of buckets."""
NOWHERE = -1
"""The bucket of events that a stage does not use."""

_ODD = np.uint64(0x9E3779B97F4A7C15)
_OTHER = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(31)
_NULL = np.uint64(0x51ED270B8D5C3A4F)


@dataclass(frozen=True)
class Buckets:
    """The buckets of a stage. Where everything must be in one part, that is the first of them."""

    reads: tuple[str, ...]
    parting: Parting
    count: int

    @property
    def used(self) -> range:
        """The buckets that there can be something in."""
        return range(1 if isinstance(self.parting, Whole) else self.count)

    def of(self, rows: pa.Table, wire: Wire) -> Numbers:
        """The bucket of each row."""
        kinds = pc.dictionary_encode(rows.column("type").combine_chunks())
        codes = pc.fill_null(kinds.indices, len(kinds.dictionary)).to_numpy(zero_copy_only=False)
        names = kinds.dictionary.to_pylist()
        read = np.array([*(name in self.reads for name in names), False])[codes]
        match self.parting:
            case ByKey() as parting:
                found = self._by_key(rows, wire, parting, codes, names)
            case ByRow():
                found = _number(_by_time(rows, wire), self.count)
            case _:
                found = np.zeros(rows.num_rows, np.int16)
        return np.where(read, found, np.int16(NOWHERE))

    def _by_key(self, rows: pa.Table, wire: Wire, parting: ByKey, codes: Any, names: list[str]) -> Numbers:
        """Types with the same columns for their keys are looked at together; where these are all, so are all rows."""
        alike: dict[tuple[str, ...], list[str]] = {}
        anywhere = []
        for name in names:
            if name not in self.reads:
                continue
            if name in parting.keys:
                alike.setdefault(_key_columns(parting, wire, name), []).append(name)
            else:
                anywhere.append(name)
        found: Numbers = np.full(rows.num_rows, NOWHERE, np.int16)
        whole = len(alike) == 1 and not anywhere
        for columns, types in alike.items():
            mask = slice(None) if whole else np.array([*(name in types for name in names), False])[codes]
            own = rows if whole else rows.filter(pa.array(mask))
            hashes, nulls = _hashed(own, columns, parting.kinds)
            numbers = _number(hashes, self.count)
            if nulls is not None:
                needless = np.array([*(name not in parting.nulls for name in names), False])[codes]
                numbers[nulls & needless[mask]] = NOWHERE
            found[mask] = numbers
        if anywhere:
            mask = np.array([*(name in anywhere for name in names), False])[codes]
            found[mask] = _number(_by_time(rows.filter(pa.array(mask)), wire), self.count)
        return found


def _key_columns(parting: ByKey, wire: Wire, event: str) -> tuple[str, ...]:
    """The columns that hold the key of a type; several columns for one part of it are separated by a bar."""
    places = range(len(parting.kinds))
    return tuple("|".join(c.name for c in wire.columns if c.attribute == parting.keys[event][place] and c.holds(event))
                 for place in places)  # fmt: skip


def _hashed(rows: pa.Table, columns: Iterable[str], kinds: Iterable[str]) -> tuple[Hashes, Any]:
    """The hash of each row's key, and where a part of it is null, if anywhere."""
    hashes: Hashes = np.zeros(rows.num_rows, np.uint64)
    nulls = None
    for names, kind in zip(columns, kinds, strict=True):
        values = _values(rows, names, kind)
        if values.null_count:
            missing = values.is_null().to_numpy(zero_copy_only=False)
            nulls = missing if nulls is None else nulls | missing
        hashes = _mixed(hashes ^ _hash(values, kind))
    return hashes, nulls


def _values(rows: pa.Table, names: str, kind: str) -> pa.Array:
    """The values of a part of the key, read as events are: one that is not of its kind is null."""
    found = pa.nulls(rows.num_rows, arrow_type_of(kind))
    for name in filter(None, names.split("|")):
        read = convert(rows.column(name), kind, text=False).combine_chunks()
        found = read if found.null_count == len(found) else pc.coalesce(found, read)
    return found


def _hash(values: pa.Array, kind: str) -> Hashes:
    """Numbers that are equal where values are: 0.0 is -0.0, and every NaN the same."""
    if kind == "string":
        encoded = pc.dictionary_encode(values)
        texts = [zlib.crc32((text or "").encode("utf-8", "surrogatepass")) for text in encoded.dictionary.to_pylist()]
        table = np.array([*texts, 0], np.uint64)
        numbers = table[pc.fill_null(encoded.indices, len(texts)).to_numpy(zero_copy_only=False)]
    elif kind == "float":
        floats = pc.fill_null(values, 0.0).to_numpy(zero_copy_only=False) + 0.0
        numbers = np.where(np.isnan(floats), np.nan, floats).view(np.uint64)
    elif kind == "bool":
        numbers = pc.fill_null(values, False).to_numpy(zero_copy_only=False).astype(np.uint64)
    else:
        numbers = pc.fill_null(values.cast(pa.int64()), 0).to_numpy(zero_copy_only=False).view(np.uint64)
    if values.null_count:
        numbers = np.where(values.is_null().to_numpy(zero_copy_only=False), _NULL, numbers)
    return _mixed(numbers)


def _by_time(rows: pa.Table, wire: Wire) -> Hashes:
    """Events that may be anywhere are spread by their times."""
    ends = rows.column(wire.times[-1]).combine_chunks().cast(pa.int64())
    return _hash(ends, "int")


def _mixed(numbers: Hashes) -> Hashes:
    """Numbers whose every bit depends on all bits of another one."""
    numbers = (numbers + _ODD) * _OTHER
    return (numbers ^ (numbers >> _SHIFT)) * _ODD


def _number(hashes: Hashes, count: int) -> Numbers:
    """Hashes spread over `count` numbers: the upper 31 bits, as a fraction of their range."""
    return ((hashes >> np.uint64(33)) * np.uint64(count) >> np.uint64(31)).astype(np.int16)
