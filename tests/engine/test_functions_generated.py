"""Functions and operators on numbers in generated code, against the language's definitions, bit by bit."""

import itertools
import math
from random import Random

import pyarrow as pa
import pytest

import ensue
from ensue.engine.derived_tables import derived_tables
from ensue.engine.evaluate import operate
from ensue.engine.generate.functions import NATIVE, function_of
from ensue.engine.generate.writer import Writer
from ensue.engine.run import Run
from ensue.language import typed
from ensue.language.functions import FUNCTIONS, apply
from ensue.language.semantics import calculate, compare, held
from ensue.reference.expressions import evaluate
from ensue.reference.matches import Match

TERMS = [
    *(f"{name}({v})" for name in ("abs", "sign", "round", "floor", "ceil", "trunc", "sqrt", "exp", "ln", "log10")
      for v in ("i", "x")),
    *(f"round({v}, {d})" for v in ("i", "x") for d in ("n", "-1", "2", "null", "j")),
    *(f"{name}({a}, {b})" for name in ("power", "mod", "least", "greatest", "nullif") for a in "ix" for b in "jy"),
    *(f"{a} {sign} {b}" for sign in ("//", "%", "/", "*", "+", "-") for a in "ix" for b in "jy"),
    *(f"{name}({v})" for name in ("is_nan", "int", "float") for v in "ix"),
    "int(o)", "float(o)", "timestamp(i)", "timestamp(x)", "timestamp(o)", "least(o, q)", "greatest(o, q)", "nullif(o, q)",
    "least(i, j, n)", "greatest(x, y, i)", "least(null, x, i)", "greatest(i, null)", "nullif(null, i)", "nullif(s, u)",
    "nullif(x, null)", "coalesce(x, i)", "if_else(o, x, i)", "-i", "-x", "abs(i) + abs(x)", "round(x / y, 3)",
    "int(s)", "float(s)", "starts_with(s, u)", "length(s)", "concat(s, i)", "least(s, u)", "mod(i, 0)", "x // 0",
    "i in (j, n, 1)", "i not in (j, x)", "x in (i, y, null)", "s in (u, \"x\")", "o in (q, true)", "x between i and y",
    "i not between j and x", "s like u", "s not ilike \"1%\"", "x is null", "s is not null",
    *(f"{part}(timestamp(i))" for part in ("year", "month", "day", "hour", "minute", "second", "weekday")),
    *(f'date_trunc("{span}", timestamp(i))' for span in ("second", "minute", "Hour", "day", "week", "month", "year")),
    "date_trunc(s, timestamp(i))", 'hour(timestamp(i), "Europe/Berlin")', "hour(timestamp(i), s)", "hash(i)", "hash(x)",
    "hash(s)", "hash(o)", "split(s, u, n)", "lpad(s, n, u)", "rpad(s, n)", "extract(s, u)", "extract(s, \"([0-9])\", n)",
    "case when o then x else i end", "case i when j then 1 when n then 2 end", "string(case when o then x else i end)",
]  # fmt: skip

INTEGERS = [0, 1, -1, 2, -2, 3, 5, 7, 10, 15, 25, -5, -15, 50, 99, 2**31, 2**53 + 1, -(2**53) - 1, 2**62, 2**63 - 1]
INTEGERS += [-(2**63), -(2**63) + 1, 10**18, 5 * 10**17, -5 * 10**17, 9 * 10**18, None]
FLOATS = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    1.0,
    -1.0,
    3.0,
    0.1,
    1e-300,
    5e-324,
    1e300,
    -1e300,
    1.7976931348623157e308,
]
FLOATS += [
    math.inf,
    -math.inf,
    math.nan,
    2.0**53,
    2.0**63,
    -(2.0**63),
    2.0**62,
    9.5e18,
    1e22,
    123456.789,
    0.49999999999999994,
]
FLOATS += [-8.0, 1 / 3, 709.9, -745.2, None]
STRINGS = ["", "1", " 12 ", "1.5", "x", "nan", None]


def rows(seed, count):
    rng = Random(seed)

    def whole():
        return rng.choice(INTEGERS) if rng.random() < 0.7 else rng.randint(-(2**63), 2**63 - 1) >> rng.randint(0, 63)

    def fraction():
        if rng.random() < 0.6:
            return rng.choice(FLOATS)
        return rng.uniform(-1, 1) * 10.0 ** rng.randint(-20, 20)

    found = []
    for time in range(count):
        found.append({
            "i": whole(), "j": whole(), "n": rng.choice([0, 1, 2, -1, -2, -17, -18, -19, 15, 300, 301, -400, None]),
            "x": fraction(), "y": fraction(), "o": rng.choice([True, False, None]), "q": rng.choice([True, False, None]),
            "s": rng.choice(STRINGS), "u": rng.choice(STRINGS), "type": "e", "start": time, "end": time,
        })  # fmt: skip
    return found


