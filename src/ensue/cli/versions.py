"""Rule files as they are, or as they were: `rules.ensue`, or `HEAD~1:rules.ensue` from git."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ensue.cli.rules import STDIN, RuleFile, decoded, read_rules


def read_version(named: str, rules: str) -> RuleFile:
    """Reads a rule file by its path, or as `REVISION:PATH` from git; without a path it is that of `rules`.

    A path in git is looked for from this folder, and then from the top of the repository.
    """
    from ensue.data import DataError

    revision, colon, path = named.partition(":")
    if not colon or not revision or named == STDIN or Path(named).exists():
        return read_rules(named)
    path = path or rules
    if revision.startswith("-") or path == STDIN:
        raise DataError(f"{named!r} names no version of a rule file; write HEAD~1:rules.ensue.")
    reasons = []
    for place in (f"./{path}", path) if not Path(path).is_absolute() else (path,):
        try:
            shown = subprocess.run(["git", "cat-file", "blob", f"{revision}:{place}"], capture_output=True, check=False)
        except FileNotFoundError:
            raise DataError(f"There is no rule file {named}, and git is not installed.") from None
        if shown.returncode == 0:
            return decoded(named, shown.stdout)
        reasons.append(shown.stderr.decode("utf-8", "replace").strip().splitlines()[:1] or ["it says nothing"])
    raise DataError(f"There is no rule file {named}; git says: {reasons[0][0]}.")
