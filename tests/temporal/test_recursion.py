"""Rules that use their own results: earlier ones, which have a meaning, and those of the same time, which have none."""

import pytest

import ensue

DECLARATIONS = "event i(u: int) instant. event j(u: int) instant. "

EARLIER = [
    "d(n = count(e)) <- while since d(_): collect e: i(_).",
    "d(n = count(e)) <- while each 5: collect e: d(_).",
    "d(u) from e <- e: i(u), w: extend_backward(e, 10), while [w): not d(u).",
    "d(u) from e <- e: i(u), w: extend_backward(e, 10), while w: not d(u).",
    "d(u) <- not d(u) in [i(u), j(u)].",
    "d(u) <- i(u) seq (j(u) without d(u)) seq i(u).",
    "d(u) <- recent d(u) seq i(u).",
    "d(u) <- o: i(u), w: extend(o, 5), v: extend(o, 9), while [w]: not d(u).",
    "d(u) <- i(u) seq d(u)+ seq j(u).",
    "d(u) <- recent c(u) seq i(u). c(u) <- recent d(u) seq j(u).",
]

AT_ONCE = [
    ("d(n = count(e)) <- while last 5: collect e: d(_).", "collected"),
    ("d(n = count(e)) <- while gap 5: collect e: d(_).", "collected"),
    ("d(n = count(e)) <- while since i(_): collect e: d(_).", "collected"),
    ("d(u) from e <- e: i(u), w: extend_backward(e, 10), while [w]: not d(u).", "negated"),
    ("d(u) <- i(u) without d(u).", "negated"),
    ("d(u) <- recent i(u) seq d(u).", "selected by a context"),
    ("d(u) <- i(u) seq d(u) policy restricted.", "selected by the policy"),
    ("d(u) <- o: i(u), w: extend(o, 5), v: extend(o, 9), while [v]: not d(u).", "negated"),
    ("d(u) <- d(u){2}.", "repeated"),
    # through another rule
    ("d(u) <- c(u). c(u) <- i(u) without d(u).", "negated"),
    ("d(u) <- c(u). c(u) <- b(u). b(u) <- recent i(u) seq d(u).", "selected by a context"),
]


@pytest.mark.parametrize("rules", EARLIER)
def test_earlier_results_may_be_used_in_any_way(rules):
    assert ensue.compile(DECLARATIONS + rules).typed.strata[0].recursive


@pytest.mark.parametrize(("rules", "how"), AT_ONCE)
def test_a_result_that_needs_itself_at_the_same_time_is_an_error(rules, how):
    with pytest.raises(ensue.RuleError) as raised:
        ensue.compile(DECLARATIONS + rules)
    (found,) = raised.value.diagnostics
    assert found.code == "E601" and f"`d` is {how} here" in found.message


def test_rules_are_evaluated_after_those_that_they_use():
    program = ensue.compile(DECLARATIONS + "c(u) <- d(u) without b(u). b(u) <- i(u). d(u) <- b(u) or j(u).").typed
    order = [program.rules[number].event for stratum in program.strata for layer in stratum.layers for number in layer]
    assert order == ["b", "d", "c"]
    assert not any(stratum.recursive for stratum in program.strata)


def test_rules_of_one_circle_are_evaluated_after_those_that_they_use_at_once():
    (stratum,) = ensue.compile(DECLARATIONS + "c(u) <- b(u). b(u) <- recent c(u) seq i(u).").typed.strata
    assert stratum.recursive and stratum.layers == ((1,), (0,))
