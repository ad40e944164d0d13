"""Tables in memory as Arrow: Arrow's own, pandas's, Polars's, and all that speak Arrow's C interface.

pandas and Polars are recognised only if they are imported already, as they are where a caller passes their tables.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from ensue.data.errors import DataError, first_line
from ensue.data.form import Kind
from ensue.data.input_part import InputPart, named_columns, table_part
from ensue.data.raw import Raw, settle


def frame_kind(source: object) -> Kind | None:
    """Kind of a table; None if the object is no table."""
    if any(base.__module__.startswith("pyspark") for base in type(source).__mro__):
        raise DataError(
            "A Spark DataFrame is for the Spark execution, which takes it as it is; this one reads tables in memory."
        )
    if isinstance(source, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        return "arrow"
    if _is(source, "pandas", "DataFrame"):
        return "pandas"
    if _is(source, "polars", "DataFrame") or _is(source, "polars", "LazyFrame"):
        return "polars"
    speaks_arrow = hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")
    return "arrow" if speaks_arrow and not isinstance(source, type) else None


def _is(source: object, module: str, name: str) -> bool:
    known = getattr(sys.modules.get(module), name, None)
    return isinstance(known, type) and isinstance(source, known)


def frame_table(source: Any) -> tuple[pa.Table | None, Kind]:
    """A table in memory as an Arrow table, and its kind; None where it is none, or takes more than that."""
    if isinstance(source, pa.RecordBatchReader):
        return None, "arrow"
    kind = frame_kind(source)
    if kind is None:
        return None, "arrow"
    try:
        if kind != "pandas":
            return _arrow_table(source, kind), kind
        columns = _read_pandas(source, "", str).columns
    except Exception:  # `read_frame` raises it again, with a message
        return None, kind
    if any(isinstance(column, list) for column in columns.values()):
        return None, kind
    return pa.table(dict(columns)), kind


def read_frame(source: Any, kind: Kind, name: str, where: Callable[[int], str]) -> InputPart:
    """The table as a part."""
    if kind == "pandas":
        return _read_pandas(source, name, where)
    try:
        return table_part(_arrow_table(source, kind), name, where)
    except DataError:
        raise
    except Exception as error:  # whatever the other side of the C interface raises
        kind_of_table = f"{type(source).__module__}.{type(source).__qualname__}"
        raise DataError(f"{name} is a {kind_of_table} that gives no Arrow table: {first_line(error)}") from error


def _arrow_table(source: Any, kind: Kind) -> pa.Table:
    if kind == "polars":
        return (source.collect() if hasattr(source, "collect") else source).to_arrow()
    match source:
        case pa.Table():
            return source
        case pa.RecordBatch():
            return pa.Table.from_batches([source])
        case pa.RecordBatchReader():
            return source.read_all()
    if hasattr(source, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(source).read_all()
    return pa.Table.from_batches([pa.record_batch(source)])


def _read_pandas(frame: Any, name: str, where: Callable[[int], str]) -> InputPart:
    """A named index is a column like any other."""
    levels = [n for n, level in enumerate(frame.index.names) if level is not None and level not in frame.columns]
    if levels:
        frame = frame.reset_index(level=levels)
    names = [str(column) for column in frame.columns]
    columns = [_from_series(series) for _, series in frame.items()]
    return InputPart(name, named_columns(names, columns, name), len(frame), where)


def _is_full(dtype: Any, values: Any) -> bool:
    """True for NumPy's floats without a gap: Arrow takes six times as long to find that out."""
    return isinstance(dtype, np.dtype) and dtype.kind == "f" and not np.isnan(values).any()


def _from_series(series: Any) -> Raw:
    if series.dtype != object:
        try:
            column = pa.array(series, from_pandas=not _is_full(series.dtype, series.array))
            return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
        except (pa.ArrowException, TypeError, ValueError):
            pass
    else:
        try:
            texts = pa.array(series, pa.string(), from_pandas=True)
            if texts.null_count < len(texts):
                return texts if isinstance(texts, pa.ChunkedArray) else pa.chunked_array([texts])
        except (pa.ArrowException, TypeError, ValueError):
            pass
    missing = series.isna().tolist()
    return settle([None if gap else value for gap, value in zip(missing, series.tolist(), strict=True)])
