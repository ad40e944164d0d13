"""Names of a rule translated to those of a part that it shares with others."""

from __future__ import annotations

from ensue.records import dataclass

Field = tuple[object, ...]
"""A known value of a match, as in generated code: ``("var", name)``, ``("attr", label, attribute)``, …"""


@dataclass(frozen=True)
class Renaming:
    """Names and ids of a rule, each with its counterpart in a part.

    >>> renaming = Renaming((("k", ("attr", "e0", "key")),), (("o", "e1"),), ((7, 2),))
    >>> renaming.field(("var", "k")), renaming.field(("time", "o", "end")), renaming.field(("span", 7, "end"))
    (('attr', 'e0', 'key'), ('time', 'e1', 'end'), ('span', 2, 'end'))
    >>> renaming.field(("var", "other")) is None
    True
    """

    variables: tuple[tuple[str, Field], ...]
    labels: tuple[tuple[str, str], ...]
    ids: tuple[tuple[int, int], ...]

    def field(self, field: Field) -> Field | None:
        """The field of the part for a field of the rule's matches; None where the part does not have it."""
        match field:
            case ("var", name):
                return dict(self.variables).get(str(name))
            case ("attr" | "time", label, which):
                own = dict(self.labels).get(str(label))
                return None if own is None else (field[0], own, which)
            case ("span", int(id_), which):
                number = dict(self.ids).get(id_)
                return None if number is None else ("span", number, which)
            case ("start",) | ("source",) | ("oldest",) | ("part", *_):
                return field
            case _:
                return None
