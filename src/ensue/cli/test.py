"""`ensue test`: runs the tests that rule files hold."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ensue.cli.failures import WRONG_RULES, explained
from ensue.cli.functions import functions_option
from ensue.cli.limits import limit_options
from ensue.cli.output import colours, json_option, print_json, printable
from ensue.cli.parameters import parameter_options
from ensue.cli.progress import detecting, quiet_option
from ensue.cli.rules import program_of

if TYPE_CHECKING:
    from ensue.program import Program
    from ensue.testing import Outcome


@click.command(short_help="Run the tests in rule files.")
@click.argument("rules", nargs=-1, required=True)
@click.option(
    "--engine",
    default="embedded",
    show_default=True,
    metavar="NAME",
    help="How to run: embedded, the default engine; python, its generated code as it is; machine, that code compiled; "
    "reference, which computes the definitions; or all of them.",
)
@click.option("--keep", metavar="LENGTH", help="Drop events that ended longer ago than this, such as 7d.")
@limit_options
@functions_option
@parameter_options
@json_option
@quiet_option
def test(
    rules: tuple[str, ...],
    engine: str,
    keep: str | None,
    max_matches: int | None,
    max_state: str | None,
    functions: str | None,
    param: tuple[str, ...],
    params: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Runs the tests in rule files, and reports for each whether it passed.

    The exit code is 0 if all tests passed, 1 if one failed or rules have errors, and 2 if a file cannot be read.
    With --engine all, every test runs three times: as generated Python code, as machine code, and with the reference.

    \b
    Example:
      ensue test shop.ensue

    \b
    A test in a rule file:
      test "an order that ships is complete"
        given order(42, "muffins", 2) @ 3, shipped(42, "x") @ 7
        expect comp(42, "muffins") @ [3, 7].
    """
    from ensue.data import DataError
    from ensue.engine.limits import Limits, limiting
    from ensue.language.diagnostics import RuleError
    from ensue.testing import ALL_EXECUTIONS, EXECUTIONS, run_tests

    if engine not in (*EXECUTIONS, "all"):
        raise click.UsageError(f"There is no engine {engine!r} here; there is {', '.join(EXECUTIONS)} and all.")
    names = ALL_EXECUTIONS if engine == "all" else (engine,)
    limits = Limits.of(max_matches, max_state)
    code = passed = failed = 0
    tests: list[dict[str, Any]] = []
    for path in rules:
        try:
            program = program_of(path, keep, functions, param, params)
        except (DataError, RuleError) as error:
            code = max(code, explained(error))
            continue
        if not program.typed.tests and not as_json:
            click.echo(f"{printable(path)} has no tests")
        for name in names:
            with limiting(limits), detecting(f"Testing {printable(path)}…", program, quiet):
                outcomes = list(run_tests(program, EXECUTIONS[name]))
            for outcome in outcomes:
                if as_json:
                    tests.append(_plain(program, outcome, name))
                else:
                    _print_outcome(program, outcome, name if len(names) > 1 else None)
                passed += outcome.passed
                failed += not outcome.passed
    if as_json:
        print_json({"passed": passed, "failed": failed, "tests": tests})
    else:
        click.echo(f"{passed} passed, {failed} failed")
    return max(code, WRONG_RULES if failed else 0)


def _plain(program: Program, outcome: Outcome, engine: str) -> dict[str, Any]:
    """An outcome for programs that read it."""
    source = program.file.source
    return {
        "file": source.name, "line": source.position(outcome.test.span.start)[0], "title": outcome.test.title,
        "engine": engine, "passed": outcome.passed, "error": outcome.error,
        "differences": [asdict(difference) for difference in outcome.differences],
    }  # fmt: skip


def _print_outcome(program: Program, outcome: Outcome, engine: str | None) -> None:
    source = program.file.source
    line, _ = source.position(outcome.test.span.start)
    mark = click.style("passed", fg="green") if outcome.passed else click.style("failed", fg="red", bold=True)
    on = f" ({engine})" if engine else ""
    coloured = colours(sys.stdout)
    click.echo(f"{mark}  {printable(f'{source.name}:{line}  {outcome.test.title}')}{on}", color=coloured)
    if outcome.error is not None:
        click.echo(printable(f"          {outcome.error}"))
    for difference in outcome.differences:
        for event in difference.missing:
            click.echo(printable(f"          missing:    {event}"))
        for event in difference.unexpected:
            click.echo(printable(f"          unexpected: {event}"))
