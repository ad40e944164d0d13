"""Explanations: the plan of each rule as text, JSON or a picture, and the counts observed while it ran."""

from ensue.explain.explanation import Explanation, Observed, RuleExplained
from ensue.explain.gather import explained

__all__ = ["Explanation", "Observed", "RuleExplained", "explained"]
