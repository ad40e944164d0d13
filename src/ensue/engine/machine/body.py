"""The body of one function while its LLVM IR is written.

Local names are cells of the stack; LLVM turns them into registers. Registers are numbered in the order of their lines,
so a register is taken only with the line that fills it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import field

from ensue.engine.machine.errors import TranslateError
from ensue.engine.machine.types import NOTHING, NUMBER, ZERO, Shape, Value, described, flagged
from ensue.engine.machine.unit import Constant, Function
from ensue.records import dataclass

FAILED = 2
"""The cell that is set once a call back has raised an exception."""

Reference = tuple[str, Shape, int]
"""A structure: the register of a pointer to cells, the shape, and the structure's first cell from there."""


@dataclass(eq=False)
class Body:
    """Lines of a function, its names, and the block that is being written."""

    function: Function
    structures: dict[str, Reference]
    functions: dict[str, Function]
    failing: frozenset[str]
    """Functions that may call back: they return at once when an exception was raised there."""

    telling: frozenset[str]
    """Those of them that return a flag for that, so that callers need not look into memory: all but entries."""

    constants: dict[str, Constant]
    symbol: Callable[[str, tuple[Shape, ...]], str]
    """Gives the LLVM name of a function for the shapes of its structures, and counts the call."""

    addresses: dict[tuple[str, int], str] = field(default_factory=dict)
    """Addresses of arrays that this block has loaded, by pointer and cell. Only calls back change them."""

    names: dict[str, str] = field(default_factory=dict)
    stack: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    registers: int = 0
    labels: int = 0
    block: str = ".entry"
    is_open: bool = True
    is_reachable: bool = True
    fails: bool = False
    """True if some branch leads to the block that returns after an exception."""

    reached: set[str] = field(default_factory=set)
    loops: list[tuple[str, str]] = field(default_factory=list)
    """The labels for ``continue`` and ``break``."""

    def error(self, node: ast.AST, message: str) -> TranslateError:
        return self.function.error(node, message)

    # --- lines

    def let(self, instruction: str) -> str:
        """Write an instruction with a result; returns its register."""
        register = f"%{self.registers}"
        self.registers += 1
        self.lines.append(f"{register} = {instruction}")
        return register

    def do(self, instruction: str) -> None:
        """Write an instruction without a result."""
        self.lines.append(instruction)

    # --- blocks

    def label(self) -> str:
        self.labels += 1
        return f".{self.labels}"

    def start(self, label: str) -> None:
        """Begin a block, which a jump or branch has led to, or none if the code there is never reached."""
        self.lines.append(f"{label}:")
        self.block = label
        self.addresses = {}
        self.is_open = True
        self.is_reachable = label in self.reached

    def jump(self, label: str) -> None:
        if self.is_open:
            self.end(f"br label %{label}", label)

    def branch(self, condition: str, yes: str, no: str, weights: str = "") -> None:
        self.end(f"br i1 {condition}, label %{yes}, label %{no}{weights}", yes, no)

    def end(self, instruction: str, *labels: str) -> None:
        """End the block."""
        self.lines.append(instruction)
        if self.is_reachable:
            self.reached.update(labels)
        self.is_open = self.is_reachable = False

    def expect_failure(self) -> None:
        """Mark a call back as failed; it takes the mark away once it has begun."""
        self.do(f"store i64 1, ptr {self.cell('%.frame', FAILED)}, {NUMBER}")

    @property
    def tells(self) -> bool:
        """True if the function returns a flag besides its result."""
        return self.function.name in self.telling

    def give(self, value: str, failed: bool = False) -> None:
        """Return a result, which is empty if there is none."""
        result, flag = self.function.result, "true" if failed else "false"
        if not self.tells:
            self.end(f"ret {result} {value}".rstrip())
        elif result == NOTHING:
            self.end(f"ret i1 {flag}")
        else:
            type_ = flagged(result)
            held = self.let(f"insertvalue {type_} poison, {result} {value}, 0")
            self.end(f"ret {type_} {self.let(f'insertvalue {type_} {held}, i1 {flag}, 1')}")

    def exit_if_failed(self, failed: str = "") -> None:
        """Return at once if a call back has raised an exception, before any code relies on its results.

        `failed` is the flag that a function has returned; without one a cell of the frame tells.
        """
        if not failed:
            failed = self.let(f"load i64, ptr {self.cell('%.frame', FAILED)}, {NUMBER}")
            failed = self.let(f"icmp ne i64 {failed}, 0")
        on, self.fails = self.label(), True
        self.branch(failed, ".failed", on, ", !prof !11")
        self.start(on)

    # --- names

    def declare(self, name: str, type_: str, node: ast.AST) -> None:
        """Give a local name its type, or check that it has it."""
        known = self.names.get(name)
        if known == type_:
            return
        if known is not None:
            raise self.error(node, f"{name} is of type {described(known)} and cannot be {described(type_)}")
        if name in self.structures:
            raise self.error(node, f"{name} is a structure and cannot be assigned")
        if not name.isascii():
            raise self.error(node, f"the name {name} is not ASCII")
        if type_ not in ZERO:
            raise self.error(node, f"a local name cannot be of type {described(type_)}")
        self.names[name] = type_
        self.stack.append(f"%{name} = alloca {type_}\nstore {type_} {ZERO[type_]}, ptr %{name}")

    def assign(self, name: str, value: Value, node: ast.AST) -> None:
        self.declare(name, value[0], node)
        self.do(f"store {value[0]} {value[1]}, ptr %{name}")

    def structure(self, node: ast.expr) -> Reference:
        if isinstance(node, ast.Name):
            found = self.structures.get(node.id)
            if found is not None and node.id not in self.names:
                return found
        raise self.error(node, f"{ast.unparse(node)} is not a structure")

    def cell(self, pointer: str, cell: int) -> str:
        """A pointer to a cell, at an offset from another one."""
        return self.let(f"getelementptr i64, ptr {pointer}, i64 {cell}") if cell else pointer
