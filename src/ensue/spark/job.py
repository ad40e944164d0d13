"""What runs in one part of a stage: enough to make its session anywhere, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from ensue.data import Columns
from ensue.language import typed
from ensue.language.source import Source
from ensue.live.arrangement import Settings
from ensue.moments import Length
from ensue.partitioning import Stage, stage_program, stages
from ensue.program import Program, compiled
from ensue.session import Session
from ensue.spark.pruning import pruned
from ensue.spark.wire import Wire
from ensue.temporal.instants import with_instants

Types = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
"""Event types that are not declared, and what is known of their attributes."""


class StageRules(Program):
    """The rules of one stage of a program, as a program of their own."""

    def __init__(self, whole: Program, rules: typed.Program) -> None:
        super().__init__(whole.file, rules, ())

    @cached_property
    def typed_for_timestamps(self) -> typed.Program:
        return self.typed


@dataclass(frozen=True)
class Job:
    """A program on events of a certain form: its stages are the same wherever they are worked out."""

    text: str
    name: str
    wanted: tuple[str, ...]
    timestamps: bool
    instants: bool
    """Whether each given event has one time."""
    known: Types = ()
    compiled: bool | None = None

    @property
    def program(self) -> Program:
        return _program(self.text, self.name, self.known)

    @property
    def rules(self) -> typed.Program:
        return _rules(self)

    @property
    def stages(self) -> tuple[Stage, ...]:
        return _stages(self)

    def stage_rules(self, index: int) -> StageRules:
        return _stage_rules(self, index)

    def emitted(self, index: int) -> tuple[str, ...]:
        """The types that a stage derives and that are wanted, or read later on."""
        later = {name for stage in self.stages[index + 1 :] for name in stage.reads}
        return tuple(name for name in self.stages[index].derives if name in self.wanted or name in later)

    def session(
        self, index: int, wire: Wire, tables: Mapping[str, Sequence[tuple[Any, ...]]], lateness: Length = 0
    ) -> Session:
        """A session for a part of a stage."""
        time, start, end = ("time", None, None) if wire.instants else (None, "start", "end")
        columns = Columns(time, start, end, "type", "sequence" if wire.sequence else None)
        settings = Settings(lateness, columns, tables, self.emitted(index), False, self.compiled)
        return Session(self.stage_rules(index), settings)


@cache
def _program(text: str, name: str, known: Types) -> Program:
    return compiled(Source(text, name), {event: dict(attributes) for event, attributes in known})


@cache
def _rules(job: Job) -> typed.Program:
    program = job.program
    rules = pruned(program.typed_for_timestamps if job.timestamps else program.typed)
    return with_instants(rules) if job.instants else rules


@cache
def _stages(job: Job) -> tuple[Stage, ...]:
    return stages(job.rules, job.wanted)


@cache
def _stage_rules(job: Job, index: int) -> StageRules:
    return StageRules(job.program, stage_program(job.rules, job.stages[index]))
