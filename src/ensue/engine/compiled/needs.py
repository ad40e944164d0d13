"""The room that generated code needs: it is looked for before an event is taken, and asked for where it is wanting."""

from __future__ import annotations

from collections.abc import Sequence

from ensue.engine.compiled.layout import Layout
from ensue.engine.compiled.writing import Writer


def ask_for(w: Writer, layout: Layout, array: str, need: str) -> None:
    """Notes which array wants room, and how much."""
    w.line(f"want = np.int64({layout.arrays().index(array)})")
    w.line(f"need = np.int64({need})")


def wanting(layout: Layout, array: str, need: str) -> str:
    """Whether there is less room in an array than is needed."""
    return f"{_free(array, layout)} < {need}"


def summed(terms: Sequence[str]) -> str:
    """The sum of terms, equal ones together."""
    counted = {term: terms.count(term) for term in dict.fromkeys(terms)}
    return " + ".join(term if times == 1 else f"{times} * {term}" for term, times in counted.items())


def _free(array: str, layout: Layout) -> str:
    """The room there is in an array."""
    letter, n = (array[:2], array[2:]) if array.startswith("KV") else (array[0], array[1:])
    match letter:
        case "T":
            store = next(s for s in layout.stores.values() if s.number == int(n))
            return f"T{n}.shape[0] - {store.size}"
        case "D":
            return f"D{n}.shape[0] - dh{n}"
        case "B":
            return f"B{n}.shape[0] - bh{n}"
        case "Q":
            ordered = next(q.ordered for q in layout.queues.values() if q.number == int(n))
            return f"Q{n}.shape[0] - (qh{n} - ql{n})" if ordered else f"Q{n}.shape[0] - qh{n}"
        case "W":
            return f"W{n}.shape[0] - wr{n}"
        case _:
            return f"KV{n}.shape[0] - kc{n}"
