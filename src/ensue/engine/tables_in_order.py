"""Tables of events put together, in the order of their ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ensue.engine.capacity import current
from ensue.engine.lazy_columns import Taken, joined
from ensue.engine.mixed import Mixed, NotPlainError
from ensue.engine.reading import in_order, order_by
from ensue.language.limits import FARTHEST


def flowing(pieces: Iterable[Mixed | None]) -> Iterator[Mixed]:
    """Pieces in order, cut so that no end is in two of them; `NotPlainError` if one is None or out of order."""
    held: Mixed | None = None
    for piece in pieces:
        if piece is None or (held is not None and piece.end[0] < held.end[-1]):
            raise NotPlainError
        if held is not None and piece.end[0] == held.end[-1]:
            before, after = piece.upto(int(held.end[-1]))
            whole = together([held, before])
            if whole is None:
                raise NotPlainError
            held = replace(whole, unique=False)
            if not len(after):
                continue
            piece = after
        if held is not None:
            yield held
        done, held = piece.upto(int(piece.end[-1]) - 1)
        if len(done):
            yield done
    if held is not None:
        yield held


def in_time_order(parts: Sequence[Mixed]) -> list[Mixed] | None:
    """Tables that are in order as tables that follow each other in time; None if their columns do not fit together.

    Of the largest one only what lies between the ends of the others is merged with them, if that spares a lot.
    """
    if len(parts) == 1:
        return list(parts)
    place = max(range(len(parts)), key=lambda place: len(parts[place]))
    largest, others = parts[place], [*parts[:place], *parts[place + 1 :]]
    begin = int(np.searchsorted(largest.end, min(int(part.end[0]) for part in others)))
    past = int(np.searchsorted(largest.end, max(int(part.end[-1]) for part in others), side="right"))
    if begin + len(largest) - past < current().apart:
        begin, past = 0, len(largest)
    if begin < past:
        others.insert(place, largest.slice(begin, past))
    merged = others[0] if len(others) == 1 else _merged(others)
    if merged is None:
        return None
    before = [largest.slice(0, begin)] if begin else []
    after = [largest.slice(past, len(largest))] if past < len(largest) else []
    return [*before, merged, *after]


def _merged(parts: Sequence[Mixed]) -> Mixed | None:
    """Tables that are in order as one; of equal ends, those of the first table come first."""
    found = together(parts)
    if found is None:
        return None
    found = replace(found, positions=np.concatenate([part.places for part in parts]))
    if any(one.end[-1] > other.end[0] for one, other in pairwise(parts)):
        found = _sorted(found, 0)
    return replace(found, unique=bool(np.all(found.end[1:] > found.end[:-1])))


def together(parts: Sequence[Mixed]) -> Mixed | None:
    """Several tables as one, row after row; None if their columns do not fit together."""
    if len(parts) == 1:
        return parts[0]
    columns = joined([(part.columns, len(part)) for part in parts])
    open_ = any(part.whole is not None for part in parts)
    whole = joined([(part.whole or {}, len(part)) for part in parts]) if open_ else None
    if columns is None or (open_ and whole is None):
        return None
    end = np.concatenate([part.end for part in parts])
    return replace(
        parts[0],
        kind=np.concatenate([part.kind for part in parts]),
        start=end if all(p.start is p.end for p in parts) else np.concatenate([part.start for part in parts]),
        end=end,
        columns=columns,
        whole=whole,
    )


def ordered(found: Mixed, sort: bool, offset: int) -> Mixed | None:
    """The rows sorted by end; None if they are not and `sort` is false, or one ends before it starts.

    `offset` is the position of the first one in the input.
    """
    ordered = in_order(found.start, found.end)
    if ordered == 2 and sort:
        found = _sorted(found, offset)
        ordered = in_order(found.start, found.end)
    start, end = found.start, found.end
    if ordered == 2 or end[-1] > FARTHEST or (start[0] if start is end else start.min()) < -FARTHEST:
        return None
    return replace(found, unique=ordered == 1, offset=offset)


def _sorted(found: Mixed, offset: int) -> Mixed:
    """The rows sorted by end."""
    by, end = order_by(found.end)
    return replace(
        found, kind=found.kind.take(by), end=end, start=end if found.start is found.end else found.start.take(by),
        columns=Taken(found.columns, by), whole=None if found.whole is None else Taken(found.whole, by),
        positions=by + offset if found.positions is None else found.positions.take(by),
    )  # fmt: skip
