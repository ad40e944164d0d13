"""Translation of a unit into LLVM IR.

Functions are translated from the entries on, as they are called: once for each combination of layouts of their
structures. Each takes the frame as a hidden first argument. Functions that are small or called once are inlined, so
that even the quick passes see whole loops.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field

from ensue.engine.machine.body import FAILED, Body, Reference
from ensue.engine.machine.calls import CALLBACKS, DECLARATIONS
from ensue.engine.machine.errors import MachineError
from ensue.engine.machine.statements import block
from ensue.engine.machine.types import METADATA, NOTHING, ZERO, Shape, flagged, passed, returned, shape_of
from ensue.engine.machine.unit import Function, Unit, parsed
from ensue.engine.structure import Layout
from ensue.records import dataclass

SMALL = 40
"""Lines of IR up to which a function is inlined wherever it is called."""

ALL_CALLS = 100
"""Lines of IR up to which the copies of a function, all calls together, are inlined."""

RARE = "rarely_"
"""The beginning of the names of functions that are never inlined: code that hardly ever runs is elsewhere."""

APART = "apart_"
"""The same of functions with loops that run long: the code around them needs the registers."""

LETTERS = {"i64": "i", "double": "f", "i1": "b", "void": "-"}


@dataclass(eq=False)
class Special:
    """A function for given layouts: its symbol, the number of its calls, and its IR once it is written."""

    function: Function
    shapes: tuple[Shape, ...]
    symbol: str
    is_entry: bool
    calls: int = 0
    head: str = ""
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        inlined = self.calls == 1 or len(self.lines) <= SMALL or self.calls * len(self.lines) <= ALL_CALLS
        linkage = "" if self.is_entry else "internal "
        attributes = "nounwind alwaysinline" if inlined and not self.is_entry else "nounwind"
        if self.function.name.startswith(RARE):
            attributes = "cold noinline nounwind"
        elif self.function.name.startswith(APART):
            attributes = "noinline nounwind"
        return f"define {linkage}{self.head} {attributes} {{\n" + "\n".join(self.lines) + "\n}\n"


def translate(texts: Sequence[str], structures: Mapping[str, tuple[Layout, int]], entries: Sequence[str]) -> str:
    """Translate texts into LLVM IR that exports the entries.

    ``structures`` gives the layout and the first cell of each structure that the texts name.
    """
    with _garbage_kept():
        return _translate(texts, structures, entries)


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """Put off the search for garbage. There is hardly any, and with a thousand rules it takes as long as the rest."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _translate(texts: Sequence[str], structures: Mapping[str, tuple[Layout, int]], entries: Sequence[str]) -> str:
    unit = parsed(texts)
    known: dict[str, Reference] = {
        name: ("%.frame", shape_of(layout), base) for name, (layout, base) in structures.items()
    }
    size = max([FAILED + 1, *(base + shape.cells for _, shape, base in known.values())])
    failing = _failing(unit)
    specials: dict[tuple[str, tuple[Shape, ...]], Special] = {}
    waiting: list[Special] = []

    def special(name: str, shapes: tuple[Shape, ...]) -> Special:
        found = specials.get((name, shapes))
        if found is None:
            is_entry = name in entries
            symbol = f"@{exported(name)}" if is_entry else f"@{name}.{len(specials)}"
            found = specials[name, shapes] = Special(unit.functions[name], shapes, symbol, is_entry)
            waiting.append(found)
        return found

    def symbol(name: str, shapes: tuple[Shape, ...]) -> str:
        found = special(name, shapes)
        found.calls += 1
        return found.symbol

    signatures = []
    for name in entries:
        if name not in unit.functions:
            raise MachineError(f"The unit has no function {name}.")
        signatures.append(_signature(unit.functions[name]))
        special(name, ())
    while waiting:
        _write(waiting.pop(), unit, known, failing, failing.difference(entries), symbol, size)
    return "".join([*(one.text for one in specials.values()), *signatures, DECLARATIONS, METADATA])


def exported(name: str) -> str:
    """The symbol of an entry."""
    return f"ensue_{name}"


def _signature(function: Function) -> str:
    """A string beside an entry that describes its call: a letter for its result and for each parameter."""
    types = [function.result, *(type_ for _, type_ in function.parameters)]
    if not function.name.isascii() or not all(type_ in LETTERS for type_ in types):
        raise function.error(function.node, "an entry has an ASCII name, takes scalars and returns one or none")
    letters = "".join(LETTERS[type_ or ""] for type_ in types)
    return f'@{exported(function.name)}_signature = constant [{len(letters) + 1} x i8] c"{letters}\\00"\n'


def _write(
    special: Special,
    unit: Unit,
    known: Mapping[str, Reference],
    failing: frozenset[str],
    telling: frozenset[str],
    symbol: Callable[[str, tuple[Shape, ...]], str],
    size: int,
) -> None:
    function = special.function
    for name in (function.name, *(name for name, _ in function.parameters)):
        if not name.isascii():
            raise function.error(function.node, f"the name {name} is not ASCII")
    structures = dict(known)
    head = [f"ptr align 8 dereferenceable({8 * size}) %.frame"]
    shapes = iter(special.shapes)
    body = Body(function, structures, unit.functions, failing, telling, unit.constants, symbol)
    for name, type_ in function.parameters:
        if type_ is None:
            shape = next(shapes)
            structures[name] = (f"%{name}.", shape, 0)
            head.append(f"ptr align 8{f' dereferenceable({8 * shape.cells})' if shape.cells else ''} %{name}.")
        else:
            structures.pop(name, None)
            body.assign(name, (type_, f"%{name}."), function.node)
            head.append(f"{passed(type_)} %{name}.")
    block(body, function.node.body)
    if body.is_open:
        _fall_off(body)
    if body.fails:
        body.start(".failed")
        body.give("" if function.result == NOTHING else ZERO.get(function.result, "zeroinitializer"), failed=True)
    type_ = flagged(function.result) if body.tells else returned(function.result)
    special.head = f"{type_} {special.symbol}({', '.join(head)})"
    special.lines = [".entry:", *body.stack, *body.lines]


def _fall_off(body: Body) -> None:
    """End a function after its last statement."""
    function = body.function
    if not body.is_reachable:
        body.end("unreachable")
    elif function.result == NOTHING:
        body.give("")
    else:
        raise function.error(function.node, f"{function.name} does not return a value on every path")


def _failing(unit: Unit) -> frozenset[str]:
    """Functions that call back into Python, themselves or through others."""
    found = {name for name, function in unit.functions.items() if function.words & CALLBACKS}
    while more := {name for name, function in unit.functions.items() if name not in found and function.words & found}:
        found |= more
    return frozenset(found)
