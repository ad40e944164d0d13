"""The job of one part of a stage: enough to make its session anywhere, as plain data.

Only functions of the user's own are pickled, where there are any.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from ensue.data import Columns, DataError
from ensue.data.errors import listed
from ensue.data.own_functions import read_functions
from ensue.engine import machine
from ensue.engine.limits import OPEN, Limits
from ensue.engine.structures.kernel import kernels
from ensue.language import syntax, typed
from ensue.language.own import OwnFunction
from ensue.language.print import show_meaning
from ensue.language.source import Source
from ensue.live.arrangement import Settings
from ensue.live.change import rules_of
from ensue.live.session import Session
from ensue.partitioning import ByKey, Chained, Stage, chained, stage_program, stages
from ensue.records import dataclass
from ensue.rules import Rules
from ensue.spark.pruning import pruned
from ensue.spark.wire import Wire
from ensue.temporal.instants import with_instants

Types = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
"""Undeclared event types, and the known types of their attributes."""


class StageRules(Rules):
    """The rules of one stage of a program, as a separate program."""

    def __init__(self, whole: Rules, rules: typed.Program) -> None:
        super().__init__(whole.file, rules, (), functions=whole.functions)

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
    """True if each given event has one time."""
    known: Types = ()
    compiled: bool | None = None
    functions: bytes | None = None
    """The user's own functions, pickled."""
    limits: Limits = OPEN

    @property
    def program(self) -> Rules:
        return _program(self.text, self.name, self.known, self.functions)

    @property
    def chained(self) -> Chained:
        """Its rules; those whose keys form a chain are split."""
        return _chained(self)

    @property
    def rules(self) -> typed.Program:
        return self.chained.program

    @property
    def stages(self) -> tuple[Stage, ...]:
        return _stages(self)

    def stage_rules(self, index: int) -> StageRules:
        return _stage_rules(self, index)

    def emitted(self, index: int) -> tuple[str, ...]:
        """The types that a stage derives and that are wanted, or read later on."""
        later = {name for stage in self.stages[index + 1 :] for name in stage.reads}
        return tuple(name for name in self.stages[index].derives if name in self.wanted or name in later)

    def rules_of(self, index: int) -> list[str]:
        """The rules of a stage as they are written, but for blanks; of a part of one also which it is."""
        texts, whole = rules_of(self.program.file), self.chained
        numbers = [(rule, whole.written(rule)) for rule in self.stages[index].rules]
        parts = (None if rule == written else self.rules.rules[rule].event for rule, written in numbers)
        return [
            texts[written] if part is None else f"{part} of {texts[written]}"
            for (_, written), part in zip(numbers, parts, strict=True)
        ]

    def form(self, index: int, wire: Wire, buckets: int) -> str:
        """Checksum of the layout in which a stage keeps events: their columns, and the keys of their buckets."""
        parting, events = self.stages[index].parting, self.rules.events
        by: tuple[object, ...] = ()
        if isinstance(parting, ByKey):  # derived events are not kept
            by = (*parting.kinds, *(item for item in sorted(parting.keys.items()) if not events[item[0]].derived))
        what = (type(parting).__name__, by, wire, buckets, self.known, self.timestamps, self.instants)
        return _digest(repr(what), *self.around)

    @property
    def around(self) -> list[str]:
        """All statements but rules, tests and reactions, on which no state depends; and the signatures of functions."""
        apart = syntax.Test | syntax.Reaction | syntax.EventRule
        signatures = {name: own.signature for name, own in sorted(self.program.functions.items())}
        functions = [f"{signature.shown(name)} -> {signature.result}" for name, signature in signatures.items()]
        return [*(show_meaning(s) for s in self.program.file.statements if not isinstance(s, apart)), *functions]

    def fingerprint(self, index: int, wire: Wire, buckets: int) -> str:
        """Checksum that identifies the state of a stage: its form, and its rules."""
        return _digest(self.form(index, wire, buckets), *self.rules_of(index))

    def session(
        self, index: int, wire: Wire, tables: Mapping[str, Sequence[tuple[Any, ...]]], fixed: bool,
        provenance: bool = False,
    ) -> Session:  # fmt: skip
        """A session for a part of a stage; `fixed` says that its rules never change."""
        time, start, end = ("time", None, None) if wire.instants else (None, "start", "end")
        columns = Columns(time, start, end, "type", "sequence" if wire.sequence else None)
        settings = Settings(
            0, columns, tables, self.emitted(index), provenance, self.compiled, fixed, limits=self.limits
        )
        return Session(self.stage_rules(index), settings)

    def code(
        self, index: int, wire: Wire, tables: Mapping[str, Sequence[tuple[Any, ...]]], fixed: bool,
        provenance: bool = False,
    ) -> machine.Shipment:  # fmt: skip
        """The machine code of such sessions, compiled here for all workers whose machines are of the same kind."""
        if self.compiled is False or not machine.available():
            return machine.NOTHING
        session = self.session(index, wire, tables, fixed, provenance)
        session.begin(self.timestamps, None)
        run = session.progress.run
        units = [] if run is None else [(code.to_compile, machine.QUICK) for code in run.prepared.codes]
        return machine.shipped([*units, *((kernel.to_compile, machine.FULL) for kernel in kernels)])


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def pickled(functions: Mapping[str, OwnFunction]) -> bytes | None:
    """Functions as bytes, for the workers: those that were defined where the program runs go with all they use."""
    if not functions:
        return None
    from pyspark import cloudpickle

    try:
        found: bytes = cloudpickle.dumps({name: own.signature.meaning for name, own in functions.items()})  # type: ignore[no-untyped-call]
    except Exception as error:
        raise DataError(
            f"The functions {listed(functions)} cannot be sent to the workers of Spark: {type(error).__name__}: "
            f"{error}. A function may use only what can be pickled, or what each worker imports for itself."
        ) from error
    return found


@cache
def _program(text: str, name: str, known: Types, functions: bytes | None) -> Rules:
    own = None if functions is None else read_functions(pickle.loads(functions))
    return Rules.checked(Source(text, name), {event: dict(attributes) for event, attributes in known}, own)


@cache
def _chained(job: Job) -> Chained:
    program = job.program
    rules = pruned(program.typed_for_timestamps if job.timestamps else program.typed)
    return chained(with_instants(rules) if job.instants else rules, job.wanted)


@cache
def _stages(job: Job) -> tuple[Stage, ...]:
    return stages(job.rules, job.wanted)


@cache
def _stage_rules(job: Job, index: int) -> StageRules:
    return StageRules(job.program, stage_program(job.rules, job.stages[index]))
