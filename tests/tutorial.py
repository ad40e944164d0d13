"""Follows the tutorial: files are saved, commands run and Python is executed, in the order of the page."""

import doctest
import re
from pathlib import Path

from click.testing import CliRunner

from ensue.cli.commands import ensue as group

PAGE = Path(__file__).parent.parent / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPARK = "## 9. On Spark"


def follow(text, folder):
    """Save files, run commands and Python of a part of the page in `folder`, which is the working directory.

    Yields each block with what it should show and what it showed.
    """
    names = {}
    for match in BLOCK.finditer(text):
        language, block = match.groups()
        if language in ("ensue", "json"):
            (name,) = re.findall(r"`([\w.]+)`", text[: match.start()].rstrip().rsplit("\n", 1)[-1])[-1:]
            (folder / name).write_text(block, encoding="utf-8")
        elif language == "console":
            for command, expected in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
                yield command, expected, CliRunner().invoke(group, command.split()[1:]).output
        elif language == "python":
            test = doctest.DocTestParser().get_doctest(block, names, PAGE.name, None, None)
            said = []
            doctest.DocTestRunner().run(test, out=said.append, clear_globs=False)
            names.update(test.globs)
            yield block, "", "".join(said)
        else:
            assert language == "sh", language
