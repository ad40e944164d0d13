"""Machine code from a tiny subset of Python.

A unit is a list of texts with functions over numbers, floats, truth values and structures. `translate` gives its LLVM
IR, `build` object code for this machine, `load` functions to call; `plain` runs the same texts as Python. Machine code
calls back through `callbacks`. Nothing here imports llvmlite before something is built or loaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ensue.engine.machine.callback import Callbacks, callbacks
    from ensue.engine.machine.compilation import FULL, QUICK, available, build
    from ensue.engine.machine.errors import MachineError, TranslateError
    from ensue.engine.machine.interpretation import plain
    from ensue.engine.machine.loading import Machine, load
    from ensue.engine.machine.store import cached_object
    from ensue.engine.machine.tiers import Tiers
    from ensue.engine.machine.translation import translate

__all__ = [
    "FULL",
    "QUICK",
    "Callbacks",
    "Machine",
    "MachineError",
    "Tiers",
    "TranslateError",
    "available",
    "build",
    "cached_object",
    "callbacks",
    "load",
    "plain",
    "translate",
]

MODULES = {
    "callback": ("Callbacks", "callbacks"),
    "compilation": ("FULL", "QUICK", "available", "build"),
    "errors": ("MachineError", "TranslateError"),
    "interpretation": ("plain",),
    "loading": ("Machine", "load"),
    "store": ("cached_object",),
    "tiers": ("Tiers",),
    "translation": ("translate",),
}
"""Where each name is; a module is imported when one is used, as few events need no more than `plain`."""


def __getattr__(name: str) -> Any:
    for module, names in MODULES.items():
        if name in names:
            found = globals()[name] = getattr(import_module(f"ensue.engine.machine.{module}"), name)
            return found
    raise AttributeError(f"there is no {name} in {__name__}")
