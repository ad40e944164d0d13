"""`--functions FILE`: a Python file whose functions rules call."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import click

functions_option = click.option(
    "--functions", metavar="FILE", help="A Python file with functions that the rules call. The file is run."
)

MODULE = "ensue_functions"
"""The name of the file as a module. It is not registered, so that functions are sent to Spark with their code."""


def functions_of(path: str) -> dict[str, Callable[..., Any]]:
    """The functions that a file defines, if they have annotations and their names do not begin with `_`."""
    from ensue.data import DataError

    module = ModuleType(MODULE)
    module.__file__ = path
    try:
        exec(compile(Path(path).read_bytes(), path, "exec"), vars(module))
    except OSError as error:
        raise DataError(f"The file of functions {path} cannot be read: {error.strerror}.") from None
    except Exception as error:
        raise DataError(f"The file of functions {path} cannot be run: {type(error).__name__}: {error}.") from error
    return {
        name: value
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == MODULE and not name.startswith("_")
        if value.__annotations__
    }
