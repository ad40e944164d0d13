"""Explanations: the plan of each rule as text, JSON or a picture, and the counts observed while it ran."""

from ensue.explain.explained import Observed, RuleExplained
from ensue.explain.explanation import Explanation
from ensue.explain.gather import explained

__all__ = ["Explanation", "Observed", "RuleExplained", "explained"]
