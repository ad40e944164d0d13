"""`%%ensue` in notebooks: a cell with rules becomes a program; `%load_ext ensue` makes it known."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher
from IPython.core.error import UsageError
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from ensue.data import DataError
from ensue.editors.completion import completions
from ensue.language.diagnostics import RuleError
from ensue.program import Program, compile
from ensue.testing import run_tests

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

MAGIC = "%%ensue"
DEFAULT = "program"
"""The variable that a program is put into."""


class WrongRulesError(RuleError):
    """Rules of a cell that are wrong; shown without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return str(self).split("\n")


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Makes the magic known, and completes rules in its cells."""

    @magic_arguments("%%ensue")
    @argument("name", nargs="?", default=DEFAULT, help="The variable for the program. [default: program]")
    @argument("--functions", metavar="NAMES", default="", help="Functions of the notebook that the rules call.")
    @argument("--params", metavar="NAME", help="A variable with a dict: values of parameters.")
    @argument("--test", action="store_true", help="Run the tests that the cell holds.")
    def ensue(line: str, cell: str) -> None:
        """Compiles the rules of a cell into a program: `%%ensue shop` puts it into the variable `shop`."""
        asked = parse_argstring(ensue, line)
        if not asked.name.isidentifier():
            raise UsageError(f"{asked.name!r} is not the name of a variable; write {MAGIC} shop.")
        names = [name for name in asked.functions.replace(",", " ").split() if name]
        functions: Mapping[str, Callable[..., Any]] = {name: _variable(shell, name) for name in names}
        params = None if asked.params is None else _variable(shell, asked.params)
        try:
            program = compile(cell + "\n", f"<{asked.name}>", functions=functions or None, params=params)
        except RuleError as error:
            raise WrongRulesError(error.diagnostics) from None
        except DataError as error:
            raise UsageError(str(error)) from None
        for warning in program.warnings:
            print(f"{warning}\n", file=sys.stderr)
        if asked.test:
            _report_tests(program)
        shell.push({asked.name: program})

    shell.register_magic_function(ensue, "cell", "ensue")
    shell.Completer.custom_matchers.append(_matcher)


def _variable(shell: InteractiveShell, name: str) -> Any:
    if name not in shell.user_ns:
        raise UsageError(f"There is no variable {name!r} in this notebook.")
    return shell.user_ns[name]


def _report_tests(program: Program) -> None:
    passed = failed = 0
    for outcome in run_tests(program):
        passed, failed = passed + outcome.passed, failed + (not outcome.passed)
        if not outcome.passed:
            print(f"failed  {outcome.test.title}", file=sys.stderr)
        for sentence in [outcome.error] if outcome.error is not None else []:
            print(f"    {sentence}", file=sys.stderr)
        for difference in outcome.differences:
            for event in difference.missing:
                print(f"    missing:    {event}", file=sys.stderr)
            for event in difference.unexpected:
                print(f"    unexpected: {event}", file=sys.stderr)
    print(f"{passed} passed, {failed} failed")
    if failed:
        raise UsageError("Not all tests of the cell passed.")


@context_matcher(identifier="ensue.rules")
def _matcher(context: CompletionContext) -> SimpleMatcherResult:
    """Complete the text at the caret of a cell with rules."""
    first, _, rules = context.full_text.partition("\n")
    if not first.startswith(MAGIC) or context.cursor_line < 1:
        return {"completions": []}
    found = completions(rules, context.cursor_line, context.cursor_position + 1)
    begun = min((each.replaces.end_column - each.replaces.column for each in found), default=0)
    line = rules.split("\n")[context.cursor_line - 1]
    fragment = line[context.cursor_position - begun : context.cursor_position]
    return {
        "completions": list(_simple(found)), "matched_fragment": fragment, "suppress": True, "ordered": True
    }  # fmt: skip


def _simple(found: tuple[Any, ...]) -> Iterator[SimpleCompletion]:
    for each in found:
        yield SimpleCompletion(each.text, type=each.kind.value)
