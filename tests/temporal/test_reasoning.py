"""Conclusions from the temporal conditions of rules: the examples of the papers, and rules written for the purpose."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ensue
from ensue.language import typed
from ensue.language.diagnostics import Report
from ensue.language.limits import LONGEST
from ensue.language.parse import parse
from ensue.language.source import Source
from ensue.language.walk import pairs
from ensue.plan.advice import describe_rule
from ensue.reference import detect
from ensue.temporal.adjacent import ended_by
from ensue.temporal.check import check
from ensue.temporal.constraints import BODY, constrain, labelled
from ensue.temporal.describe import describe_relation
from ensue.temporal.implied import implied, without_implied
from ensue.temporal.joins import sides_of
from ensue.temporal.lifetimes import Frame, Lifetime
from ensue.temporal.memory import Kind
from tests.agreement import attributes_of
from tests.random_streams import streams

DECLARATIONS = """
event a(u: int, v: int).  event b(v: int, w: int).  event c(w: int, x: int).
event i(u: int) instant.  event j(u: int) instant.
event order(id: int, p: string, q: int).  event shipped(id: int, t: string).
"""


def program_of(rules):
    return ensue.compile(DECLARATIONS + rules).typed


def only(rules):
    """The only rule of a text, and its event types."""
    program = program_of(rules)
    (rule,) = program.rules
    return rule, program.events


def described(rules):
    """The description of the one rule of a text."""
    program = program_of(rules)
    (rule,) = program.rules
    return describe_rule(rule, program)


def joins(rules):
    """The joins of a rule, the outermost first: for each side whether it is stored, and whether it is suppressed."""
    rule, events = only(rules)
    found = [sides_of(Frame.of(rule.body), pair, events) for pair in pairs(rule.body.pattern)]
    return [tuple((side.stored, side.suppressed) for side in sides) for sides in found]


def lifetimes(rules):
    rule, events = only(rules)
    found = [sides_of(Frame.of(rule.body), pair, events) for pair in pairs(rule.body.pattern)]
    return [(left.lifetime, right.lifetime) for left, right in found]


def kept(rules):
    """Parts of a rule's state: the kept events, and the bound of each."""
    plan = described(rules)
    return [(each.what, each.memory.kind, each.memory.size) for part in plan.walk() for each in part.kept]


# --- the closure of distances


def test_distances_between_all_points_of_a_rule():
    """[003] 5.2.1: distances between neighbours imply those between all others."""
    rule, events = only("d(u) <- e: i(u), f: j(u), g: i(u), e before[2] f, f before[1..3] g.")
    ids = dict(labelled(rule.body.pattern))
    points = [(ids[name], True) for name in "efg"]
    assert constrain(rule.body, events).matrix(points) == [
        [(0, 0), (2, 2), (3, 5)],
        [(-2, -2), (0, 0), (1, 3)],
        [(-5, -3), (-3, -1), (0, 0)],
    ]


def test_four_parameters_of_during():
    """[003] 4.1: X starts 1 to 3 after Y, and ends 2 to 5 before it; so Y lasts 3 or more, and X ends in time."""
    rule, events = only("d() <- x: a(_, _) during[1, 3, 2, 5] y: b(_, _).")
    ids = dict(labelled(rule.body.pattern))
    distances = constrain(rule.body, events)
    start, end = [[(ids[name], point) for name in "xy"] for point in (False, True)]
    assert distances.matrix([start[0], start[1]])[1][0] == (1, 3)
    assert distances.matrix([end[0], end[1]])[0][1] == (2, 5)
    assert distances.shortest(start[1], end[1]) == 3
    assert distances.longest(end[0], end[1]) == 5


