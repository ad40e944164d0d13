"""The bad rows of an input: all are counted, the first thousand in its order are kept."""

from collections.abc import Callable
from dataclasses import field

from ensue import compute as pc
from ensue.data.errors import BadRow
from ensue.data.input_part import InputPart
from ensue.data.split import Group
from ensue.data.stamp import Fault
from ensue.records import dataclass

KEPT = 1000


@dataclass(frozen=True)
class _Found:
    """A bad row whose place is looked up only if it is reported: that may take counting the lines of a file."""

    where: Callable[[int], str]
    position: int
    reason: str


@dataclass
class Report:
    """Bad rows found so far, by position over the whole input; a row keeps its first fault.

    Of each fault the first thousand rows are enough, since no other can be among the first thousand bad rows.
    """

    _found: dict[int, _Found] = field(default_factory=dict)

    def malformed(self, part: InputPart, offset: int) -> None:
        """Note the rows that could not even be split into columns."""
        for position, reason in part.malformed[:KEPT]:
            self._found.setdefault(offset + position, _Found(part.where, position, reason))

    def of_part(self, part: InputPart, fault: Fault, offset: int) -> None:
        """Note a fault in the times or types of a part."""
        for index in first_indices(fault):
            position = part.positions[index].as_py()
            self._found.setdefault(offset + position, _Found(part.where, position, fault.reason(index)))

    def of_group(self, group: Group, fault: Fault) -> None:
        """Note a fault in an attribute."""
        for index in first_indices(fault):
            row = group.row[index].as_py()
            self._found.setdefault(row, _Found(group.where, row - group.offset, fault.reason(index)))

    def first_rows(self) -> tuple[BadRow, ...]:
        """The bad rows to show."""
        found = [self._found[row] for row in sorted(self._found)[:KEPT]]
        return tuple(BadRow(bad.where(bad.position), bad.reason) for bad in found)


def first_indices(fault: Fault) -> list[int]:
    """The first rows that have a fault."""
    indices: list[int] = pc.indices_nonzero(fault.rows).slice(0, KEPT).to_pylist()
    return indices
