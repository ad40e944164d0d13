"""Random programs from the whole language.

A program is built as text, together with the names that each part binds, so that most programs are valid; the few that
the checker refuses (a contradiction in time, say) are left out by the tests. Names are few, so that parts share them.
"""

import re

from hypothesis import strategies as st

from ensue.language.walk import atoms
from tests.random_expressions import AGGREGATES, POOLS, Bound, Expressions, aggregate_of, aggregated
from tests.random_parameters import Parameters, compiled
from tests.random_streams import EVENTS, streams

__all__ = ["DECLARATIONS", "compiled", "given_types", "programs", "streams"]

DECLARATIONS = """
event a(k: int, x: int).
event b(k: int, y: float).
event c(k: int, u.s: string).
event i(k: int, x: int) instant.
event h(k: int, x: int).
event v(y: float, o: bool).
table linked(p: int, q: int).
table called(p: int, s: string).
linked(1, 2). linked(2, 3). linked(0, 0). linked(-1, null).
called(0, "p"). called(1, "p"). called(1, "q"). called(2, "Pq").
reach(p, q) :- linked(p, q).
reach(p, r) :- linked(p, q), reach(q, r).
"""

RELATIONS = [
    "before", "after", "meets", "met_by", "overlaps", "overlapped_by", "starts", "started_by", "during", "contains",
    "finishes", "finished_by", "equals",
]  # fmt: skip
TOLERANT = {"meets", "met_by", "starts", "started_by", "finishes", "finished_by", "equals"}
NAMES_OF_FUNCTIONS = ("count", "floor", "lower")
"""Functions, aggregates or not, which derived types are sometimes called like."""
INEXACT = re.compile(r"\b(sum|avg|stddev|variance|median|quantile)\(")
"""Aggregates whose floats may differ in their last digits."""
PAIRED = {"seq", "and", "during", "overlaps", "contains", "finishes", "before", "equals", "meets"}
"""Operators beside which contexts are drawn."""


class Draws:
    """Random choices."""

    def __init__(self, draw):
        self.draw = draw

    def choice(self, options):
        return self.draw(st.sampled_from(options))

    def chance(self, percent):
        return self.draw(st.integers(0, 99)) >= 100 - percent

    def number(self, low, high):
        return self.draw(st.integers(low, high))