def test_comparisons_of_times_count():
    rule, events = only("d() <- e: a(_, _) and f: b(_, _) where e.end < f.start and f.end >= e.end.")
    ids = dict(labelled(rule.body.pattern))
    assert constrain(rule.body, events).shortest((ids["e"], True), (ids["f"], False)) == 1


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ("f.start < e.end", (None, -1)),
        ("f.start <= e.end", (None, 0)),
        ("f.start = e.end", (0, 0)),
        ("f.start >= e.end", (0, None)),
        ("f.start > e.end", (1, None)),
        ("e.end < f.start", (1, None)),
        ("e.end <= f.start", (0, None)),
        ("e.end >= f.start", (None, 0)),
        ("e.end > f.start", (None, -1)),
        ("f.start - e.end < 5", (None, 4)),
        ("5 > f.start - e.end", (None, 4)),
        ("f.start < e.end + 5", (None, 4)),
        ("f.start < 5 + e.end", (None, 4)),
        ("f.start - 5 < e.end", (None, 4)),
        ("f.start + 2 > e.end + 5", (4, None)),
        ("f.start + 2 - 4 >= e.end - 3", (-1, None)),
        ("e.end - f.start >= 2 - 7", (None, 5)),
        ("f.start - (e.end + 2) <= 5", (None, 7)),
        ("f.start - (e.end - 2) <= 5", (None, 3)),
        ("f.start - e.end > 2 and f.start - e.end <= 7", (3, 7)),
        (f"f.start < e.end + {LONGEST}", (None, LONGEST - 1)),
        (f"f.start < e.end + {LONGEST - 1} + 1", (None, LONGEST - 1)),
        # no limit between these two points
        (f"f.start < e.end + {LONGEST + 1}", (None, None)),
        (f"f.start < e.end + {LONGEST} + 1", (None, None)),
        ("f.start != e.end", (None, None)),
        ("f.start < e.end or u < w", (None, None)),
        ("f.start - e.end < u", (None, None)),
    ],
)
def test_a_comparison_of_times_is_a_limit(condition, wanted):
    rule, events = only(f"d() <- e: a(u, _) and f: b(_, w) where {condition}.")
    ids = dict(labelled(rule.body.pattern))
    points = (ids["e"], True), (ids["f"], False)
    distances = constrain(rule.body, events)
    assert (distances.shortest(*points), distances.longest(*points)) == wanted


def test_names_in_parentheses_have_limits_with_those_outside():
    rule, events = only("d() <- (e: i(u) seq f: j(u)), g: i(u), f before[2..3] g.")
    ids = dict(labelled(rule.body.pattern))
    distances = constrain(rule.body, events)
    assert distances.shortest((ids["f"], True), (ids["g"], True)) == 2
    assert distances.longest((ids["f"], True), (ids["g"], True)) == 3
    assert distances.shortest((ids["e"], True), (ids["g"], True)) == 3


# --- lifetimes


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        ("d() <- i(_) before[2] j(_).", [(Lifetime(2, 2), Lifetime(0, 0))]),
        ("d() <- i(_) seq j(_) within 10.", [(Lifetime(10, 10), Lifetime(0, 0))]),
        ("d() <- i(_) and j(_) within 10.", [(Lifetime(10, 10), Lifetime(10, 10))]),
        ("d() <- i(_) seq j(_).", [(Lifetime(), Lifetime(0, 0))]),
        # B two minutes before A, and nothing else ([003] 5.1): B goes after two minutes
        ("unit m. d() <- e: i(_), f: j(_), e before[2m] f.", [(Lifetime(2, 2), Lifetime(0, 0))]),
        # a pair is over when the third can no longer come: the shortest of what each of its parts allows
        (
            "d() <- e: i(_), f: j(_), g: i(_), e before[..5] g, f before[..3] g.",
            [(Lifetime(None, 3), Lifetime(0, 0)), (Lifetime(4, 4), Lifetime(2, 2))],
        ),
    ],
)  # fmt: skip
def test_lifetimes_of_the_sides_of_joins(rules, wanted):
    assert lifetimes(rules) == wanted


def test_events_are_kept_from_their_ends_on():
    assert lifetimes("keep 5. d() <- a(_, _) seq b(_, _).") == [(Lifetime(None, 5), Lifetime(4, 0))]


