"""Strings that machine code makes: letters are appended, and the string is then looked up like those of columns, or
added to the dictionary. Also functions of strings that only need their bytes.
"""

from __future__ import annotations

from ensue.engine.structures.hashing import mixed_text
from ensue.engine.structures.values import Values
from ensue.engine.subset.builtin import ask, grow, word_at


def append_text(values: Values, code: int) -> None:
    """Append a string to the one that is being made."""
    length = values.length[code]
    values.wanted = length
    if values.count + length > values.least:
        grow(values)
    first = values.first[code]
    for k in range(length):
        values.new[values.count + k] = values.letter[first + k]
    values.count += length


def end_text(values: Values) -> int:
    """The code of the string that was made."""
    length = values.count
    if length > values.longest:
        ask(values, 1)  # LONG
    hashed = length
    k = 0
    while k + 8 <= length:
        hashed = mixed_text(hashed, word_at(values.new, k))
        k += 8
    word = 0
    for i in range(length - k):
        word = (word << 8) | values.new[length - 1 - i]
    hashed = mixed_text(hashed, word)
    at = hashed & values.mask
    while values.slot[2 * at] != 0:
        if values.slot[2 * at + 1] == hashed:
            code = values.slot[2 * at] - 1
            if values.length[code] == length:
                first = values.first[code]
                same = True
                for k in range(length):
                    if values.letter[first + k] != values.new[k]:
                        same = False
                        break
                if same:
                    return code
        at = (at + 1) & values.mask
    return add_text(values, hashed)


def add_text(values: Values, hashed: int) -> int:
    """Give the string that was made a code."""
    length = values.count
    values.wanted = 0
    full = 2 * values.state[2] >= values.mask or values.state[1] + length > values.room
    if full or (values.state[3] == 0 and values.state[0] == values.places):
        grow(values)
    if values.state[3] > 0:
        values.state[3] -= 1
        code = values.free[values.state[3]]
    else:
        code = values.state[0]
        values.state[0] += 1
    values.state[4] = min(values.state[4], code)
    at = hashed & values.mask
    while values.slot[2 * at] != 0:
        at = (at + 1) & values.mask
    values.slot[2 * at] = code + 1
    values.slot[2 * at + 1] = hashed
    values.state[2] += 1
    filled = values.state[1]
    values.first[code] = filled
    values.length[code] = length
    values.same[code] = code
    for k in range(length):
        values.letter[filled + k] = values.new[k]
    values.state[1] = filled + length
    return code


def cased_text(values: Values, code: int, low: int, high: int, change: int) -> int:
    """A string with the letters from `low` to `high` changed; -1 if not all of its letters are ASCII."""
    values.count = 0
    append_text(values, code)
    for k in range(values.count):
        letter = values.new[k]
        if letter > 127:
            return -1
        if letter >= low and letter <= high:
            values.new[k] = letter + change
    return end_text(values)


def text_length(values: Values, code: int) -> int:
    """Number of characters of a string: bytes that do not continue a character."""
    count = 0
    first = values.first[code]
    for k in range(values.length[code]):
        count += int((values.letter[first + k] & 192) != 128)
    return count


def text_at(values: Values, code: int, part: int, at: int) -> bool:
    """True if a string has another in it at a place."""
    first = values.first[code] + at
    other = values.first[part]
    for k in range(values.length[part]):  # noqa: SIM110
        if values.letter[first + k] != values.letter[other + k]:
            return False
    return True


def text_starts(values: Values, code: int, part: int) -> bool:
    """True if a string begins with another."""
    return values.length[part] <= values.length[code] and text_at(values, code, part, 0)


def text_ends(values: Values, code: int, part: int) -> bool:
    """True if a string ends with another."""
    rest = values.length[code] - values.length[part]
    return rest >= 0 and text_at(values, code, part, rest)


def text_contains(values: Values, code: int, part: int) -> bool:
    """True if a string has another in it."""
    for at in range(values.length[code] - values.length[part] + 1):  # noqa: SIM110
        if text_at(values, code, part, at):
            return True
    return False
