"""Random programs from the whole language, and random streams: with ties, overlaps, nulls, and keys that repeat.

A program is built as text, together with what each part of it binds, so that most programs are valid; the few that the
checker refuses (a contradiction in time, say) are left out by the tests. Domains are small, so that things meet.
"""

from dataclasses import dataclass, field

from hypothesis import strategies as st

DECLARATIONS = """
event a(k: int, x: int).
event b(k: int, y: float).
event c(k: int, s: string).
event i(k: int, x: int) instant.
table linked(p: int, q: int).
linked(1, 2). linked(2, 3). linked(0, 0).
reach(p, q) :- linked(p, q).
reach(p, r) :- linked(p, q), reach(q, r).
"""

INPUTS = {"a": ["int", "int"], "b": ["int", "float"], "c": ["int", "string"], "i": ["int", "int"]}
POOLS = {"int": ["k", "m", "n"], "float": ["f", "g"], "string": ["s", "t"]}
CONSTANTS = {"int": ["0", "1", "2"], "float": ["0.5", "1.5"], "string": ['"p"', '"q"']}
RELATIONS = [
    "before", "after", "meets", "met_by", "overlaps", "overlapped_by", "starts", "started_by", "during", "contains",
    "finishes", "finished_by", "equals",
]  # fmt: skip
TOLERANT = {"meets", "met_by", "starts", "started_by", "finishes", "finished_by", "equals"}


@dataclass
class Bound:
    """What a pattern binds: variables by type, names of events; and what it gathers."""

    variables: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str | None] = field(default_factory=dict)
    gathered: dict[str, str] = field(default_factory=dict)
    gathered_labels: list[str] = field(default_factory=list)

    def join(self, other: "Bound") -> "Bound":
        return Bound(
            {**self.variables, **other.variables},
            {**self.labels, **other.labels},
            {**self.gathered, **other.gathered},
            self.gathered_labels + other.gathered_labels,
        )

    def gather(self, shared: set[str]) -> "Bound":
        """The same, seen from outside a gathering that shares some variables."""
        return Bound(
            {n: t for n, t in self.variables.items() if n in shared},
            {},
            {**self.gathered, **{n: t for n, t in self.variables.items() if n not in shared}},
            self.gathered_labels + list(self.labels),
        )


