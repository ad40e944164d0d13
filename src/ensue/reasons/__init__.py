"""Explanations of why something was detected, or was not: the answer to one question, as data and as text.

The reference evaluator answers, on the events that concern one key (`slices`). A detection is followed down to the
events that were given (`derivations`). Of a detection that is missing every attempt is checked against all parts of a
rule, and the answer is what it lacks (`attempts`); so there is no second meaning, and no guess.
"""

from ensue.reasons.ask import why
from ensue.reasons.forms import Why

__all__ = ["Why", "why"]
