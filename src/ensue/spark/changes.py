"""A checkpoint belongs to rules and to a number of buckets. With others a stream is refused, with the reason."""

from __future__ import annotations

from typing import NoReturn

from ensue.data import DataError
from ensue.engine.state import StateError
from ensue.language import syntax
from ensue.language.diagnostics import Report
from ensue.language.parse import parse
from ensue.language.print import show
from ensue.language.source import Source
from ensue.live.session import Session
from ensue.spark.bucket_state import About
from ensue.spark.job import Job


def carry(before: Job, old: Session, after: Job, new: Session, stage: int, about: About) -> None:
    """Carry the state of rules that did not change into a new session, which may have other rules besides."""
    try:
        new.take_over(old)
    except (DataError, IndexError):
        refuse(after, about.buckets, about)


def refuse(job: Job, buckets: int, about: About) -> NoReturn:
    """Raises an error that describes the difference from the rules that wrote a bucket's state."""
    if about.buckets != buckets:
        raise StateError(
            f"The checkpoint has {about.buckets} buckets, not {buckets}: their number cannot change. Go "
            f"on with buckets={about.buckets}, or start with a new checkpoint."
        )
    old, new = _statements(about.job), _statements(job.text)
    gone = [text for text in old if text not in new]
    added = [text for text in new if text not in old]
    said = [f"{what}: {_short(these)}" for what, these in {"no longer there": gone, "new": added}.items() if these]
    what = "; ".join(said) or "the columns of the events, the types that are wanted, or the functions are others"
    raise StateError(
        f"The checkpoint was written by other rules ({what}), and with these its events would be other ones, or in "
        "other buckets. Go on with the rules that it was written with, or start with a new checkpoint; events that are "
        "still in the source can be read again from there."
    )


def _statements(text: str) -> list[str]:
    source = Source(text, "<checkpoint>")
    file = parse(source, Report(source))
    return [show(s) for s in file.statements if not isinstance(s, syntax.Test | syntax.Reaction)]


def _short(statements: list[str]) -> str:
    first = " ".join(statements[0].split())
    shown = first if len(first) <= 80 else first[:79] + "…"
    return f"`{shown}`" + (f" and {len(statements) - 1} more" if len(statements) > 1 else "")
