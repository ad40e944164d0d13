"""Random sessions in which rules come and go and states are saved, on events with many ties.

A rule that is there all the time must find what it finds alone in all events; one that came later, what it finds in the
events that had not been evaluated when it came; one that went, what had been evaluated by then.
"""

from random import Random

import pyarrow as pa
import pytest

import ensue

EVENTS = """
event q(k: int, v: int, w: int).
event p(k: int, v: int).
event z(k: int, s: string).
"""

DERIVED = (
    "r(k, v) <- q(k, v, _).",
    "r(k, v) <- p(k, v) within 3.",
    "r(k, v = w) <- q(k, _, w) seq p(k, _) within 5.",
)

SHAPES = (
    "f = first(v), g = last(v)) <- o: p(k, _), u: extend_backward(o, {d}), while u: collect q(k, v, _).",
    "f = first(v), g = last(v)) <- o: p(k, _), u: extend(o, {d}), while u: collect q(k, v, _).",
    "f = first(w), g = last(v), c = count(v), n = min(v), m = max(w)) <- while last {d}: collect q(k, v, w).",
    "f = first(v), m = max(v)) <- while last {d}s: collect q(k, v, _).",
    "f = first(v), i = list(v)) <- while since p(k, _): collect q(k, v, _).",
    "f = first(v)) <- while each {d}s: collect q(k, v, _).",
    "f = first(v)) <- p(k, _) seq q(k, v, _)+ seq p(k, _) within {d}.",
    "v, t = last(s)) <- q(k, v, _) seq z(k, s){{2}}.",
    "v, x) <- recent q(k, v, _) seq p(k, x).",
    "v, x) <- chronicle q(k, v, _) seq p(k, x) within {d}.",
    "f = first(v)) <- cumulative q(k, v, _) seq p(k, _).",
    "v) <- q(k, v, w) where w > 0.",
    "v, w) <- q(k, v, w) seq q(k, w, v).",
    "v) <- q(k, v, _) and p(k, _) within {d}.",
    "f = first(v)) <- o: p(k, _), u: extend_backward(o, {d}), while u: collect (q(k, v, x) where x > 0).",
    "f = first(v)) <- o: p(k, _), u: extend_backward(o, {d}), while u: collect (q(k, v, _) and z(k, s)).",
    "f = first(v)) <- o: p(k, _), u: extend_backward(o, {d}), while u: collect r(k, v).",
    "v, x) <- recent r(k, v) seq p(k, x).",
    "v, x) <- not z(k, _) in [q(k, v, _), p(k, x)].",
    "f = first(w)) <- o: p(k, _), u: extend_backward(o, {d}), while [u]: collect q(k, _, w).",
    "f = first(w), i = list(w)) <- while last {d}: collect q(k, _, w).",
    "w) <- recent q(k, _, w) seq p(k, _).",
    "w, n) <- q(k, _, w) and p(k, n) within {d} once per k in 2.",
)
"""Events that rules find; the last rules read no `v`, which decides before `w` which of several events is the first."""


SHARING = (
    "v, t = last(s)) <- q(k, v, _) seq z(k, s){{2}}.",
    "v, t = first(s), u = max(s)) <- q(k, v, _) seq z(k, s){{3}}.",
    "f = first(v), g = max(s)) <- while last {d}: collect (q(k, v, _) seq z(k, s)).",
    "f = last(v), g = min(s)) <- while last {d}s: collect (q(k, v, _) seq z(k, s)).",
    "f = first(v)) <- o: p(k, _), u: extend_backward(o, {d}), while u: collect (q(k, v, _) and z(k, s)).",
    "v, x) <- q(k, v, _) seq z(k, _) seq p(k, x) within {d}.",
)
"""Rules that have a part in common: they are one unit of code, whose numbers change when one of them goes."""


def drawn_rule(random, number, shapes=SHAPES):
    return f"rule r{number}: f{number}(k, " + random.choice(shapes).format(d=random.choice([2, 3, 6, 20]))


def drawn_event(random, end, instants):
    type_ = random.choice("qqqpz")
    start = end if instants else end - random.choice([0, 0, 0, 1, 3])
    event = {"type": type_, "start": start, "end": end, "k": random.choice([0, 0, 1])}
    values = {"q": {"v": [0, -2, 1, 2, None], "w": [0, 1, -1, 2]}, "p": {"v": [0, -2, 1]}, "z": {"s": ["a", "b", ""]}}
    return event | {name: random.choice(some) for name, some in values[type_].items()}


def as_table(rows):
    names = {"type": pa.string(), "s": pa.string()}
    columns = ("type", "start", "end", "k", "v", "w", "s")
    return pa.table({n: pa.array([row.get(n) for row in rows], names.get(n, pa.int64())) for n in columns})


