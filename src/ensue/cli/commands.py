"""The command `ensue`: its subcommands, and the one way in which any of them fails."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from ensue import __version__
from ensue.cli.failures import BROKEN_PIPE, INTERRUPTED, explained, hush_broken_pipes

MODULES = {
    "demo": "ensue.cli.demo",
    "play": "ensue.cli.play",
    "peek": "ensue.cli.peek",
    "check": "ensue.cli.check",
    "test": "ensue.cli.test",
    "run": "ensue.cli.run",
    "view": "ensue.cli.view",
    "why": "ensue.cli.why",
    "fmt": "ensue.cli.fmt",
    "explain": "ensue.cli.explain",
    "backtest": "ensue.cli.backtest",
    "stream": "ensue.cli.spark.stream",
    "state": "ensue.cli.spark.state",
    "lsp": "ensue.cli.lsp",
}
"""The module of each command, in the order in which people need them. A command is imported when it is named."""


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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from ensue.data.errors import did_you_mean

            hint = did_you_mean(args[0], MODULES)
            if not hint:
                raise
            raise click.UsageError(f"{error.format_message()}{hint}", ctx) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in MODULES and cmd_name not in self.commands:
            self.add_command(getattr(import_module(MODULES[cmd_name]), cmd_name))
        return super().get_command(ctx, cmd_name)


@click.group(cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ensue", message="%(prog)s %(version)s")
@click.pass_context
def ensue(context: click.Context) -> None:
    """Detects composite events: situations made of several events, which you describe by rules.

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
