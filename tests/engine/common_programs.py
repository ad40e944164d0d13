"""Programs whose rules have parts in common: variants of one rule with another last event, other names, another
length, other conditions."""

import re

from hypothesis import strategies as st

from tests.random_programs import DECLARATIONS

PARTS = (
    "a({k}, {x}) seq b({k}, {y})",
    "a({k}, {x}) seq b({k}, {y})",
    "a({k}, {x}) seq b({k}, {y}) seq h({k}, _)",
    "{e}: a({k}, {x}) and b({k}, {y})",
    "a({k}, {x}) seq i({k}, {x})",
    "a({k}, {x}) before[0..4] {e}: h({k}, _)",
    "a({k}, {x}) par b({k}, {y})",
    "a({k}, {x}) seq a({k}, {x})",
    "a({k}, {x})",
    "a({k}, 1) seq b({k}, {y})",
    "(a({k}, {x}) seq b({k}, {y}) within 4)",
    "{e}: (a({k}, {x}) seq b({k}, {y}))",
    "(a({k}, {x}) seq b({k}, {y}) where {x} > 1)",
    "(not c({k}, _) in [i({k}, {x}), h({k}, _)])",
    "(a({k}, {x}) without c({k}, _)) seq b({k}, {y})",
    "(a({k}, {x}) or h({k}, {x})) seq b({k}, {y})",
    "a({k}, {x}) seq (b({k}, {y}) seq h({k}, _))",
)
"""Beginnings of rules, with places for variables and a name."""

ENDS = (
    "",
    " seq c({k}, {s})",
    " seq i({k}, _)",
    " seq i(_, {x})",
    " seq i({k}, {x})",
    " seq a({k}, _)",
    " and h({k}, _)",
    " and i({k}, _)",
    " seq (i({k}, _) seq c({k}, _))",
    " and a({k}, {z})",
    " par i({k}, _)",
    " seq v(_, _)",
    " seq b({k}, _) seq c({k}, _)",
)
"""Continuations of the common part."""

AROUND = (
    "{part}{end}",
    "{part}{end}",
    "{part}{end}",
    "({part}){end}",
    "{u}: ({part}), {w}: extend({u}, 3), while {w}: not c({k}, _)",
    "{u}: ({part}), {w}: extend_backward({u}, 4), while {w}: not i({k}, _)",
    "({part}) without i({k}, _)",
    "recent ({part}) seq c({k}, _)",
    "({part}) and ({part})",
    "({part}), {u}: c({k}, _)",
)

CONDITIONS = ("", "", "", " where {k} > 0", " where {x} >= {k}", " where {y} > 0.5 or {k} = 1")

NAMES = (
    {"k": "k", "x": "x", "y": "y", "z": "z", "s": "s", "e": "e", "u": "u", "w": "w"},
    {"k": "m", "x": "k", "y": "x", "z": "y", "s": "t", "e": "p", "u": "q", "w": "e"},
    {"k": "x", "x": "k", "y": "b1", "z": "a1", "s": "z", "e": "zz", "u": "aa", "w": "bb"},
)

HOLE = re.compile(r"\{(\w)\}")


@st.composite
def common(draw, most_rules=5):
    """A program of rules with one or two beginnings, each with a label, so that it can be removed."""
    beginnings = [draw(st.sampled_from(PARTS)) for _ in range(draw(st.integers(1, 2)))]
    lines = ["unit s.", DECLARATIONS.strip()]
    for number in range(draw(st.integers(2, most_rules))):
        lines.append(draw(variants(number, draw(st.sampled_from(beginnings)))))
    if draw(st.integers(0, 4)) == 0:
        lines.append("rule more: more(v) <- r0(v) seq b(v, y) within 5.")
        lines.append("rule most: most(v) <- r0(v) seq c(v, s) within 7.")
    return "\n".join(lines)


@st.composite
def variants(draw, number, part, together=None):
    """A rule that begins with a part."""
    end, around, condition = (draw(st.sampled_from(each)) for each in (ENDS, AROUND, CONDITIONS))
    body = around.replace("{part}", part).replace("{end}", end)
    if around.count("{part}") > 1:
        body = body.replace("{e}: ", "")
    used = set(HOLE.findall(body))
    if not set(HOLE.findall(condition)) <= used:
        condition = ""
    within = draw(st.sampled_from(["", " within 4", " within 6", " within 6", " within 9"]))
    names = draw(st.sampled_from(NAMES))
    head = f"r{number}(v = {{k}})"
    text = f"rule n{number}: {head} <- {body}{condition}{within}."
    return HOLE.sub(lambda hole: names[hole.group(1)], text)


def dense(rng, types, count):
    """A stream in which almost everything meets: few keys, few values, events of all types at almost every time."""
    events, time = [], 0
    for _ in range(count):
        time += rng.choice((0, 0, 1, 1, 2))
        type_ = rng.choice(types)
        row = {"type": type_, "start": time if type_ == "i" else time - rng.choice((0, 0, 0, 1, 2)), "end": time}
        row |= {"k": rng.choice((1, 1, 2))} if type_ != "v" else {"o": True}
        match type_:
            case "b" | "v":
                row["y"] = rng.choice((0.5, 1.0, None))
            case "c":
                row["s"] = "p"
            case _:
                row["x"] = rng.choice((1, 1, 2, None))
        events.append(row)
    return events
