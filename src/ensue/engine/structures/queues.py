"""Queues of the rows of a group, as source: all in the order of arrival, or those that no later one beats.

A queue has the columns ``name_next`` and ``name_prev`` in rows, and ``name_first`` and ``name_last`` in slots; 0 is
none.
"""

from __future__ import annotations

from ensue.engine.structure import Element


def queue_rows(name: str) -> dict[str, Element]:
    return {f"{name}_next": "i64", f"{name}_prev": "i64"}


def queue_slots(name: str) -> dict[str, Element]:
    return {f"{name}_first": "i64", f"{name}_last": "i64"}


def in_order_of_arrival(name: str) -> str:
    """Source of ``push_name``, which puts a row behind all others of its group, and ``drop_name``, to remove one."""
    return f"""
def push_{name}(groups: Groups, at: int, row: int) -> None:
    last = groups.{name}_last[at]
    groups.{name}_next[row] = 0
    groups.{name}_prev[row] = last
    if last == 0:
        groups.{name}_first[at] = row
    else:
        groups.{name}_next[last] = row
    groups.{name}_last[at] = row


def drop_{name}(groups: Groups, at: int, row: int) -> None:
    before = groups.{name}_prev[row]
    after = groups.{name}_next[row]
    if before == 0:
        groups.{name}_first[at] = after
    else:
        groups.{name}_next[before] = after
    if after == 0:
        groups.{name}_last[at] = before
    else:
        groups.{name}_prev[after] = before
"""


PLACE = """
    while behind != 0 and groups.start[behind] > groups.start[row]:
        ahead = behind
        behind = groups.{name}_prev[behind]
    if ahead != 0 and not beats_{name}(groups, row, ahead):
        return
    if behind != 0 and groups.start[behind] == groups.start[row] and not beats_{name}(groups, row, behind):
        return"""


def unbeaten(name: str, beats: str, by_start: bool) -> str:
    """Source of ``enter_name`` and ``leave_name`` for rows that no later-leaving one beats; the best is the first.

    `beats` is source that is true if the row `one` beats the row `other`; of two equal rows the later one beats the
    earlier one where either will do. Rows leave as they came, or (`by_start`) by their start: then a row may come
    before others, and of those with one start there is one. Only the first row of the queue ever leaves it.
    """
    return f"""
def beats_{name}(groups: Groups, one: int, other: int) -> bool:
    return {beats}


def enter_{name}(groups: Groups, at: int, row: int) -> None:
    ahead = 0
    behind = groups.{name}_last[at]{PLACE.format(name=name) if by_start else ""}
    while behind != 0 and beats_{name}(groups, row, behind):
        behind = groups.{name}_prev[behind]
    groups.{name}_prev[row] = behind
    groups.{name}_next[row] = ahead
    if behind == 0:
        groups.{name}_first[at] = row
    else:
        groups.{name}_next[behind] = row
    if ahead == 0:
        groups.{name}_last[at] = row
    else:
        groups.{name}_prev[ahead] = row


def leave_{name}(groups: Groups, at: int, row: int) -> None:
    if groups.{name}_first[at] == row:
        after = groups.{name}_next[row]
        groups.{name}_first[at] = after
        if after == 0:
            groups.{name}_last[at] = 0
        else:
            groups.{name}_prev[after] = 0
"""
