"""Small data sets that come with the package, so that every example can be run as it stands.

`orders.jsonl` holds two days of a shop's orders and parcels, `orders.ensue` the rules for them.

>>> names()
('orders.ensue', 'orders.jsonl')
>>> path("orders.jsonl").exists()
True
"""

from pathlib import Path

_FOLDER = Path(__file__).parent


def names() -> tuple[str, ...]:
    """The files there are."""
    return tuple(sorted(file.name for file in _FOLDER.iterdir() if file.suffix in (".ensue", ".jsonl")))


def path(name: str) -> Path:
    """Where a file is.

    >>> path("order")
    Traceback (most recent call last):
    ValueError: There is no data set 'order'; there are orders.ensue and orders.jsonl.
    """
    if name not in names():
        raise ValueError(f"There is no data set {name!r}; there are {' and '.join(names())}.")
    return _FOLDER / name