class Writer(Draws):
    """Draws one program."""

    def __init__(self, draw, alone=False):
        super().__init__(draw)
        self.parameters = Parameters(self, none=alone)
        self.expressions = Expressions(self, self.parameters)
        self.events = {name: dict(EVENTS[name]) for name in EVENTS}
        self.uses = {name: {name} for name in EVENTS}
        """Types that each type is derived from."""
        self.available = [*sorted(EVENTS), *(["c"] * 4 if self.chance(25) else [])]  # some programs are about strings
        self.labels = 0
        self.parts = []
        """Parts of earlier rules, which later ones may share."""
        self.contexts = True
        self.each = set()
        """Types whose matches are kept apart."""
        self.inexact = False
        """True if some float depends on the order in which it was computed, so that nothing may be grouped by it."""

    def fresh(self, letter):
        self.labels += 1
        return f"{letter}{self.labels}"

    # --- atoms

    def atom(self, label_chance=30, events=None, names=None):
        """An event with arguments. `names` are the only variables that it may use; others are made up."""
        event = self.choice(events or self.available)
        if event == "other" and not self.chance(20):
            event = "a"
        self.used.add(event)
        bound = Bound()
        terms = []
        for attribute, type_ in self.events[event].items():
            kind = self.number(0, 9)
            if type_ == "list" or kind > 8:
                terms.append((attribute, "_"))
            elif kind == 7:
                terms.append((attribute, self.parameters.constant(type_)))
            else:
                name = self.choice(POOLS[type_])
                if name in bound.variables and self.chance(80):
                    name = next(other for other in reversed(POOLS[type_]) if other != name or len(POOLS[type_]) == 1)
                if names is not None and names.get(name) != type_:
                    name = self.fresh("z")
                bound.variables[name] = type_
                terms.append((attribute, name))
        if event == "other" or (terms and self.chance(8)):
            text = ", ".join(f"{attribute}={term}" for attribute, term in terms if term != "_")
        else:
            text = ", ".join(term for _, term in terms)
        return self.label(f"{event}({text})", bound, self.events[event], label_chance)

    def label(self, text, bound, attributes, percent):
        if self.chance(percent):
            name = self.fresh("e")
            bound.labels[name] = {a: t for a, t in attributes.items() if t not in ("list", "any")}
            text = f"{name}: {text}"
        return text, bound

    # --- patterns

    def operand(self, depth):
        """Something that can stand beside an operator: an atom, or a pattern in parentheses."""
        if depth <= 0 or self.chance(65):
            if self.chance(5):
                return f"{self.choice(['every', 'at'])}({self.parameters.length(3, 9)})", Bound()
            return self.atom()
        if self.contexts and self.parts and self.chance(25):
            return self.parts.pop()
        if self.chance(20):
            return self.either(depth)
        text, bound = self.body(depth - 1, nested=True)
        return self.label(f"({text})", bound, {}, 20)

    def either(self, depth):
        """Alternatives. A variable that only one of them binds has a name that nothing else uses."""
        sides = [self.operand(depth - 1) for _ in range(2)]
        both = {n: t for n, t in sides[0][1].variables.items() if sides[1][1].variables.get(n) == t}
        texts = []
        for text, bound in sides:
            for name in [*bound.variables, *bound.gathered]:
                if name not in both:
                    text = re.sub(rf"(?<![\w.\"]){name}\b(?![\"(:=])", self.fresh("z"), text)
            texts.append(text)
        return f"({' or '.join(texts)})", Bound(both, plain=all(bound.plain for _, bound in sides))

    def relation(self):
        word = self.choice(["seq", "seq", "seq", "seq", "and", "and", "and", "par", *RELATIONS])
        if word in RELATIONS and self.chance(40):
            if word in TOLERANT:
                return f"{word}[{self.parameters.length(0, 3)}]"
            low = self.number(-1, 5)
            high = self.parameters.length(max(low, 0), 8)
            bound = self.choice([f"{low}..{high}", f"{max(low, 0)}..", f"..{high}", high])
            if word in ("during", "contains") and self.chance(50):
                bound += f", {self.choice(['1..', '..4', '1..5'])}"
            return f"{word}[{bound}]"
        return word

    def context(self, text, word, first):
        """An operand with a context that its place takes, and its context as an initiator."""
        if word == "seq" or word.startswith("before"):
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
        takes = self.contexts and word.split("[")[0] in PAIRED and not word.startswith("before[")
        if takes and self.chance(40):
            timed = ("every(", "at(")
            where = self.number(0, 2)
            if where < 2 and one.plain and not left.startswith(timed):
                left, name = self.context(left, word, True)
                if name == "cumulative":
                    one = one.gather(shared)
            if where > 0 and other.plain and not right.startswith(timed):
                right, name = self.context(right, word, False)
                if name == "cumulative":
                    other = other.gather(shared)
        return f"{left} {word} {right}", one.join(other)

    def chain(self):
        """Three or four events under one operator, mostly of one key."""
        word = self.choice(["seq", "and", "and", "seq"])
        texts, bound = [], Bound()
        for _ in range(self.number(3, 4)):
            text, own = self.atom(15)
            if word == "seq" and texts and self.contexts and self.chance(15):
                text = f"{self.choice(['chronicle', 'continuous'])} {text}"
            elif word == "seq" and not texts and self.contexts and self.chance(15):
                text = f"{self.choice(['recent', 'chronicle', 'continuous'])} {text}"
            texts.append(text)
            bound = bound.join(own)
        return f" {word} ".join(texts), bound

    def pattern(self, depth, nested):
        kind = self.number(0, 20)
        if kind < 6:
            return self.atom()
        if kind < 13:
            text, bound = self.pair(depth)
            if self.chance(25):
                more, other = self.operand(depth)
                return f"{text} {self.choice(['seq', 'and', 'seq'])} {more}", bound.join(other)
            return text, bound
        if kind < 15:
            return self.chain()
        if kind < 16:
            first, one = self.atom(10)
            last, other = self.atom(10)
            around = one.join(other)
            repeated, middle = self.atom(20, names=around.variables if nested else None)
            times = self.choice(["+", "*", "{1}", "{2}", "{1,3}"])
            shared = set(middle.variables) & set(around.variables)
            bound = around.join(middle.gather(shared))
            bound.plain = False
            return f"{first} seq {repeated}{times} seq {last}", bound
        if kind < 17:
            repeated, inner = self.atom(20, names={} if nested else None)
            bound = inner.gather(set())
            bound.plain = False
            return f"{repeated}{{{self.number(1, 3)}}}", bound
        if kind < 19:
            text, bound = self.operand(depth)
            absent, _ = self.atom(0, names=bound.variables if nested else None)
            return f"{text} without {absent}", bound
        first, one = self.atom(10)
        last, other = self.atom(10)
        bound = one.join(other)
        absent, _ = self.atom(0, names=bound.variables if nested else None)
        bound.plain = False
        return f"not {absent} in [{first}, {last}]", bound

    # --- bodies

    def body(self, depth, nested=False):
        if self.contexts and self.chance(12):
            return self.under_policy(depth, nested)
        text, bound = self.pattern(depth, nested)
        items = [text]
        while self.chance(25) and len(items) < 3:
            more, other = self.operand(depth)
            items.append(f"({more})" if more.startswith("not ") else more)
            bound = bound.join(other)
        return self.with_items(items, bound, nested)

    def with_items(self, items, bound, nested):
        """Add items beside the patterns of a body: tables, timers, relations, absence, collections, suffixes."""
        if self.chance(10) and (integers := [n for n, t in bound.variables.items() if t == "int"]):
            table, type_ = self.choice([("linked", "int"), ("called", "string")])
            name = self.choice(POOLS[type_]) if not nested else self.fresh("z")
            items.append(f"{table}({self.choice(integers)}, {name})")
            if name not in bound.gathered:
                bound.variables[name] = type_
        while bound.labels and self.chance(30):
            timer = self.fresh("w")
            kind = self.choice(["extend", "extend_backward", "shift", "following", "preceding", "extend"])
            items.append(f"{timer}: {kind}({self.choice(sorted(bound.labels))}, {self.parameters.length(0, 6)})")
            bound.labels[timer] = {}
        labels = sorted(bound.labels)
        if len(labels) > 1 and self.chance(20):
            items.append(f"{self.choice(labels)} {self.choice(RELATIONS)} {self.choice(labels)}")
        while labels and self.chance(25):
            items.append(f"while {self.extent(labels)}: not {self.inner(bound, nested)[0]}")
        if labels and self.chance(30):
            text, inner = self.inner(bound, nested)
            items.append(f"while {self.extent(labels)}: collect {text}")
            bound = bound.join(inner.gather(set(inner.variables) & set(bound.variables)))
        if bound.variables and self.chance(12):
            type_, name = self.choice(["int", "int", "float", "string", "bool"]), self.fresh("k")
            term = self.expressions.term(type_, bound)
            items.append(f"{name} = ({term})" if term.startswith("not ") else f"{name} = {term}")
            bound.variables[name] = type_
        suffixes = []
        if self.chance(30):
            suffixes.append(f"where {self.expressions.condition(bound)}")
        if bound.gathered_labels and self.chance(25):
            suffixes.append(f"where count({self.choice(bound.gathered_labels)}) {self.choice(['>', '<='])} 1")
        if self.chance(15):
            suffixes.append(f"on {self.expressions.condition(bound)}")
        if self.chance(25):
            suffixes.append(f"within {self.parameters.length(3, 12)}")
        if self.chance(4):
            suffixes.append(f"lasting {self.parameters.length(0, 6)}")
        return ", ".join(items) + "".join(f" {suffix}" for suffix in suffixes), bound

    def extent(self, labels):
        """A window, with the ends that count."""
        opening, closing = self.choice(["  ", "  ", "[]", "[]", "(]", "[)", "()"])
        return f"{opening}{self.choice(labels)}{closing}".strip()

    def under_policy(self, depth, nested):
        """A body whose pairings all follow one policy; none of them has a context of its own."""
        self.contexts = False
        kind = self.number(0, 9)
        if kind < 2:
            (left, one), (right, other) = self.atom(0), self.atom(20)
            shared = set(one.variables) & set(other.variables)
            text, word = "", self.choice(["seq", "seq", "and"])
            if word == "and":
                other = other.gather(shared)
            text, bound = f"{left} {word} {right} policy snoop_cumulative", one.gather(shared).join(other)
        elif kind < 5:
            text, bound = self.restricted(2)
            suffix = f" where {self.expressions.condition(bound)}" if self.chance(20) else ""
            suffix += f" within {self.parameters.length(2, 9)}" if self.chance(50) else ""
            text = f"{text}{suffix} policy restricted"
        else:
            word = self.choice(["snoop_recent", "snoop_chronicle", "snoop_continuous", "unrestricted"])
            text, bound = self.chain() if self.chance(30) else self.pair(depth)
            if bound.plain or word == "unrestricted":
                text, bound = self.with_items([text], bound, nested)
                text += f" policy {word}"
        self.contexts = True
        bound.plain = bound.plain and not nested
        return text, bound

    def restricted(self, depth):
        if depth == 0 or self.chance(40):
            return self.atom(0)
        kind = self.number(0, 5)
        if kind == 0:
            return self.either_restricted()
        left, one = self.restricted(depth - 1)
        if kind == 1:
            absent, _ = self.atom(0, names=one.variables)
            return f"({left} without {absent})", one
        right, other = self.restricted(depth - 1)
        return f"({left} {self.choice(['seq', 'seq', 'and'])} {right})", one.join(other)

    def either_restricted(self):
        left, one = self.atom(0)
        right, other = self.atom(0, names=one.variables)
        names = [name for name in one.variables if other.variables.get(name) != one.variables[name]]
        for name in names:
            left = re.sub(rf"\b{name}\b(?=[,)])", "_", left)
        return f"({left} or {right})", Bound({n: t for n, t in one.variables.items() if n not in names})

    def inner(self, outer, nested):
        """Negated or collected pattern: an atom, or a body in parentheses that may use names from outside."""
        text, bound = self.atom(20, names=outer.variables if nested else None)
        if self.chance(25):
            return f"({text} where {self.expressions.condition(outer.join(bound))})", bound
        if not nested and self.chance(8):
            more, other = self.atom(0)
            return f"({text} {self.choice(['seq', 'and', 'or'])} {more})", bound if " or " in text else bound.join(
                other
            )
        return text, bound

    # --- rules

    def rule(self, number):
        """One line: a rule for a new type, or one more for a type that there is."""
        self.used = set()
        name = NAMES_OF_FUNCTIONS[number] if number < len(NAMES_OF_FUNCTIONS) and self.chance(6) else f"d{number}"
        kind = self.number(0, 99)
        derived = [event for event in self.events if event not in EVENTS]
        if number and kind < 20:
            return self.another(self.choice([*derived, "h", "h"]))
        if kind < 34:
            return self.window(name)
        if kind < 46:
            return self.recursive(name)
        body, bound = self.body(2)
        terms = self.head(bound)
        beginning = f" from {self.choice(sorted(bound.labels))}" if bound.labels and self.chance(10) else ""
        if self.chance(30) and "policy" not in body and bound.plain and not bound.gathered:
            self.parts.append((f"({body})", Bound(bound.variables, bound.labels)))
        self.know(name, {f"t{place}": type_ for place, (_, type_) in enumerate(terms)})
        return f"{self.all(name, terms)}{self.written(name, terms)}{beginning} <- {body}{self.often(name)}."

    def all(self, name, terms):
        """Keeps matches apart (`all`), now and then; mostly where few attributes distinguish them."""
        if self.chance(8 if len(terms) > 1 else 20):
            self.each.add(name)
        return "all " if name in self.each else ""

    def often(self, name):
        """Limit on a rule's events, ``once`` or ``at most``; often empty."""
        if not self.chance(14):
            return ""
        types = self.events[name].items()
        keys = [each for each, type_ in types if self.chance(45) and not (self.inexact and type_ == "float")]
        word = self.choice(["once", f"at most {self.parameters.number(1, 3)}"])
        return f" {word}{' per ' if keys else ''}{', '.join(keys)} in {self.parameters.length(1, 9)}"

    def written(self, name, terms):
        self.inexact |= any(INEXACT.search(term) for term, _ in terms)
        return f"{name}({', '.join(f't{place} = {term}' for place, (term, _) in enumerate(terms))})"

    def know(self, name, attributes):
        self.events[name] = attributes
        self.uses[name] = {name, *self.used, *(u for event in self.used for u in self.uses[event])}
        self.available = sorted(self.events)

    def another(self, name):
        """One more rule for a type, from types that do not depend on it."""
        self.available = [event for event in self.available if name not in self.uses[event]]
        parts, self.parts = self.parts, []
        body, bound = self.body(1)
        self.parts = parts
        terms = []
        for attribute, type_ in self.events[name].items():
            if type_ == "list":
                there = [n for n, t in bound.gathered.items() if n not in bound.variables]
                terms.append((attribute, f"list({self.choice(there)})" if there else "null"))
            else:
                terms.append((attribute, "null" if type_ == "any" else self.expressions.term(type_, bound)))
        self.know(name, self.events[name])
        for event, uses in self.uses.items():
            if name in uses:
                self.uses[event] = uses | self.uses[name]
        head = ", ".join(f"{attribute} = {term}" for attribute, term in terms)
        return f"{'all ' if name in self.each else ''}{name}({head}) <- {body}{self.often(name)}."

    def head(self, bound):
        terms = [(n, t) for n, t in sorted(bound.variables.items()) if self.chance(70)][:3]
        while self.chance(25) and len(terms) < 4:
            type_ = self.choice(["int", "int", "float", "string", "bool"])
            terms.append((self.expressions.term(type_, bound), type_))
        for name, type_ in sorted(bound.gathered.items()):
            if name not in bound.variables and self.chance(60) and len(terms) < 5:
                function = self.choice(AGGREGATES[type_])
                terms.append((aggregate_of(function, name), aggregated(function, type_)))
        for label in bound.gathered_labels[:1]:
            terms.append((f"count({label})", "int"))
        return terms

    def window(self, name):
        """The last few, the last span, each span, or since something; sometimes beside a pattern."""
        text, bound = self.atom(30)
        if self.chance(20):
            text = f"({text} where {self.expressions.condition(bound)})"
        kind = self.choice(["last", "last span", "each", "since", "gap"])
        if kind == "last":
            kind = f"last {self.parameters.number(1, 3)}"
        elif kind == "last span":
            kind = f"last {self.parameters.span(1, 9)}"
        elif kind != "since":
            kind = f"{kind} {self.parameters.length(1, 4)}"
        items = []
        around = Bound()
        if self.chance(15):
            beside, around = self.atom(20)
            items.append(beside)
        if kind == "since":
            first, other = self.atom(0)
            kind = f"since {first}"
            around = around.join(other)
        items.append(f"while {kind}: collect {text}")
        shared = {n: t for n, t in bound.variables.items() if n in around.variables}
        own = {n: t for n, t in bound.variables.items() if n not in shared}
        groups = [n for n in own if self.chance(35)]
        terms = [(n, t) for n, t in {**around.variables, **shared}.items() if self.chance(50)]
        for variable in groups:
            term = self.expressions.term(own[variable], Bound({variable: own[variable]}), 1)
            terms.append((term, own[variable]))
        for variable, type_ in own.items():
            if variable not in groups or self.chance(20):
                function = self.choice(AGGREGATES[type_])
                terms.append((aggregate_of(function, variable), aggregated(function, type_)))
        for label in bound.labels:
            terms.append((self.choice([f"count({label})", "count(*)"]), "int"))
        where = f" where {terms[-1][0]} > 1" if terms and terms[-1][0].startswith("count(") and self.chance(30) else ""
        self.know(name, {f"t{place}": type_ for place, (_, type_) in enumerate(terms)})
        return f"{self.all(name, terms)}{self.written(name, terms)} <- {', '.join(items)}{where}{self.often(name)}."

    def recursive(self, name):
        event = self.choice(["a", "i", "h"])
        base = self.choice(["a", "i"])
        self.used |= {event, base}
        context = self.choice(["", "recent ", "chronicle ", "continuous "])
        shape = self.choice(["seq", "not", "timer", "within", "keyed", "falling", "quiet"])
        if shape in ("keyed", "falling"):
            self.know(name, {"t0": "int", "t1": "int"})
            first = f"{name}(t0 = q, t1 = r) <- {base}(q, r)."
            if shape == "keyed":
                last = f"{context}{name}(q, u) seq {event}(q, r) where u < 20{self.often(name)}"
                return f"{first} {name}(t0 = q, t1 = u + r) <- {last}."
            last = f"not {event}(q, _) in [{name}(q, u), {event}(q, r)] where {self.choice(['u < 9', 'r < u + 2'])}"
            return f"{first} {name}(t0 = q, t1 = u + 1) <- {last}."
        self.know(name, {"t0": "int"})
        first = f"{name}(t0 = r) <- {base}(_, r)."
        match shape:
            case "seq":
                last = f"{context}{name}(u) seq {event}(_, r) where u < 20{self.often(name)}"
                return f"{first} {name}(t0 = u + r) <- {last}."
            case "not":
                return f"{first} {name}(t0 = u + 1) <- not {event}(_, _) in [{name}(u), {event}(_, _)] where u < 9."
            case "timer":
                shift = f"w: shift(e, {self.parameters.length(2, 5)})"
                return f"{first} {name}(t0 = u + 1) from w <- e: {name}(u), {shift} where u < 9."
            case "quiet":
                window = f"w: {self.choice(['extend_backward', 'preceding'])}(e, {self.parameters.length(1, 6)})"
                absent = f"while {self.choice(['w', '[w)', '(w)'])}: not {name}({self.choice('r_')})"
                return f"{name}(t0 = r) from e <- e: {event}(_, r), {window}, {absent}."
            case _:
                last = f"{context}{name}(u) seq {event}(u, r) within {self.parameters.length(3, 9)}"
                return f"{first} {name}(t0 = r) <- {last}."


def given_types(program):
    """The given events that the rules of a program use."""
    used = {atom.event for rule in program.typed.rules for atom in atoms(rule.body)}
    return sorted(used & set(EVENTS)) or ["a"]


@st.composite
def programs(draw, most_rules=3, alone=False):
    """The text of a program. With `alone` its rules, a line each, need nothing but the declarations."""
    writer = Writer(draw, alone)
    rules = [writer.rule(number) for number in range(draw(st.integers(1, most_rules)))]
    if alone:
        return "unit s." + DECLARATIONS + "\n".join(rules)
    rules = [writer.parameters.about(number) + rule for number, rule in enumerate(rules)]
    if draw(st.integers(0, 3)) == 3:
        rules.append(f"keep {writer.parameters.length(1, 20)}.")
    return "unit s." + DECLARATIONS + writer.parameters.written() + "\n".join(rules)
