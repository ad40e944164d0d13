"""Groups of instances: opening, closing and sweeping them, and linking them in chains. See `instances.py`."""

from __future__ import annotations

from ensue.engine.structures.instances import Instances, drop_first_instance
from ensue.engine.subset.builtin import grow
from ensue.engine.subset.source import source_of


def open_group(table: Instances) -> int:
    """A place for a new, empty group."""
    g = table.free_group
    if g >= 0:
        table.free_group = table.first[g]
    else:
        if table.groups == table.group_room:
            table.slot_wanted = 2
            grow(table)
        g = table.groups
        table.groups += 1
    table.latest[g] = -9223372036854775808
    table.first[g] = -1
    table.last[g] = -1
    table.arrived[g] = 0
    return g


def is_group_over(table: Instances, g: int, over: int, gone: int) -> bool:
    """True if a group is useless: all start before `over`, or none waits and the latest started before `gone`."""
    latest = table.latest[g]
    return table.arrived[g] != table.turn and (latest < over or (table.first[g] < 0 and latest < gone))


def close_group(table: Instances, at: int) -> None:
    """Free the group of a slot, with its instances."""
    g = table.group[at]
    while table.first[g] >= 0:
        drop_first_instance(table, g)
    table.first[g] = table.free_group
    table.free_group = g
    table.group[at] = -1


def sweep_groups(table: Instances, over: int, gone: int) -> None:
    """Free useless groups."""
    for at in range(table.slot_mask + 1):
        if table.slot_used[at] != 0 and table.group[at] >= 0 and is_group_over(table, table.group[at], over, gone):
            close_group(table, at)


def sweep_linked_groups(table: Instances, over: int, gone: int) -> None:
    """The same where groups form chains: they leave these first."""
    for at in range(table.slot_mask + 1):
        if table.slot_used[at] != 0 and table.head[at] != 0:
            g = table.group[at]
            while g >= 0:
                behind = table.behind[g]
                if is_group_over(table, g, over, gone):
                    unlink_group(table, at, g)
                g = behind
    for at in range(table.slot_mask + 1):
        mine = table.slot_used[at] != 0 and table.head[at] == 0 and table.group[at] >= 0
        if mine and is_group_over(table, table.group[at], over, gone):
            close_group(table, at)


def unlink_group(table: Instances, at: int, g: int) -> None:
    """Remove a group from the chain of a head."""
    ahead = table.ahead[g]
    behind = table.behind[g]
    if ahead >= 0:
        table.behind[ahead] = behind
    else:
        table.group[at] = behind
    if behind >= 0:
        table.ahead[behind] = ahead
    table.linked[g] = 0


def link_group(table: Instances, at: int, g: int) -> None:
    """Put a group first in the chain of a head."""
    if table.group[at] == g:
        return
    if table.linked[g] != 0:
        unlink_group(table, at, g)
    front = table.group[at]
    table.ahead[g] = -1
    table.behind[g] = front
    if front >= 0:
        table.ahead[front] = g
    table.group[at] = g
    table.linked[g] = 1


KERNELS = tuple(
    source_of(kernel)
    for kernel in (
        open_group, is_group_over, close_group, sweep_groups, sweep_linked_groups, unlink_group, link_group,
    )
)  # fmt: skip
"""The source of the functions that generated code calls."""
