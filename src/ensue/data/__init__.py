"""Events in, detections out: every form of table and file, normalised to Arrow tables by event type and given back.

The way of the data is `sources` (what was handed over), `stamp` (when and what each row is), `split` (by type),
`attributes` (their values), put together in `normalise`; and back out through `give_back`, `json_lines` and `write`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ensue.data.columns import Columns
    from ensue.data.combine import combined
    from ensue.data.errors import BadRow, DataError
    from ensue.data.events import Events, attributes_of
    from ensue.data.form import Form
    from ensue.data.normalise import read_events
    from ensue.data.static_table import read_table
    from ensue.data.values import AttributeTypes, Schema
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
    "AttributeTypes": "values",
    "BadRow": "errors",
    "Columns": "columns",
    "DataError": "errors",
    "Events": "events",
    "Form": "form",
    "Schema": "values",
    "attributes_of": "events",
    "combined": "combine",
    "read_events": "normalise",
    "read_table": "static_table",
    "write_events": "write",
}


def __getattr__(name: str) -> Any:
    """Imported when it is first asked for: a plain Parquet file needs little of it, and checking rules nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ensue.data' has no attribute {name!r}")
    import importlib

    value = globals()[name] = getattr(importlib.import_module(f"ensue.data.{_HOMES[name]}"), name)
    return value
