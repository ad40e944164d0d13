"""What generated code calls: hash tables of keys, growth of tables, order within a step, exact numbers.

Everything here runs as plain Python and compiled by Numba; it uses nothing but numbers and arrays of 64-bit integers.
This file is read as text and copied beside the generated code, so it stands alone.
"""

import ctypes
import math

import numpy as np


def u(index):
    """An index that is not negative; compiled, it is of a type that cannot be."""
    return index


def mix(key):
    """A hash of one integer, as Fibonacci hashing has it, upper halves folded in: floats may differ in these alone."""
    hashed = (np.int64(key) ^ (np.int64(key) >> np.int64(32))) * np.int64(-7046029254386353131)
    return hashed ^ (hashed >> np.int64(32))


def find1(table, keys, k0):
    """The slot of a key of one column, or -1."""
    mask = table.shape[0] - 1
    at = mix(k0) & mask
    while True:
        slot = table[u(at)]
        if slot < 0:
            return np.int64(-1)
        if keys[u(slot), 0] == k0:
            return slot
        at = (at + 1) & mask


def slot1(table, keys, count, k0):
    """The slot of a key of one column; a new one is `count`."""
    mask = table.shape[0] - 1
    at = mix(k0) & mask
    while True:
        slot = table[u(at)]
        if slot < 0:
            table[u(at)] = count
            keys[u(count), 0] = k0
            return np.int64(count)
        if keys[u(slot), 0] == k0:
            return slot
        at = (at + 1) & mask


def find(table, keys, key):
    """The slot of a key of several columns, or -1."""
    mask = table.shape[0] - 1
    hashed = np.int64(0)
    for k in key:
        hashed = mix(hashed ^ k)
    at = hashed & mask
    while True:
        slot = table[u(at)]
        if slot < 0:
            return np.int64(-1)
        same = True
        column = 0
        for k in key:
            if keys[u(slot), u(column)] != k:
                same = False
            column += 1  # noqa: SIM113
        if same:
            return slot
        at = (at + 1) & mask


def slot_of(table, keys, count, key):
    """The slot of a key of several columns; a new one is `count`."""
    mask = table.shape[0] - 1
    hashed = np.int64(0)
    for k in key:
        hashed = mix(hashed ^ k)
    at = hashed & mask
    while True:
        slot = table[u(at)]
        if slot < 0:
            table[u(at)] = count
            column = 0
            for k in key:
                keys[u(count), u(column)] = k
                column += 1  # noqa: SIM113
            return np.int64(count)
        same = True
        column = 0
        for k in key:
            if keys[u(slot), u(column)] != k:
                same = False
            column += 1  # noqa: SIM113
        if same:
            return slot
        at = (at + 1) & mask


def rehash(table, keys, count):
    """Fills an empty table with the keys of all slots."""
    mask = table.shape[0] - 1
    width = keys.shape[1]
    for slot in range(count):
        if width == 1:
            hashed = mix(keys[u(slot), 0])
        else:
            hashed = np.int64(0)
            for column in range(width):
                hashed = mix(hashed ^ keys[u(slot), u(column)])
        at = hashed & mask
        while table[u(at)] >= 0:
            at = (at + 1) & mask
        table[u(at)] = slot


def bigger_ring(rows, low, high):
    """Twice as large a ring: rows are found by their number, modulo its size."""
    old = rows.shape[0] - 1
    new = np.empty((rows.shape[0] * 2, rows.shape[1]), np.int64)
    mask = new.shape[0] - 1
    for number in range(low, high):
        for column in range(rows.shape[1]):
            new[number & mask, column] = rows[number & old, column]
    return new


# --- static predicates


def call(address, row):
    """What the function at an address gives for a row; compiled, that is a call and nothing else."""
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(int(address))(int(row))


