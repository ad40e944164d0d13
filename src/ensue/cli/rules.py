"""Rule files as they are named on the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ensue.cli.output import print_diagnostics
from ensue.cli.parameters import with_parameters
from ensue.records import dataclass

if TYPE_CHECKING:
    from ensue.program import Program

STDIN = "-"
STDIN_NAME = "<stdin>"
"""Name of standard input in messages."""


@dataclass(frozen=True)
class RuleFile:
    """The text of a rule file. Its lines end with `newline` there, and with a line feed here."""

    name: str
    text: str
    newline: str = "\n"


def read_rules(path: str) -> RuleFile:
    """Reads a rule file, or standard input for `-`; raises a `DataError` if it cannot be read."""
    from ensue.data import DataError

    if path == STDIN:
        return decoded(STDIN_NAME, read_stdin())
    if not path:
        raise DataError("The path of the rule file is empty.")
    try:
        if Path(path).is_dir():
            raise DataError(f"{path} is a folder; name the rule files in it, such as {Path(path, '*.ensue')}.")
        return decoded(path, Path(path).read_bytes())
    except FileNotFoundError:
        raise DataError(f"There is no rule file {path}.") from None
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"The rule file {path} cannot be read: {reason}.") from None


def read_stdin() -> bytes:
    """All of standard input."""
    from ensue.data import DataError

    if sys.stdin is None:
        raise DataError("Standard input is closed, so there is nothing to read from it.")
    return sys.stdin.buffer.read()


def decoded(name: str, data: bytes) -> RuleFile:
    """Decodes a rule file; `name` is its name in messages."""
    from ensue.data import DataError

    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(f"{name}:{line} is not UTF-8 text, so {name} is not a rule file.") from None
    if "\0" in text:
        raise DataError(f"{name} holds binary data, so it is not a rule file.")
    newline = "\r\n" if "\r\n" in text else "\n"
    return RuleFile(name, text.replace("\r\n", "\n"), newline)


def compiled(file: RuleFile, functions: str | None = None) -> Program:
    """The program; `RuleError` if the rules are wrong. `functions` is a Python file with functions that they call."""
    from ensue.cli.functions import functions_of
    from ensue.program import compile

    given = None if functions is None else functions_of(functions)
    # A text that ends with a line end cannot be taken for a path.
    return compile(file.text if file.text.endswith("\n") else f"{file.text}\n", file.name, functions=given)


def program_of(
    path: str,
    keep: str | None = None,
    functions: str | None = None,
    param: tuple[str, ...] = (),
    params: str | None = None,
) -> Program:
    """The program of a rule file, whose warnings are printed.

    `keep` is a largest lifetime; `param` and `params` are values of parameters (`cli/parameters.py`).
    """
    program = with_parameters(compiled(read_rules(path), functions), param, params)
    if keep is not None:
        program = program.keeping(keep)
    print_diagnostics(program.warnings)
    return program
