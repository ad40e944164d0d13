"""The tutorial works, up to Spark."""

import re
from pathlib import Path

import click
import pytest

from ensue.cli.commands import ensue as group
from tests.tutorial import PAGE, SPARK, follow

DOCS = Path(__file__).parent.parent / "docs"


def test_the_tutorial_up_to_spark(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8").split(SPARK)[0]
    done = list(follow(text, tmp_path))
    assert len(done) > 10
    for step, expected, shown in done:
        assert shown == expected, step


COMMANDS = [
    pytest.param(line, id=f"{page.relative_to(DOCS).as_posix()}: {line[:60]}")
    for page in sorted(DOCS.rglob("*.md"))
    for block in re.findall(r"^```sh\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for line in block.replace("\\\n", " ").splitlines()
    if line.startswith("ensue ")
]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_that_are_only_shown_have_the_options_they_use(line):
    name, *arguments = line.split("  #")[0].replace("'", "").split()[1:]
    command = group.get_command(click.Context(group), name)
    assert command, name
    command.make_context(name, arguments).close()
