"""Random rules whose events form a chain or a tree of shared variables, with conditions of all kinds between them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

DECLARATIONS = """
event a(k: int, m: int, o: int).
event b(k: int, m: int, o: int).
event c(k: int, m: int, o: int) instant.
event f(k: int, y: float, m: int).
event s(k: int, t: string, m: int).
table linked(p: int, q: int).
linked(0, 1). linked(1, 2). linked(2, 2). linked(0, null).
"""
ATTRIBUTES = {"a": "kmo", "b": "kmo", "c": "kmo", "f": "kym", "s": "ktm", "h": "kmo"}
OPERATORS = [
    *["seq"] * 6, *["and"] * 6, "before[..6]", "before[0..5]", "during", "overlaps", "after", "meets[3]", "par",
]  # fmt: skip
RELATED = ["before", "before[..7]", "before[-2..]", "overlaps", "during", "equals[4]", "starts[2]", "after", "meets"]


class ChainWriter:
    """Writes one program."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.available = ""
        self.types: list[str] = []
        self.fields: list[dict[str, str]] = []
        self.labels: list[str | None] = []
        self.conditions: list[str] = []
        self.variables: list[str] = []

    def chance(self, percent: int) -> bool:
        return self.rng.random() * 100 < percent

    def program(self) -> str:
        derived = "h(k, m, o) <- a(k, m, o) where k >= m.\n" if self.chance(25) else ""
        self.available = "abcfsh" if derived else "abcfs"
        keep = "keep 12.\n" if self.chance(15) else ""
        return f"{DECLARATIONS}{keep}{derived}{self.rule()}\n"

    def rule(self) -> str:
        self.events(self.rng.choice((3, 3, 3, 4, 4, 5)))
        pattern = self.pattern([self.atom(place) for place in range(len(self.types))])
        items, suffixes, head, start = [pattern], [], [], ""
        named = [label for label in self.labels if label is not None]
        for _ in range(self.rng.choice((0, 0, 1, 2))):
            if len(named) > 1:
                one, other = self.rng.sample(named, 2)
                items.append(f"{one} {self.rng.choice(RELATED)} {other}")
        spans = {label: place for place, label in enumerate(self.labels) if label is not None}
        if named and self.chance(35):
            timer = self.rng.choice(("extend", "extend", "extend_backward", "shift"))
            base = self.rng.choice(named)
            items.append(f"w: {timer}({base}, {self.rng.randint(1, 8)})")
            spans["w"] = spans[base]
        known = self.variables
        for _ in range(self.rng.choice((0, 0, 0, 1, 1, 2)) if spans else 0):
            inner = f"{self.rng.choice('abc')}({', '.join(self.rng.choice((*known, '_')) for _ in range(3))})"
            span = self.rng.choice(sorted(spans))
            if self.chance(50):
                inner = self.beside(spans[span])
            if named and self.chance(15):
                inner = f"(z: {inner} where z.k >= {self.rng.choice(named)}.k)"
            if self.chance(20) and "number = count(z)" not in head:
                items.append(f"while {span}: collect {inner if inner[0] == '(' else f'z: {inner}'}")
                head.append("number = count(z)")
            else:
                items.append(f"while {span}: not {inner}")
        if self.chance(15) and known:
            items.append(f"linked({self.rng.choice(known)}, {self.rng.choice((*known, 'z9'))})")
        for _ in range(self.rng.choice((0, 0, 1, 1, 2))):
            self.conditions += self.condition(named, known)
        if self.conditions:
            suffixes.append(f"where {' and '.join(self.conditions)}")
        if self.chance(50):
            suffixes.append(f"within {self.rng.randint(4, 20)}")
        elif self.chance(8):
            suffixes.append(f"lasting {self.rng.randint(3, 9)}")
        head += dict.fromkeys(self.rng.sample(known, min(len(known), self.rng.randint(0, 3))))
        if named and self.chance(30):
            head.append(f"at = {self.rng.choice(named)}.{self.rng.choice(('start', 'end'))}")
        if named and self.chance(20):
            head.append(f"own = {self.rng.choice(named)}.k")
        if named and self.chance(12):
            start = f" from {self.rng.choice(named)}"
        return f"d({', '.join(head)}){start} <- {', '.join(items)} {' '.join(filter(None, suffixes))}."

    def events(self, count: int) -> None:
        """Events each of which shares a variable with an earlier one, or an attribute that a condition compares."""
        for place in range(count):
            type_ = self.rng.choice(self.available)
            own = _integers(type_)
            self.types.append(type_)
            self.labels.append(f"e{place}" if self.chance(65) else None)
            fields: dict[str, str] = {}
            if place:
                other = place - 1 if self.chance(75) else self.rng.randrange(place)
                mine = own.pop(self.rng.randrange(len(own)))
                theirs = self.rng.choice(_integers(self.types[other]))
                if self.chance(15):
                    self.labels[place], self.labels[other] = f"e{place}", f"e{other}"
                    self.conditions.append(f"e{place}.{mine} = e{other}.{theirs}")
                else:
                    variable = self.fields[other].setdefault(theirs, f"v{place}")
                    fields[mine] = variable
                    self.variables.append(variable)
            if own and self.chance(50):
                fields[own[0]] = f"x{place}"
                self.variables.append(f"x{place}")
            self.fields.append(fields)

    def beside(self, place: int) -> str:
        """An event that shares variables with another one alone."""
        own = list(self.fields[place].values())
        return f"{self.rng.choice('abc')}({', '.join(self.rng.choice((*own, '_')) for _ in range(3))})"

    def atom(self, place: int) -> str:
        type_ = self.types[place]
        terms = [self.fields[place].get(name, "_") for name in ATTRIBUTES[type_]]
        label = "" if self.labels[place] is None else f"{self.labels[place]}: "
        return f"{label}{type_}({', '.join(terms)})"

    def pattern(self, atoms: list[str]) -> str:
        if self.chance(25):
            self.rng.shuffle(atoms)
        while len(atoms) > 1:
            at = self.rng.randrange(len(atoms) - 1) if self.chance(30) else 0
            both = f"{atoms[at]} {self.rng.choice(OPERATORS)} {atoms[at + 1]}"
            if len(atoms) > 2:
                suffix = f" within {self.rng.randint(4, 12)}" if self.chance(10) else ""
                both = f"({both}{suffix})"
            atoms[at : at + 2] = [both]
        return atoms[0]

    def condition(self, named: list[str], known: list[str]) -> Iterator[str]:
        kinds = ["values"] * 2 + ["times"] * 3 + ["lengths"] if named else ["values"]
        match self.rng.choice(kinds):
            case "values" if len(known) > 1:
                one, other = self.rng.sample(known, 2)
                yield f"{one} {self.rng.choice(('<', '<=', '!='))} {other}"
            case "times" if len(named) > 1:
                one, other = (f"{label}.{self.rng.choice(('start', 'end'))}" for label in self.rng.sample(named, 2))
                yield f"{one} {self.rng.choice(('<', '<=', '!='))} {other}"
            case "lengths" if named:
                one, other = (self.rng.choice(named) for _ in range(2))
                yield f"{one}.end - {other}.start {self.rng.choice(('<', '>'))} {self.rng.randint(-2, 9)}"


def _integers(type_: str) -> list[str]:
    return [name for name in ATTRIBUTES[type_] if name in "kmo"]


def chain_program(rng: Random) -> str:
    """The text of a random program with a rule whose events form a chain or a tree."""
    return ChainWriter(rng).program()


def chain_rows(rng: Random, text: str) -> list[tuple[str, dict[str, object], int, int, object]]:
    """Events close together, with few values, nulls among them; where a program has many types there are more."""
    rule = text.rsplit("\nd(", 1)[1].replace("h(", "a(")
    types = [name for name in "abcfs" if re.search(rf"\b{name}\(", rule)]
    rows = []
    for _ in range(rng.randint(10, 36)):
        type_ = rng.choice(types)
        start = rng.randint(0, 14)
        end = start if type_ == "c" else start + rng.choice((0, 0, 1, 2, 4, 7))
        values = {"y": [0.0, -0.0, 1.0, None], "t": ["p", "q", None]}
        held = {name: rng.choice(values.get(name, [0, 1, 1, 1, 1, 1, 2, None])) for name in ATTRIBUTES[type_]}
        rows.append((type_, held, start, end, None))
    return rows
