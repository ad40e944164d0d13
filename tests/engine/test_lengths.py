"""Rules that use derived events: reasoning on their lengths does not change detections."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ensue
from tests.agreement import EXECUTIONS, check, meaning
from tests.random_programs import DECLARATIONS, given_types, streams

DERIVED = [
    "d(k) <- i(k, _).",
    "d(k) <- a(k, x) where x > 0.",
    "d(k) <- a(k, _) seq b(k, _) within 4.",
    "d(k) <- i(k, _) before[2..3] i(k, _).  d(k) <- o: i(k, _), w: extend(o, 5).",
    "d(k) <- o: i(k, _), w: extend_backward(o, 3).",
    "d(k) from o <- a(k, _) seq o: i(k, _).",
    "d(k) <- i(k, _) or (i(k, _) before[..2] b(k, _)).",
    "d(k) <- i(k, _). d(k) <- d(k) before[..3] i(k, _) within 8.",
    "d(k) <- recent i(k, _) seq b(k, _) within 5.",
    "d(k = 1) <- while each 4: collect i(_, _).",
    "d(k) <- while last 3s: collect e: i(k, _) where count(e) > 1.",
    "c1(k) <- i(k, _) before[1..2] a(k, _).  d(k) <- c1(k) before[..2] i(k, _).",
]
USING = [
    "use(k, n = count(x)) <- o: d(k), w: extend_backward(o, 4), while w: collect a(_, x).",
    "use(k) <- o: d(k), w: extend(o, 2), while w: not a(k, _).",
    "use(k) <- d(k) and a(k, _) within 6.",
    "use(k) <- d(k) seq d(k) seq a(_, _) within 9.",
    "use(k) <- not d(k) in [a(k, _), i(k, _)].",
    "use(k) <- not i(k, _) in [d(k), d(k)].",
    "use(k) <- a(k, _) during d(k).",
    "use(k) <- e: d(k), f: a(k, _), e overlaps f.",
    "use(k) <- (d(k) or i(k, _)) seq a(k, _) within 5.",
    "use(k) <- recent d(k) seq a(k, _) within 5.",
    "use(k) <- cumulative e: d(_) and a(k, _) within 5.",
    "use(k) <- d(k) seq i(k, _) within 5 policy restricted.",
    "use(k) <- i(k, _) seq d(k) policy restricted.",
    "use(k = 0, n = count(e)) <- while last 4s: collect e: d(_).",
    "use(k = 0, n = count(e)) <- while last 2: collect e: d(_).",
    "use(k = 0, n = count(e)) <- while since a(_, _): collect e: d(_).",
    "use(k) <- a(k, _) seq d(k)+ seq i(k, _) within 9.",
    "use(k) <- d(k){2}.",
    "use(k) <- (a(k, _) and d(k) within 5) without i(k, _).",
    "use(k) <- e: a(k, _), f: d(k), g: i(k, _), e before f, f before[..3] g.",
]
NAMES = [name for name in EXECUTIONS if name.startswith(("plain", "small", "session", "detect, t"))]


@pytest.mark.parametrize("using", USING)
@settings(max_examples=12)
@given(derived=st.sampled_from(DERIVED), data=st.data())
def test_the_same_is_found_as_the_rules_mean(using, derived, data):
    try:
        program = ensue.compile(f"unit s. {DECLARATIONS} {derived} {using}")
    except ensue.RuleError as error:
        codes = {each.code for each in error.diagnostics}
        assert codes - {"W011"} == {"E501"}  # nothing lies inside an instant
        return
    times = data.draw(st.sampled_from([("instants",), ("usual", "dense", "wide")]))
    events = data.draw(streams(24, types=given_types(program), times=times))
    last = max((event["end"] for event in events), default=0)
    until = data.draw(st.sampled_from([None, last, last + 20]))
    wanted = meaning(program, events, until)
    for name in data.draw(st.lists(st.sampled_from(NAMES), min_size=4, max_size=4, unique=True)):
        check(name, program, events, until, data.draw(st.integers(0, 99)), wanted)
