"""Events in, detections out: every form of table and file, normalised to Arrow tables by event type and given back.

The way of the data is `sources` (what was handed over), `stamp` (when and what each row is), `split` (by type),
`attributes` (their values), put together in `normalise`; and back out through `give_back`, `json_lines` and `write`.
"""

from ensue.data.columns import Columns
from ensue.data.combine import combined
from ensue.data.errors import BadRow, DataError
from ensue.data.events import Events, attributes_of
from ensue.data.form import Form
from ensue.data.give_back import give_back
from ensue.data.json_lines import json_lines
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
    "give_back",
    "json_lines",
    "read_events",
    "read_table",
    "write_events",
]