def asked(answers, key):
    """Whether a static predicate holds for a key: as it was answered before, or else as a function says now.

    The first row holds the address of that function, and how many answers there are. When they fill half the rows no
    more are kept, so that each search ends. An answer is 1 or 2, for no and yes, and stands after its key.
    """
    mask = answers.shape[0] - 2
    last = answers.shape[1] - 1
    hashed = np.int64(0)
    for k in key:
        hashed = mix(hashed ^ k)
    at = hashed & mask
    while True:
        row = at + 1
        answer = answers[u(row), u(last)]
        if answer == 0:
            break
        same = True
        column = 0
        for k in key:
            if answers[u(row), u(column)] != k:
                same = False
            column += 1  # noqa: SIM113
        if same:
            return answer == 2
        at = (at + 1) & mask
    column = 0
    for k in key:
        answers[u(row), u(column)] = k
        column += 1  # noqa: SIM113
    answer = call(answers[0, 0], row)
    if answers[u(row), u(last)] == 0 and 2 * answers[0, 1] < mask:
        answers[0, 1] += 1
        answers[u(row), u(last)] = answer
    return answer == 2


# --- waiting for a time


def push(heap, size, due, number):
    """Adds to a heap of pairs, the smallest first."""
    at = size
    while at > 0:
        parent = (at - 1) >> 1
        if heap[parent, 0] < due or (heap[parent, 0] == due and heap[parent, 1] <= number):
            break
        heap[at, 0] = heap[parent, 0]
        heap[at, 1] = heap[parent, 1]
        at = parent
    heap[at, 0] = due
    heap[at, 1] = number


def pop(heap, size):
    """Takes the smallest pair from a heap; gives its number."""
    number = heap[0, 1]
    last = size - 1
    due, moved = heap[last, 0], heap[last, 1]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= last:
            break
        if child + 1 < last and (
            heap[child + 1, 0] < heap[child, 0]
            or (heap[child + 1, 0] == heap[child, 0] and heap[child + 1, 1] < heap[child, 1])
        ):
            child += 1
        if heap[child, 0] > due or (heap[child, 0] == due and heap[child, 1] >= moved):
            break
        heap[at, 0] = heap[child, 0]
        heap[at, 1] = heap[child, 1]
        at = child
    heap[at, 0] = due
    heap[at, 1] = moved
    return number


# --- the order of derived events


def before(rows, floats, one, other, kinds, ranks):
    """Whether one derived event of a step comes before another: by start, then attribute by attribute, nulls first."""
    if rows[one, 0] != rows[other, 0]:
        return rows[one, 0] < rows[other, 0]
    for column in range(kinds.shape[0]):
        bit = np.int64(1) << np.int64(column)
        one_valid, other_valid = (rows[one, 2] & bit) != 0, (rows[other, 2] & bit) != 0
        if one_valid != other_valid:
            return other_valid
        if one_valid:
            if kinds[column] == 1:
                a, b = floats[one, 3 + column], floats[other, 3 + column]
                if a != a or b != b:
                    if (a != a) != (b != b):
                        return b != b
                elif a != b:
                    return a < b
            elif kinds[column] == 2:
                c, d = ranks[rows[one, 3 + column]], ranks[rows[other, 3 + column]]
                if c != d:
                    return c < d
            else:
                e, f = rows[one, 3 + column], rows[other, 3 + column]
                if e != f:
                    return e < f
    return False


GIVEN = np.int64(1) << np.int64(62)


def sift(order, root, count, rows, floats, kinds, ranks):
    """Lets a number sink to its place in a heap whose largest comes first."""
    moved = order[root]
    while True:
        child = 2 * root + 1
        if child >= count:
            break
        if child + 1 < count and before(rows, floats, order[child], order[child + 1], kinds, ranks):
            child += 1
        if not before(rows, floats, moved, order[child], kinds, ranks):
            break
        order[root] = order[child]
        root = child
    order[root] = moved