@pytest.mark.parametrize("written", ["before", "before[..4]", "before[3..5]", "before[3..]", "meets", "meets[2]"])
def test_relations_are_shown_as_they_are_written(written):
    rule, _ = only(f"d(u) <- a(u, _) {written} b(_, _).")
    (pair,) = pairs(rule.body.pattern)
    assert describe_relation(pair.relation) == written


def test_what_is_around_parentheses_bounds_what_is_inside():
    assert kept("d() <- i(_) seq (j(_) seq i(_)) within 10.") == [("i", Kind.WINDOW, 10), ("j", Kind.WINDOW, 9)]


def test_a_side_of_an_alternative_has_its_own_conditions():
    assert kept("d() <- (i(_) before[..4] j(_)) or (j(_) and i(_) within 3).") == [
        ("i", Kind.WINDOW, 4), ("j", Kind.WINDOW, 3), ("i", Kind.WINDOW, 3),
    ]  # fmt: skip


def test_parentheses_around_one_pattern_begin_and_end_with_it():
    assert kept("d() <- o: (i(_) or j(_)), w: extend(o, 5), while w: collect order(_, _, _).") == [
        ("matches of i, j until their timers end", Kind.WINDOW, 5), ("order", Kind.WINDOW, 5),
    ]  # fmt: skip
    assert kept("d() <- (i(_) where true) before[..3] (j(_) or i(_)).") == [("i", Kind.WINDOW, 3)]


@pytest.mark.parametrize(
    ("relation", "first", "last"),
    [
        ("seq", 0, 1),
        ("after", 1, 0),
        ("meets", 0, 1),
        ("overlaps", 0, 1),
        ("during", 1, 1),
        ("starts", 0, 1),
        ("finishes", 1, 0),
        ("after[-4..4]", None, None),
        ("par", None, None),
        ("and", None, None),
    ],
)
def test_a_pair_begins_with_what_begins_first_and_ends_with_what_ends_last(relation, first, last):
    rule, events = only(f"d() <- x: a(_, _) {relation} y: b(_, _).")
    sides = [rule.body.pattern.left.id, rule.body.pattern.right.id]
    distances = constrain(rule.body, events)

    def same(end):
        found = [distances.matrix([(BODY, end), (side, end)])[0][1] == (0, 0) for side in sides]
        return found.index(True) if True in found else None

    assert (same(False), same(True)) == (first, last)


def test_what_a_pair_begins_with_does_not_make_its_own_relation_superfluous():
    rule, events = only("d() <- a(_, _) equals i(_).")
    (left,) = (pair.relation for pair in pairs(without_implied(rule.body, events).pattern))
    assert left.distances


# --- [000] section 5


def test_right_streaming_and_suppressing_join():
    """Example 1: `shipped` is not stored, nor looked at while there is no `order`."""
    assert joins("comp(id, p) <- o: order(id, p, q), s: shipped(id, t), o before s.") == [
        ((True, False), (False, True)),
    ]  # fmt: skip


def test_streaming_needs_all_ends_of_the_left_side():
    """Example 5: the second join streams its right side, because both ends on the left come before it."""
    outer, inner = joins("d(u, v, w, x) <- i1: a(u, v), j1: b(v, w), k1: c(w, x), i1 before k1, j1 during k1.")
    assert outer == ((True, False), (False, True))
    assert inner == ((True, False), (False, True))  # as b starts after c does, and so after a ends


def test_without_during_the_right_side_is_stored():
    outer, _ = joins("d(u, v, w, x) <- i1: a(u, v), j1: b(v, w), k1: c(w, x), i1 before k1.")
    assert outer == ((True, False), (True, True))


def test_the_rewritten_join_streams():
    _, inner = joins("d(u, v, w, x) <- i1: a(u, v), k1: c(w, x), j1: b(v, w), i1 before k1.")
    assert inner == ((True, False), (False, True))


