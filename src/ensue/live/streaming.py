"""Detection on events that come batch by batch: detections come out as batches go in, and only state is kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from ensue.data import DataError, Events, Form
from ensue.data.infer import inferred_type
from ensue.data.raw import has_text
from ensue.engine.watching import watched

if TYPE_CHECKING:
    from ensue.engine.parquet import PlainParquet
    from ensue.live.session import Session


Column = TypeVar("Column", pa.Array, pa.ChunkedArray)


WIDEST = {"int": pa.int64(), "float": pa.float64()}
"""The layout of numbers in rules."""


def batches_of(source: Any) -> tuple[Iterator[pa.RecordBatch | pa.Table] | None, Any]:
    """The batches of a source that is a stream of them; or None and the source, which may have been opened for this."""
    if isinstance(source, pa.RecordBatchReader):
        return iter(source), source
    if not isinstance(source, Iterator):
        if (
            isinstance(source, list | tuple)
            and source
            and all(isinstance(b, pa.RecordBatch | pa.Table) for b in source)
        ):
            return iter(source), source
        return None, source
    first = next(source, None)
    if first is None:
        return None, iter(())
    items = chain([first], source)
    if isinstance(first, pa.RecordBatch | pa.Table):
        return _checked(items), source
    return None, items


def _checked(items: Iterable[Any]) -> Iterator[pa.RecordBatch | pa.Table]:
    for item in items:
        if not isinstance(item, pa.RecordBatch | pa.Table):
            raise DataError(f"The events are an iterator of Arrow batches, but a {type(item).__name__} is among them.")
        yield item


def detected(
    session: Session, batches: Iterator[pa.RecordBatch | pa.Table], until: Any,
    on_suppressed: Callable[[dict[str, int]], object] | None = None,
) -> pa.RecordBatchReader:  # fmt: skip
    """Detections of a session in batches, as a reader that takes them in as it is read.

    In the end `on_suppressed` is called with the numbers of suppressed events.
    """
    session.stop_at(until)
    tables = _found(session, batches, until)
    first = next(tables)
    while not first.num_rows and any(map(pa.types.is_null, first.schema.types)):
        later = next(tables, None)  # a detection tells the types of its columns
        if later is None:
            break
        first = later
    schema = first.schema
    rest = (batch for table in tables for batch in _of_schema(table, schema))
    return pa.RecordBatchReader.from_batches(schema, chain(first.to_batches(), rest, _told(session, on_suppressed)))


def _told(
    session: Session, on_suppressed: Callable[[dict[str, int]], object] | None
) -> Iterator[pa.RecordBatch]:  # fmt: skip
    if on_suppressed is not None:
        on_suppressed(session.suppressed)
    yield from ()


def _found(session: Session, batches: Iterator[pa.RecordBatch | pa.Table], until: Any) -> Iterator[pa.Table]:
    """Detections after each batch, and in the end."""
    for batch in batches:
        yield session.send(batch)
    found = session.close(until)
    yield found if isinstance(found, pa.Table) else session.no_detections  # no batch has told the form


def _of_schema(found: pa.Table, schema: pa.Schema) -> list[pa.RecordBatch]:
    """Detections with the types of earlier ones: values of events without a declaration may have others by now."""
    if found.schema.equals(schema):
        return found.to_batches()  # type: ignore[no-any-return]
    columns = [
        _as_type(column, field, "The attribute", "detections")
        for column, field in zip(found.columns, schema, strict=True)
    ]
    return pa.table(columns, schema).to_batches()  # type: ignore[no-any-return]


def as_in_the_first(batches: Iterator[pa.RecordBatch | pa.Table], names: Collection[str]) -> Iterator[Any]:
    """Batches in which some columns have the types of the first one, by which rules were prepared."""
    first = next(batches, None)
    if first is None:
        return
    yield first
    fields = {
        field.name: field.with_type(WIDEST.get(_kind(field.type), field.type))
        for field in first.schema
        if field.name in names and not pa.types.is_null(field.type)
    }
    for batch in batches:
        for place, field in enumerate(batch.schema):
            known = fields.get(field.name, field)
            if _kind(known.type) != _kind(field.type):
                column = _as_type(batch.column(place), known, "The column", "batch")
                batch = batch.set_column(place, field.name, column)
        yield batch


def _kind(type_: pa.DataType) -> str:
    """The type of a column's values in rules, whatever its layout."""
    return "string" if has_text(type_) else inferred_type(type_)


def _as_type(column: Column, field: pa.Field, what: str, where: str) -> Column:
    """A column as the type of a field, where all values fit; else an error."""
    is_number = all(pa.types.is_integer(each) or pa.types.is_floating(each) for each in (column.type, field.type))
    if column.type == field.type or is_number or pa.types.is_null(column.type):
        with suppress(pa.ArrowInvalid):  # a number that the other type cannot hold
            return column.cast(field.type)
    known = "only null" if pa.types.is_null(field.type) else f"values of the type {field.type}"
    raise DataError(
        f"{what} `{field.name}` had {known} in the first {where}, and now has some of the type {column.type}, but in a "
        "stream of batches it keeps its type. Declare the events that it belongs to, as in `event login(user: string).`"
    )


def detect_pieces(
    session: Session, file: PlainParquet, until: Any, wanted: list[str]
) -> tuple[dict[str, pa.Table], Events]:
    """Detections of a session in a file that is read in pieces, by wanted type, and a summary of the file's events."""
    found: dict[str, list[pa.Table]] = {name: [] for name in wanted}
    session.stop_at(until)
    done, watcher = 0, watched()
    for piece in file.pieces():
        _keep(session.send_by_type({file.only: piece} if file.only is not None else piece), found)
        done += piece.num_rows
        if watcher is not None:
            so_far = sum(table.num_rows for tables in found.values() for table in tables)
            watcher.count(done, file.file.metadata.num_rows, so_far)
    _keep(session.close_by_type(until), found)
    progress = session.progress
    form = Form("arrow", by_type=file.only is not None)
    read = Events(
        {}, session.timestamps, session.timezone, progress.first, progress.largest, (), 0, form, progress.received
    )
    return {name: pa.concat_tables(tables) for name, tables in found.items()}, read


def _keep(tables: dict[str, pa.Table], found: dict[str, list[pa.Table]]) -> None:
    for name, table in tables.items():
        found[name].append(table)
