"""The variants of the benchmark `cliffs`: the plain rule with one feature, or its data with one property changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.workloads import EVENTS

COUNTS = Path(__file__).with_name("cliff_counts.json")
"""Numbers of detections of each variant, by the number of events: see `benchmarks/README.md`."""

PLAIN = "plain"
STRINGS = "event A(id: int, s: string).  event B(id: int, s: string).  event C(id: int, s: string).\n"
IN_MS = "unit ms.\n" + EVENTS
PASSING = "each event enters a window of its key, and another leaves it: cache lines of 10,000 windows"
BESIDE = "each event of the pattern is joined with the windows of its key within ten seconds"
TABLES = "table limit(id: int, most: float).  table next(a: int, b: int).\n"


@dataclass(frozen=True)
class Variant:
    """Rules for `w`, and the change of the data (a name of `cliff_data.DATA`) or of the call.

    `apart` is the time between two events on the short stream that the reference is asked about. `bound` says what a
    variant must look at or write, where that makes it slower than a fifth of the plain rule.
    """

    group: str
    name: str
    rules: str
    data: str = PLAIN
    call: Mapping[str, Any] = field(default_factory=dict)
    bound: str = ""
    apart: int = 1_500
    emit: str = "w"


def _variants() -> Iterator[Variant]:
    def rule(group: str, name: str, body: str, *, declared: str = EVENTS, **options: Any) -> Variant:
        text = body if "<-" in body else f"w(id) <- {body}."
        return Variant(group, name, declared + text, **options)

    # --- the plain rule is the first of all
    yield rule(PLAIN, PLAIN, "recent A(id, _) seq B(id, _) within 10000")

    # --- composition
    group = "composition"
    yield rule(group, "seq, all pairs", "A(id, _) seq B(id, _) within 10000")
    yield rule(group, "and", "A(id, _) and B(id, _) within 10000")
    yield rule(group, "seq of three", "A(id, _) seq B(id, _) seq C(id, _) within 10000")
    yield rule(group, "a type with itself", "A(id, _) seq A(id, _) within 10000")
    yield rule(group, "or on the left", "recent (A(id, _) or C(id, _)) seq B(id, _) within 10000")
    yield rule(group, "or on the right", "recent A(id, _) seq (B(id, _) or C(id, _)) within 10000")
    yield rule(group, "or of sequences", "(A(id, _) seq B(id, _)) or (A(id, _) seq C(id, _)) within 10000")
    yield rule(group, "nested", "A(id, _) seq (B(id, _) seq C(id, _)) within 10000")
    yield rule(group, "nested, with a name", "A(id, _) seq p: (B(id, _) seq C(id, _)) within 10000")
    yield rule(group, "no key", "w(x) <- A(_, x) seq B(_, _) within 5.", apart=2)
    yield rule(
        group, "long window", "A(id, _) seq B(id, _) within 100000", apart=15_000, bound="writes a million detections"
    )
    yield rule(group, "lasting", "A(id, _) seq B(id, _) lasting 1000", apart=100)
    yield rule(group, "where", "w(id) <- recent A(id, x) seq B(id, y) where x < y within 10000.")
    yield rule(group, "on", "w(id) <- recent A(id, x) seq B(id, y) on x < y within 10000.")
    yield rule(group, "comparison of times", "w(id) <- a: A(id, _), b: B(id, _), b.start > a.end within 10000.")
    yield rule(group, "from", "w(id) from b <- recent A(id, _) seq b: B(id, _) within 10000.")

    # --- relations in time
    group = "relations, intervals"
    for relation in (
        "before",
        "after",
        "meets[50]",
        "met_by[50]",
        "overlaps",
        "overlapped_by",
        "starts[50]",
        "started_by[50]",
        "during",
        "contains",
        "finishes[50]",
        "finished_by[50]",
        "equals[50]",
        "par",
    ):
        body = f"A(id, _) {relation} B(id, _) within 20000"
        yield rule(group, relation, body, data="intervals", apart=3_000)
    for relation in ("meets", "starts", "finishes", "equals"):
        body = f"A(id, _) {relation} B(id, _) within 20000"
        yield rule(group, f"{relation}, exact", body, data="common_ends", apart=3_000)
    yield rule(group, "before[1000..2000]", "A(id, _) before[1000..2000] B(id, _)", apart=200)
    yield rule(group, "during[1..3000, 1..3000]", "A(id, _) during[1..3000, 1..3000] B(id, _)", data="intervals")

    # --- contexts and policies
    group = "contexts"
    for context in ("chronicle", "continuous"):
        yield rule(group, context, f"{context} A(id, _) seq B(id, _) within 10000")
    yield rule(group, "chronicle, continuous", "chronicle A(id, _) seq continuous B(id, _) within 10000")
    yield rule(group, "recent, on intervals", "recent A(id, _) seq B(id, _) within 10000", data="intervals")
    yield rule(group, "cumulative", "w(id, n = count(x)) <- cumulative A(id, x) seq B(id, _) within 10000.")
    yield rule(group, "cumulative, no within", "w(id, m = max(x)) <- cumulative A(id, x) seq B(id, _).")
    yield rule(group, "both sides", "recent A(id, _) and recent B(id, _) within 10000")
    yield rule(
        group,
        "both sides, two words",
        "w(id, n = count(x)) <- cumulative/chronicle A(id, x) and recent/chronicle B(id, _) within 10000.",
    )
    yield rule(group, "during, on intervals", "recent A(id, _) during recent B(id, _) within 20000", data="intervals")
    yield rule(group, "on a composite", "recent (A(id, _) seq B(id, _)) seq C(id, _) within 10000")
    yield rule(group, "three contexts", "recent (recent A(id, _) seq B(id, _)) seq continuous C(id, _) within 10000")
    yield rule(
        group,
        "on, without a window",
        "w(id) <- chronicle A(id, x) seq B(id, y) on x < y.",
        apart=100,
        bound="an initiator whose condition fails stays, so a terminator looks through those of its key",
    )
    for policy in ("snoop_recent", "snoop_chronicle", "snoop_continuous", "unrestricted"):
        yield rule("policies", policy, f"A(id, _) seq B(id, _) seq C(id, _) within 10000 policy {policy}")
    yield rule(
        "policies",
        "snoop_cumulative",
        "w(id, n = count(x)) <- A(id, x) seq B(id, _) within 10000 policy snoop_cumulative.",
    )
    for name, body in (
        ("seq", "A(id, _) seq B(id, _)"),
        ("seq of three", "A(id, _) seq B(id, _) seq C(id, _)"),
        ("and", "A(id, _) and B(id, _)"),
        ("or", "(A(id, _) or C(id, _)) seq B(id, _)"),
        ("seq of or", "A(id, _) seq (B(id, _) or C(id, _))"),
        ("without", "(A(id, _) seq B(id, _)) without C(id, _)"),
    ):
        bound = (
            "two of three events go through a set of the matches of their step, by time and key, before they are stored"
            * (name == "or")
        )
        yield rule("policies", f"restricted, {name}", f"{body} within 10000 policy restricted", bound=bound)

    # --- absence
    group = "absence"
    yield rule(group, "while … not", "a: A(id, _), w: extend(a, 10001), while w: not B(id, _)")
    yield rule(group, "while … not, no key", "w(id) <- a: A(id, _), w: extend(a, 5), while w: not B(_, _).", apart=2)
    yield rule(group, "not … in", "not C(id, _) in [A(id, _), B(id, _)] within 10000")
    yield rule(group, "not … in, no window", "not C(id, _) in [A(id, _), B(id, _)]")
    yield rule(group, "not … in, a value", "not C(id, 50.0) in [A(id, _), B(id, _)] within 10000")
    yield rule(group, "without", "(A(id, _) seq B(id, _)) without C(id, _) within 10000")
    yield rule(
        group, "without, on intervals", "(A(id, _) seq B(id, _)) without C(id, _) within 10000", data="intervals"
    )
    yield rule(group, "not a composite", "a: A(id, _), w: extend(a, 10001), while w: not (B(id, _) seq C(id, _))")
    yield rule(group, "not a composite in", "not (C(id, _) seq C(id, _)) in [A(id, _), B(id, _)] within 20000")
    yield rule(group, "without a composite", "(A(id, _) seq B(id, _)) without (C(id, _) seq C(id, _)) within 20000")
    yield rule(group, "not an alternative", "a: A(id, _), w: extend(a, 10001), while w: not (B(id, _) or C(id, _))")
    yield rule(group, "beside a context", "recent A(id, _) seq B(id, _) without C(id, _) within 10000")

    # --- windows
    group = "windows"
    count = "w(id, n = count(x)) <-"
    yield rule(group, "last 100", f"{count} while last 100: collect A(id, x).", bound=PASSING)
    yield rule(group, "last 10 s", f"{count} while last 10s: collect A(id, x).", declared=IN_MS)
    yield rule(group, "last 100, no key", "w(s = sum(x)) <- while last 100: collect A(_, x).")
    yield rule(group, "each", f"{count} while each 10s: collect A(id, x).", declared=IN_MS)
    yield rule(group, "each, no key", "w(s = sum(x)) <- while each 10ms: collect A(_, x).", declared=IN_MS, apart=3)
    yield rule(group, "since", f"{count} while since B(id, _): collect A(id, x).", bound=PASSING)
    yield rule(group, "since, no key", "w(s = sum(x)) <- while since C(_, 50.0): collect A(_, x).")
    yield rule(
        group,
        "collect before an event",
        f"{count} b: B(id, _), v: extend_backward(b, 10000), while v: collect A(id, x).",
    )
    yield rule(group, "collect after an event", f"{count} b: B(id, _), v: extend(b, 10000), while v: collect A(id, x).")
    yield rule(
        group,
        "collect a composite",
        f"{count} b: B(id, _), v: extend_backward(b, 10000), while v: collect (A(id, x) seq C(id, _)).",
    )
    yield rule(
        group,
        "last 10 beside a pattern",
        f"{count} B(id, _), while last 10: collect A(id, x) within 10000.",
        bound=BESIDE,
    )
    yield rule(
        group,
        "last 10 s beside a pattern",
        f"{count} B(id, _), while last 10s: collect A(id, x) within 10s.",
        declared=IN_MS,
        bound=BESIDE,
    )
    yield rule(
        group,
        "each beside a pattern",
        f"{count} B(id, _), while each 5s: collect A(id, x) within 10s.",
        declared=IN_MS,
        bound=BESIDE,
    )
    yield rule(
        group,
        "since beside a pattern",
        f"{count} B(id, _), while since C(id, _): collect A(id, x) within 10000.",
        bound="joins every window with all events of its key within ten seconds",
    )
    yield rule(group, "of a composite", f"{count} while last 10: collect (A(id, x) seq B(id, _) within 10000).")

    # --- aggregates
    group = "aggregates, last 100 of a key"
    for aggregate in ("count", "sum", "avg", "min", "max", "stddev", "first", "last"):
        queued = "keeps a queue for each of 10,000 keys: a cache line to fetch for each event that leaves or is passed"
        bound = queued if aggregate in ("min", "max") else PASSING
        yield rule(group, aggregate, f"w(id, m = {aggregate}(x)) <- while last 100: collect A(id, x).", bound=bound)
    yield rule(
        group,
        "list",
        "w(id, m = list(x)) <- while last 100: collect A(id, x).",
        bound="looks up 5 million values, each in another cache line",
    )
    yield rule(
        group,
        "list of ten",
        "w(id, m = list(x)) <- while last 10: collect A(id, x).",
        bound="writes 3.3 million values of lists",
    )
    yield rule(group, "max of 100,000, no key", "w(m = max(x)) <- while last 100000: collect A(_, x).", apart=2)
    yield rule(group, "where count", "w(id) <- while last 5: collect f: A(id, x) where count(f) >= 5 and avg(x) > 50.")

    # --- repetition and recursion
    group = "repetition"
    yield rule(group, "p+", "w(id, n = count(x)) <- A(id, _) seq C(id, x)+ seq B(id, _) within 10000.")
    yield rule(group, "p*", "w(id, n = count(x)) <- A(id, _) seq C(id, x)* seq B(id, _) within 10000.")
    yield rule(group, "p{2}", "A(id, _) seq C(id, _){2} seq B(id, _) within 20000")
    yield rule(group, "p{1,3}", "A(id, _) seq C(id, _){1,3} seq B(id, _) within 10000")
    yield rule(group, "p{3} alone", "w(id, m = sum(x)) <- A(id, x){3} within 100000.", apart=5_000)
    group = "recursion"
    yield rule(group, "a fold", "w(id, n = 0) <- C(id, _).\nw(id, n = n + 1) <- recent w(id, n) seq A(id, _).")
    yield rule(
        group,
        "a chain of three",
        "w(id, n = 0) <- A(id, _).\nw(id, n = n + 1) <- w(id, n) seq B(id, _) within 10000 where n < 3.",
    )
    yield rule(
        group,
        "a falling run",
        "w(id, low = y) <- not A(id, _) in [A(id, x), A(id, y)] where y < x.\n"
        "w(id, low = y) <- not A(id, _) in [w(id, x), A(id, y)] where y < x.",
    )

    # --- timers
    group = "timers"
    yield rule(group, "extend", "a: A(id, _), extend(a, 1000)")
    yield rule(group, "shift", "a: A(id, _), s: shift(a, 1000)")
    yield rule(group, "shift, and an event", "a: A(id, _), s: shift(a, 1000), B(id, _) within 20000")
    yield rule(group, "every", "w(id) <- recent A(id, _) seq every(1000) within 2000.", apart=100)
    yield rule(group, "every, alone", "w(n = 1) <- every(10).")
    yield rule(group, "at", "w(id) <- A(id, _) seq at(100000).", apart=1_000)

    # --- static knowledge
    group = "static knowledge"
    held = {"tables": "limits"}
    yield rule(
        group,
        "checked",
        "w(id) <- recent A(id, _) seq B(id, _) where limit(id, _) within 10000.",
        declared=TABLES + EVENTS,
        call=held,
        bound="static rows are read and indexed by Python in each call, and each answer is looked up",
    )
    yield rule(
        group,
        "not held",
        "w(id) <- recent A(id, _) seq B(id, _) where not limit(id, _) within 10000.",
        declared=TABLES + EVENTS,
        call=held,
    )
    yield rule(
        group,
        "binds a variable",
        "w(id, most) <- recent A(id, x) seq B(id, _), limit(id, most) where x < most within 10000.",
        declared=TABLES + EVENTS,
        call=held,
        bound="reads and indexes 18,000 static rows in each call",
    )
    yield rule(
        group,
        "recursive rule",
        "way(a, b) :- next(a, b).\nway(a, c) :- way(a, b), next(b, c).\n"
        "w(id) <- recent A(id, _) seq B(id, _) where way(id, 5) within 10000.",
        declared=TABLES + EVENTS,
        call=held,
        bound="reads and indexes 18,000 static rows in each call",
    )

    # --- expressions
    group = "expressions"
    for name, condition in (
        ("arithmetic", "x * 2 + 1 < y // 3"),
        ("round", "round(x) == round(y)"),
        ("least, coalesce", "least(x, y, 50.0) < coalesce(x, 0.0)"),
        ("if_else", "if_else(x > 50.0, y, x) < 20.0"),
        ("power, ln", "power(x, 2) > ln(y + 1.0)"),
        ("string of a number", 'starts_with(string(floor(x)), "1")'),
    ):
        yield rule(group, name, f"w(id) <- recent A(id, x) seq B(id, y) where {condition} within 10000.")
    for name, condition in (
        ("equal strings", "s == t"),
        ("order of strings", "s < t"),
        ("lower, starts_with", 'starts_with(lower(s), "word 0001")'),
        ("matches", 'matches(s, "7$")'),
        ("length of concat", "length(concat(s, t)) > 3"),
        ("a constant", 's != "Word 000007"'),
    ):
        yield rule(
            group,
            name,
            f"w(id) <- recent A(id, s) seq B(id, t) where {condition} within 10000.",
            declared=STRINGS,
            data="words",
        )
    for data, name in (("words", "upper in the head"), ("many_words", "upper, all different")):
        yield rule(
            group,
            name,
            "w(id, u = upper(s)) <- recent A(id, s) seq B(id, _) within 10000.",
            declared=STRINGS,
            data=data,
            bound="a million different strings come into the dictionary" if data == "many_words" else "",
        )
    yield rule(
        group,
        "order, all different",
        "w(id) <- recent A(id, s) seq B(id, t) where s < t within 10000.",
        declared=STRINGS,
        data="many_words",
        bound="a million different strings come into the dictionary",
    )
    yield rule(
        group, "max of strings", "w(id, m = max(s)) <- while last 10: collect A(id, s).", declared=STRINGS, data="words"
    )

    # --- values
    plain = "recent A(id, _) seq B(id, _) within 10000"
    group = "values"
    for name, data, key in (
        ("string keys", "string_keys", "string"),
        ("strings in a dictionary", "dictionary_keys", "string"),
        ("nulls", "nulls", "int"),
    ):
        yield rule(group, name, plain, declared=EVENTS.replace("id: int", f"id: {key}"), data=data)
    keyed = EVENTS.replace("id: int", "id: int, sub: int")
    yield rule(
        group,
        "two keys",
        "w(id, sub) <- recent A(id, sub, _) seq B(id, sub, _) within 10000.",
        declared=keyed,
        data="two_keys",
    )
    yield rule(group, "a float as key", "w(x) <- recent A(_, x) seq B(_, x) within 100000.", apart=5_000)
    flagged = EVENTS.replace("x: float", "flag: bool")
    yield rule(
        group,
        "truth values",
        "w(id) <- recent A(id, true) seq B(id, f) where not f within 10000.",
        declared=flagged,
        data="truths",
    )
    yield rule(group, "int for a float", plain, data="whole_numbers")
    yield rule(group, "columns of 32 bits", "w(id, x) <- recent A(id, x) seq B(id, _) within 10000.", data="narrow")
    yield rule(group, "no column for an attribute", plain, data="no_column")
    yield rule(
        group,
        "one attribute more than columns",
        "recent A(id, _, _) seq B(id, _, _) within 10000",
        declared=EVENTS.replace("x: float", "x: float, y: int"),
    )
    yield rule(group, "undeclared events", "w(id) <- recent A(id = id) seq B(id = id) within 10000.", declared="")
    yield rule(
        group,
        "undeclared, arithmetic",
        "w(id, s = x + y) <- recent A(id = id, x = x) seq B(id = id, x = y) where x < y within 10000.",
        declared="",
    )
    yield rule(
        group, "undeclared, an aggregate", "w(id, m = avg(x)) <- while last 10: collect A(id = id, x = x).", declared=""
    )
    yield rule(
        group,
        "undeclared, strings",
        "w(id) <- recent A(id = id) seq B(id = id) within 10000.",
        declared="",
        data="string_keys",
    )
    yield rule(
        group,
        "one type undeclared",
        "w(id) <- recent A(id, _) seq B(id = id) within 10000.",
        declared="event A(id: int, x: float).\n",
    )

    # --- keys and times
    group = "keys and times"
    for name, data in (
        ("skewed keys", "skewed"),
        ("half of one key", "hot"),
        ("a single key", "single_key"),
        ("a million keys", "many_keys"),
        ("two events at each time", "pairs_of_ties"),
        ("a hundred events at each time", "ties"),
        ("rows a little late", "late"),
        ("rows shuffled", "shuffled"),
        ("start and end", "intervals"),
    ):
        bound = "sorts the events of each moment by their attributes" if data == "ties" else ""
        yield rule(group, name, plain, data=data, bound=bound)
    for name, data in (
        ("timestamps", "timestamps"),
        ("timestamps, milliseconds", "milliseconds"),
        ("timestamps, nanoseconds", "nanoseconds"),
        ("timestamps with a zone", "zone"),
    ):
        yield rule(group, name, "w(id) <- recent A(id, _) seq B(id, _) within 10s.", data=data)

    # --- forms of data
    group = "forms of data"
    for name, data in (
        ("pandas", "as_pandas"),
        ("Polars", "as_polars"),
        ("a table for each type", "by_type"),
        ("a reader of batches", "as_reader"),
        ("pieces of 1,000 rows", "chunks"),
        ("large strings", "large_strings"),
        ("types in a dictionary", "type_codes"),
        ("twenty more columns", "more_columns"),
        ("types that no rule reads", "other_types"),
    ):
        yield rule(group, name, plain, data=data)
    yield rule(group, "a type that never comes", plain, declared=EVENTS + "event D(id: int, y: string).\n")
    yield rule(
        group,
        "a type with another attribute",
        plain,
        declared="event A(id: int, x: float).  event B(id: int, x: float).  event D(id: int, x: string).\n",
    )

    # --- programs and calls
    group = "programs"
    yield rule(group, "provenance", plain, call={"provenance": True})
    yield rule(group, "keep", plain, declared="keep 60000.\n" + EVENTS)
    names = [f"w{number}" for number in range(10)]
    ten = "\n".join(
        f"{name}(id) <- recent A(id, _) seq B(id, _) within {1000 * k + 1000}." for k, name in enumerate(names)
    )
    yield Variant(
        group, "ten rules alike", EVENTS + ten, emit=",".join(names), bound="ten rules, each with its own detections"
    )
    bodies = (
        "recent A(id, _) seq B(id, _) within 10000",
        "chronicle B(id, _) seq C(id, _) within 10000",
        "A(id, _) and C(id, _) within 5000",
        "not C(id, _) in [A(id, _), B(id, _)] within 10000",
        "a: A(id, _), v: extend(a, 5000), while v: not C(id, _)",
    )
    five = "\n".join(f"{name}(id) <- {body}." for name, body in zip(names, bodies, strict=False))
    yield Variant(
        group,
        "five rules that differ",
        EVENTS + five,
        emit=",".join(names[:5]),
        bound="five rules, each with its state",
    )
    yield rule(
        group,
        "derived from derived",
        "p(id) <- recent A(id, _) seq B(id, _) within 10000.\n"
        "q(id) <- recent p(id) seq C(id, _) within 10000.\n"
        "w(id) <- recent q(id) seq A(id, _) within 10000.",
    )
    yield rule(
        group,
        "a detection for each event",
        "w(id, x) <- A(id, x) or B(id, x) or C(id, x).",
        bound="writes as many detections as there are events",
    )
    yield rule(
        group,
        "ten detections for each event",
        "w(id, x) <- A(id, x) seq B(_, _) within 30.",
        apart=5,
        bound="writes three million detections",
    )
    yield rule(
        group,
        "six attributes",
        "w(id, x, y, z = x + y, s = a.start, t = b.end) <- recent a: A(id, x) seq b: B(id, y) within 10000.",
    )


VARIANTS = tuple(_variants())


def known_counts() -> dict[str, dict[str, int]]:
    """The recorded numbers of detections: by `events/keys`, by variant."""
    found: dict[str, dict[str, int]] = json.loads(COUNTS.read_text(encoding="utf-8")) if COUNTS.exists() else {}
    return found