class Writer:
    """Draws one program."""

    def __init__(self, draw):
        self.draw = draw
        self.events = dict(INPUTS)
        self.labels = 0

    def choice(self, options):
        return self.draw(st.sampled_from(options))

    def chance(self, percent):
        return self.draw(st.integers(0, 99)) < percent

    def number(self, low, high):
        return self.draw(st.integers(low, high))

    # --- patterns

    def atom(self, label_chance=30, events=None):
        event = self.choice(events or sorted(self.events))
        bound = Bound()
        terms = []
        for type_ in self.events[event]:
            kind = self.number(0, 9)
            if kind < 6:
                name = self.choice(POOLS[type_])
                bound.variables[name] = type_
                terms.append(name)
            elif kind < 7:
                terms.append(self.choice(CONSTANTS[type_]))
            else:
                terms.append("_")
        text = f"{event}({', '.join(terms)})" if terms else f"{event}()"
        return self.label(text, bound, event, label_chance)

    def label(self, text, bound, event, percent):
        if self.chance(percent):
            self.labels += 1
            name = f"e{self.labels}"
            bound.labels[name] = event
            text = f"{name}: {text}"
        return text, bound

    def operand(self, depth):
        """Something that can stand beside an operator: an atom, or a pattern in parentheses."""
        if depth <= 0 or self.chance(65):
            if self.chance(5):
                return self.choice(["every(3)", "every(5)", "at(4)", "at(9)"]), Bound()
            return self.atom()
        if self.chance(20):
            left, one = self.operand(depth - 1)
            right, other = self.operand(depth - 1)
            both = {n: t for n, t in one.variables.items() if other.variables.get(n) == t}
            self.hidden |= (set(one.variables) | set(other.variables)) - set(both)
            return f"({left} or {right})", Bound(both, {}, {}, [])
        text, bound = self.body(depth - 1, nested=True)
        return self.label(f"({text})", bound, None, 20)

    def relation(self):
        word = self.choice(["seq", "seq", "seq", "and", "and", "par", *RELATIONS])
        if word in RELATIONS and self.chance(40):
            if word in TOLERANT:
                return f"{word}[{self.number(0, 3)}]"
            low, high = sorted((self.number(-1, 5), self.number(0, 8)))
            bound = self.choice([f"{low}..{high}", f"{max(low, 0)}..", f"..{high}", str(high)])
            if word in ("during", "contains") and self.chance(50):
                bound += f", {self.choice(['1..', '..4', '1..5'])}"
            return f"{word}[{bound}]"
        return word

    def context(self, text, word, first):
        """An operand with a context that its place takes."""
        if word == "seq":
            names = ["recent", "chronicle", "continuous", "cumulative"] if first else ["chronicle", "continuous"]
            name = self.choice(names)
            return f"{name} {text}", name if first else "chronicle"
        name = self.choice(["recent", "chronicle", "continuous", "cumulative"])
        second = self.choice(["", "/chronicle", "/continuous"])
        return f"{name}{second} {text}", name

    def pair(self, depth):
        left, one = self.operand(depth)
        word = self.relation()
        right, other = self.operand(depth)
        shared = {n for n in one.variables if n in other.variables}
        if word.split("[")[0] in ("seq", "and", "during", "overlaps") and self.chance(35):
            if self.chance(75):
                left, name = self.context(left, word, True)
                if name == "cumulative":
                    one = one.gather(shared)
            if self.chance(40) or not left.startswith(("recent", "chron", "cont", "cumul")):
                right, name = self.context(right, word, False)
                if name == "cumulative" and word != "seq":
                    other = other.gather(shared)
        return f"{left} {word} {right}", one.join(other)

    def pattern(self, depth):
        kind = self.number(0, 19)
        if kind < 6:
            return self.atom()
        if kind < 14:
            text, bound = self.pair(depth)
            if self.chance(25):
                more, other = self.operand(depth)
                return f"{text} {self.choice(['seq', 'and', 'seq'])} {more}", bound.join(other)
            return text, bound
        if kind < 15:
            first, one = self.atom(0)
            repeated, middle = self.atom(20)
            last, other = self.atom(0)
            times = self.choice(["+", "*", "{1}", "{2}", "{1,3}"])
            around = one.join(other)
            shared = set(middle.variables) & set(around.variables)
            return f"{first} seq {repeated}{times} seq {last}", around.join(middle.gather(shared))
        if kind < 16:
            repeated, inner = self.atom(20)
            return f"{repeated}{{{self.number(1, 3)}}}", inner.gather(set())
        if kind < 18:
            text, bound = self.operand(depth)
            absent, _ = self.atom(0)
            return f"{text} without {absent}", bound
        first, one = self.atom(0)
        last, other = self.atom(0)
        absent, _ = self.atom(0)
        return f"not {absent} in [{first}, {last}]", one.join(other)

    # --- bodies

    def condition(self, bound):
        numbers = [n for n, t in bound.variables.items() if t in ("int", "float")]
        kind = self.number(0, 5)
        if kind < 3 and numbers:
            name = self.choice(numbers)
            other = self.choice([*numbers, "1", "2", "0.5"])
            return f"{name} {self.choice(['<', '<=', '>', '>=', '=', '!='])} {other}"
        if kind < 4 and any(t == "int" for t in bound.variables.values()):
            integers = [n for n, t in bound.variables.items() if t == "int"]
            return f"{self.choice(['', 'not '])}reach({self.choice(integers)}, {self.choice([*integers, '3', '_'])})"
        if kind < 5 and bound.labels:
            one, other = self.choice(sorted(bound.labels)), self.choice(sorted(bound.labels))
            return f"{one}.start + {self.number(0, 3)} {self.choice(['<', '<=', '!='])} {other}.end"
        strings = [n for n, t in bound.variables.items() if t == "string"]
        return f'{self.choice(strings)} = "p"' if strings else "1 < 2"

    def body(self, depth, nested=False):
        items, bound = [], Bound()
        text, bound = self.pattern(depth)
        items.append(text)
        while self.chance(25) and len(items) < 3:
            more, other = self.operand(depth)
            items.append(f"({more})" if more.startswith("not ") else more)
            bound = bound.join(other)
        policy = ""
        if self.chance(12):
            policy = f" policy {self.choice(['snoop_recent', 'snoop_chronicle', 'snoop_continuous', 'restricted'])}"
        plain = not policy.endswith("restricted")
        if plain and self.chance(10):
            integers = [n for n, t in bound.variables.items() if t == "int"]
            if integers:
                items.append(f"linked({self.choice(integers)}, r)")
                bound.variables["r"] = "int"
        labels = sorted(bound.labels)
        if plain and labels and self.chance(35):
            self.labels += 1
            timer = f"w{self.labels}"
            kind = self.choice(["extend", "extend_backward", "shift"])
            items.append(f"{timer}: {kind}({self.choice(labels)}, {self.number(0, 6)})")
            bound.labels[timer] = None
        labels = sorted(bound.labels)
        if plain and len(labels) > 1 and self.chance(25):
            word = self.choice(RELATIONS)
            items.append(f"{self.choice(labels)} {word} {self.choice(labels)}")
        if plain and labels and self.chance(30):
            items.append(f"while {self.choice(labels)}: not {self.inner(bound)[0]}")
        if plain and labels and self.chance(30):
            text, inner = self.inner(bound)
            items.append(f"while {self.choice(labels)}: collect {text}")
            bound = bound.join(inner.gather(set(inner.variables) & set(bound.variables)))
        suffixes = []
        if self.chance(30):
            suffixes.append(f"where {self.condition(bound)}")
        if self.chance(15) and plain:
            suffixes.append(f"on {self.condition(bound)}")
        if self.chance(20):
            suffixes.append(f"within {self.number(3, 12)}")
        if self.chance(4) and plain:
            suffixes.append(f"lasting {self.number(0, 6)}")
        return ", ".join(items) + "".join(f" {suffix}" for suffix in suffixes) + policy, bound

    def inner(self, outer):
        """What is negated or collected: an atom, or a body in parentheses that may use names from outside."""
        text, bound = self.atom(20)
        if self.chance(25):
            condition = self.condition(outer.join(bound))
            return f"({text} where {condition})", bound
        return text, bound

    # --- rules

    def rule(self, number):
        self.hidden = set()
        name = f"d{number}"
        kind = self.number(0, 99)
        if kind < 12:
            return self.window(name)
        if kind < 24:
            return self.recursive(name)
        body, bound = self.body(2)
        terms = self.head(bound)
        beginning = f" from {self.choice(sorted(bound.labels))}" if bound.labels and self.chance(10) else ""
        self.events[name] = [type_ for _, type_ in terms]
        return f"{name}({', '.join(f't{i} = {t}' for i, (t, _) in enumerate(terms))}){beginning} <- {body}."

    def head(self, bound):
        terms = [(n, t) for n, t in sorted(bound.variables.items()) if n not in self.hidden and self.chance(70)][:3]
        for name, type_ in sorted(bound.gathered.items()):
            if name not in bound.variables and name not in self.hidden and self.chance(60) and len(terms) < 4:
                function = self.choice(
                    ["count", "min", "max", "first", "last", *(["sum", "avg"] if type_ != "string" else [])]
                )
                result = {"count": "int", "avg": "float"}.get(function, type_)
                terms.append((f"{function}({name})", result))
        for label in bound.gathered_labels[:1]:
            terms.append((f"count({label})", "int"))
        return terms

    def window(self, name):
        text, bound = self.atom(0)
        kind = self.choice(["last 2", "last 3", "each 4", "since", "last 3", "last 4s"])
        if kind == "since":
            first, other = self.atom(0)
            kind = f"since {first}"
            del other
        keys = sorted(bound.variables)
        group = keys[:1] if keys and self.chance(60) else []
        terms = [(n, bound.variables[n]) for n in group]
        for variable in keys[len(group) :]:
            function = self.choice(["count", "min", "max", "last", "first"])
            terms.append((f"{function}({variable})", "int" if function == "count" else bound.variables[variable]))
        self.events[name] = [type_ for _, type_ in terms]
        heads = ", ".join(f"t{i} = {t}" for i, (t, _) in enumerate(terms))
        return f"{name}({heads}) <- while {kind}: collect {text}."

    def recursive(self, name):
        base, bound = self.atom(0, events=["a", "i"])
        integers = [n for n, t in bound.variables.items() if t == "int"]
        start = self.choice(integers) if integers else "0"
        event = self.choice(["a", "i"])
        self.events[name] = ["int"]
        context = self.choice(["", "recent ", "chronicle ", "continuous "])
        shape = self.choice(["seq", "not", "timer", "within"])
        first = f"{name}(t0 = {start}) <- {base}."
        if shape == "seq":
            return f"{first} {name}(t0 = u + v) <- {context}{name}(u) seq {event}(_, v) where u < 20."
        if shape == "not":
            return f"{first} {name}(t0 = u + 1) <- not {event}(_, _) in [{name}(u), {event}(_, _)] where u < 9."
        if shape == "timer":
            return f"{first} {name}(t0 = u + 1) from w <- e: {name}(u), w: shift(e, {self.number(2, 5)}) where u < 9."
        return f"{first} {name}(t0 = v) <- {context}{name}(u) seq {event}(u, v) within {self.number(3, 9)}."


@st.composite
def programs(draw, most_rules=3):
    writer = Writer(draw)
    rules = [writer.rule(number) for number in range(draw(st.integers(1, most_rules)))]
    return "unit s." + DECLARATIONS + "\n".join(rules)


VALUES = {
    "int": st.sampled_from([None, 0, 1, 1, 2, 2, 3]),
    "float": st.sampled_from([None, 0.5, 1.0, 2.5]),
    "string": st.sampled_from([None, "p", "p", "q"]),
}
NAMES = {"a": ["k", "x"], "b": ["k", "y"], "c": ["k", "s"], "i": ["k", "x"]}


@st.composite
def streams(draw, most_events=14):
    events = []
    for _ in range(draw(st.integers(0, most_events))):
        type_ = draw(st.sampled_from(["a", "a", "b", "c", "i"]))
        start = draw(st.integers(0, 12))
        end = start if type_ == "i" else start + draw(st.sampled_from([0, 0, 0, 1, 2, 5]))
        row = {"type": type_, "start": start, "end": end}
        for name, kind in zip(NAMES[type_], INPUTS[type_], strict=True):
            row[name] = draw(VALUES[kind])
        events.append(row)
    return events
