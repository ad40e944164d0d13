"""`--param NAME=VALUE` and `--params FILE`: values of the parameters that rules declare."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ensue.program import Program


def parameter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds both options to a command, which takes them as `param` and `params`."""
    one = click.option(
        "--param", metavar="NAME=VALUE", multiple=True, help="A value for a parameter of the rules; may be repeated."
    )
    all_ = click.option("--params", metavar="FILE", help="A file with values of parameters: a JSON object, or TOML.")
    return one(all_(command))


def with_parameters(program: Program, param: tuple[str, ...], params: str | None) -> Program:
    """The program with the values that the options give; those of `--param` count where both give one."""
    from ensue.data.parameters import read_parameters

    values: dict[str, Any] = {} if params is None else read_parameters(params)
    given = _given(param)
    program = program.with_params({name: value for name, value in values.items() if name not in given})
    return program.with_params(given, texts=True)


def parameter_texts(param: tuple[str, ...], params: str | None) -> dict[str, str]:
    """The values that the options give, as a command line has them, for rules that are still to be written."""
    from ensue.data.json_text import to_text
    from ensue.data.parameters import read_parameters

    values: dict[str, Any] = {} if params is None else read_parameters(params)
    return {**{name: to_text(value) for name, value in values.items()}, **_given(param)}


def _given(param: tuple[str, ...]) -> dict[str, str]:
    given: dict[str, str] = {}
    for each in param:
        name, sign, value = each.partition("=")
        if not sign or not name:
            raise click.UsageError(f"--param {each!r} gives no value; write --param limit=80.")
        given[name] = value
    return given
