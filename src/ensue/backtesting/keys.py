"""For whom a rule finds most: the values of one attribute, which a rule correlates its events by."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa

from ensue.backtesting.result import Keys
from ensue.data.errors import DataError
from ensue.data.json_lines import with_moments_as_text
from ensue.data.json_text import to_text
from ensue.language import typed
from ensue.language.walk import atoms

KEY_TYPES = ("string", "int", "bool", "any")
"""Types whose values name something."""


def keys_of(rule: typed.Rule, table: pa.Table, attribute: str | None, most: int = 5) -> Keys | None:
    """The values of an attribute that most detections have; None where the rule has none that names something.

    Of several attributes it is the one by which the rule correlates most, unless all its values are different.
    """
    names = key_attributes(rule) if attribute is None else [name for name, _ in rule.head if name == attribute]
    if not table.num_rows:
        return None
    found = None
    for name in names:
        counted = Counter(_values(table, name))
        keys = Keys(name, tuple(counted.most_common(most)), len(counted))
        if keys.most[0][1] > 1:
            return keys
        found = found or keys
    return found


def _values(table: pa.Table, name: str) -> list[str]:
    column = with_moments_as_text(table.select([2 + table.column_names[2:].index(name)])).column(0)
    return list(map(to_text, column.to_pylist()))


def key_attributes(rule: typed.Rule) -> list[str]:
    """The attributes of a head that name something, those first whose variables stand in most events of the body."""
    bound: Counter[str] = Counter()
    for atom in atoms(rule.body):
        bound.update({term.name for _, term in atom.fields if isinstance(term, typed.Variable)})
    terms = {name: term for name, term in rule.head if isinstance(term, typed.Variable) and term.type in KEY_TYPES}
    return sorted(terms, key=lambda name: -bound[terms[name].name])


def check_key(program: typed.Program, attribute: str | None) -> None:
    """Refuses an attribute that no rule derives."""
    known = sorted({name for rule in program.rules for name, _ in rule.head})
    if attribute is not None and attribute not in known:
        raise DataError(f"No rule derives an attribute {attribute!r}; there are: {', '.join(known) or 'none'}.")
