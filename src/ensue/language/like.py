"""SQL's `like`: `%` is any text, `_` any one character, and a backslash takes the next character as it is."""

from __future__ import annotations

from functools import lru_cache

ANY_TEXT, ANY_ONE = object(), object()


def is_like(text: str, pattern: str) -> bool:
    r"""True if all of a text fits a pattern.

    >>> is_like("muffins", "m%_s"), is_like("50 %", r"50 \%"), is_like("50 kg", r"50 \%")
    (True, True, False)
    """
    parts = _parts(pattern)
    at = place = 0
    after_any: int | None = None
    begun = 0
    while at < len(text):
        part = parts[place] if place < len(parts) else None
        if part is ANY_TEXT:
            place += 1
            after_any, begun = place, at
        elif part is ANY_ONE or part == text[at]:
            place += 1
            at += 1
        elif after_any is not None:  # the last `%` takes one character more; earlier ones never need to
            begun += 1
            place, at = after_any, begun
        else:
            return False
    return all(part is ANY_TEXT for part in parts[place:])


def is_like_in_any_case(text: str, pattern: str) -> bool:
    """Tell the same of both in lower case."""
    return is_like(text.lower(), pattern.lower())


@lru_cache(maxsize=1000)
def _parts(pattern: str) -> tuple[object, ...]:
    """A pattern as characters, `ANY_ONE` and `ANY_TEXT`. A backslash at its end stands for itself."""
    parts: list[object] = []
    signs = iter(pattern)
    for sign in signs:
        if sign == "\\":
            parts.append(next(signs, sign))
        else:
            parts.append({"%": ANY_TEXT, "_": ANY_ONE}.get(sign, sign))
    return tuple(parts)
