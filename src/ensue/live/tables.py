"""Tables of a session: facts that are added, replaced and removed while it runs.

A change counts when the next moment is evaluated, and its cost is proportional to the rows of the table. Therefore
many changes between two evaluations cost little more than one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from ensue.data import DataError
from ensue.language.semantics import identity
from ensue.live.arrangement import Arrangement
from ensue.live.guard import alone
from ensue.rules import Rules

if TYPE_CHECKING:
    from threading import RLock

Row = tuple[Any, ...]

Rows = dict[Row, Row]
"""Rows by their identities."""


def distinct(rows: Any) -> Rows:
    """Rows, each once: of equal ones the first."""
    found: Rows = {}
    for row in rows:
        found.setdefault(tuple(map(identity, row)), tuple(row))
    return found


class Tables(Mapping[str, "Table"]):
    """The tables that the rules of a session declare, by name.

    `check` raises an error where the session has ended; `arranged` gives its rules and settings as they are; `lock` is
    the session's.
    """

    def __init__(self, check: Callable[[], None], arranged: Callable[[], Arrangement], lock: RLock) -> None:
        self.check, self._arranged, self.lock = check, arranged, lock
        self._held: dict[str, Rows] = {}
        self.changed: set[str] = set()
        """Tables whose rows have changed since they were last read."""

    def __getitem__(self, name: str) -> Table:
        self.program.declared_table(name)
        return Table(name, self)

    def __contains__(self, name: object) -> bool:
        return name in self._declared

    def __iter__(self) -> Iterator[str]:
        return iter(self._declared)

    def __len__(self) -> int:
        return len(self._declared)

    def __repr__(self) -> str:
        return f"<ensue tables {', '.join(self) or 'none'}>"

    @property
    def program(self) -> Rules:
        return self._arranged().program

    @property
    def _declared(self) -> list[str]:
        return [name for name, predicate in self.program.typed.predicates.items() if predicate.declared]

    def rows(self, name: str) -> Rows:
        """The rows of a table, to be looked at or changed."""
        if name not in self._held:
            arranged = self._arranged()
            stated, given = arranged.rules.predicates[name].facts, arranged.settings.tables.get(name, ())
            self._held[name] = distinct((*stated, *given))
        return self._held[name]

    def has_changed(self, name: str) -> None:
        """Notes that the rows of a table are others."""
        self.changed.add(name)

    def settled(self) -> dict[str, list[Row]]:
        """The rows of the tables that have changed since the last call."""
        changed = {name: list(self._held[name].values()) for name in sorted(self.changed)}
        self.changed.clear()
        return changed

    def forget(self) -> None:
        """Forgets rows, so that they are read again when they are next needed."""
        self._held.clear()


class Table:
    """One table of a session. Rows are tuples or dicts, or a table in any form that `Program.detect` takes."""

    def __init__(self, name: str, tables: Tables) -> None:
        self.name = name
        self._tables = tables
        self.lock = tables.lock

    @alone
    def replace(self, rows: Any) -> None:
        """Replace all rows by these. Facts that the rules state for the table go, too."""
        self._tables.check()
        new, held = self._read(rows), self._rows
        held.clear()
        held.update(new)
        self._tables.has_changed(self.name)

    @alone
    def add(self, rows: Any) -> int:
        """Add rows, and return how many of them are new."""
        self._tables.check()
        held = self._rows
        before = len(held)
        for key, row in self._read(rows).items():
            held.setdefault(key, row)
        self._note(len(held) != before)
        return len(held) - before

    @alone
    def remove(self, rows: Any) -> int:
        """Remove rows, which are given with all their columns, and return how many of them were there."""
        self._tables.check()
        held = self._rows
        before = len(held)
        for key in self._read(rows):
            held.pop(key, None)
        self._note(len(held) != before)
        return before - len(held)

    def _note(self, changed: bool) -> None:
        if changed:
            self._tables.has_changed(self.name)

    @property
    def _rows(self) -> Rows:
        return self._tables.rows(self.name)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._tables.program.typed.predicates[self.name].columns)

    def __iter__(self) -> Iterator[Row]:
        """The rows, as tuples; timestamps are datetimes."""
        kinds = tuple(self._tables.program.typed.predicates[self.name].columns.values())
        for row in list(self._rows.values()):
            yield tuple(_shown(value, kind) for value, kind in zip(row, kinds, strict=True))

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, row: object) -> bool:
        try:
            return not self._read([row]).keys().isdisjoint(self._rows)
        except DataError:
            return False

    def __repr__(self) -> str:
        return f"<ensue table {self.name}({', '.join(self.columns)}): {len(self)} rows>"

    def _read(self, rows: Any) -> Rows:
        alone = isinstance(rows, tuple) and not all(isinstance(row, tuple | list | Mapping) for row in rows)
        if alone or isinstance(rows, Mapping):
            rows = [rows]  # one row
        return distinct(self._tables.program.static_rows(self.name, rows))


def _shown(value: Any, kind: str) -> Any:
    if kind == "timestamp" and value is not None:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value)
    return value
