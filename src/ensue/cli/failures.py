"""Failures of commands: one sentence on standard error, and an exit code that says who must act."""

from __future__ import annotations

import os
import sys

import click

from ensue.cli.output import print_diagnostics, say

WRONG_RULES = 1
"""The rules are wrong, a test failed, or a file is not formatted."""
WRONG_USE = 2
"""The command line makes no sense, or a file cannot be read."""
BUG = 70
"""An internal error; sysexits.h has 70 for it."""
INTERRUPTED = 130
BROKEN_PIPE = 141
"""As of a process that the signal ended: not 0, because `ensue test | head` has not seen all tests pass."""


def explained(error: Exception) -> int:
    """Reports an error, and returns the exit code."""
    from ensue.data import DataError
    from ensue.errors import DetectError
    from ensue.language.diagnostics import RuleError

    match error:
        case RuleError():
            print_diagnostics(error.diagnostics)
            return WRONG_RULES
        case click.UsageError():
            command = error.ctx.command_path if error.ctx else "ensue"
            say(f"{_sentence(error.format_message())} See `{command} --help`.")
            return WRONG_USE
        case click.ClickException():
            say(_sentence(error.format_message()))
            return WRONG_USE
        case DataError():
            say(_sentence(str(error)))
            return WRONG_USE
        case DetectError():
            text = str(error)
            say(_sentence(text[:1].upper() + text[1:]))
            return WRONG_USE
        case OSError():
            what = error.filename or "The output cannot be written"
            say(_sentence(f"{what}: {error.strerror or error}"))
            return WRONG_USE
        case MemoryError():
            say("There is not enough memory for this.")
            return WRONG_USE
        case _:
            if os.environ.get("ENSUE_TRACEBACK"):
                raise error
            what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            say(f"This is a bug in ensue, please report it with what ENSUE_TRACEBACK=1 shows ({what}).")
            return BUG


def _sentence(text: str) -> str:
    """On one line, with a full stop."""
    text = " ".join(text.split())
    return text if text.endswith((".", "?", "!", "…")) else f"{text}."


def hush_broken_pipes() -> None:
    """Lets the interpreter end quietly when the reader of its output is gone."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
