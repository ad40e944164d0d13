"""Machine code from a tiny subset of Python.

A unit is a list of texts with functions over numbers, floats, truth values and structures. `translate` gives its LLVM
IR, `build` object code for this machine, `load` functions to call; `plain` runs the same texts as Python. Machine code
calls back through `callbacks`; `shipped` is code for other machines. llvmlite is imported only when code is built or
loaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ensue.engine.machine.background import compiling, later
    from ensue.engine.machine.callback import Callbacks, callbacks
    from ensue.engine.machine.compilation import FULL, QUICK, available, build
    from ensue.engine.machine.errors import MachineError, TranslateError
    from ensue.engine.machine.interpretation import plain
    from ensue.engine.machine.loading import Machine, load
    from ensue.engine.machine.shipment import NOTHING, Shipment, receive, received, shipped
    from ensue.engine.machine.store import cached_object
    from ensue.engine.machine.texts import Texts
    from ensue.engine.machine.tiers import Tiers
    from ensue.engine.machine.translation import translate

__all__ = [
    "FULL",
    "NOTHING",
    "QUICK",
    "Callbacks",
    "Machine",
    "MachineError",
    "Shipment",
    "Texts",
    "Tiers",
    "TranslateError",
    "available",
    "build",
    "cached_object",
    "callbacks",
    "compiling",
    "later",
    "load",
    "plain",
    "receive",
    "received",
    "shipped",
    "translate",
]

MODULES = {
    "background": ("compiling", "later"),
    "callback": ("Callbacks", "callbacks"),
    "compilation": ("FULL", "QUICK", "available", "build"),
    "errors": ("MachineError", "TranslateError"),
    "interpretation": ("plain",),
    "loading": ("Machine", "load"),
    "shipment": ("NOTHING", "Shipment", "receive", "received", "shipped"),
    "store": ("cached_object",),
    "texts": ("Texts",),
    "tiers": ("Tiers",),
    "translation": ("translate",),
}
"""The module of each name; a module is imported when one is used, as few events need only `plain`."""


def __getattr__(name: str) -> Any:
    for module, names in MODULES.items():
        if name in names:
            found = globals()[name] = getattr(import_module(f"ensue.engine.machine.{module}"), name)
            return found
    raise AttributeError(f"there is no {name} in {__name__}")