class Played:
    """A random session: sent events, detections, and the times when rules came and went."""

    def __init__(self, seed):
        random = self.random = Random(seed)
        derived = random.sample(DERIVED, random.randint(1, 3))
        self.head = EVENTS + "unit s.\n" + "\n".join(derived)
        self.rules = {number: drawn_rule(random, number) for number in range(1, random.randint(2, 7))}
        self.in_order, self.lateness = random.random() < 0.5, random.choice([0, 0, 2, 5])
        self.came, self.went, self.sent, self.found = {}, {}, [], []
        self.session = ensue.compile("\n".join([self.head, *self.rules.values()])).start(
            lateness=self.lateness, in_order=self.in_order, compiled=random.choice([False, False, True])
        )

    def play(self):
        random, time, instants = self.random, 0, self.random.random() < 0.5
        for _ in range(random.randint(4, 14)):
            what = random.random()
            if what < 0.5:
                rows = []
                for _ in range(random.randint(1, 6)):
                    time += random.choice([0, 0, 0, 1, 2])
                    rows.append(drawn_event(random, time - random.choice([0, 0, self.lateness]), instants))
                self.send([row for row in rows if self.session.time is None or row["end"] > self.session.time])
            elif what < 0.65:
                self.add(max(self.rules) + 1)
            elif what < 0.8:
                self.remove(random.choice(sorted(self.rules)))
            elif what < 0.9:
                self.session = ensue.compile(self.session.rules).resume(self.session.save())
        found = self.session.close()
        self.found += found if isinstance(found, list) else found.to_pylist()
        return self

    def send(self, rows):
        if not rows:
            return
        form = self.random.randrange(3)
        if form == 2:
            self.found += self.session.send(as_table(rows)).to_pylist()
        else:
            for some in [rows] if form == 1 else rows:
                self.found += self.session.send(some)
        assert not self.session.late
        self.sent += rows

    def add(self, number):
        rule = drawn_rule(self.random, number)
        try:
            self.session.add(rule)
        except ensue.DataError:  # it may not come now; all is as before
            return
        self.rules[number], self.came[number] = rule, self.session.time

    def remove(self, number):
        if number > 1 and number not in self.went:
            try:
                self.session.remove(f"r{number}")
            except ensue.DataError:
                return
            self.went[number] = self.session.time

    def check(self):
        last = max((event["end"] for event in self.sent), default=None)
        for number, rule in self.rules.items() if last is not None else ():
            changed = number in self.came or number in self.went
            if changed and (not self.in_order or "r(k" in rule):
                continue
            came, went = self.came.get(number), self.went.get(number, last)
            events = [event for event in self.sent if came is None or event["end"] > came]
            alone = ensue.compile(f"{self.head}\n{rule}")
            expected = (
                [row for row in alone.detect(events, until=last) if row["type"] == f"f{number}"] if events else []
            )
            expected = [row for row in expected if went is not None and row["end"] <= went]
            names = expected[0].keys() if expected else ()
            found = [row for row in self.found if row["type"] == f"f{number}"]
            assert sorted(map(repr, ({n: row[n] for n in names or row} for row in found))) == sorted(
                map(repr, expected)
            ), (rule, expected, found)


class Sharing(Played):
    """A session of rules that share parts: events, then rules go, then events again."""

    def __init__(self, seed):
        random = self.random = Random(seed)
        self.head = EVENTS + "unit s.\n"
        self.rules = {number: drawn_rule(random, number, SHARING) for number in range(1, random.randint(3, 5))}
        self.in_order, self.lateness = True, 0
        self.came, self.went, self.sent, self.found = {}, {}, [], []
        self.session = ensue.compile("\n".join([self.head, *self.rules.values()])).start(in_order=True, compiled=False)

    def play(self):
        time = 0
        for turn in range(6):
            rows = []
            for _ in range(8):
                time += self.random.choice([0, 0, 1])
                rows.append(drawn_event(self.random, time, True))
            self.send([row for row in rows if self.session.time is None or row["end"] > self.session.time])
            if turn in (1, 3):
                self.remove(self.random.choice(sorted(self.rules)))
        self.found += self.session.close()
        return self

    def send(self, rows):
        self.found += self.session.send(rows)
        self.sent += rows


@pytest.mark.parametrize("seed", range(40))
def test_rules_that_share_parts_keep_what_they_know(seed):
    Sharing(seed).play().check()


@pytest.mark.parametrize("seed", range(40))
def test_rules_that_come_and_go_leave_others_alone(seed):
    Played(seed).play().check()


def test_groups_stay_when_a_rule_beside_them_goes():
    """Both rules share their stores, so they run as one; the groups of one are its own."""
    session = ensue.compile(
        EVENTS + "rule one: one(k, f = first(v)) <- o: p(k, _), w: extend_backward(o, 6), while w: collect "
        "(q(k, v, _) and z(k, s)). rule two: two(k, v, t = last(s)) <- q(k, v, _) seq z(k, s){2}."
    ).start(in_order=True)
    session.send({"type": "q", "time": 1, "k": 0, "v": 0, "w": 1})
    session.send([{"type": "z", "time": time, "k": 0, "s": "b"} for time in (2, 3)])
    session.remove("one")
    assert session.close() == [{"type": "two", "start": 1, "end": 3, "k": 0, "v": 0, "t": "b"}]
