"""Detection on events that come batch by batch: detections come out as batches go in, and only state is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ensue.data import DataError, Events, Form
from ensue.engine.watching import watched

if TYPE_CHECKING:
    from ensue.engine.parquet import PlainParquet
    from ensue.live.session import Session


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
    first = next(batches, None)
    found = session.close(until) if first is None else session.send(first)
    if not isinstance(found, pa.Table):
        found = session.no_detections
    rest = iter(()) if first is None else _rest(session, batches, until)
    rest = chain(rest, _told(session, on_suppressed))
    return pa.RecordBatchReader.from_batches(found.schema, chain(found.to_batches(), rest))


def _told(
    session: Session, on_suppressed: Callable[[dict[str, int]], object] | None
) -> Iterator[pa.RecordBatch]:  # fmt: skip
    if on_suppressed is not None:
        on_suppressed(session.suppressed)
    yield from ()


def _rest(session: Session, batches: Iterator[pa.RecordBatch | pa.Table], until: Any) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield from session.send(batch).to_batches()
    yield from session.close(until).to_batches()


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