def test_left_streaming_join():
    """`i during j`: the inner event ends first, so the outer one is not stored."""
    assert joins("d() <- a(_, _) contains b(_, _).") == [((False, False), (True, False))]
    assert joins("d() <- a(_, _) after b(_, _).") == [((False, True), (True, False))]


@pytest.mark.parametrize(
    "right",
    [
        "(b(_, _) without c(_, _))",
        "every(5)",
        "j(_){2}",
        "(recent j(_) seq i(_))",
        "(o: j(_), w: extend(o, 3))",
        "(j(_) seq a(_, _) policy restricted)",
    ],
)
def test_what_depends_on_more_than_its_events_is_never_suppressed(right):
    (outer, *_) = joins(f"d() <- a(_, _) seq {right}.")
    assert outer == ((True, False), (False, False))


@pytest.mark.parametrize("right", ["j(_)", "(j(_) or a(_, _))", "(j(_) seq i(_))", "(j(_) where true)"])
def test_what_starts_after_the_other_side_is_suppressed(right):
    (outer, *_) = joins(f"d() <- a(_, _) seq {right}.")
    assert outer == ((True, False), (False, True))


# --- absences that end waiting rows


def ends(rules):
    rule, events = only(rules)
    return [ended_by(Frame.of(rule.body), pair, events) != () for pair in pairs(rule.body.pattern)]


def test_an_absence_between_instants_ends_what_waits():
    assert ends("d(u) <- not i(u) in [j(u), i(u)].") == [True]
    assert ends("d(u) <- not i(u) in [a(u, _), i(u)].") == [True]
    assert ends("d(u) <- not a(u, _) in [j(u), i(u)].") == [False], "what is forbidden may have begun before"
    assert ends("d(u) <- not i(u) in [j(u), a(u, _)].") == [False], "the right side may have begun before"
    assert ends("d(u) <- not i(_) in [j(u), i(u)].") == [False], "what is forbidden has another key"


