"""Random programs of the subset: machine code of both levels does the same as Python, down to every array."""

from __future__ import annotations

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.engine.test_machine_units import STORE, WIDER, agree

LAYOUTS = {"store": STORE, "wide": WIDER}

NUMBERS = st.sampled_from([0, 1, -1, 2, 3, 7, 63, 100, -5, 2**31, 2**53, 2**63 - 1, -(2**63)])
FLOATS = st.sampled_from([0.0, 0.5, 1.0, -2.5, 1e300, 3.0, 1e-300])

KERNELS = """
def mixed(a: int, b: int) -> int:
    return a ^ unsigned_shift(b, 7)

def split(a: int, x: float) -> tuple[int, float, bool]:
    if a > 3:
        return a >> 2, x * 0.5, x > 1.0
    return wrap(a + 1), -x, True

def pushed(table: Table, key: int) -> int:
    if table.count == table.capacity:
        grow(table)
    table.key[table.count] = key
    table.count += 1
    return table.count
"""


class Writer:
    """Draws a program; values that Python would not wrap are wrapped wherever they arise."""

    def __init__(self, draw) -> None:
        self.draw = draw
        self.loops = 0
        self.lines: list[str] = []

    def one_of(self, *choices):
        return self.draw(st.sampled_from(choices))

    def number(self, depth: int = 3) -> str:
        if depth == 0 or self.draw(st.booleans()):
            return self.one_of("a", "b", "c", f"({self.draw(NUMBERS)})", "store.count", "wide.first")
        n, m = lambda: self.number(depth - 1), lambda: f"{self.number(depth - 1)} & 7"
        match self.one_of(
            "+", "//", "%", "<<", ">>", "&", "u", "m", "n", "if", "col", "call", "ask", "~", "int", "t", "f"
        ):
            case "+":
                return f"wrap({n()} {self.one_of('+', '-', '*')} {n()})"
            case "//":
                return f"wrap({n()} // ({n()} | 1))"
            case "%":
                return f"({n()} % ({n()} | 1))"
            case "<<":
                return f"wrap({n()} << ({n()} & 63))"
            case ">>":
                return f"({n()} >> ({n()} & 63))"
            case "&":
                return f"({n()} {self.one_of('&', '|', '^')} {n()})"
            case "u":
                return f"unsigned_shift({n()}, {n()} & 63)"
            case "m":
                return f"{self.one_of('min', 'max')}({n()}, {n()})"
            case "n":
                return f"wrap({self.one_of('-', '~')}{n()})"
            case "if":
                return f"({n()} if {self.truth(depth - 1)} else {n()})"
            case "col":
                return f"{self.one_of('store.key', 'store.other', 'store.small', 'store.flag', 'wide.right')}[{m()}]"
            case "call":
                return f"mixed({n()}, {n()})"
            case "ask":
                return f"ask({self.one_of('store', 'wide')}, {n()})"
            case "int":
                return f"int({self.truth(depth - 1)})"
            case "t":
                x = self.float(depth - 1)
                return f"(truncated({x}) if -1e18 < {x} < 1e18 else 9)"
            case "f":
                x = self.float(depth - 1)
                return f"(9 if is_nan({x}) else bits({x}))"
        return f"wrap(abs({n()}))"

    def float(self, depth: int = 2) -> str:
        if depth == 0 or self.draw(st.booleans()):
            return self.one_of("x", "y", f"({self.draw(FLOATS)})", "store.weight[a & 7]", "wide.left[b & 7]")
        x = lambda: self.float(depth - 1)  # noqa: E731
        match self.one_of("+", "float", "if", "f", "abs"):
            case "+":
                return f"({x()} {self.one_of('+', '-', '*', '/')} {x()})"
            case "float":
                return f"float({self.number(depth - 1)})"
            case "if":
                return f"({x()} if {self.truth(depth - 1)} else {x()})"
            case "f":
                return f"{self.one_of('floor', 'ceil', 'trunc', 'sqrt', 'exp', 'log')}({x()})"
        return f"abs(-{x()})"

    def truth(self, depth: int = 2) -> str:
        if depth == 0 or self.draw(st.booleans()):
            return self.one_of("p", "q", "(a < b)", "(x < y)", "(c == 0)", "True")
        t, n, x = (lambda: self.truth(depth - 1)), (lambda: self.number(depth - 1)), (lambda: self.float(depth - 1))
        compared = lambda: self.one_of("<", "<=", ">", ">=", "==", "!=")  # noqa: E731
        match self.one_of("and", "not", "int", "float", "chain", "^", "if", "u"):
            case "and":
                return f"({t()} {self.one_of('and', 'or')} {t()})"
            case "not":
                return f"(not {t()})"
            case "int":
                return f"({n()} {compared()} {n()})"
            case "float":
                return f"({x()} {compared()} {x()})"
            case "chain":
                return f"({n()} {compared()} {n()} {compared()} {n()})"
            case "^":
                return f"({t()} {self.one_of('&', '|', '^', '==', '!=')} {t()})"
            case "if":
                return f"({t()} if {t()} else {t()})"
        return f"unsigned_less({n()}, {n()})"

    def block(self, indent: str, depth: int, in_loop: bool) -> None:
        for _ in range(self.draw(st.integers(1, 4))):
            self.statement(indent, depth, in_loop)

    def statement(self, indent: str, depth: int, in_loop: bool) -> None:
        def write(line: str) -> None:
            self.lines.append(indent + line)

        kinds = ["int", "float", "bool", "column", "number", "swap", "tuple", "push", "augment"]
        kinds += ["if", "for", "while"] * (depth > 0) + ["break", "continue"] * in_loop + ["return"]
        match self.one_of(*kinds):
            case "int":
                write(f"{self.one_of('a', 'b', 'c')} = {self.number()}")
            case "float":
                write(f"{self.one_of('x', 'y')} = {self.float()}")
            case "bool":
                write(f"{self.one_of('p', 'q')} = {self.truth()}")
            case "column":
                write(f"{self.one_of('store.key', 'wide.key', 'wide.right')}[{self.number(1)} & 7] = {self.number()}")
                write(f"store.small[{self.number(1)} & 7] = ({self.number()} & 4294967295) - 2147483648")
                write(f"store.flag[{self.number(1)} & 7] = {self.number()} & 255")
                write(f"{self.one_of('store.weight', 'wide.left')}[{self.number(1)} & 7] = {self.float()}")
            case "number":
                write(f"wide.first = {self.number()}")
            case "swap":
                write(f"a, b, x = {self.number()}, {self.number(1)}, {self.float()}")
            case "tuple":
                write(f"{self.one_of('a', 'wide.first', 'c')}, y, q = split({self.number()}, {self.float()})")
            case "push":
                write(f"c = pushed({self.one_of('store', 'wide')}, {self.number()})")
            case "augment":
                write(f"{self.one_of('a', 'store.other[b & 7]', 'wide.first')} {self.one_of('^', '&', '|')}= b + 0 & c")
            case "if":
                write(f"if {self.truth()}:")
                self.block(indent + "    ", depth - 1, in_loop)
                if self.draw(st.booleans()):
                    write(f"elif {self.truth()}:")
                    self.block(indent + "    ", depth - 1, in_loop)
                    write("else:")
                    self.block(indent + "    ", depth - 1, in_loop)
            case "for":
                self.loops += 1
                name = f"i{self.loops}"
                bounds = self.one_of("3", "a & 7", "b & 3, c & 7", "c & 7, -2, -2", "-1, 6, 3")
                write(f"for {name} in range({bounds}):")
                self.block(indent + "    ", depth - 1, True)
                write(f"    c = wrap(c * 3 + {name})")
            case "while":
                self.loops += 1
                name = f"n{self.loops}"
                write(f"{name} = 0")
                write(f"while {name} < 4 and {self.truth()}:")
                write(f"    {name} += 1")
                self.block(indent + "    ", depth - 1, True)
            case "return":
                write(f"if {self.truth()}:")
                write(f"    return {self.number()}")
            case word:
                write(f"if {self.truth()}:")
                write(f"    {word}")


@st.composite
def programs(draw) -> str:
    writer = Writer(draw)
    writer.block("    ", 3, False)
    writer.block("    ", 2, False)
    body = "\n".join(writer.lines)
    head = "def run(a: int, b: int, x: float, p: bool) -> int:\n    c = 1\n    y = 0.25\n    q = False\n"
    end = "    return wrap(a * 31 + b) ^ c ^ (0 if is_nan(x + y) else bits(x + y)) ^ int(p != q)\n"
    return f"{KERNELS}\n{head}{body}\n{end}"


def answer(structure, number: int) -> int:
    structure.key[1] = number & 1023
    return (number ^ structure.count) & 65535


# programs are not made smaller: each one is compiled twice, and the first that fails is short enough to read
@settings(max_examples=80, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(programs(), st.lists(st.tuples(NUMBERS, NUMBERS, FLOATS, st.booleans()), min_size=1, max_size=4))
def test_machine_code_does_what_python_does(text, arguments):
    agree(text, [("run", *one) for one in arguments], LAYOUTS, answer)
