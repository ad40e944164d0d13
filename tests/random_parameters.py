"""Random parameters and words about rules.

A parameter stands where a constant would: in expressions, as an argument, as a length of time or a number of events.
All have a default, so that a program can be run as it is; `compiled` hands other values over, and leaves some defaults
out.
"""

import re

from hypothesis import strategies as st

import ensue
from tests.random_expressions import CONSTANTS

DECLARED = re.compile(r"^param (\w+): (\w+) = (.*)\.$", re.MULTILINE)
MOMENTS = ['"1970-01-01T00:00:05Z"', '"2024-02-29T23:59:59.5+05:30"', '"1969-12-31T23:00:00Z"']


class Parameters:
    """The parameters of one program, each declared when it is first drawn."""

    def __init__(self, draws, none=False):
        self.draws = draws
        self.none = none
        """Constants are written as they are."""
        self.declared = []
        """Name, type and default."""

    def constant(self, type_):
        """A constant, or now and then a parameter."""
        value = self.draws.choice(CONSTANTS[type_])
        if type_ == "any" or not self.draws.chance(12):
            return value
        return self._named(type_, value)

    def moment(self):
        """A parameter that is a timestamp."""
        return self._named("timestamp", self.draws.choice(MOMENTS))

    def length(self, low, high):
        """A length of time between two, as a number or as a parameter."""
        value = self.draws.number(low, high)
        if not self.draws.chance(10):
            return str(value)
        kind = self.draws.choice(["duration", "duration", "int"])
        timed = "s" if kind == "duration" and self.draws.chance(50) else ""
        return self._named(kind, f"{value}{timed}")

    def span(self, low, high):
        """A length of time where a plain number would be a number of events."""
        value = self.draws.number(low, high)
        timed = self.draws.choice(["s", ""])
        return self._named("duration", f"{value}{timed}") if self.draws.chance(20) else f"{value}s"

    def number(self, low, high):
        """A number of events, as it is or as a parameter."""
        value = str(self.draws.number(low, high))
        return self._named("int", value) if self.draws.chance(10) else value

    def _named(self, type_, value):
        if self.none:
            return f"timestamp({value})" if type_ == "timestamp" else value
        there = [name for name, *rest in self.declared if rest == [type_, value]]
        if there and self.draws.chance(60):
            return self.draws.choice(there)
        name = f"par_{type_}{len(self.declared)}"
        self.declared.append([name, type_, value])
        return name

    def written(self):
        """The declarations, a line each; some of them use the first as a fact's value."""
        lines = [f"param {name}: {type_} = {value}." for name, type_, value in self.declared]
        numbers = [name for name, type_, _ in self.declared if type_ == "int"]
        if numbers and self.draws.chance(30):
            lines.append(f"linked({self.draws.choice(numbers)}, 3).")
        return "".join(f"{line}\n" for line in lines)

    def about(self, name):
        """A rule's name with a title and more about it; nothing, mostly."""
        if not self.draws.chance(15):
            return ""
        title = self.draws.choice(["", ' "Something: [was] found."', ' ""'])
        settings = ['severity = "high"', 'tags = ("p", "q")', "weight = -2.5", "shown = true", "owner = null"]
        settings += [f"limit = {parameter}" for parameter, type_, _ in self.declared if type_ != "duration"][:1]
        chosen = ", ".join(setting for setting in settings if self.draws.chance(40))
        return f"rule r_{name}{title}{f' [{chosen}]' if chosen else ''}: "


def compiled(draw, text):
    """A program, with other values than it states for some of its parameters. Raises RuleError as `compile` does."""
    values, missing = {}, text
    for name, type_, value in DECLARED.findall(text):
        if draw(st.integers(0, 2)) == 0:
            continue
        values[name] = _other(draw, type_, value)
        if draw(st.booleans()):
            missing = missing.replace(f"param {name}: {type_} = {value}.", f"param {name}: {type_}.")
    if not values:
        return ensue.compile(text)
    try:
        return ensue.compile(missing, params=values)
    except ensue.DataError:  # values that do not fit together, as bounds that leave nothing
        return ensue.compile(text)


def _other(draw, type_, value):
    """Another value of a parameter, as Python has it. Lengths only grow: most that are negative are refused."""
    if type_ in ("duration", "int"):
        new = int(value.rstrip("s")) + draw(st.integers(0, 2))
        return f"{new}s" if value.endswith("s") else new
    if type_ == "timestamp":
        return draw(st.sampled_from(MOMENTS)).strip('"')
    written = draw(st.sampled_from(CONSTANTS[type_]))
    return {"float": float, "bool": "true".__eq__, "string": lambda text: text.strip('"')}[type_](written)