# --- memory


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        ("d(id) <- o: order(id, _, _), s: shipped(id, _), o before s.", [("order", Kind.UNBOUNDED, 0)]),
        ("d(id) <- order(id, _, _) seq shipped(id, _) within 10.", [("order", Kind.WINDOW, 10)]),
        (
            "unit s. d(id) <- o: order(id, _, _), w: extend(o, 6h), while w: not shipped(id, _).",
            [("matches of order until their timers end", Kind.WINDOW, 21600), ("shipped", Kind.UNBOUNDED, 0)],
        ),
        (
            "unit s. d(u) <- o: i(u), w: extend(o, 6h), while w: not j(u).",
            [("matches of i until their timers end", Kind.WINDOW, 21600), ("j", Kind.CONSTANT, 2)],
        ),
        (
            "unit s. d(n = count(t)) <- o: i(_), w: extend_backward(o, 24h), while w: collect shipped(_, t).",
            [("shipped", Kind.WINDOW, 86400)],
        ),
        ("d(u) <- not i(u) in [i(u), i(u)].", [("i(u)", Kind.CONSTANT, 1)]),
        ("d(u) <- not i(u) in [j(u), i(u)].", [("j", Kind.UNTIL, 0)]),
        ("d(u) <- recent i(u) seq j(u).", [("i", Kind.UNTIL, 0)]),
        ("d(u) <- recent i(u) seq j(u) within 7.", [("i", Kind.WINDOW, 7)]),
        ("d(u, n = count(v)) <- while last 1000: collect a(u, v).", [("a", Kind.CONSTANT, 1000)]),
        ("unit s. d(u, n = count(v)) <- while last 3m: collect a(u, v).", [("a", Kind.WINDOW, 180)]),
        ("d(u, n = count(v)) <- while since i(u): collect a(u, v).", [("i", Kind.UNBOUNDED, 0)]),
        ("d(u, n = count(u)) <- while since i(u): collect j(u).", [("aggregates of j", Kind.UNTIL, 0)]),
        (
            "d(u, n = count(v)) <- i(u), while last 3: collect a(u, v) within 9.",
            [("a", Kind.CONSTANT, 3), ("what is found of a", Kind.WINDOW, 9), ("i", Kind.WINDOW, 9)],
        ),
        (
            "d(u, n = sum(v + u)) <- i(u), while last 3: collect a(_, v) within 9.",
            [("a", Kind.UNBOUNDED, 0), ("i", Kind.UNBOUNDED, 0)],
        ),
        ("d(u) <- i(u){3}.", [("i", Kind.CONSTANT, 3)]),
        (
            "d(id) <- order(id, _, _) seq shipped(id, _)+ seq order(id, _, _) seq shipped(id, _) within 10.",
            [("order", Kind.WINDOW, 9), ("order(id)", Kind.WINDOW, 9), ("shipped", Kind.WINDOW, 10)],
        ),
        # [004] section 6: a sequence whose right side is instantaneous, or has a length
        ("d(u) <- a(u, _) seq i(u) policy restricted.", [("a", Kind.CONSTANT, 1)]),
        ("d(u) <- i(u) seq a(u, _) policy restricted.", [("i", Kind.UNBOUNDED, 0)]),
        ("d(u) <- i(u) seq a(u, _) within 9 policy restricted.", [("i", Kind.WINDOW, 9)]),
        (
            "d(u) <- (i(u) seq a(u, v)) seq b(v, _) within 9 policy restricted.",
            [("i, a", Kind.WINDOW, 9), ("i", Kind.WINDOW, 9), ("the latest start of a", Kind.CONSTANT, 1)],
        ),
        ("d(u) <- i(u) and j(u) policy restricted.", [("i", Kind.CONSTANT, 1), ("j", Kind.CONSTANT, 1)]),
        (
            "d(u) <- (i(u) seq j(u)) without a(u, _) policy restricted.",
            [("the latest start of a", Kind.CONSTANT, 1), ("i", Kind.CONSTANT, 1)],
        ),
    ],
)  # fmt: skip
def test_what_bounds_memory(rules, wanted):
    assert kept(rules) == wanted


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ("d(id) <- order(id, _, _) seq shipped(id, _).", "with `within`"),
        ("d(u, n = count(v)) <- while since i(u): collect a(u, v).", "`while last"),
        ("d(u, n = count(v)) <- i(u), while last 3: collect a(u, v).", "a separate rule"),
    ],
)
def test_what_is_kept_for_ever_comes_with_advice(rules, words):
    plan = described(rules)
    (advice,) = {each.advice for part in plan.walk() for each in part.kept if not each.memory.bounded}
    assert words in advice


def test_advice_is_given_only_where_it_helps():
    """Only the parentheses' own conditions choose instances: a length around them bounds nothing there."""
    plan = described("d(u) <- recent (i(u) seq (recent j(u) seq a(u, _))) seq a(u, _).")
    advice = {each.what: each.advice for part in plan.walk() for each in part.kept if not each.memory.bounded}
    assert advice == {"i": None}


@pytest.mark.parametrize(
    "rules",
    [
        "d(u) <- recent (i(u) seq j(u)) seq a(u, _) within 7s.",
        "d(u) <- e: i(u), w: extend(e, 7s), while w: not (i(u) seq j(u)).",
        "d(u) <- (i(u) seq a(u, _)) without (j(u) seq j(u)) within 7s.",
        "d(u, n = count(v)) <- e: i(u), w: extend_backward(e, 7s), while w: collect (a(u, v) seq j(u)).",
    ],
)
def test_what_is_longer_than_what_is_around_it_may_be_is_not_kept(rules):
    """No choice takes it, and it lies in no scope."""
    kept = [each.memory for part in described(rules).walk() for each in part.kept]
    assert all(memory.bounded and memory.size <= 14_000_000 for memory in kept)


# --- contradictions and implied bounds

