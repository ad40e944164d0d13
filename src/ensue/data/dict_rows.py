"""Events from rows that are dicts: a column for every key."""

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any

from ensue.data.errors import DataError, shortened
from ensue.data.input_part import InputPart
from ensue.data.python_values import is_text
from ensue.data.raw import settle


def read_rows(items: Iterable[Any], name: str, where: Callable[[int], str]) -> InputPart:
    """Read an iterable of dicts; any other item is malformed."""
    rows: list[Mapping[str, Any]] = []
    malformed: list[tuple[int, str]] = []
    for position, item in enumerate(items):
        if isinstance(item, Mapping):
            rows.append(item)
        else:
            malformed.append((position, f"is {shortened(item)}, not a dict"))
    return rows_part(rows, name, where, tuple(malformed))


def rows_part(
    rows: list[Mapping[str, Any]], name: str, where: Callable[[int], str], malformed: tuple[tuple[int, str], ...]
) -> InputPart:
    """Rows as columns; a key that a row lacks is null there."""
    keys = dict.fromkeys(chain.from_iterable(rows))
    for key in keys:
        if not isinstance(key, str) or not is_text(key):
            raise DataError(f"{name} has a key {shortened(key)}, and only text can be the name of an attribute.")
    columns = {key: settle([row.get(key) for row in rows]) for key in keys}
    return InputPart(name, columns, len(rows), where, malformed=malformed, sparse=True)
