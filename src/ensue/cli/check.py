"""`ensue check`: is anything wrong with these rules?"""

from __future__ import annotations

import click

from ensue.cli.failures import WRONG_RULES, explained
from ensue.cli.functions import functions_option
from ensue.cli.output import counted, print_diagnostics
from ensue.cli.parameters import parameter_options, with_parameters
from ensue.cli.rules import compiled, read_rules


@click.command(short_help="Say what is wrong with rules.")
@click.argument("rules", nargs=-1, required=True)
@functions_option
@parameter_options
def check(rules: tuple[str, ...], functions: str | None, param: tuple[str, ...], params: str | None) -> int:
    """Says everything that is wrong with rule files, and what to do about it.

    RULES are rule files; - is standard input. The exit code is 0 if they can be run, 1 if they are wrong, and 2 if one
    cannot be read.

    \b
    Example:
      ensue check shop.ensue
      ensue check rules/*.ensue
    """
    from ensue.data import DataError
    from ensue.language.diagnostics import Diagnostic, RuleError, Severity
    from ensue.language.syntax import EventRule, StaticRule

    code = count = 0
    diagnostics: list[Diagnostic] = []
    for path in rules:
        try:
            program = with_parameters(compiled(read_rules(path), functions), param, params)
        except DataError as error:
            code = explained(error)
        except RuleError as error:
            code = max(code, WRONG_RULES)
            diagnostics.extend(error.diagnostics)
        else:
            diagnostics.extend(sorted((*program.warnings, *program.notes), key=lambda found: found.span))
            count += sum(isinstance(statement, EventRule | StaticRule) for statement in program.file.statements)
    print_diagnostics(diagnostics)
    if not code and all(found.severity is Severity.NOTE for found in diagnostics):
        click.echo(f"{counted(len(rules), 'file')}, {counted(count, 'rule')}: fine")
    return code
