"""The command line: `ensue check`, `fmt`, `test`, `run` and `demo`; on Spark `run`, `stream` and `state`.

Every command has its own module. They import what they work with when they run, so that `ensue --version` and
`ensue --help` answer at once.
"""

import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

NEEDED = ("click", "rich")

SELDOM = (100_000, 20, 20)
"""When garbage is looked for. What is imported is none; looking through it takes a tenth of a short command's time."""


class WithoutPandas:
    """Has pandas not found: pyarrow imports it wherever there is one, which takes longer than most commands."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)


def with_pandas() -> None:
    """Has pandas found again, for what cannot do without."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, WithoutPandas)]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs a command line, that of the process if none is given, and exits with its code."""
    try:
        import click  # noqa: F401
        import rich  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name not in NEEDED:
            raise
        print(
            "ensue: the command line needs click and rich; install them with: pip install 'ensue[cli]'", file=sys.stderr
        )
        sys.exit(2)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started the process
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    if arguments is None:  # the process is there for nothing else
        sys.meta_path.insert(0, WithoutPandas())
        gc.set_threshold(*SELDOM)
    try:
        from ensue.cli.commands import ensue

        ensue.main(arguments, "ensue")
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(0)
