"""Random expressions of a type, over variables, names of events and constants: every function."""

from dataclasses import dataclass, field

POOLS = {"int": ["k", "k", "m", "n"], "float": ["f", "f", "g"], "string": ["s", "t"], "bool": ["o", "p"], "any": ["j"]}
"""Few names for each type, so that patterns share them."""

CONSTANTS = {
    "int": ["0", "1", "2", "3", "-2"],
    "float": ["0.5", "1.5", "0.0", "-2.5"],
    "string": ['"p"', '"q"', '"Pq"', '""'],
    "bool": ["true", "false"],
    "any": ["0", "1"],
}
LARGE = ["9223372036854775807", "-9223372036854775807", "4611686018427387905"]

FUNCTIONS = {
    "int": [
        "{int} + {int}", "{int} - {int}", "{int} * {int}", "{int} // {int}", "{int} % {int}", "-{int}", "abs({int})",
        "sign({int})", "sign({float})", "mod({int}, {int})", "floor({float})", "ceil({float})", "trunc({float})",
        "int({float})", "int({string})", "length({string})", "round({int}, -1)", "least({int}, {int})",
        "greatest({int}, {int})", "coalesce({int}, {int})", "nullif({int}, {int})", "if_else({bool}, {int}, {int})",
        "hash({any})", "year(timestamp({int} * 86400000000))", "month(timestamp({int} * 86400000000))",
        "day(timestamp({int} * 86400000000))", "weekday(timestamp({int}))", "hour(timestamp({int}))",
        'hour(timestamp({int}), "Asia/Kolkata")', "minute({moment})",
        "int(string({moment} - timestamp({int})))", 'int(string(date_trunc("day", timestamp({int})) - timestamp(0)))',
        "case when {bool} then {int} when {bool} then {int} else {int} end", "case {int} when {int} then {int} end",
    ],
    "float": [
        "{int} / {int}", "{float} / {float}", "{float} + {int}", "{float} - {float}", "{float} * {float}",
        "{float} // {float}", "{float} % {int}", "-{float}", "abs({float})", "round({float})", "round({float}, 1)",
        "sqrt({float})", "exp({float})", "ln({float})", "log10({float})", "power({float}, {int})", "float({int})",
        "float({string})", "least({float}, {int})", "greatest({float}, {float})", "coalesce({float}, {float})",
        "if_else({bool}, {float}, {int})", "case when {bool} then {float} else {int} end",
    ],
    "string": [
        "lower({string})", "upper({string})", "concat({string}, {string})", "concat({string}, string({int}))",
        "left({string}, {int})", "right({string}, {int})", "substring({string}, {int}, {int})", "string({bool})",
        'replace({string}, "p", {string})', "trim({string})", "ltrim({string})", "rtrim({string})",
        "least({string}, {string})", "greatest({string}, {string})", "coalesce({string}, {string})",
        "nullif({string}, {string})", "if_else({bool}, {string}, {string})", "string({float})",
        "split({string}, {string}, {int})", "lpad({string}, {int} % 9, {string})", "rpad({string}, 3)",
        'extract({string}, "(p)|(q)", 1)', "extract({string}, {string})",
        "case {string} when {string} then {string} else {string} end",
    ],
    "bool": [
        "is_null({any})", "is_not_null({any})", "is_nan({float})", "starts_with({string}, {string})",
        "ends_with({string}, {string})", "contains({string}, {string})", 'matches({string}, "^p|q$")',
        "matches({string}, {string})", "not {bool}",
        "({bool} and {bool})", "({bool} or {bool})", "({int} < {int})", "({float} >= {int})", "({string} <= {string})",
        "({int} in ({int}, {int}))", "({int} not in ({int}, null, {float}))", "({string} in ({string}, {string}))",
        "({float} between {int} and {float})", "({string} not between {string} and {string})", "({any} is null)",
        "({any} is not null)", '({string} like "p%")', '({string} not like "_q\\\\%%")', "({string} ilike {string})",
        "({float} in (1, 1.5))", "({int} == {float})", "coalesce({bool}, {bool})", "({string} != {string})",
        "({bool} == {bool})",
    ],
}  # fmt: skip

NEW = ["variance", "median", "quantile 0.3", "quantile 1"]
AGGREGATES = {
    "int": ["count", "sum", "avg", "min", "max", "stddev", "first", "last", "list", *NEW, "count distinct"],
    "float": ["count", "sum", "avg", "min", "max", "stddev", "first", "last", "list", *NEW, "count distinct"],
    "string": ["count", "min", "max", "first", "last", "list", "count distinct", "count distinct"],
    "bool": ["count", "min", "max", "first", "last", "count distinct"],
    "any": ["count", "first", "last", "count distinct"],
}


