"""Numbers of keys that a function is given, so that an event's key is looked up once for all that take the event.

A number is -1 if the key had none when the event came. Then it is looked up where it is used, since it may have got one
meanwhile; once it has one it keeps it for the rest of the step.
"""

from __future__ import annotations

from collections.abc import Mapping


class KnownNumbers:
    """The keys that can be looked up before a function is called, and the parameters with their numbers.

    `names` are the parameters that can be parts of keys, with the variables that they stand for. Parameters for numbers
    are added to `given` as they are asked for.
    """

    def __init__(self, given: list[str], names: Mapping[str, str]) -> None:
        self.given, self.names = given, names
        self.keys: dict[tuple[str, tuple[str, ...]], str] = {}
        """Tables and variables of the keys that are asked for, and the parameters with their numbers."""

    def of(self, table: str, parts: tuple[str, ...]) -> str | None:
        """The parameter with the number of a key in a table; None if the key is known in the function alone."""
        if not self.names.keys() >= set(parts):
            return None
        key = table, tuple(self.names[part] for part in parts)
        if key not in self.keys:
            name, taken = f"own_number_{len(self.keys)}", {parameter.split(":")[0] for parameter in self.given}
            while name in taken:
                name += "_"
            self.keys[key] = name
            self.given.append(f"{name}: int")
        return self.keys[key]
