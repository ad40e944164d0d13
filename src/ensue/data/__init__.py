"""Events in, detections out: every form of table and file, normalised to Arrow tables by event type and given back.

The data passes through `sources` (the input), `stamp` (time and type of each row), `split` (by type),
`attributes` (their values), put together in `normalise`; and back out through `give_back`, `json_lines` and `write`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ensue.data.columns import Columns
    from ensue.data.combine import combined
    from ensue.data.convert import AttributeTypes, Schema
    from ensue.data.errors import BadRow, DataError
    from ensue.data.events import Events, attributes_of
    from ensue.data.form import Form
    from ensue.data.normalise import read_events
    from ensue.data.static_table import read_table
    from ensue.data.write import write_events

__all__ = [
    "AttributeTypes",
    "BadRow",
    "Columns",
    "DataError",
    "Events",
    "Form",
    "Schema",
    "attributes_of",
    "combined",
    "read_events",
    "read_table",
    "write_events",
]

_HOMES = {
    "AttributeTypes": "convert",
    "BadRow": "errors",
    "Columns": "columns",
    "DataError": "errors",
    "Events": "events",
    "Form": "form",
    "Schema": "convert",
    "attributes_of": "events",
    "combined": "combine",
    "read_events": "normalise",
    "read_table": "static_table",
    "write_events": "write",
}


def __getattr__(name: str) -> Any:
    """Import a name on first use: a plain Parquet file needs few of the modules, checking rules none."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ensue.data' has no attribute {name!r}")
    import importlib

    value = globals()[name] = getattr(importlib.import_module(f"ensue.data.{_HOMES[name]}"), name)
    return value
