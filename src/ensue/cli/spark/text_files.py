"""Read text files on Spark by the command's options: lines by a regular expression, and names of files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ensue.data.columns import TextFiles
from ensue.regex import group_names
from ensue.spark.sql import literal, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LINE = "value"
"""The column in which Spark has lines of text."""


def java_regex(regex: str) -> str:
    """A regular expression of RE2 as one of Java's. Groups are read by number, so they need no names.

    >>> java_regex(r"(?P<user_id>\\w+)( .*)?")
    '(\\\\w+)( .*)?'
    """
    return re.sub(r"\(\?P?<\w+>", "(", regex)


def matching(lines: DataFrame, regex: str) -> DataFrame:
    """The lines that match, each named group a column; an empty group is a missing value."""
    return taken_apart(lines.where(_matches(regex)), regex)


def taken_apart(lines: DataFrame, regex: str) -> DataFrame:
    """All lines, with nulls for those that do not match."""
    return lines.selectExpr(
        *(f"nullif(regexp_extract({LINE}, {literal(java_regex(regex))}, {place}), '') as {quoted(name)}"
          for name, place in group_names(regex).items()),
        *(quoted(name) for name in lines.columns if name != LINE),
    )  # fmt: skip


def not_matching(lines: DataFrame, regex: str) -> DataFrame:
    """The others, blank ones aside, in the columns ``reason`` and ``row``."""
    others = lines.where(f"not ({_matches(regex)}) and trim({LINE}) <> ''")
    return others.selectExpr("'does not match --lines' as reason", f"{LINE} as row")


def _matches(regex: str) -> str:
    return f"{LINE} rlike {literal(java_regex(regex))}"


def with_file_name(frame: DataFrame, files: TextFiles) -> DataFrame:
    """A frame of files with columns from their names."""
    if files.file_name is None:
        return frame
    path = "_metadata.file_path"
    if files.file_name.isidentifier():
        columns = {files.file_name: f"regexp_extract({path}, {literal('([^/.]+)[^/]*$')}, 1)"}
    else:
        regex = literal(java_regex(files.file_name))
        groups = group_names(files.file_name)
        columns = {name: f"nullif(regexp_extract({path}, {regex}, {place}), '')" for name, place in groups.items()}
    kept = [quoted(name) for name in frame.columns if name not in columns]
    return frame.selectExpr(*kept, *(f"{value} as {quoted(name)}" for name, value in columns.items()))
