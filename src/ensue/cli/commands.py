"""The command `ensue`: its subcommands, and the one way in which any of them fails."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from ensue import __version__
from ensue.cli.backtest import backtest
from ensue.cli.check import check
from ensue.cli.demo import demo
from ensue.cli.explain import explain
from ensue.cli.failures import BROKEN_PIPE, INTERRUPTED, explained, hush_broken_pipes
from ensue.cli.fmt import fmt
from ensue.cli.lsp import lsp
from ensue.cli.peek import peek
from ensue.cli.play import play
from ensue.cli.run import run
from ensue.cli.spark.state import state
from ensue.cli.spark.stream import stream
from ensue.cli.test import test
from ensue.cli.view import view
from ensue.cli.why import why


class Commands(click.Group):
    """A group whose commands return their exit code, and whose failures are a sentence and an exit code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> NoReturn:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="replace")  # a sign that the terminal lacks is no reason to fail
        try:
            code = super().main(
                args, "ensue", complete_var, standalone_mode=False, windows_expand_args=windows_expand_args, **extra
            )
        except (click.Abort, KeyboardInterrupt):
            code = INTERRUPTED
        except Exception as error:
            code = explained(error)
        sys.exit(code)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:  # here rather than in main, since click has another answer to it
            hush_broken_pipes()
            return BROKEN_PIPE
        return code

    def list_commands(self, ctx: click.Context) -> list[str]:
        """As they were added, which is the order in which people need them."""
        return list(self.commands)


@click.group(cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ensue", message="%(prog)s %(version)s")
@click.pass_context
def ensue(context: click.Context) -> None:
    """Finds situations made of several events, described by rules.

    \b
    Try it:
      ensue demo
      ensue play

    \b
    Then with rules and events of your own:
      ensue peek events.csv > shop.ensue
      ensue check shop.ensue
      ensue run shop.ensue events.csv
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (demo, play, peek, check, test, run, view, why, fmt, explain, backtest, stream, state, lsp):
    ensue.add_command(command)
