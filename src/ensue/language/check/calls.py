"""Arguments of functions that need more than a type: patterns, time zones, spans of the calendar, and units of time."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ensue import regex
from ensue.language import syntax, typed
from ensue.language.build import MICROSECONDS
from ensue.language.calendar import SPANS, zone_of, zones
from ensue.language.check import lengths
from ensue.language.check.names import Names
from ensue.language.diagnostics import did_you_mean
from ensue.language.functions import Signature
from ensue.language.source import Span
from ensue.language.types import Type


class Calls(Names):
    """Checks such arguments, and writes functions of times for the unit of the program."""

    def check_constants(self, node: syntax.Call, signature: Signature, arguments: Sequence[typed.Expression]) -> bool:
        """Refuse constants that a function makes nothing of; such values from data make the result null."""

        def constant(place: int | None) -> tuple[object, Span] | None:
            if place is None or place >= len(arguments):
                return None
            found, written = arguments[place], node.arguments[place].value
            if not isinstance(found, typed.Constant) or (isinstance(written, syntax.Literal) and written.missing):
                return None
            return found.value, node.arguments[place].span

        match constant(signature.pattern):
            case (str() as pattern, span):
                wrong = regex.problem(pattern)
                if wrong is not None:
                    self.report.error("E208", span, f"the regular expression is wrong: {wrong}", regex.advice(pattern))
                    return False
                return self._check_group(pattern, constant(2))
        match constant(signature.zone):
            case (str() as zone, span) if zone_of(zone) is None:
                hint = did_you_mean(zone, zones()) or 'zones have names as in "Europe/Berlin" and "UTC"'
                message = f"there is no time zone `{zone}`" if zone else "the empty text names no time zone"
                self.report.error("E209", span, message, hint)
                return False
        match constant(signature.span):
            case (str() as word, span) if word.lower() not in SPANS:
                hint = did_you_mean(word, SPANS) or f"known are {', '.join(SPANS)}"
                message = f"the calendar has no span `{word}`" if word else "the empty text names no span"
                self.report.error("E209", span, message, hint)
                return False
        return True

    def _check_group(self, pattern: str, group: tuple[object, Span] | None) -> bool:
        """Refuse a group that a regular expression does not have."""
        count = regex.count_groups(pattern)
        if group is None or not isinstance(group[0], int) or 0 <= group[0] <= count:
            return True
        there = "it has none" if not count else "it has one, 1" if count == 1 else f"it has 1 to {count}"
        self.report.error(
            "E208", group[1], f"the regular expression has no group {group[0]}", f"{there}; 0 is the whole match"
        )
        return False

    def of_times(
        self, name: str, signature: Signature, arguments: Sequence[typed.Expression], type_: Type
    ) -> typed.Expression:
        """A function of times or lengths of time, where an integer counts in the unit of the program."""
        unit = MICROSECONDS[self.declarations.unit] if self.declarations.unit else 1
        if signature.per is not None:
            self.declarations.durations = True  # so that integer times without a unit are refused
            self.declarations.mixed |= lengths.MICROSECONDS in lengths.units_of(arguments[0])
            ratio = Fraction(unit, signature.per)
            length = typed.Operation("/", (arguments[0], typed.Constant(ratio.denominator, "int")), "float")
            factor = typed.Constant(float(ratio.numerator), "float")
            return length if ratio.numerator == 1 else typed.Operation("*", (length, factor), "float")
        place = signature.parameters.index("time")
        time = arguments[place]
        if time.type != "time":
            return typed.Operation(name, tuple(arguments), type_)
        self.declarations.durations = True
        if unit == 1:
            return typed.Operation(name, tuple(arguments), type_)
        size = typed.Constant(unit, "int")
        given = [*arguments]
        given[place] = typed.Operation("*", (time, size), "timestamp")
        if type_ != "time":
            return typed.Operation(name, tuple(given), type_)
        return typed.Operation("//", (typed.Operation(name, tuple(given), "timestamp"), size), "time")
