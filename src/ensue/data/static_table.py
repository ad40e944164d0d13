"""A static table in any form, as rows of Python values: a program's knowledge besides the events."""

from collections.abc import Iterator, Mapping
from typing import Any

from ensue import compute as pc
from ensue.data.columns import named
from ensue.data.convert import AttributeTypes, bad_values, convert, wrong_value
from ensue.data.errors import DataError, arrow_errors_as_data_errors
from ensue.data.infer import unblanked
from ensue.data.input_part import InputPart
from ensue.data.iso import python_values
from ensue.data.raw import settle, value_at
from ensue.data.sources import recognise_table


def read_table(source: object, types: AttributeTypes, name: str) -> list[tuple[Any, ...]]:
    """Read a table's columns in the order of `types`; timestamps are datetimes in UTC, without a zone.

    A value of the wrong type is an error here: facts are right, or no facts.

    >>> read_table([("site3", 4)], {"place": "string", "rank": "int"}, "ranked")
    [('site3', 4)]
    """
    with arrow_errors_as_data_errors(f"The table {name!r}"):
        return [row for part in _parts(source, types, name) for row in _rows(part, types)]


def _parts(source: Any, types: AttributeTypes, name: str) -> Iterator[InputPart]:
    called = f"The table {name!r}"
    if isinstance(source, list | tuple | set | frozenset) and all(isinstance(item, list | tuple) for item in source):
        yield _tuples_part(list(source), types, called, f"table {name}, row")
    elif isinstance(source, Mapping):
        raise DataError(f"{called} is a dict; pass a table, a path, or a list of rows.")
    else:
        yield from recognise_table(source, called, f"table {name}, row")[1]


def _tuples_part(rows: list[Any], types: AttributeTypes, called: str, row: str) -> InputPart:
    def where(position: int) -> str:
        return f"{row} {position}"

    for position, values in enumerate(rows):
        if len(values) != len(types):
            raise DataError(f"{where(position)}: has {len(values)} values, and the table has {len(types)} columns.")
    columns = {name: settle([values[index] for values in rows]) for index, name in enumerate(types)}
    return InputPart(called, columns, len(rows), where)


def _rows(part: InputPart, types: AttributeTypes) -> list[tuple[Any, ...]]:
    for position, reason in part.malformed:
        raise DataError(f"{part.where(position)}: {reason}")
    if not part.columns and not part.length:
        return []
    columns = []
    for name, kind in types.items():
        raw = unblanked(part.columns[named(name, list(part.columns), part.name)], kind, part.text)
        converted = convert(raw, kind, part.text)
        bad = pc.index(bad_values(raw, converted), True).as_py()
        if bad >= 0:
            raise DataError(f"{part.where(bad)}: {wrong_value(name, value_at(raw, bad), kind)}")
        columns.append(python_values(converted))
    return list(zip(*columns, strict=True)) if columns else [()] * part.length