def aggregated(function, type_):
    """The type of an aggregate over values of a type."""
    known = {"count": "int", "list": "list", "min": type_, "max": type_, "sum": type_, "first": type_, "last": type_}
    return known.get(function.split()[0], "float")


def aggregate_of(function, value):
    """An aggregate as it is written: some have a word before their value, or a number behind it."""
    match function.split():
        case ["count", word]:
            return f"count({word} {value})"
        case [name, fraction]:
            return f"{name}({value}, {fraction})"
    return f"{function}({value})"


@dataclass
class Bound:
    """Names that a pattern binds: variables by type, labels with their attributes; and those that it gathers."""

    variables: dict[str, str] = field(default_factory=dict)
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    gathered: dict[str, str] = field(default_factory=dict)
    gathered_labels: list[str] = field(default_factory=list)
    plain: bool = True
    """True if it can have a context or a policy: nothing in it is repeated, or absent between two others."""

    def join(self, other: "Bound") -> "Bound":
        return Bound(
            {**self.variables, **other.variables},
            {**self.labels, **other.labels},
            {**self.gathered, **other.gathered},
            self.gathered_labels + other.gathered_labels,
            self.plain and other.plain,
        )

    def gather(self, shared: set[str]) -> "Bound":
        """The same, seen from outside a gathering that shares some variables."""
        return Bound(
            {n: t for n, t in self.variables.items() if n in shared},
            {},
            {**self.gathered, **{n: t for n, t in self.variables.items() if n not in shared}},
            self.gathered_labels + list(self.labels),
            self.plain,
        )

    def of(self, type_: str) -> list[str]:
        """Terms of a type: variables, and attributes of named events."""
        found = [name for name, own in self.variables.items() if own == type_]
        for label, attributes in self.labels.items():
            found += [f"{label}.{name}" for name, own in attributes.items() if own == type_]
        if type_ == "int":
            found += [f"({label}.end - {label}.start)" for label in self.labels]
        return found


class Expressions:
    """Draws expressions, for patterns and other parts of rules."""

    def __init__(self, draws, parameters):
        self.draws = draws
        self.parameters = parameters

    def term(self, type_, bound, depth=2):
        """An expression of a type, mostly short."""
        draws = self.draws
        there = bound.of(type_)
        if type_ == "any":
            there = [name for kind in POOLS for name in bound.of(kind)]
            return draws.choice(there) if there else "null"
        if depth > 0 and draws.chance(30):
            return self._computed(type_, bound, depth)
        if there and draws.chance(85):
            return draws.choice(there)
        return draws.choice(LARGE) if type_ == "int" and draws.chance(6) else self.parameters.constant(type_)

    def _computed(self, type_, bound, depth):
        """A function of a type, of terms that are less deep."""
        shape = self.draws.choice(FUNCTIONS[type_])
        while "{moment}" in shape:
            shape = shape.replace("{moment}", self.parameters.moment(), 1)
        for kind in (*POOLS, "any"):
            while f"{{{kind}}}" in shape:
                shape = shape.replace(f"{{{kind}}}", self._operand(kind, bound, depth - 1), 1)
        return shape

    def _operand(self, type_, bound, depth):
        text = self.term(type_, bound, depth)
        return f"({text})" if " " in text or text.startswith("-") else text

    def condition(self, bound):
        """Something that is true or false, or null."""
        draws = self.draws
        numbers = bound.of("int") + bound.of("float")
        kind = draws.number(0, 11)
        if bound.of("string") and draws.chance(30):
            word, strings = draws.choice(["=", "!=", "<", ">="]), bound.of("string")
            one = draws.choice(strings) if draws.chance(50) else f"({self._computed('string', bound, 1)})"
            return f"{one} {word} {draws.choice([*strings, self.parameters.constant('string')])}"
        if kind < 5 and numbers:
            other = draws.choice([*numbers, *(self.parameters.constant(type_) for type_ in ("int", "float"))])
            return f"{draws.choice(numbers)} {draws.choice(['<', '<=', '>', '>=', '=', '!='])} {other}"
        if kind < 6 and bound.of("int"):
            integers = bound.of("int")
            return f"{draws.choice(['', 'not '])}reach({draws.choice(integers)}, {draws.choice([*integers, '3', '_'])})"
        if kind < 8 and bound.labels:
            one, other = draws.choice(sorted(bound.labels)), draws.choice(sorted(bound.labels))
            return f"{one}.start + {draws.number(0, 3)} {draws.choice(['<', '<=', '!='])} {other}.end"
        if kind < 10 and bound.of("bool"):
            return f"{draws.choice(['', 'not '])}{draws.choice(bound.of('bool'))}"
        return self.term("bool", bound) if kind > 7 else "1 < 2"
