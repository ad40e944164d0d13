"""Groups of a rule with an output rate: the ends of kept events, oldest first, as long as they count."""

from __future__ import annotations

from ensue.engine.structures.groups import Groups, free_row, take_row
from ensue.engine.subset.source import source_of


class QuietGroups(Groups):
    """The ends that count, by group; `first` is the number of kept events, `serial` that of suppressed ones."""


def expire_kept(groups: Groups, at: int, since: int) -> None:
    """Drop the ends of a group that no longer count: those up to a time."""
    row = groups.oldest[at]
    while row != 0 and groups.end[row] <= since:
        after = groups.newer[row]
        free_row(groups, row)
        groups.count[at] -= 1
        row = after
    groups.oldest[at] = row
    if row == 0:
        groups.newest[at] = 0


def sweep_kept(groups: Groups, since: int) -> None:
    """The same in all groups."""
    for at in range(groups.slot_mask + 1):
        if groups.count[at] > 0:
            expire_kept(groups, at, since)


def keep_end(groups: Groups, at: int, end: int) -> None:
    """Add the end of a kept event."""
    row = take_row(groups)
    groups.end[row] = end
    groups.newer[row] = 0
    if groups.newest[at] == 0:
        groups.oldest[at] = row
    else:
        groups.newer[groups.newest[at]] = row
    groups.newest[at] = row
    groups.count[at] += 1


QUIET_SOURCES = tuple(source_of(kernel) for kernel in (expire_kept, sweep_kept, keep_end))
"""The kernels that generated code calls."""
