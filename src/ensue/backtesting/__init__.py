"""Backtests: what rules would have found in events of the past, when, for whom, at what cost, and instead of what."""

from ensue.backtesting.result import Backtest, Keys, RuleResult, TypeChange
from ensue.backtesting.run import backtest, run_backtest

__all__ = ["Backtest", "Keys", "RuleResult", "TypeChange", "backtest", "run_backtest"]
