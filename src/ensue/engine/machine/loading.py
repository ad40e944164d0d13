"""Object code loaded into this process and called through ctypes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import count
from threading import Lock
from typing import Any

from ensue.engine.machine.compilation import binding, target
from ensue.engine.machine.errors import MachineError
from ensue.engine.machine.translation import exported

TYPES: dict[str, Any] = {"i": ctypes.c_int64, "f": ctypes.c_double, "b": ctypes.c_bool, "-": None}
"""C's types for the letters of a signature."""

Entry = Callable[..., Any]

_numbers = count()
_loading = Lock()


class Machine(Mapping[str, Entry]):
    """Entries of loaded code by name. Each takes the address of the frame, then its arguments; the code lives as long
    as the machine and its entries. Calls release the interpreter's lock."""

    def __init__(self, library: Any, entries: Mapping[str, Entry]) -> None:
        self._entries = entries
        for entry in entries.values():
            entry.library = library  # type: ignore[attr-defined]

    def __getitem__(self, name: str) -> Entry:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def load(object_bytes: bytes, entries: Sequence[str]) -> Machine:
    """Load object code and find its entries."""
    builder = binding().JITLibraryBuilder().add_object_img(object_bytes).add_current_process()
    for name in entries:
        builder.export_symbol(exported(name)).export_symbol(f"{exported(name)}_signature")
    try:
        with _loading:
            library = builder.link(_linker(), f"ensue_{next(_numbers)}")
    except RuntimeError as error:
        raise MachineError(f"LLVM cannot load machine code: {error}") from None
    return Machine(library, {name: _entry(library, name) for name in entries})


def _entry(library: Any, name: str) -> Entry:
    signature = ctypes.string_at(library[f"{exported(name)}_signature"]).decode()
    result, *parameters = (TYPES[letter] for letter in signature)
    entry: Entry = ctypes.CFUNCTYPE(result, ctypes.c_void_p, *parameters)(library[exported(name)])
    return entry


@cache
def _linker() -> Any:
    return binding().create_lljit_compiler(target(2), use_jit_link=False, suppress_errors=True)
