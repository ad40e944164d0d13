"""Plans: the operators of a rule, with the results of temporal reasoning for each, as a golden file.

`ENSUE_UPDATE_GOLDEN=1 pytest tests/plan` rewrites the golden file; read the difference.
"""

import os
from pathlib import Path

import ensue
from ensue.plan import operators as plan
from ensue.plan.build import Planner
from ensue.plan.describe import describe
from ensue.plan.show import show
from ensue.plan.walk import walk

HERE = Path(__file__).parent
GOLDEN = HERE / "plans.txt"
UPDATE = os.environ.get("ENSUE_UPDATE_GOLDEN") == "1"


def plans():
    """The plans of all rules, and their program."""
    program = ensue.compile(HERE / "rules.ensue").typed
    return [Planner(program.events).rule(rule) for rule in program.rules], program


def test_plans_are_as_in_the_golden_file():
    derives, program = plans()
    found = "\n\n".join(show(derive, program) for derive in derives) + "\n"
    if UPDATE:
        GOLDEN.write_text(found, encoding="utf-8", newline="\n")
    assert found == GOLDEN.read_text(encoding="utf-8")


def test_each_operator_is_described_once():
    derives, program = plans()
    for derive in derives:
        described = [id(each) for part in describe(derive, program).walk() for each in part.operators]
        assert len(described) == len(set(described))
        assert set(described) <= set(map(id, walk(derive)))
        anew = [id(inner) for each in walk(derive) if isinstance(each, plan.Anew) for inner in walk(each)]
        rest = {type(each).__name__ for each in walk(derive) if id(each) not in (*described, *anew)}
        assert rest <= {"Derive", "Named", "Spanned", "Nothing", "Alternatives"}, "they keep nothing of their own"
