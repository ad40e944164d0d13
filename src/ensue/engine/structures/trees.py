"""Trees of the rows of a group by a value, as source: for the row at a rank, and the number of different values.

A tree has the columns ``name_left``, ``name_right``, ``name_up`` and ``name_size`` in rows, and ``name_root`` and
``name_kinds`` (the number of different values) in slots; 0 is none. Rows are in the order of their values, and of their
places among those that are equal. It is a treap: the priority of a row is a hash of its place, so that the shape
depends only on the present rows, and the depth is logarithmic.
"""

from __future__ import annotations

from ensue.engine.structure import Element


def tree_rows(name: str) -> dict[str, Element]:
    return {f"{name}_{part}": "i64" for part in ("left", "right", "up", "size")}


def tree_slots(name: str) -> dict[str, Element]:
    return {f"{name}_root": "i64", f"{name}_kinds": "i64"}


MIXED = """
def mixed(row: int) -> int:
    x = wrap(row * -7046029254386353131)
    x = x ^ (x >> 32)
    x = wrap(x * -4265267296055464877)
    return x ^ (x >> 29)
"""


def tree(name: str, column: str, before: str, slots: str = "groups") -> str:
    """Source of ``add_name``, ``remove_name`` and ``nth_name`` for a tree in the columns that begin with `column`.

    `before` is source that is true if the value of the row `one` comes before that of the row `other`; `slots` is the
    structure that has the root, where it is not the one with the rows.
    """
    return f"""
def before_{name}(groups: Groups, one: int, other: int) -> bool:
    return {before}


def replace_{name}(groups: Groups, at: int, above: int, row: int, by: int) -> None:
    if above == 0:
        {slots}.{column}_root[at] = by
    elif groups.{column}_left[above] == row:
        groups.{column}_left[above] = by
    else:
        groups.{column}_right[above] = by
    if by != 0:
        groups.{column}_up[by] = above


def raise_{name}(groups: Groups, at: int, row: int) -> None:
    above = groups.{column}_up[row]
    replace_{name}(groups, at, groups.{column}_up[above], above, row)
    if groups.{column}_left[above] == row:
        inner = groups.{column}_right[row]
        groups.{column}_left[above] = inner
        groups.{column}_right[row] = above
    else:
        inner = groups.{column}_left[row]
        groups.{column}_right[above] = inner
        groups.{column}_left[row] = above
    if inner != 0:
        groups.{column}_up[inner] = above
    groups.{column}_up[above] = row
    groups.{column}_size[row] = groups.{column}_size[above]
    left = groups.{column}_left[above]
    right = groups.{column}_right[above]
    groups.{column}_size[above] = groups.{column}_size[left] + groups.{column}_size[right] + 1


def add_{name}(groups: Groups, at: int, row: int) -> None:
    groups.{column}_left[row] = 0
    groups.{column}_right[row] = 0
    groups.{column}_up[row] = 0
    groups.{column}_size[row] = 1
    above = {slots}.{column}_root[at]
    other = 1
    if above == 0:
        {slots}.{column}_root[at] = row
    while above != 0:
        groups.{column}_size[above] += 1
        first = before_{name}(groups, row, above)
        if not first and not before_{name}(groups, above, row):
            other = 0
            first = row < above
        under = groups.{column}_left[above] if first else groups.{column}_right[above]
        if under == 0:
            groups.{column}_up[row] = above
            if first:
                groups.{column}_left[above] = row
            else:
                groups.{column}_right[above] = row
        above = under
    {slots}.{column}_kinds[at] += other
    rank = mixed(row)
    while groups.{column}_up[row] != 0 and mixed(groups.{column}_up[row]) < rank:
        raise_{name}(groups, at, row)


def remove_{name}(groups: Groups, at: int, row: int) -> None:
    left = groups.{column}_left[row]
    right = groups.{column}_right[row]
    while left != 0 and right != 0:
        raise_{name}(groups, at, left if mixed(left) > mixed(right) else right)
        left = groups.{column}_left[row]
        right = groups.{column}_right[row]
    above = groups.{column}_up[row]
    replace_{name}(groups, at, above, row, left if left != 0 else right)
    while above != 0:
        groups.{column}_size[above] -= 1
        above = groups.{column}_up[above]
    other = 1
    at_hand = {slots}.{column}_root[at]
    while at_hand != 0:
        if before_{name}(groups, row, at_hand):
            at_hand = groups.{column}_left[at_hand]
        elif before_{name}(groups, at_hand, row):
            at_hand = groups.{column}_right[at_hand]
        else:
            other = 0
            at_hand = 0
    {slots}.{column}_kinds[at] -= other


def nth_{name}(groups: Groups, at: int, place: int) -> int:
    row = {slots}.{column}_root[at]
    found = 0
    while row != 0:
        left = groups.{column}_left[row]
        smaller = groups.{column}_size[left]
        if place < smaller:
            row = left
        elif place == smaller:
            found = row
            row = 0
        else:
            place = place - smaller - 1
            row = groups.{column}_right[row]
    return found
"""
