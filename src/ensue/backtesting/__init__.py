"""Backtests: detections of rules in events of the past, with times, keys and costs, beside those of other rules."""

from ensue.backtesting.result import Backtest, Keys, RuleResult, TypeChange
from ensue.backtesting.run import backtest, run_backtest

__all__ = ["Backtest", "Keys", "RuleResult", "TypeChange", "backtest", "run_backtest"]
