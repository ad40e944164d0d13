"""Backtests: detections of rules in events of the past, with times, keys and costs, beside those of other rules."""

from ensue.backtesting.forms import Backtest
from ensue.backtesting.result import Keys, RuleResult, TypeChange
from ensue.backtesting.run import backtest, run_backtest

__all__ = ["Backtest", "Keys", "RuleResult", "TypeChange", "backtest", "run_backtest"]
