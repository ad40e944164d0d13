"""Objects that a session prepares once it knows its rules and the kind of times: readers, output and reactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from ensue.data import Columns, combined
from ensue.data.moments import Length, length_of, written_length
from ensue.data.results import picked
from ensue.data.wall_clock import WallClock
from ensue.engine.limits import OPEN, Limits
from ensue.engine.provenance import check_sources
from ensue.engine.rule_groups import FamilyAssignment
from ensue.engine.run import Run
from ensue.language import typed
from ensue.live.detections import Shown
from ensue.live.reactions import Action, Reactions
from ensue.live.sent import Reading
from ensue.plan.certain import certain_types
from ensue.records import dataclass
from ensue.request import Request
from ensue.rules import Rules


@dataclass(frozen=True)
class Settings:
    """Settings that a session is started with, and keeps when it is resumed."""

    lateness: Length
    columns: Columns
    tables: Mapping[str, Sequence[tuple[Any, ...]]]
    emit: tuple[str, ...] | None
    provenance: bool
    compiled: bool | None
    fixed: bool = False
    """True if the rules never change: then those that pass events to each other run, and are saved, as one unit."""
    changed: tuple[str, ...] = ()
    """Tables whose rows have changed: they hold the rows in `tables`, and no facts of the rules besides."""
    keep: str | None = None
    """Largest lifetime, as rules write it, if the session was started with one."""
    max_ahead: Length | None = None
    """Longest time by which an event may end ahead of the clock."""
    limits: Limits = OPEN
    in_order: bool = True
    """True if every detection waits until its step is complete, so that they come in the order of their ends."""

    @staticmethod
    def of(rules: Rules, request: Request) -> Settings:
        """The settings of a requested session."""
        emit = None if request.emit is None else tuple(picked(rules.typed, request.emit))
        keep = None if request.keep is None else written_length(request.keep, "`keep`")
        request.check_embedded_provenance()
        return Settings(
            request.lateness, request.columns, rules.rows_of_tables(request.tables), emit, bool(request.provenance),
            request.compiled, keep=keep, in_order=request.in_order, max_ahead=request.max_ahead,
            limits=request.limits,
        )  # fmt: skip

    def saved(self) -> dict[str, Any]:
        return {
            "lateness": self.lateness,
            "columns": self.columns.saved(),
            "tables": {name: list(rows) for name, rows in self.tables.items()},
            "emit": self.emit,
            "provenance": self.provenance,
            "compiled": self.compiled,
            "fixed": self.fixed,
            "changed": self.changed,
            "keep": self.keep,
            "in_order": self.in_order,
            "max_ahead": self.max_ahead,
            "limits": (self.limits.matches, self.limits.state),
        }

    def with_tables(self, changed: Mapping[str, Sequence[tuple[Any, ...]]]) -> Settings:
        """The settings with other rows in some tables."""
        names = dict.fromkeys((*self.changed, *changed))
        return replace(self, tables={**self.tables, **changed}, changed=tuple(names))

    def with_facts(self, before: typed.Program, after: typed.Program) -> Settings:
        """The settings when rules change: facts that are new count for tables that have changed, too."""
        tables = {}
        for name in self.changed:
            known = set(before.predicates[name].facts)
            tables[name] = [*self.tables[name], *(row for row in after.predicates[name].facts if row not in known)]
        return self.with_tables(tables)

    @staticmethod
    def restored(state: Mapping[str, Any]) -> Settings:
        limits = Limits(*state.get("limits", ()))
        return Settings(**{**state, "columns": Columns.restored(state["columns"]), "limits": limits})


@dataclass(frozen=True)
class Arrangement:
    """Rules and settings together. `timestamps` is None until the first time decides the kind of times."""

    program: Rules
    settings: Settings
    actions: Mapping[str, Action] | None
    timestamps: bool | None = None
    timezone: str | None = None

    @cached_property
    def _kept(self) -> Rules:
        keep = self.settings.keep
        return self.program if keep is None else self.program.keeping(keep)

    @cached_property
    def rules(self) -> typed.Program:
        rules = self._kept.typed_for_timestamps if self.timestamps else self._kept.typed
        changed = {name: replace(rules.predicates[name], facts=()) for name in self.settings.changed}
        return replace(rules, predicates={**rules.predicates, **changed}) if changed else rules

    @cached_property
    def wanted(self) -> list[str]:
        """The derived types that are given back."""
        wanted = picked(self.rules, self.settings.emit)
        if self.settings.provenance:
            check_sources(self.rules, (name for name, event in self.rules.events.items() if event.derived))
        return wanted

    @cached_property
    def reading(self) -> Reading:
        used = frozenset(self._kept.read_attributes)
        return Reading(self.rules.events, self.settings.columns, self.timestamps, self.timezone, used)

    @cached_property
    def shown(self) -> Shown:
        return Shown(self.rules.events, bool(self.timestamps), self.timezone, self.settings.provenance)

    @cached_property
    def no_detections(self) -> pa.Table:
        """The one table of all detections, empty. Attributes of one name and several types have none: an error."""
        return combined(self.shown.tables(None, self.wanted))

    @cached_property
    def reactions(self) -> Reactions:
        return Reactions(self.rules, self.actions, self.settings.tables, self.shown)

    @cached_property
    def certain(self) -> frozenset[str]:
        """The types whose detections are emitted before their step is complete; none if order or all sources matter."""
        settings = self.settings
        return frozenset() if settings.in_order or settings.provenance else certain_types(self.rules)

    @cached_property
    def lateness(self) -> int:
        """In the unit of the time column."""
        return length_of(self.settings.lateness, self.program.typed.unit, bool(self.timestamps), "the lateness")

    @cached_property
    def wall_clock(self) -> WallClock | None:
        """The clock that events may be so far ahead of; None if they may be anywhere, or times are not known yet."""
        ahead = self.settings.max_ahead
        if ahead is None or self.timestamps is None:
            return None
        return WallClock.of(ahead, self.program.typed.unit, self.timestamps)

    def run(self, decided: FamilyAssignment | None = None) -> Run:
        """The engine, as it begins; rules keep their states apart where they can be added and removed.

        `decided` assigns the rules that share state.
        """
        self._kept.check_unit(bool(self.timestamps))
        settings = self.settings
        return Run(
            self.rules, settings.tables, provenance=settings.provenance, compiled=settings.compiled,
            emit=self.wanted if settings.fixed else None, instant=settings.columns.time is not None,
            apart=not settings.fixed, decided=decided, limits=settings.limits, background=not settings.fixed,
        )  # fmt: skip