RELATIONS = [
    "before", "after", "meets", "met_by", "overlaps", "overlapped_by", "starts", "started_by", "during", "contains",
    "finishes", "finished_by", "equals", "before[1..4]", "before[..2]", "before[3]", "meets[1]", "equals[1]",
    "during[1..2]", "overlaps[1..2]", "after[2..]",
]  # fmt: skip


@st.composite
def bodies(draw):
    """Three events with relations between them, comparisons of their times, and perhaps a length."""
    labels = ["e", "f", "g"]
    types = draw(st.lists(st.sampled_from(["a", "b", "i"]), min_size=3, max_size=3))
    items = [f"{label}: {event}()" for label, event in zip(labels, types, strict=True)]
    for _ in range(draw(st.integers(1, 4))):
        one, other = draw(st.permutations(labels))[:2]
        if draw(st.integers(0, 3)):
            items.append(f"{one} {draw(st.sampled_from(RELATIONS))} {other}")
        else:
            points = [f"{label}.{draw(st.sampled_from(['start', 'end']))}" for label in (one, other)]
            items.append(draw(st.sampled_from(["<", "<=", "=", ">="])).join([f"{points[0]} ", f" {points[1]}"]))
    length = draw(st.sampled_from(["", "", " within 3", " within 8", " lasting 4"]))
    return f"d(x = e.start, y = f.start, z = g.start) <- {', '.join(items)}{length}."


EVENTS = "event a(k: int, x: int). event b(k: int, y: float). event i(k: int, x: int) instant.\n"


def typed_of(rules):
    """The typed program, and the codes of its errors."""
    source = Source(EVENTS + rules)
    report = Report(source)
    program = check(parse(source, report), report)
    return program, {each.code for each in report.sorted() if each.code.startswith("E")}


def found_in(program, events):
    given_ = [(e["type"], attributes_of(e), e["start"], e["end"], None) for e in events]
    return [(e.start, e.end, tuple(e.attributes.values())) for e in detect(program, given_)]


STREAMS = streams(most_events=10, times=("dense", "usual"), types=["a", "b", "i"])


@settings(max_examples=60)
@given(bodies(), STREAMS)
def test_what_is_reported_as_contradictory_never_happens(rules, events):
    program, codes = typed_of(rules)
    assume(codes == {"E501"})
    assert found_in(program, events) == []


WITHOUT = [
    "(a(k, _) seq b(k, _)) without a(k, _)", "(a(k, x) seq b(k, _)) without a(_, _)",
    "(a(1, x) and i(k, x)) without a(1, x)", "(a(1, x) and i(k, x)) without a(1, _)",
    "(a(k, x) and i(k, _)) without i(k, _)", "a(k, x) without a(k, _)",
    "a(k, x) without a(_, x)", "(i(k, x) or a(k, x)) without a(k, _)", "a(k, x) without a(x, x)",
]  # fmt: skip


@pytest.mark.parametrize("body", WITHOUT)
@settings(max_examples=10)
@given(events=STREAMS)
def test_what_must_not_be_inside_itself_never_happens(body, events):
    program, codes = typed_of(f"d(k) <- {body}.")
    assert codes <= {"E501"}
    if codes:
        assert found_in(program, events) == []


def test_own_parts_are_recognised_only_where_they_surely_match():
    reported = [typed_of(f"d(k) <- {body}.")[1] == {"E501"} for body in WITHOUT]
    assert reported == [True, True, True, True, True, False, False, False, False]


@settings(max_examples=60)
@given(bodies(), STREAMS)
def test_what_is_implied_need_not_be_checked(rules, events):
    program, codes = typed_of(rules)
    assume(not codes)
    (rule,) = program.rules
    less = without_implied(rule.body, program.events)
    assume(less != rule.body)
    rules_ = (typed.Rule(rule.label, rule.event, rule.head, less, rule.beginning),)
    changed = typed.Program(**{**vars(program), "rules": rules_})
    assert found_in(changed, events) == found_in(program, events)


