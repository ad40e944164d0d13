"""Programs with several rules of one shape, which differ in constants, in names, and in derived types."""

import re

from hypothesis import strategies as st

from tests.random_programs import DECLARATIONS

SHAPES = (
    "{head}(k, x) <- a(k, x) where x > {n}.",
    "{head}(k, x) <- a(k, x) where {n} >= x and k != {n}.",
    "{head}(k) <- a(k, {n}).",
    "{head}(k, s) <- c(k, s) where s = {s}.",
    "{head}(k, y) <- b(k, y) where y * {f} > {f} + k.",
    "{head}(k, y = y + {n}, s = {s}) <- b(k, y) where y < {f} or k = {n}.",
    "{head}(k, x) <- a(k, x) seq b(k, y) where y > {f} within {d}.",
    "{head}(k) <- a(k, {n}) seq c(k, {s}).",
    "{head}(k) <- a(k, x) seq a(k, z) where z - x >= {n} and x < {n} within {d}.",
    "{head}(s) <- c(_, s) seq c(_, s) where s = {s}.",
    "{head}(k) <- c(k, {s}) and a(k, {n}) within {d}.",
    "{head}(k) <- a(k, x) before[{n}..{d}] b(k, _).",
    "{head}(k) <- p: a(k, x), q: c(k, {s}), p before[..{d}] q.",
    "{head}(k, x) <- a(k, x) overlaps[..{d}] h(k, _) where x > {n}.",
    "{head}(k) <- a(k, _) seq b(k, _) lasting {d}.",
    "{head}(k) <- e: a(k, {n}), w: extend(e, 3), while w: not b(k, _).",
    '{head}(k) <- e: a(k, x), w: extend(e, 4), while w: not (c(k, s) where s = "p"), x >= {n}.',
    "{head}(k) <- e: a(k, x), w: extend(e, {d}), while w: not b(k, _).",
    "{head}(k) <- e: a(k, {n}), w: extend_backward(e, {d}), while w: not h(k, {n}).",
    "{head}(k) <- not c(k, {s}) in [a(k, {n}), h(k, _)].",
    "{head}(k) <- not i(k, _) in [i(k, x), i(k, z)] where x < z and x > {n} within {d}.",
    "{head}(k, x) <- recent a(k, x) seq b(k, y) where y > {f}.",
    "{head}(k, x) <- recent a(k, x) seq h(k, x) where x != {n} within 6.",
    "{head}(k, x) <- chronicle a(k, x) seq continuous h(k, {n}) on x > {n}.",
    "{head}(x) <- recent a({n}, x) seq h({n}, _).",
    "{head}(k, m = sum(x)) <- while last 3: collect a(k, x) where sum(x) > {n}.",
    "{head}(k, m = max(x)) <- while last 6s: collect a(k, x) where max(x) > {n} and k < {n}.",
    "{head}(m = count(x)) <- while last 3: collect a({n}, x).",
    "{head}(k, n = count(f)) <- e: b(k, _), w: extend_backward(e, 8), while w: collect f: a(k, x) "
    "where count(f) >= {n}.",
    "{head}(k, n = count(x)) <- b(k, _) seq a(k, x)+ seq h(k, _) where count(x) > {n} within {d}.",
    "{head}(k, x, d = e.end - e.start) from e <- e: a(k, x) seq b(k, _) where e.end - e.start < {n}.",
    "{head}(k) <- (a(k, x) seq b(k, _)) without c(k, {s}) where x > {n}.",
    "{head}(k, x) <- a(k, x) seq b(k, _) seq c(k, s) where x > {n} and s != {s} within {d}.",
    "{head}(k, x) <- a(k, x) seq b(k, _) policy restricted where x > {n}.",
    "{head}(k, x) <- a(k, x) seq (a(k, _) seq b(k, y) policy restricted where y > {f}) where x > {n} within {d}.",
)
"""Rules with places for a number, a float, a string and a length of time."""

CONSTANTS = {
    "n": ["0", "1", "1", "2", "3", "-1"],
    "f": ["0.5", "1.0", "1", "2.5", "-1.0", "0"],
    "s": ['"p"', '"q"', '"P q"', '"z"'],
    "d": ["2", "3", "4", "6", "9"],
}

HOLE = re.compile(r"\{([nfsd])\}")


@st.composite
def alike(draw, most_shapes=2, most_rules=5):
    """A program of a few shapes, each with several rules: for types of their own, or for one type together."""
    lines = ["unit s.", DECLARATIONS.strip()]
    for number in range(draw(st.integers(1, most_shapes))):
        shape = draw(st.sampled_from(SHAPES))
        together = draw(st.booleans())
        for copy in range(draw(st.integers(2, most_rules))):
            head = f"r{number}" if together else f"r{number}_{copy}"
            rule = HOLE.sub(lambda hole: draw(st.sampled_from(CONSTANTS[hole.group(1)])), shape)
            rule = rule.replace("{head}", head)
            lines.append(renamed(rule) if draw(st.booleans()) else rule)
        if draw(st.integers(0, 3)) == 0:
            used = f"r{number}" if together else f"r{number}_0"
            lines.append(f"after{number}() <- {used}() seq a(_, _) within 5.")
    return "\n".join(lines)


def renamed(rule):
    """The same rule with other names for events that are labelled; the head's attributes keep theirs."""
    for label in ("e", "w", "p", "q", "f"):
        rule = re.sub(rf'(?<!")\b{label}\b(?=[:.,)]| before| <-)', f"{label}{label}", rule)
    return rule
