"""A checkpoint belongs to rules and to a number of buckets. With others a stream is refused, with the reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from ensue.data import DataError
from ensue.engine.state import StateError
from ensue.language import syntax
from ensue.language.diagnostics import Report
from ensue.language.parse import parse
from ensue.language.print import show, show_meaning
from ensue.language.source import Source
from ensue.live.session import Session
from ensue.records import dataclass
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


@dataclass(frozen=True)
class ChangedRules:
    """The rules that differ between a checkpoint and a program, by their names or what they derive."""

    anew: tuple[str, ...]
    """Rules that are written in another way, so that they begin without the state they had."""
    gone: tuple[str, ...]
    new: tuple[str, ...]

    def sentence(self) -> str:
        """A sentence on the changed rules; empty where none changed.

        >>> ChangedRules(("overdue",), ("calm", "late"), ()).sentence()
        'The rules changed since the checkpoint: `overdue` begins anew, without its state; `calm` and `late` are gone.'
        """
        said = [
            f"{_names(these)} {one if len(these) == 1 else more}"
            for these, one, more in (
                (self.anew, "begins anew, without its state", "begin anew, without their state"),
                (self.gone, "is gone", "are gone"),
                (self.new, "is new", "are new"),
            )
            if these
        ]
        return f"The rules changed since the checkpoint: {'; '.join(said)}." if said else ""


def changed_rules(before: Iterable[str], now: str) -> ChangedRules:
    """Compares rules, as texts, with those that wrote the buckets of a checkpoint.

    >>> changed_rules(["a(x) <- b(x). c(x) <- b(x)."], "a(x) <- b(x) where x > 1. d(x) <- b(x).")
    ChangedRules(anew=('a',), gone=('c',), new=('d',))
    >>> changed_rules(["a(x) <- b(x)."], "a(x)   <- b(x).  // the same").sentence()
    ''
    """
    after, gone, added = _rules(now), dict[str, str](), dict[str, str]()
    for text in before:
        old = _rules(text)
        gone |= {rule: name for rule, name in old.items() if rule not in after}
        added |= {rule: name for rule, name in after.items() if rule not in old}
    lost, come = dict.fromkeys(gone.values()), dict.fromkeys(added.values())
    return ChangedRules(
        tuple(name for name in come if name in lost),
        tuple(name for name in lost if name not in come),
        tuple(name for name in come if name not in lost),
    )


def _rules(text: str) -> dict[str, str]:
    """The event rules as they decide about state, and how people call them."""
    rules = (s for s in _file(text).statements if isinstance(s, syntax.EventRule))
    return {show_meaning(rule): (rule.label or rule.head.name).text for rule in rules}


def _statements(text: str) -> list[str]:
    return [show(s) for s in _file(text).statements if not isinstance(s, syntax.Test | syntax.Reaction)]


def _file(text: str) -> syntax.File:
    source = Source(text, "<checkpoint>")
    return parse(source, Report(source))


def _short(statements: list[str]) -> str:
    first = " ".join(statements[0].split())
    shown = first if len(first) <= 80 else first[:79] + "…"
    return f"`{shown}`" + (f" and {len(statements) - 1} more" if len(statements) > 1 else "")


def _names(these: tuple[str, ...]) -> str:
    *others, last = [f"`{name}`" for name in these]
    return f"{', '.join(others)} and {last}" if others else last