def program_of(terms):
    heads = ", ".join(f"t{number} = {term}" for number, term in enumerate(terms))
    return ensue.compile(
        "event e(i: int, j: int, n: int, x: float, y: float, o: bool, q: bool, s: string, u: string).\n"
        f"d({heads}) <- e(i, j, n, x, y, o, q, s, u)."
    )


def found(program, events, mode):
    run = Run(program.typed, compiled=mode == "machine")
    batch = run.batch()
    batch.rows = [
        (e["type"], {n: v for n, v in e.items() if n not in ("type", "start", "end")}, e["start"], e["end"], None, at)
        for at, e in enumerate(events)
    ]
    run.advance(batch, len(events), 0)
    table = derived_tables(batch, program.typed, ["d"], False, None)["d"]
    columns = [c.cast(pa.int64()) if pa.types.is_timestamp(c.type) else c for c in table.columns]
    return pa.table(columns, table.column_names).to_pylist()


def same(one, other):
    if isinstance(one, float) and isinstance(other, float):
        return (one != one and other != other) or one == other
    return type(one) is type(other) and one == other


@pytest.mark.parametrize("mode", ["plain", "machine"])
@pytest.mark.parametrize("number", range(6))
def test_values_are_those_of_the_language(mode, number):
    program = program_of(TERMS)
    events = rows(number, 300)
    (rule,) = program.typed.rules
    types = program.typed.events["d"].attributes
    for event, row in zip(events, found(program, events, mode), strict=True):
        for text, (name, term) in zip(TERMS, rule.head, strict=True):
            wanted = held(evaluate(term, Match(0, 0, event), None), types[name])
            assert same(row[name], wanted), (text, event, row[name], wanted)


@pytest.mark.parametrize("mode", ["plain", "machine"])
def test_extremes_in_every_combination(mode):
    terms = [
        term for term in TERMS if set("ij") & set(term) and "s" not in term.replace("least", "").replace("sqrt", "")
    ]
    terms = [t for t in terms if not any(word in t for word in ("n)", "x", "y", "o", "s,"))]
    terms += [f"{name}(x, y)" for name in ("power", "mod", "least", "greatest", "nullif")] + ["x // y", "x % y"]
    program = program_of(terms)
    pairs = list(itertools.product(INTEGERS, INTEGERS)) + list(itertools.product(FLOATS, FLOATS))
    events = []
    for time, (one, other) in enumerate(pairs):
        whole = time < len(INTEGERS) ** 2
        values = {"i": one, "j": other} if whole else {"x": one, "y": other}
        empty = dict.fromkeys(("i", "j", "n", "x", "y", "o", "q", "s", "u"))
        events.append({**empty, **values, "type": "e", "start": time, "end": time})
    (rule,) = program.typed.rules
    types = program.typed.events["d"].attributes
    for event, row in zip(events, found(program, events, mode), strict=True):
        for text, (name, term) in zip(terms, rule.head, strict=True):
            wanted = held(evaluate(term, Match(0, 0, event), None), types[name])
            assert same(row[name], wanted), (text, event, row[name], wanted)


def test_every_native_function_has_a_record():
    assert set(NATIVE) <= set(FUNCTIONS)


def test_an_unknown_name_is_an_error():
    with pytest.raises(LookupError):
        function_of(None, Writer(), typed.Operation("cube", (), "int"), [])
    with pytest.raises(LookupError):
        apply("cube", [1])
    with pytest.raises(LookupError):
        calculate("**", 2, 3)
    with pytest.raises(LookupError):
        compare("<>", 2, 3)
    with pytest.raises(LookupError):
        operate(typed.Operation("cube", (), "int"), [1])


def test_numbers_are_computed_without_asking():
    asked = ("int(s)", "float(s)", "starts", "length", "concat", "least(s", "nullif(null", "greatest(i, null")
    asked += ("s like", "s not ilike", "string(case", "hash", "split", "lpad", "rpad", "extract", "date_trunc(s")
    asked += ("hour(timestamp(i), ", 'date_trunc("month"', 'date_trunc("year"')
    terms = [term for term in TERMS if not term.startswith(asked)]
    run = Run(program_of(terms).typed, compiled=False)
    questions = [q.expression.name for lane in run.lanes for q in lane.code.unit.questions.values()]
    assert questions == []
