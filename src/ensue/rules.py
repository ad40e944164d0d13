"""Checked rules: a text, its tree, its typed program, and the properties that are known without events.

Every execution takes them; `ensue.program` has the public functions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ensue.data.columns import TOGETHER, USUAL, Columns
from ensue.data.errors import DataError, shortened
from ensue.data.errors import did_you_mean as nearest
from ensue.data.moments import Length, Moment, moment_of, written_length
from ensue.data.parameters import written_values
from ensue.data.spark_frames import collected
from ensue.language import syntax, typed
from ensue.language.about import RuleInfo, info_of
from ensue.language.check.declarations import Known
from ensue.language.diagnostics import Diagnostic, Report, RuleError, Severity, did_you_mean
from ensue.language.nodes import nodes
from ensue.language.own import OwnFunction
from ensue.language.parse import parse
from ensue.language.plain import plain_lengths
from ensue.language.print import show
from ensue.language.source import Source
from ensue.language.used import read_attributes
from ensue.language.walk import atoms
from ensue.plan.notes import note
from ensue.temporal.check import check

if TYPE_CHECKING:
    import pyarrow as pa

    from ensue.data import Events

ASKING = typed.Holds | typed.Lookup | typed.StaticLiteral
"""Nodes that look up rows of a table."""

PLAIN = frozenset(("string", "int", "float", "bool"))
"""Types of columns whose values rules hold as Python has them."""


BYTE_ORDER_MARK = "\ufeff"
"""Some programs write it at the beginning of a text; it is no part of one."""


def source_of(rules: str | Path, name: str | None) -> Source:
    """The text of rules: a text, or that of a file."""
    if isinstance(rules, Path) or (isinstance(rules, str) and "\n" not in rules and rules.endswith(".ensue")):
        path = Path(rules)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise DataError(f"There is no rule file {str(path)!r}.") from None
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"The rule file {str(path)!r} cannot be read: {error}.") from None
        return Source(text, name or str(path))
    if not isinstance(rules, str):
        raise TypeError(f"rules are a text or a path, not {type(rules).__name__}")
    return Source(rules.removeprefix(BYTE_ORDER_MARK), name or "<rules>")


class Rules:
    """Rules that have been checked and can be run."""

    def __init__(
        self, file: syntax.File, program: typed.Program, diagnostics: Iterable[Diagnostic], known: Known | None = None,
        functions: Mapping[str, OwnFunction] | None = None,
    ) -> None:  # fmt: skip
        self.file = file
        self.typed = program
        self.functions = functions or {}
        self._known = known
        self._keeping: dict[str, Self] = {}
        self._knowing: dict[str, Self] = {}
        self.warnings = tuple(d for d in diagnostics if d.severity is Severity.WARNING)

    @classmethod
    def checked(
        cls, source: Source, known: Known | None = None, functions: Mapping[str, OwnFunction] | None = None
    ) -> Self:
        """The rules of a text. `known` are types of attributes of events that are not declared, by event.

        Tests are left out then: theirs may have other values.
        """
        report = Report(source)
        file = parse(source, report)
        if known:
            file = replace(file, statements=tuple(s for s in file.statements if not isinstance(s, syntax.Test)))
        program = check(file, report, known, functions)
        if report.failed:
            raise RuleError(report.sorted())
        return cls(file, program, report.sorted(), known, functions)

    def rewritten(self, text: str, known: Known | None = None) -> Self:
        """For other parts of ensue: other rules in the place of these."""
        return type(self).checked(Source(text, self.file.source.name), known, self.functions)

    def __repr__(self) -> str:
        derived = ", ".join(name for name, event in self.typed.events.items() if event.derived)
        source, count = self.file.source.name, len(self.typed.rules)
        return f"<ensue.{type(self).__name__} {source}: {count} rules for {derived or 'nothing'}>"

    def _repr_html_(self) -> str:
        """The rules in a notebook: the events that they take and derive, their text, and warnings."""
        from ensue.markup import box, code, folded, table

        program, source = self.typed, self.file.source
        rules = Counter(rule.event for rule in program.rules)
        rows = [
            (
                f"{event.name}({', '.join(f'{name}: {type_}' for name, type_ in event.attributes.items())})",
                counted_rules(rules[event.name]) if event.derived else "given",
            )
            for event in sorted(program.events.values(), key=lambda event: not event.derived)
        ]
        warned = "\n".join(map(str, self.warnings))
        return box(
            f"{source.name}: {counted_rules(len(program.rules))}",
            table(("event", "from"), rows),
            folded("Rules", code(source.text.strip())),
            folded(f"Warnings: {len(self.warnings)}", code(warned)) if warned else "",
        )

    @cached_property
    def notes(self) -> tuple[Diagnostic, ...]:
        """Notes on the rules, about effects that you may or may not want.

        They name rules that keep something for ever, rules that the longest lifetime may change, windows that leave
        their ends out, and counts of events that may have been merged.
        """
        report = Report(self.file.source)
        note(self.typed, report)
        return report.sorted()

    def keeping(self, keep: Length) -> Self:
        """The same rules with a longest lifetime (``keep 7d.``), instead of one that they state.

        It is a number in the unit of the time column, a duration such as ``"7d"``, or a timedelta.

        >>> import ensue
        >>> program = ensue.compile("event a(k: int). event b(k: int).  ab(k) <- a(k) seq b(k).")
        >>> events = [{"type": "a", "time": 1, "k": 5}, {"type": "b", "time": 9, "k": 5}]
        >>> program.keeping(8).detect(events), program.keeping(7).detect(events)
        ([{'type': 'ab', 'start': 1, 'end': 9, 'k': 5}], [])
        """
        written = written_length(keep, "`keep`")
        if written not in self._keeping:
            source = self.file.source
            text = source.text
            for statement in self.file.statements:
                if isinstance(statement, syntax.Keep):
                    start, end = statement.span
                    text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
            self._keeping[written] = self.rewritten(f"{text}\nkeep {written}.\n", self._known)
        return self._keeping[written]

    def with_params(self, params: Mapping[str, Any], *, texts: bool = False) -> Self:
        """The same rules with values for their parameters, instead of those that they state.

        With `texts` values are read from text, as on a command line.

        >>> import ensue
        >>> program = ensue.compile("param limit: int.  event a(x: int).  high(x) <- a(x) where x > limit.")
        >>> program.with_params({"limit": 3}).detect([{"type": "a", "time": 1, "x": 4}])
        [{'type': 'high', 'start': 1, 'end': 1, 'x': 4}]
        """
        written = written_values(params, self.typed.parameters, texts)
        if not written:
            return self
        try:
            return self._stating(written)
        except RuleError as error:
            raise DataError(self._refused(params, written, error)) from None

    def _stating(self, written: Mapping[str, str]) -> Self:
        """The same rules with other values of parameters, as rules write them."""
        text = self.file.source.text
        for statement in reversed(self.file.statements):
            if isinstance(statement, syntax.ParameterDeclaration) and statement.name.text in written:
                start, end = statement.span
                value = written[statement.name.text]
                lines = "\n" * text.count("\n", start, end)  # so that messages name the same lines
                stated = f"param {show(statement.name)}: {show(statement.type)} = {value}."
                text = f"{text[:start]}{lines}{stated}{text[end:]}"
        return self.rewritten(text, self._known)

    def _refused(self, params: Mapping[str, Any], written: Mapping[str, str], error: RuleError) -> str:
        """Message on values that the rules cannot have: those that are wrong alone, else all of them together."""
        found: dict[str, RuleError] = {}
        for name, value in written.items():
            try:
                self._stating({name: value})
            except RuleError as alone:
                found[name] = alone
        if not found:
            given = " and ".join(f"{name!r} = {shortened(params[name])}" for name in written)
            return f"The parameters {given} do not fit the rules together: {_wrong_with(error)}"
        return " ".join(
            f"The parameter {name!r} cannot be {shortened(params[name])}: {_wrong_with(alone)}"
            for name, alone in found.items()
        )

    @property
    def rules(self) -> tuple[RuleInfo, ...]:
        """The event rules: name, event, title, and further description of each.

        >>> import ensue
        >>> text = 'rule late "Not shipped" [severity = "high"]: overdue(id) <- o: order(id), w: extend(o, 6).'
        >>> (late,) = ensue.compile("event order(id: int).  " + text).rules
        >>> late.name, late.event, late.title, late.about
        ('late', 'overdue', 'Not shipped', {'severity': 'high'})
        """
        return tuple(map(info_of, self.typed.rules))

    def suppressed_by_name(self, suppressed: Mapping[int, int]) -> dict[str, int]:
        """For other parts of ensue: how many events rules did not keep, by their labels, or else their events."""
        found: dict[str, int] = {}
        for number, rule in enumerate(self.typed.rules):
            if rule.quiet is not None:
                name = rule.label or rule.event
                found[name] = found.get(name, 0) + suppressed.get(number, 0)
        return found

    @property
    def params(self) -> dict[str, Any]:
        """The values of the parameters, by name; None for one that must be given. A length is as rules write it."""
        return {
            each.name: each.value.value if isinstance(each.value, syntax.Literal) else each.value and show(each.value)
            for each in self.typed.parameters
        }

    def check_parameters(self) -> None:
        """For other parts of ensue: nothing can be run while a parameter has no value."""
        missing = self.typed.missing
        if missing:
            names = " and ".join(f"{each.name!r} ({each.type})" for each in missing)
            first = missing[0].name
            raise DataError(
                f"The rules need a value for the parameter{'s' if len(missing) > 1 else ''} {names}: pass it, "
                f'`params={{"{first}": …}}` or `--param {first}=…`, or state one in the rules, `param {first}: '
                f"{missing[0].type} = ….`"
            )

    @cached_property
    def typed_for_timestamps(self) -> typed.Program:
        """The program on timestamps, whose unit is the microsecond whatever unit is stated for integers."""
        if self.typed.unit is None:
            return self.typed
        kept = tuple(s for s in self.file.statements if not isinstance(s, syntax.Unit | syntax.Test))
        report = Report(self.file.source)
        program = check(replace(self.file, statements=kept), report, self._known, self.functions)
        if report.failed:  # a length that is too large in microseconds
            raise RuleError(report.sorted())
        return program

    def knowing(self, schemas: Mapping[str, pa.Schema]) -> Self:
        """For other parts of ensue: the rules with the types of undeclared events, from schemas by type.

        So values and detections have known types. A timestamp without a zone is returned unchanged.
        """
        import pyarrow as pa

        from ensue.data.infer import inferred_type

        known: dict[str, dict[str, str]] = {}
        for name, event in self.typed.events.items():
            if name in schemas and not event.declared and not event.derived:
                fields = {field.name: field.type for field in schemas[name]}
                types = {a: inferred_type(fields[a]) for a in event.attributes if a in fields}
                naive = {a for a, type_ in fields.items() if pa.types.is_timestamp(type_) and type_.tz is None}
                known[name] = {
                    attribute: type_
                    for attribute, type_ in types.items()
                    if type_ not in ("carried", "text") and attribute not in naive
                }
        if not any(known.values()):
            return self
        key = repr(known)
        if key not in self._knowing:
            try:
                self._knowing[key] = self.rewritten(self.file.source.text, known)
            except RuleError:  # with other events it would be right
                self._knowing[key] = self
        return self._knowing[key]

    def check_unit(self, timestamps: bool) -> None:
        """For other parts of ensue: raise an error if lengths have units and integer times have no stated unit."""
        if self.typed.durations and self.typed.unit is None and not timestamps:
            raise DataError(
                "The rules write lengths of time with units, or ask for parts of times, but the times of these events "
                "are plain integers. State what one of them is, as in `unit s.`, at the top of the rules; or, if they "
                'count from 1970, read them with time_unit="ms" (--time-unit ms on the command line).'
            )
        if self.typed.mixed and self.typed.unit != "us" and not timestamps:
            raise DataError(
                "The rules relate timestamps to times of events or to lengths with units, but the times of these "
                'events are plain integers. Have them read as timestamps: `time_unit="s"`, or `--time-unit s`, for '
                "seconds since 1970."
            )

    def empty_attributes(self, read: Events) -> list[str]:
        """For other parts of ensue: a sentence for each attribute that the rules use and that no row has.

        Its column may be called otherwise.
        """
        from ensue.data import attributes_of

        used = self.used_attributes
        return [
            no_value(event, name)
            for event, table in read.tables.items()
            for name, column in attributes_of(table).items()
            if (event, name) in used and table.num_rows and column.null_count == table.num_rows
        ]

    @cached_property
    def used_attributes(self) -> set[tuple[str, str]]:
        """For other parts of ensue: the attributes that rules use, each with its event."""
        fields = {(a.event, name) for rule in self.typed.rules for a in atoms(rule.body) for name, _ in a.fields}
        return fields | self.read_attributes

    @cached_property
    def attributes_by_event(self) -> dict[str, dict[str, str]]:
        """For other parts of ensue: the attributes of all events, with their types."""
        return {name: dict(event.attributes) for name, event in self.typed.events.items()}

    @cached_property
    def attribute_names(self) -> set[str]:
        return {name for attributes in self.attributes_by_event.values() for name in attributes}

    @cached_property
    def declared_attributes(self) -> dict[str, dict[str, str]]:
        """For other parts of ensue: the attributes of events that are declared or derived."""
        return {n: dict(e.attributes) for n, e in self.typed.events.items() if e.declared or e.derived}

    @cached_property
    def all_declared(self) -> bool:
        """For other parts of ensue: True where the types of all attributes are known without events."""
        return len(self.declared_attributes) == len(self.typed.events)

    @cached_property
    def read_attributes(self) -> set[tuple[str, str]]:
        """For other parts of ensue: attributes whose values decide something, or are passed on."""
        return read_attributes(self.typed)

    @cached_property
    def fingerprint(self) -> bytes:
        """For other parts of ensue: a hash of the rules, by which a saved state knows its program."""
        from ensue.engine.state import fingerprint

        return fingerprint(self.file)

    def unused_types(self, names: Iterable[str]) -> list[str]:
        """For other parts of ensue: a sentence for each type that the rules do not use, which is likely a slip.

        Rows of such a type still count for how far time runs.
        """
        hints = {name: did_you_mean(name, self.typed.events) for name in names if name not in self.typed.events}
        return [f"The rules use no event {name!r}{f'; {hint}' if hint else '.'}" for name, hint in hints.items()]

    def plain_lengths(self, timestamps: bool) -> list[str]:
        """For other parts of ensue: a sentence if rules without a unit write plain lengths, and times are timestamps.

        Such a length counts microseconds, which is hardly ever meant.
        """
        if not timestamps or self.typed.unit is not None:
            return []
        written, number = next(plain_lengths(self.file.statements), (None, 0))
        if written is None:
            return []
        return [
            f"`{written}` means {number} microsecond{'s' if number > 1 else ''} here, because the times are "
            f"timestamps; write a unit, as in `{number}s`."
        ]

    def unused_columns(self, columns: Columns) -> list[str]:
        """For other parts of ensue: a sentence for each column that is given a name that the rules do not use."""
        used = {*self.attribute_names, *USUAL}
        used |= {part.strip() for name in columns.outside for part in (name, *name.split(TOGETHER))}
        used |= {name[:at] for name in used for at, sign in enumerate(name) if sign == "."}
        return [
            f"The rules use no attribute {name!r}, as which columns= (--column) reads the column {source!r}."
            f"{nearest(str(name), self.attribute_names)}"
            for name, source in columns.renamed
            if name not in used
        ]

    def missing_tables(self, tables: Mapping[str, Any] | None) -> list[str]:
        """For other parts of ensue: a sentence for each table that rules use, and that was not passed.

        Tables with facts or static rules are left out, and those that were passed without a row.
        """
        program = self.typed
        if not any(predicate.declared for predicate in program.predicates.values()):
            return []
        asked = [*program.rules, *program.reactions, *program.static_rules]
        used = {node.predicate for node in nodes(tuple(asked)) if isinstance(node, ASKING)}
        derived = {rule.predicate for rule in program.static_rules}
        return [
            f"The rules use the table {name!r}, which was not passed, so it has no rows. Pass it: "
            f'`tables={{"{name}": …}}`, or `--table {name}=FILE`.'
            for name, predicate in program.predicates.items()
            if predicate.declared and name in used - derived and not predicate.facts and name not in (tables or {})
        ]

    def rows_of_tables(self, tables: Mapping[str, Any] | None) -> dict[str, list[tuple[Any, ...]]]:
        """For other parts of ensue: rows of declared tables in any form, as rules hold them."""
        if tables is not None and not isinstance(tables, Mapping):
            raise DataError(f"`tables` is {shortened(tables)}; pass a dict of tables by name.")
        return {name: self.static_rows(name, source) for name, source in (tables or {}).items()}

    def declared_table(self, name: str) -> typed.Predicate:
        """For other parts of ensue: a table that the rules declare; `DataError` if there is none of that name."""
        predicate = self.typed.predicates.get(name)
        if predicate is None or not predicate.declared:
            known = [n for n, p in self.typed.predicates.items() if p.declared]
            raise DataError(
                f"The rules declare no table {name!r}; declared are: {', '.join(known) or 'none'}."
                f"{nearest(str(name), known)}"
            )
        return predicate

    def static_rows(self, name: str, source: Any) -> list[tuple[Any, ...]]:
        """For other parts of ensue: the rows of one of them."""
        from ensue.data import read_table

        predicate = self.declared_table(name)
        read = read_table(collected(source), dict(predicate.columns), name)
        plain = PLAIN.issuperset(predicate.columns.values())
        return read if plain else [tuple(map(_static_value, row)) for row in read]

    def time_of(self, moment: Moment | None, timestamps: bool) -> int | None:
        """For other parts of ensue: a moment in the time column's unit."""
        return None if moment is None else moment_of(moment, self.typed.unit, timestamps)


def counted_rules(count: int) -> str:
    return f"{count} rule{'' if count == 1 else 's'}"


def no_value(event: str, attribute: str) -> str:
    """The message about an attribute that the rules use and that no row has."""
    return f"No row of {event!r} has a value for {attribute!r}, which the rules use. Is its column called that?"


def _static_value(value: Any) -> Any:
    """A value of a static table as rules hold it: timestamps are microseconds since 1970."""
    if isinstance(value, datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
        return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return value


def _wrong_with(error: RuleError) -> str:
    """The first error that a value makes in rules, with the line of the rules that it is in."""
    first = next(each for each in error.diagnostics if each.severity is Severity.ERROR)
    hint = f" ({first.hint})" if first.hint else ""
    return f"{first.message}, in line {first.source.position(first.span.start)[0]} of {first.source.name}{hint}."


def check_program(program: object, name: str) -> None:
    """Refuse an argument that is not a program, such as the text of rules; `name` is the function that needs one."""
    if not isinstance(program, Rules):
        raise TypeError(f"`ensue.{name}` takes a program, not {shortened(program)}: pass `ensue.compile(…)`.")
