"""`ensue lsp`: the language server that editors start."""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout

import click

from ensue import __version__
from ensue.cli.functions import functions_of, functions_option


@click.command(short_help="Serve editors: errors, completion, hover, definitions.")
@functions_option
@click.option("--stdio", is_flag=True, hidden=True, help="Speak on standard input and output, as it does anyway.")
def lsp(functions: str | None, stdio: bool) -> int:
    """Serves an editor over the Language Server Protocol, on standard input and output.

    Tell your editor to run `ensue lsp` for files that end in .ensue; it then starts the command itself. You get
    errors, warnings and notes as you type, completion, definitions, colours and formatting. Hover over a name to see
    what it is, or what a rule keeps.

    \b
    Example:
      ensue lsp
      ensue lsp --functions prices.py
    """
    from ensue.data import DataError

    given = None if functions is None else functions_of(functions)
    try:
        from ensue.editors.server import server
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise DataError("The language server needs pygls; install it with: pip install 'ensue[lsp]'") from None
    if sys.stdin.isatty():
        raise click.UsageError("`ensue lsp` speaks with an editor, not with people; an editor starts it.")
    source, target = os.fdopen(os.dup(sys.stdin.fileno()), "rb"), os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    with redirect_stdout(sys.stderr):  # what a function prints is no message of the protocol
        server(__version__, given).start_io(source, target)
    return 0
