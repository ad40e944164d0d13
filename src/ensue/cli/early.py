"""`-o FILE`, written while rules still run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from ensue.data.write_early import EarlyFile
    from ensue.request import Request


@contextmanager
def written_early(
    output: str, described: Callable[[Mapping[str, pa.Table]], dict[str, pa.Table]], request: Request
) -> Iterator[EarlyFile | None]:
    """Detection inside writes to a file what is final; None if another thread may not, or the format holds the lock."""
    from ensue.data import combined
    from ensue.data.write_early import EarlyFile
    from ensue.engine.final import receiving

    path = Path(output)
    if request.most_threads == 1 or not EarlyFile.can_write(path):
        yield None
        return
    with EarlyFile(path, lambda tables: combined(described(tables))) as early, receiving(early):
        yield early