def said_to_be_implied(rules):
    rule, events = only(rules)
    found = []
    for each in implied(rule.body, events):
        match each.of:
            case typed.Related(left=left, right=right, relation=relation):
                found.append(f"{left} {relation.word} {right}")
            case typed.Pair(relation=relation):
                found.append(relation.word)
            case typed.Body():
                found.append("within")
    return found


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        ("d() <- e: i(_), f: j(_), g: i(_), e before f, f before g, e before g.", ["e before g"]),
        ("d() <- e: i(_), f: j(_), e before[..5] f within 9.", ["within"]),
        ("d() <- e: i(_), f: j(_), e before[..9] f within 5.", ["e before f"]),
        ("d() <- e: i(_) seq f: j(_), e before f.", ["e before f"]),
        ("d() <- e: a(_, _), f: b(_, _), e before f within 5.", []),
        ("d() <- e: i(_), f: a(_, _), e before[..3] f within 5.", []),
        ("d() <- e: a(_, _), f: i(_), e before[..3] f within 5.", []),
        ("d() <- recent e: i(_) seq f: j(_), e before f.", []),
    ],
)
def test_bounds_that_others_imply(rules, wanted):
    assert said_to_be_implied(rules) == wanted


def test_the_body_is_a_point_of_its_own():
    rule, events = only("d() <- i(_) seq j(_) within 10.")
    assert constrain(rule.body, events).longest((BODY, False), (BODY, True)) == 10


def test_only_the_limit_that_is_implied_is_left_out():
    rule, events = only("d() <- e: i(_), f: j(_), e before[..9] f within 5.")
    (related,) = without_implied(rule.body, events).related
    assert related.relation.distances == (typed.Distance((0, True), (1, False), 1, None),)


# --- one event in two places


@pytest.mark.parametrize(
    ("body", "warns"),
    [
        ("a(u, _) and a(v, _)", 1),
        ("a(u, _) and a(v, _) and a(w, _)", 2),
        ("e: a(u, _) and f: a(v, _) where u = 1 and v > 1", 1),
        ("e: a(u, _) and f: a(v, _) where e.v != f.u", 1),
        ("e: a(_, _) and f: a(_, _), e overlaps[..9] f", 0),
        ("a(u, _) and b(v, _)", 0),
        ("a(u, _) seq a(v, _)", 0),
        ("a(u, _) meets a(v, _)", 1),
        ("a(1, _) and a(2, _)", 0),
        ("a(u, _) and a(v, _) where u < v", 0),
        ("a(u, _) and a(v, _) where v > 0 and u != v", 0),
        ("e: a(_, _) and f: a(_, _) where e.u > f.u", 0),
        ("e: a(_, _) and f: a(_, _) where e.start < f.start", 0),
        ("recent a(u, _) and recent a(v, _)", 0),
        ("recent a(u, _) and recent (b(_, _) and a(v, _))", 0),
        ("recent (c(_, _) and a(u, _)) and recent (b(_, _) and a(v, _))", 0),
        ("(recent a(u, _) seq b(_, _)) and a(v, _)", 1),
        ("recent c(_, _) seq (a(u, _) and a(v, _))", 1),
        ("recent (a(u, _) and a(v, _)) seq c(_, _)", 1),
        ("(b(_, _) and a(u, _)) and (c(_, _) and a(v, _))", 1),
        ("(a(u, _) and a(v, _) where u < v) seq c(_, _)", 0),
        ("(a(u, _) and a(v, _) where u <= v) seq c(_, _)", 1),
        ("e: a(_, _) and f: a(_, _) and b(u, v), g: b(_, w) where e.v < g.v", 2),
    ],
)
def test_a_warning_that_one_event_can_match_twice(body, warns):
    found = [each.code for each in ensue.check_rules(DECLARATIONS + f"d() <- {body}.")]
    assert found.count("W001") == warns
