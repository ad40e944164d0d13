"""`ensue check`: is anything wrong with these rules?"""

from __future__ import annotations

import click

from ensue.cli.failures import WRONG_RULES, explained
from ensue.cli.functions import functions_option
from ensue.cli.output import counted, json_option, plain_diagnostic, print_diagnostics, print_json, printable
from ensue.cli.parameters import parameter_options, with_parameters
from ensue.cli.progress import progress
from ensue.cli.rules import compiled, read_rules


@click.command(short_help="Check rule files, and report all problems.")
@click.argument("rules", nargs=-1, required=True)
@functions_option
@parameter_options
@json_option
def check(
    rules: tuple[str, ...], functions: str | None, param: tuple[str, ...], params: str | None, as_json: bool
) -> int:
    """Reports all problems of rule files, and what to do about them.

    RULES are rule files; - is standard input. The exit code is 0 if the rules can run, 1 if they have errors, and 2
    if a file cannot be read.

    \b
    Example:
      ensue check shop.ensue
      ensue check rules/*.ensue
      ensue check shop.ensue --json
    """
    from ensue.data import DataError
    from ensue.language.diagnostics import Diagnostic, RuleError, Severity
    from ensue.language.syntax import EventRule, StaticRule

    code = count = 0
    diagnostics: list[Diagnostic] = []
    with progress("Checking…") as work:
        for path in rules:
            work.say(f"Checking {printable(path)}…")
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
    if as_json:
        print_json({"files": len(rules), "rules": count, "diagnostics": list(map(plain_diagnostic, diagnostics))})
        return code
    print_diagnostics(diagnostics)
    if not code and all(found.severity is Severity.NOTE for found in diagnostics):
        click.echo(f"{counted(len(rules), 'file')}, {counted(count, 'rule')}: fine")
    return code
