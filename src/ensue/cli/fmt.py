"""`ensue fmt`: writes rules in the one usual way."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

import click

from ensue.cli.failures import WRONG_RULES, explained
from ensue.cli.files import replace_file
from ensue.cli.output import colours, counted, json_option, print_json, printable
from ensue.cli.rules import STDIN, RuleFile, read_rules


@click.command(short_help="Format rule files.")
@click.argument("rules", nargs=-1, required=True)
@click.option("--check", is_flag=True, help="Change nothing; the exit code is 1 if a file would change.")
@click.option("--diff", is_flag=True, help="Change nothing; print what would change.")
@json_option
def fmt(rules: tuple[str, ...], check: bool, diff: bool, as_json: bool) -> int:
    """Formats rule files in place, without changing their meaning.

    If RULES is -, the command formats standard input to standard output.

    \b
    Example:
      ensue fmt shop.ensue
      ensue fmt --check rules/*.ensue
      ensue fmt - < shop.ensue
    """
    from ensue.data import DataError
    from ensue.language.diagnostics import RuleError

    if STDIN in rules and len(rules) > 1:
        raise click.UsageError("Standard input (-) is formatted alone, without other files.")
    if as_json and (STDIN in rules or diff):
        raise click.UsageError("--json says which files changed; leave out --diff, and name files instead of -.")
    code = changed = 0
    files: list[dict[str, object]] = []
    for path in rules:
        try:
            changes = _format(path, check, diff, as_json)
            changed += changes
            files.append({"file": path, "changed": changes})
        except (DataError, RuleError, OSError) as error:
            code = max(code, explained(error))
    if as_json:
        print_json({"written": not check, "files": files})
    elif code == changed == 0 and STDIN not in rules and not diff:
        click.echo(f"{counted(len(rules), 'file')} already formatted")
    return max(code, WRONG_RULES if check and changed else 0)


def _format(path: str, check: bool, diff: bool, silent: bool = False) -> bool:
    """Format a file; True if it changed, or would."""
    from ensue.language.format import format_text

    file = read_rules(path)
    formatted = format_text(file.text, file.name)
    changed = formatted != file.text
    if diff:
        _print_difference(file, formatted)
    if path == STDIN:
        if not check and not diff:
            click.echo(formatted, nl=False)
    elif changed and check:
        if not silent:
            click.echo(f"would format {printable(path)}")
    elif changed and not diff:
        replace_file(Path(path), [formatted], file.newline)
        if not silent:
            click.echo(f"formatted {printable(path)}")
    return changed


def _print_difference(file: RuleFile, formatted: str) -> None:
    colour = {"+": "green", "-": "red", "@": "cyan"}
    coloured = colours(sys.stdout)
    before, after = file.text.splitlines(keepends=True), formatted.splitlines(keepends=True)
    for line in difflib.unified_diff(before, after, file.name, f"{file.name} (formatted)"):
        if not line.endswith("\n"):
            line = f"{line}\n\\ No newline at end of file\n"
        click.echo(click.style(printable(line), fg=colour.get(line[0])), nl=False, color=coloured)