def settle(rows, floats, low, high, kinds, ranks):
    """Puts the derived events of a step in order, without those that are the same; gives the new end.

    Given events of the type are marked, and never merged. Most often they are in order: rules alike come by number.
    """
    first = low + 1
    while first < high and before(rows, floats, first - 1, first, kinds, ranks):
        first += 1
    if first >= high:
        return high
    count = high - low
    order = np.empty(count, np.int64)
    for k in range(count):
        order[k] = low + k
    for k in range(count // 2 - 1, -1, -1):
        sift(order, k, count, rows, floats, kinds, ranks)
    for k in range(count - 1, 0, -1):
        order[0], order[k] = order[k], order[0]
        sift(order, 0, k, rows, floats, kinds, ranks)
    width = rows.shape[1]
    copy = np.empty((count, width), np.int64)
    kept = 0
    last = np.int64(-1)
    for k in range(count):
        at = order[k]
        if (rows[at, 2] & GIVEN) == 0:
            if last >= 0 and not before(rows, floats, last, at, kinds, ranks):
                continue
            last = at
        for column in range(width):
            copy[kept, column] = rows[at, column]
        kept += 1
    for k in range(kept):
        for column in range(width):
            rows[low + k, column] = copy[k, column]
    return low + kept


# --- numbers


def as_key(number):
    """A float as a key: equal ones are the same, zero has no sign, and what is not a number is always the same."""
    if number != number:
        return np.nan
    return number + 0.0


def above(whole, fraction):
    """How an integer compares with a float, exactly: -1, 0, 1; 2 if the float is not a number."""
    if fraction != fraction:
        return 2
    if fraction >= 9223372036854775808.0:
        return -1
    if fraction < -9223372036854775808.0:
        return 1
    floor = math.floor(fraction)
    down = np.int64(floor)
    if whole < down:
        return -1
    if whole > down:
        return 1
    return 0 if fraction == floor else -1


def floor_divide(left, right):
    """Integers, rounded down; the divisor is not zero."""
    if right == -1:
        return -left
    return left // right


def remainder(left, right):
    """With the sign of the divisor, which is not zero."""
    if right == -1:
        return left - left
    return left % right


def two_sum(a, b):
    """A sum and what rounding took from it."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def add_exactly(high, low, value):
    """A value added to a sum of two floats, which holds twice their digits."""
    total, rest = two_sum(high, value)
    rest = rest + low
    high = total + rest
    return high, rest - (high - total)


def compact(rows, heads, low, high):
    """Only rows that are still in a chain, numbered from 0: a new ring of the same size, and how many there are."""
    mask = rows.shape[0] - 1
    number = np.empty(high - low, np.int64)
    for k in range(high - low):
        number[k] = -1
    for slot in range(heads.shape[0]):
        at = heads[slot]
        while at >= low:
            number[at - low] = 0
            at = rows[at & mask, 0]
    kept = 0
    for k in range(high - low):
        if number[k] == 0:
            number[k] = kept
            kept += 1
    new = np.empty((rows.shape[0], rows.shape[1]), np.int64)
    for k in range(high - low):
        if number[k] >= 0:
            for column in range(rows.shape[1]):
                new[number[k] & mask, column] = rows[(low + k) & mask, column]
            older = rows[(low + k) & mask, 0]
            new[number[k] & mask, 0] = number[older - low] if older >= low else -1
    for slot in range(heads.shape[0]):
        heads[slot] = number[heads[slot] - low] if heads[slot] >= low else -1
    return new, kept


# --- types from text


def kinds_of(offsets, letters, names, ends, codes, kinds):
    """For each row, the code of the name that its text is, or -1; gives whether one has no text.

    The names are one after the other in `names`, each up to its end. Lengths and first letters are compared without a
    branch, as rows of several types come in no order that could be foreseen.
    """
    empty = False
    count = ends.shape[0]
    heads = np.empty(count, np.int64)
    for k in range(count):
        first = ends[k - 1] if k > 0 else 0
        heads[k] = (ends[k] - first) * 256 + names[u(first)]
    for row in range(kinds.shape[0]):
        begin = np.int64(offsets[u(row)])
        length = np.int64(offsets[u(row + 1)]) - begin
        if length == 0:
            empty = True
            kinds[u(row)] = -1
            continue
        head = length * 256 + np.int64(letters[u(begin)])
        found, times = -1, 0
        for k in range(count):
            same = heads[u(k)] == head
            found = k if same else found
            times += 1 if same else 0
        if times > 1 or (times == 1 and length > 1):  # alike so far: look at all letters
            found = -1
            for k in range(count):
                if heads[u(k)] == head:
                    first = ends[u(k)] - length
                    same = True
                    for letter in range(1, length):
                        if letters[u(begin + letter)] != names[u(first + letter)]:
                            same = False
                            break
                    if same:
                        found = k
        kinds[u(row)] = codes[u(found)] if found >= 0 else -1
    return empty


def in_order(start, end):
    """0 if ends never fall and each start is no later than its end; 1 if moreover no two ends are the same; else 2."""
    unique = 1
    for k in range(end.shape[0]):
        if start[k] > end[k]:
            return 2
        if k > 0:
            if end[k] < end[k - 1]:
                return 2
            if end[k] == end[k - 1]:
                unique = 0
    return unique
