"""Tables 1 to 3 of Ray and Huang, Increasing Expressiveness of Composite Events Using Parameter Contexts: 72 cases."""

import json
from pathlib import Path

import pytest

import ensue

CASES = json.loads((Path(__file__).parent / "golden" / "parameter_contexts.json").read_text())["cases"]


def rules(case: dict) -> str:
    """The rule of a case; a cumulative side is listed, the other ones have one value."""
    left, right = case["initiator_a"], case.get("initiator_b")
    if case["operator"] == "seq":
        body = f"{left} a(x) seq {case['terminator_b']} b(y)"
    else:
        body = f"{left}/{case['terminator_a']} a(x) and {right}/{case['terminator_b']} b(y)"
    x = "xs = list(x)" if left == "cumulative" else "xs = x"
    y = "ys = list(y)" if right == "cumulative" else "ys = y"
    return f"event a(x: string). event b(y: string). m({x}, {y}) <- {body}."


def name(case: dict) -> str:
    words = [case.get(key, "-") for key in ("initiator_a", "terminator_a", "initiator_b", "terminator_b")]
    return f"table {case['table']}: {case['operator']} {' '.join(words)}"


WAYS = {"python": {"compiled": False}, "machine": {"compiled": True}, "reference": {"engine": "reference"}}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("case", CASES, ids=name)
def test_parameter_contexts(case, way):
    events = [
        {"type": instance[0], "time": time, ("x" if instance[0] == "a" else "y"): instance}
        for time, instance in enumerate(case["stream"])
    ]
    found = ensue.compile(rules(case)).detect(events, **way)
    composites = [
        sorted(
            instance
            for side in ("xs", "ys")
            for instance in (row[side] if isinstance(row[side], list) else [row[side]])
        )
        for row in found
    ]
    assert sorted(composites) == sorted(sorted(expected) for expected in case["expect"])


def test_there_are_72():
    assert len(CASES) == 72
