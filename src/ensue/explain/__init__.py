"""How a program is run, and why: the plan of each rule, as text, JSON or a picture, and what really happened in it."""

from ensue.explain.explanation import Explanation, Observed, RuleExplained
from ensue.explain.gather import explained

__all__ = ["Explanation", "Observed", "RuleExplained", "explained"]
