"""Why something was detected, and why something was not: the answer to one question, as data and as text.

The reference evaluator answers, on the events that concern one key (`slices`). A detection is followed down to the
events that were given (`derivations`). Of what was not detected every attempt is looked at with all that a rule asks
for, and what it lacks is what stopped it (`attempts`); so there is no second meaning, and no guess.
"""

from ensue.reasons.answer import Why
from ensue.reasons.ask import why

__all__ = ["Why", "why"]
