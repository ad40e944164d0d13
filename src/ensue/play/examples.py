"""The examples that a session can start from: built-in data sets, and the cookbook's rule files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from ensue import datasets
from ensue.records import dataclass

_COOKBOOKS = (
    Path(datasets.__file__).parent / "cookbook",  # as it is installed
    Path(datasets.__file__).parents[3] / "docs" / "cookbook",  # in a source tree
)


@dataclass(frozen=True)
class Example:
    """A rule file, with events of its own or with those of its tests."""

    name: str
    title: str
    rules: Path
    events: Callable[[], str] | None
    """Makes its events, as JSON lines."""


def examples() -> dict[str, Example]:
    """All examples by name: data sets with events first, then the cookbook.

    >>> examples()["pizza"].title
    'A pizza service'
    """
    found = {
        name: Example(name, datasets.dataset(name).title, datasets.rules(name), partial(datasets.json_lines, name))
        for name in datasets.names()
    }
    folder = next((folder for folder in _COOKBOOKS if folder.is_dir()), None)
    for path in sorted(folder.glob("*.ensue")) if folder is not None else ():
        title = path.stem.replace("_", " ").capitalize()
        found.setdefault(path.stem, Example(path.stem, title, path, None))
    return found
