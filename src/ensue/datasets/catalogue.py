"""Catalogue of the data sets: their subjects, the generators of their events, and the detections to look at first."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from ensue.records import dataclass

FOLDER = Path(__file__).parent

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Dataset:
    """A data set: events and a rule file for them."""

    name: str
    title: str
    sentence: str
    """The story in a sentence."""
    types: tuple[str, ...]
    """Derived events worth looking at, the most interesting first; others only lead to them."""
    make: Callable[[], Rows]

    @property
    def rules(self) -> Path:
        """The rule file, with tests."""
        return FOLDER / f"{self.name}.ensue"

    def rows(self) -> Rows:
        """The events as dicts in order, each with the attributes of its type and moments in UTC."""
        return self.make()


def _generated(name: str) -> Callable[[], Rows]:
    def make() -> Rows:
        rows: Rows = import_module(f"ensue.datasets.generate.{name}").generate()
        return rows

    return make


def _stored(name: str) -> Callable[[], Rows]:
    def make() -> Rows:
        lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        return [{**row, "time": datetime.fromisoformat(row["time"])} for row in rows]

    return make


DATASETS = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            "orders",
            "Orders of a shop",
            "Two days of orders and parcels. Some orders ship late, some not at all.",
            ("overdue", "rep", "comp"),
            _stored("orders"),
        ),
        Dataset(
            "logins",
            "Sign-ins of a company",
            "A day of sign-ins. Two strangers guess passwords, and somebody is in two countries at once.",
            ("break_in", "spraying", "two_places"),
            _generated("logins"),
        ),
        Dataset(
            "machines",
            "Machines of a plant",
            "Two days of temperatures. One machine fails after it ran hot, one is hot while somebody works on it.",
            ("hot_in_maintenance", "seen_coming", "overheated", "silent"),
            _generated("machines"),
        ),
        Dataset(
            "ticks",
            "Prices of five shares",
            "A trading day, minute by minute. One share falls until it turns, another jumps on news.",
            ("turn", "jump", "crowd"),
            _generated("ticks"),
        ),
        Dataset(
            "pizza",
            "A pizza service",
            "A Friday evening. An oven breaks down at the worst hour, and pizzas come too late.",
            ("pizza_for_free", "blame_oven", "not_in_oven", "baked_in_maintenance"),
            _generated("pizza"),
        ),
        Dataset(
            "hospital",
            "An emergency department",
            "A day and a night. Doctors hear of all who wait, and at night some patients wait for too long.",
            ("unseen", "briefing", "rising", "no_fever", "waited"),
            _generated("hospital"),
        ),
        Dataset(
            "supply_chain",
            "Pallets in a supply chain",
            "Ten days from two harbours to four shops. Some pallets miss a scan, some go astray, some are lost.",
            ("wrong_way", "missed_scan", "lost", "arrived"),
            _generated("supply_chain"),
        ),
    )
}
