"""The hash of the dictionary's table, in machine code and in Python."""

from __future__ import annotations

from ensue.engine.subset.builtin import unsigned_shift, wrap

MULTIPLIER, ALL = -7046029254386353131 & (2**64 - 1), 2**64 - 1


def mixed_text(hashed: int, word: int) -> int:
    """A hash combined with another word. Different words have different results.

    A product's high bits depend on all bits of its factors, its low ones on low bits alone: without the last letters of
    a word. A table takes the low bits, so the high ones are put there.
    """
    product = wrap((hashed ^ word) * -7046029254386353131)
    return product ^ unsigned_shift(product, 47)


def mixed_unsigned(hashed: int, word: int) -> int:
    """The same in Python, as an unsigned number.

    >>> mixed_unsigned(3, 4) == mixed_text(3, 4) & ALL
    True
    """
    product = ((hashed ^ word) & ALL) * MULTIPLIER & ALL
    return product ^ (product >> 47)


def hash_of(raw: bytes) -> int:
    """The hash of bytes, as machine code computes it, as an unsigned number.

    Up to eight bytes of one length all have different hashes.

    >>> hash_of(b"one, two, three") == hash_of(b"one, two, three"), hash_of(b"") == hash_of(b" ")
    (True, False)
    """
    hashed, whole = len(raw), len(raw) & ~7
    for k in range(0, whole, 8):
        hashed = mixed_unsigned(hashed, int.from_bytes(raw[k : k + 8], "little"))
    return mixed_unsigned(hashed, int.from_bytes(raw[whole:], "little"))
